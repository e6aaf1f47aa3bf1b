/**
 * Requests to redact: which are replays, which are refused, and in what order that is found out.
 *
 * @since 0.1.0
 */
import * as Digest from "@colloquy/session/Digest"
import { BatchId, ProducerId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import type { RedactRequest } from "../StoreModel.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { batch, note, notes } from "./Records.ts"
import { redaction, redactIt, beginWithNotes, changesNothing, isInvalid, summarised } from "./Redactions.ts"

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const redactRequestCases: ReadonlyArray<ConformanceCase> = [
  make("redact: again is a replay, whatever tail or epoch it names", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      const start = { sequence: 0, digest: Digest.empty }
      const request = redaction(owner, [3])
      const original = yield* redactIt(owner, [3])
      yield* owner.append(batch("later", note("later"), summarised(4, "that was made since")))
      const next = yield* scenario.takeOver(scenario.id(), "next")
      const attempts: ReadonlyArray<Partial<RedactRequest>> = [
        {},
        { expectedTail: original.tail },
        { expectedTail: next.tail },
        { expectedTail: start },
        { epoch: 9 },
        { epoch: 0, producerId: ProducerId.make("nobody") },
        { epoch: next.epoch, producerId: next.producerId, expectedTail: next.tail }
      ]
      for (const fields of attempts) {
        const attempt = scenario.store.redact({ ...request, ...fields })
        const { epoch, first, records, replayed, sequences, tail } = yield* changesNothing(scenario, attempt)
        yield* equal(
          "the answer",
          { epoch, first, replayed, sequences, tail },
          { epoch: next.epoch, first: 5, replayed: true, sequences: [3], tail: original.tail }
        )
        yield* equal("its records", records(), original.records())
      }
    })
  ),

  make("redact: again after a summary went with it is a replay", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      yield* owner.append(batch("summary", summarised(4, "of secrets")))
      const request = redaction(owner, [3])
      yield* redactIt(owner, [3])
      for (const expectedTail of [request.expectedTail, owner.tail]) {
        const { replayed, sequences } = yield* scenario.store.redact({ ...request, expectedTail })
        yield* equal("the answer", { replayed, sequences }, { replayed: true, sequences: [3, 5] })
      }
    })
  ),

  ...(
    [
      ["other records", { sequences: [2] }],
      ["more records", { sequences: [3, 4] }],
      ["later records", { sequences: [3, 6] }],
      ["another reason", { reason: "another" }],
      ["an author", { author: "Ann" }]
    ] as const
  ).map(([name, fields]) =>
    make(`redact: the same batch id with ${name} is a conflict`, (scenario) =>
      Effect.gen(function* () {
        const owner = yield* beginWithNotes(scenario)
        const start = redaction(owner, [3])
        yield* redactIt(owner, [3])
        yield* owner.append(notes("later"))
        for (const expectedTail of [start.expectedTail, owner.tail]) {
          const attempt = scenario.store.redact({ ...start, expectedTail, ...fields })
          const { reason } = yield* changesNothing(scenario, fails(attempt, "AppendConflict"))
          yield* equal("the reason", reason, "batch-content")
        }
      })
    )
  ),

  make("redact: a batch id of something else is a conflict", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      const attempt = scenario.store.redact(redaction(owner, [3], { batchId: BatchId.make("b") }))
      const { reason } = yield* changesNothing(scenario, fails(attempt, "AppendConflict"))
      yield* equal("the reason", reason, "batch-content")
    })
  ),

  ...(
    [
      ["none at all", []],
      ["the sequence 0", [0]],
      ["a negative one", [2, -1]],
      ["one beyond the tail", [2, 5]],
      ["a fraction", [2.5]],
      ["no number", [Number.NaN]]
    ] as const
  ).map(([name, sequences]) =>
    make(`redact: of ${name} is refused`, (scenario) =>
      Effect.gen(function* () {
        const owner = yield* beginWithNotes(scenario)
        yield* isInvalid(scenario, owner, sequences)
        yield* redactIt(owner, [2])
      })
    )
  ),

  make("redact: of an unknown conversation, and of an erased one", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      const unknown = redaction(owner, [1], { conversationId: scenario.id("unknown"), epoch: 9 })
      yield* fails(scenario.store.redact(unknown), "ConversationNotFound")
      yield* scenario.store.erase(owner)
      yield* fails(scenario.store.redact(redaction(owner, [1])), "ConversationErased")
    })
  ),

  make("redact: the fence comes before the tail", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      const next = yield* scenario.takeOver(scenario.id(), "next")
      const start = { sequence: 0, digest: Digest.empty }
      for (const expectedTail of [owner.tail, start]) {
        const attempt = scenario.store.redact(redaction(owner, [3], { expectedTail }))
        const { actual } = yield* changesNothing(scenario, fails(attempt, "FenceRejected"))
        yield* equal("who may write", actual, { epoch: next.epoch, producerId: next.producerId })
      }
    })
  ),

  make("redact: another tail is a conflict that carries the real one", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      const { digest, sequence } = owner.tail
      const tails = [
        { sequence: 0, digest: Digest.empty },
        { sequence: 1, digest },
        { sequence, digest: Digest.text("other") },
        { sequence: sequence + 3, digest }
      ]
      for (const expectedTail of tails) {
        const attempt = scenario.store.redact(redaction(owner, [3], { expectedTail }))
        const { reason, tail } = yield* changesNothing(scenario, fails(attempt, "AppendConflict"))
        yield* equal("the conflict", { reason, tail }, { reason: "tail", tail: owner.tail })
      }
    })
  )
]
