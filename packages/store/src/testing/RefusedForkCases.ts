/**
 * Forks that are refused, that come at once, and that are interrupted: one wins, or nothing has happened.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, holds } from "./Expect.ts"
import { notes } from "./Records.ts"
import { forkIt, isCopy, isAlone, large } from "./Forks.ts"

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const refusedForkCases: ReadonlyArray<ConformanceCase> = [
  make("fork: inside a batch is refused, with the places around", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 3))
      yield* owner.append(notes("c"))
      for (const at of [2, 3]) {
        const error = yield* fails(forkIt(scenario, { at }), "NotABoundary")
        const { after, before, conversationId, sequence } = error
        yield* equal(
          "the places",
          { after, before, conversationId, sequence },
          {
            after: 4,
            before: 1,
            conversationId: scenario.id(),
            sequence: at
          }
        )
      }
      yield* isAlone(scenario)
      yield* forkIt(scenario, { at: 4 })
    })
  ),

  ...([0, -1, 5, 1_000_000] as const).map((at) =>
    make(`fork: at ${at} of a log of four is refused`, (scenario) =>
      Effect.gen(function* () {
        const owner = yield* scenario.begin()
        yield* owner.append(notes("b", 3))
        const { after, before, sequence } = yield* fails(forkIt(scenario, { at }), "NotABoundary")
        yield* equal("the places", { after, before, sequence }, { after: undefined, before: undefined, sequence: at })
        yield* isAlone(scenario)
      })
    )
  ),

  make("fork: of an empty log is refused", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.takeOver()
      yield* fails(forkIt(scenario), "NotABoundary")
      yield* fails(forkIt(scenario, { at: 0 }), "NotABoundary")
      yield* isAlone(scenario)
    })
  ),

  make("fork: of a conversation that is not there, or not any more", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      const unknown = yield* fails(forkIt(scenario, { from: scenario.id("unknown") }), "ConversationNotFound")
      yield* equal("who is not there", unknown.conversationId, scenario.id("unknown"))
      yield* scenario.store.erase({ conversationId: scenario.id() })
      const erased = yield* fails(forkIt(scenario), "ConversationErased")
      yield* equal("who was erased", erased.conversationId, scenario.id())
      yield* fails(scenario.store.tail({ conversationId: scenario.id("fork") }), "ConversationNotFound")
    })
  ),

  make("fork: into an id that is taken is refused, and changes nothing", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      const other = yield* scenario.begin(scenario.id("fork"), "other")
      yield* scenario.takeOver(scenario.id("empty"))
      for (const into of [scenario.id("fork"), scenario.id("empty"), scenario.id()]) {
        const before = yield* scenario.store.tail({ conversationId: into })
        const { conversationId } = yield* fails(forkIt(scenario, { into }), "AlreadyExists")
        yield* equal("who is there", conversationId, into)
        yield* equal("its position", yield* scenario.store.tail({ conversationId: into }), before)
      }
      yield* other.append(notes("its owner goes on"))
    })
  ),

  make("fork: into the id of one that was erased is refused", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      yield* scenario.begin(scenario.id("fork"))
      yield* scenario.store.erase({ conversationId: scenario.id("fork") })
      const { conversationId } = yield* fails(forkIt(scenario), "ConversationErased")
      yield* equal("who was erased", conversationId, scenario.id("fork"))
      yield* fails(forkIt(scenario, { at: 7 }), "ConversationErased")
    })
  ),

  make("fork: of several into one id at once one wins", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 3))
      const attempts = Array.from({ length: 8 }, (_, i) => Effect.result(forkIt(scenario, { at: i % 2 === 0 ? 1 : 4 })))
      const results = yield* Effect.all(attempts, { concurrency: "unbounded" })
      yield* equal("how many have won", results.filter(Result.isSuccess).length, 1)
      const reasons = results.filter(Result.isFailure).map(({ failure }) => failure._tag)
      yield* equal("what the others are told", new Set(reasons), new Set(["AlreadyExists"] as const))
      const won = results.find(Result.isSuccess)
      yield* equal("the tail", yield* scenario.tail(scenario.id("fork")), won!.success.tail)
      yield* isCopy(scenario, won!.success.tail.sequence - 1)
    })
  ),

  make("fork: of several large ones into one id at once one wins", (scenario) =>
    Effect.gen(function* () {
      yield* large(scenario, 18)
      const attempts = Array.from({ length: 4 }, () => Effect.result(forkIt(scenario)))
      const results = yield* Effect.all(attempts, { concurrency: "unbounded" })
      yield* holds("at most one has won", results.filter(Result.isSuccess).length <= 1, results)
      for (const { failure } of results.filter(Result.isFailure)) {
        const isTold = failure._tag === "AlreadyExists" || (failure._tag === "StoreUnavailable" && failure.retryable)
        yield* holds("that it is there, or to try again", isTold, failure)
      }
      if (!results.some(Result.isSuccess)) yield* forkIt(scenario)
      yield* fails(forkIt(scenario), "AlreadyExists")
      yield* isCopy(scenario, 4_501)
      yield* equal("the list", (yield* scenario.listed()).length, 2)
    })
  ),

  make("fork: one that is interrupted is whole or not there", (scenario) =>
    Effect.gen(function* () {
      yield* large(scenario, 18)
      const fiber = yield* Effect.forkScoped(forkIt(scenario), { startImmediately: true })
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      const listed = yield* scenario.listed()
      if (listed.length === 1) yield* forkIt(scenario)
      yield* isCopy(scenario, 4_501)
      yield* equal("the list", (yield* scenario.listed()).length, 2)
    })
  )
]
