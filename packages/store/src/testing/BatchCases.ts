/**
 * Asking for a batch by its id, and for the tool-call ids that a log has declared.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, some } from "./Expect.ts"
import { batch, called, calledByProvider, ended, notes, settled, started } from "./Records.ts"
import type { Producer, Scenario } from "./Scenario.ts"

const { batchId } = notes("b")

const usedIds = (scenario: Scenario, callIds: ReadonlyArray<string>, conversationId = scenario.id()) =>
  Effect.map(scenario.store.hasCallIds({ conversationId, callIds }), (used) => [...used].toSorted())

/** A run whose first step has called `c1` and `c2`. */
const calling = (owner: Producer) =>
  Effect.andThen(owner.append(batch("start", started())), owner.append(batch("step 1", called(1, "c1", "c2"))))

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const batchCases: ReadonlyArray<ConformanceCase> = [
  make("batch: gives the places, digests and producer of an append", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const { epoch, first, last, tail } = yield* owner.append(notes("b", 3))
      yield* owner.append(notes("c"))
      const stored = yield* some("the batch", yield* scenario.store.batch({ ...owner, batchId }))
      const { contentDigest: _, ...rest } = stored
      yield* equal("the batch", rest, { batchId, first, last, epoch, producerId: owner.producerId, tail })
    })
  ),

  make("batch: nothing for an id that was never appended", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* equal("the batch", yield* scenario.store.batch({ ...owner, batchId }), Option.none())
      yield* fails(owner.attempt(notes("b"), { epoch: 9 }), "FenceRejected")
      yield* equal("the batch afterwards", yield* scenario.store.batch({ ...owner, batchId }), Option.none())
    })
  ),

  make("batch: only of its own conversation", (scenario) =>
    Effect.gen(function* () {
      const other = yield* scenario.begin(scenario.id("other"))
      yield* other.append(notes("b"))
      const owner = yield* scenario.begin()
      yield* equal("the batch", yield* scenario.store.batch({ ...owner, batchId }), Option.none())
    })
  ),

  make("batch: an unknown conversation is not found", (scenario) =>
    fails(scenario.store.batch({ conversationId: scenario.id(), batchId }), "ConversationNotFound")
  ),

  make("call ids: those that the log has declared", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* calling(owner)
      yield* equal("used ids", yield* usedIds(scenario, ["c0", "c1", "c2", "c3"]), ["c1", "c2"])
      yield* equal("of none", yield* usedIds(scenario, []), [])
      yield* equal("of a repeated one", yield* usedIds(scenario, ["c1", "c1", "c9"]), ["c1"])
    })
  ),

  make("call ids: also of calls that are settled, of runs that are over, and of the provider's own calls", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* calling(owner)
      yield* owner.append(batch("results", settled(1, "c1"), settled(1, "c2")))
      yield* owner.append(batch("step 2", calledByProvider(2, "web")))
      yield* owner.append(batch("end", ended()))
      for (let i = 0; i < 20; i++) yield* owner.append(notes(`later/${i}`))
      yield* equal("used ids", yield* usedIds(scenario, ["c1", "c2", "web"]), ["c1", "c2", "web"])
    })
  ),

  make("call ids: none of a batch that was refused", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("start", started()))
      yield* fails(owner.attempt(batch("step", called(1, "c1")), { epoch: 4 }), "FenceRejected")
      yield* equal("used ids", yield* usedIds(scenario, ["c1"]), [])
      yield* owner.append(batch("step", called(1, "c1")))
      yield* equal("used ids afterwards", yield* usedIds(scenario, ["c1"]), ["c1"])
    })
  ),

  make("call ids: one that two responses declare", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* calling(owner)
      yield* owner.append(batch("step 2", called(2, "c2", "c3")))
      yield* equal("used ids", yield* usedIds(scenario, ["c1", "c2", "c3", "c4"]), ["c1", "c2", "c3"])
    })
  ),

  make("call ids: only of its own conversation", (scenario) =>
    Effect.gen(function* () {
      yield* calling(yield* scenario.begin(scenario.id("other")))
      yield* scenario.begin()
      yield* equal("used ids", yield* usedIds(scenario, ["c1", "c2"]), [])
    })
  ),

  make("call ids: a thousand asked at once", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("start", started()))
      const used = Array.from({ length: 1_000 }, (_, i) => `c${i}`)
      yield* owner.append(batch("step", called(1, ...used)))
      const unused = Array.from({ length: 1_000 }, (_, i) => `d${i}`)
      yield* equal("used ids", yield* usedIds(scenario, [...unused, ...used]), used.toSorted())
    })
  ),

  make("call ids: any text may be asked for", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const odd = ['with "quotes"', "with 'quotes'", "a\\b", "\u00e9", "e\u0301", "😀", "C1", " c1"]
      yield* owner.append(batch("start", started()))
      yield* owner.append(batch("step", called(1, ...odd)))
      const asked = [...odd, "c1", "e", "", "\u0000", "\ud83d", "x".repeat(2_000)]
      yield* equal("used ids", yield* usedIds(scenario, asked), odd.toSorted())
    })
  ),

  make("call ids: an unknown conversation is not found", (scenario) =>
    Effect.gen(function* () {
      for (const callIds of [[], ["c1"]]) {
        yield* fails(scenario.store.hasCallIds({ conversationId: scenario.id(), callIds }), "ConversationNotFound")
      }
    })
  )
]
