/**
 * Logs to fork, and what is looked at afterwards; words of the cases of forks.
 *
 * @internal
 */
import * as Conversation from "@colloquy/session/Conversation"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import { type ConversationId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Effect from "effect/Effect"
import type { ForkRequest } from "../StoreModel.ts"
import { equal, fails } from "./Expect.ts"
import { asked, called, notes, resumed, said, started, suspended } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

/** Forks the conversation of the case into another one of it. */
export const forkIt = (scenario: Scenario, fields: Partial<ForkRequest> = {}) =>
  scenario.store.fork({ from: scenario.id(), into: scenario.id("fork"), ...fields })

export const isWhole = (scenario: Scenario, conversationId: ConversationId) =>
  Effect.gen(function* () {
    const { faults } = yield* scenario.store.verify({ conversationId })
    yield* equal("its faults", faults, [])
  })

/** A fork begins with what its source has through a place, digest by digest and salt by salt. */
export const isCopy = (scenario: Scenario, through: number, from = scenario.id(), into = scenario.id("fork")) =>
  Effect.gen(function* () {
    const { batches } = yield* scenario.store.export({ conversationId: from, through })
    const copy = yield* scenario.store.export({ conversationId: into })
    yield* equal("the batches of the fork", copy.batches.slice(0, -1), batches)
    yield* equal("the records of the fork", copy.header.records, through + 1)
    yield* isWhole(scenario, into)
  })

export const stateOf = (scenario: Scenario, conversationId: ConversationId) =>
  Effect.flatMap(scenario.log(conversationId), (log) =>
    Effect.map(Effect.fromResult(Conversation.replay(Conversation.initial(conversationId), log)), (state) => ({
      log,
      state
    }))
  )

/** What a model is shown of a log. */
export const promptOf = (scenario: Scenario, conversationId: ConversationId) =>
  Effect.map(stateOf(scenario, conversationId), ({ log, state }) =>
    JSON.stringify(ConversationPrompt.project(state, log).prompt.content)
  )

export const summaryOf = (scenario: Scenario, conversationId: ConversationId) =>
  Effect.map(scenario.listed(), (listed) => listed.find((summary) => summary.conversationId === conversationId))

/** Nothing but the conversation of the case is there. */
export const isAlone = (scenario: Scenario) =>
  Effect.gen(function* () {
    yield* equal("how many there are", (yield* scenario.listed()).length, 1)
    yield* fails(scenario.store.tail({ conversationId: scenario.id("fork") }), "ConversationNotFound")
  })

export const summarised = (coversThrough: number, summary: string): Payload.Written => ({
  _tag: "Compacted",
  kind: "summary",
  coversThrough,
  pinned: [],
  summary
})

export const answered = (step: number, text: string) => ({
  ...called(step),
  finishReason: "stop" as const,
  content: [{ type: "text" as const, text }]
})

/** A log of so many records in batches of 250, behind the first. */
export const large = (scenario: Scenario, batches: number) =>
  Effect.gen(function* () {
    const owner = yield* scenario.begin()
    for (let i = 0; i < batches; i++) yield* owner.append(notes(`b/${i}`, 250))
    return owner
  })

/** A log is open in this way; a fork of it has nothing open. */
export const openLogs: ReadonlyArray<readonly [name: string, payloads: ReadonlyArray<Payload.Written>]> = [
  ["a run", [started(), said("please")]],
  ["calls", [started(), called(1, "c1", "c2")]],
  ["a run that waits for people", [started(), called(1, "c1"), asked("c1"), suspended("c1")]],
  ["a resumed run", [started(), called(1, "c1"), asked("c1"), suspended("c1"), resumed()]]
]
