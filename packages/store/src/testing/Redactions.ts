/**
 * Logs to redact, and what is looked at afterwards; words of the cases of redactions.
 *
 * @internal
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import { BatchId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import type { Archive } from "../Archive.ts"
import type { RedactRequest } from "../StoreModel.ts"
import { equal, fails } from "./Expect.ts"
import {
  asked,
  batch,
  called,
  created,
  ended,
  note,
  renamed,
  resumed,
  said,
  settled,
  started,
  suspended
} from "./Records.ts"
import type { Producer, Scenario } from "./Scenario.ts"

/** A request behind what the producer knows, with fields of its own. */
export const redaction = (
  { conversationId, epoch, producerId, tail }: Producer,
  sequences: ReadonlyArray<number>,
  fields: Partial<RedactRequest> = {}
): RedactRequest => ({
  conversationId,
  sequences,
  reason: "asked for",
  batchId: BatchId.make("redaction"),
  expectedTail: tail,
  epoch,
  producerId,
  ...fields
})

/** Redacts, and moves the producer on. */
export const redactIt = (owner: Producer, sequences: ReadonlyArray<number>, fields: Partial<RedactRequest> = {}) =>
  Effect.tap(
    Effect.suspend(() => owner.store.redact(redaction(owner, sequences, fields))),
    ({ tail }) =>
      Effect.sync(() => {
        owner.tail = tail
      })
  )

/** A log `created`, and behind it a batch of three notes. */
export const beginWithNotes = (scenario: Scenario) =>
  Effect.tap(scenario.begin(), (owner) =>
    owner.append(batch("b", note("the first secret"), note("the second secret"), note("the third secret")))
  )

export const stateOf = (scenario: Scenario) =>
  Effect.flatMap(scenario.log(), (log) =>
    Effect.map(Effect.fromResult(Conversation.replay(Conversation.initial(scenario.id()), log)), (state) => ({
      log,
      state
    }))
  )

/** What a model is shown. */
export const promptOf = (scenario: Scenario) =>
  Effect.map(stateOf(scenario), ({ log, state }) =>
    JSON.stringify(ConversationPrompt.project(state, log).prompt.content)
  )

export const isWhole = (scenario: Scenario) =>
  Effect.gen(function* () {
    const { faults } = yield* scenario.store.verify({ conversationId: scenario.id() })
    yield* equal("the log's faults", faults, [])
  })

export const tagsOf = (log: ReadonlyArray<CanonicalRecord>) =>
  log.map(({ payload }) => (payload._tag === "Redacted" ? `Redacted ${payload.tag}` : payload._tag))

export const withoutWords = ({ batches }: Archive) =>
  batches.slice(0, 2).map((batch) => ({ ...batch, records: batch.records.map(Struct.omit(["salt", "payload"])) }))

/** The attempt changes nothing of the log. */
export const changesNothing = <A, E, R>(scenario: Scenario, attempt: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const [log, position] = [yield* scenario.log(), yield* scenario.store.tail({ conversationId: scenario.id() })]
    const result = yield* attempt
    yield* equal("the log", yield* scenario.log(), log)
    yield* equal("the position", yield* scenario.store.tail({ conversationId: scenario.id() }), position)
    return result
  })

/** The request is no batch. */
export const isInvalid = (scenario: Scenario, owner: Producer, sequences: ReadonlyArray<number>) =>
  changesNothing(scenario, fails(scenario.store.redact(redaction(owner, sequences)), "InvalidBatch"))

export const summarised = (coversThrough: number, summary: string): Payload.Written => ({
  _tag: "Compacted",
  kind: "summary",
  coversThrough,
  pinned: [],
  summary
})

export const answered = (step: number, text: string): Payload.Written => ({
  ...called(step),
  finishReason: "stop",
  content: [{ type: "text", text }]
})

/** A log with a record of nearly every kind. */
export const everything: ReadonlyArray<Payload.Written> = [
  created({ title: "secret title", instructions: "secret instructions", metadata: { key: "secret" } }),
  renamed("another secret title"),
  started(),
  said("a secret question"),
  called(1, "c1", "c2"),
  settled(1, "c1"),
  asked("c2"),
  suspended("c2"),
  resumed(),
  {
    _tag: "ApprovalResolved",
    approvalId: suspended("c2").approvalIds[0]!,
    decision: "approved",
    scope: "conversation",
    reason: "a secret reason"
  },
  settled(1, "c2"),
  answered(2, "a secret answer"),
  ended(),
  summarised(13, "a secret summary"),
  note("a secret note")
]
