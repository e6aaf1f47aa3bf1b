/**
 * Creating a conversation, and taking one over.
 *
 * @since 0.1.0
 */
import * as Digest from "@colloquy/session/Digest"
import { ProducerId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { notes } from "./Records.ts"

const a = ProducerId.make("a")
const b = ProducerId.make("b")

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const materializeCases: ReadonlyArray<ConformanceCase> = [
  make("materialize: creates an empty conversation at epoch 1", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      const made = yield* scenario.store.materialize({ conversationId, producerId: a })
      yield* equal("the answer", made, { tail: { sequence: 0, digest: Digest.empty }, epoch: 1 })
      yield* equal("the tail", yield* scenario.store.tail({ conversationId }), {
        sequence: 0,
        digest: Digest.empty,
        epoch: 1,
        producerId: a
      })
      yield* equal("the log", yield* scenario.log(), [])
    })
  ),

  make("materialize: creates at the epoch that is asked for", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      const made = yield* scenario.store.materialize({ conversationId, producerId: a, epoch: 7 })
      yield* equal("the granted epoch", made.epoch, 7)
      yield* equal("the stored epoch", (yield* scenario.store.tail({ conversationId })).epoch, 7)
    })
  ),

  make("materialize: a takeover raises the epoch by one and keeps the log", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      const owner = yield* scenario.begin()
      const before = yield* scenario.log()
      const taken = yield* scenario.store.materialize({ conversationId, producerId: b })
      yield* equal("the answer", taken, { tail: owner.tail, epoch: 2 })
      yield* equal("the owner", (yield* scenario.store.tail({ conversationId })).producerId, b)
      yield* equal("the log", yield* scenario.log(), before)
    })
  ),

  make("materialize: the same producer without an epoch takes over from itself", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      yield* scenario.store.materialize({ conversationId, producerId: a })
      const again = yield* scenario.store.materialize({ conversationId, producerId: a })
      yield* equal("the granted epoch", again.epoch, 2)
    })
  ),

  make("materialize: a takeover fences the former owner", (scenario) =>
    Effect.gen(function* () {
      const former = yield* scenario.begin()
      const owner = yield* scenario.takeOver(scenario.id(), "new owner")
      const error = yield* fails(former.append(notes("late")), "FenceRejected")
      yield* equal("the fence that stands", error.actual, { epoch: 2, producerId: owner.producerId })
      yield* equal("the fence that was tried", error.attempted, { epoch: 1, producerId: former.producerId })
      yield* owner.append(notes("next"))
      yield* equal("the number of records", (yield* scenario.log()).length, 2)
    })
  ),

  make("materialize: a lower epoch is fenced and changes nothing", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      yield* scenario.store.materialize({ conversationId, producerId: a, epoch: 3 })
      for (const producerId of [a, b]) {
        const late = scenario.store.materialize({ conversationId, producerId, epoch: 2 })
        const error = yield* fails(late, "FenceRejected")
        yield* equal("the fence that stands", error.actual, { epoch: 3, producerId: a })
        yield* equal("the fence that was tried", error.attempted, { epoch: 2, producerId })
      }
      const { epoch, producerId } = yield* scenario.store.tail({ conversationId })
      yield* equal("who may write", { epoch, producerId }, { epoch: 3, producerId: a })
    })
  ),

  make("materialize: the holder of an epoch only confirms it", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const { conversationId, epoch, producerId, tail } = owner
      const again = yield* scenario.store.materialize({ conversationId, producerId, epoch })
      yield* equal("the answer", again, { tail, epoch })
      yield* owner.append(notes("still mine"))
    })
  ),

  make("materialize: an epoch that another producer holds is fenced", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const { conversationId, epoch } = owner
      const error = yield* fails(scenario.store.materialize({ conversationId, producerId: b, epoch }), "FenceRejected")
      yield* equal("the fence that stands", error.actual, { epoch, producerId: owner.producerId })
      yield* owner.append(notes("still mine"))
    })
  ),

  make("materialize: a higher epoch is raised to, exactly", (scenario) =>
    Effect.gen(function* () {
      const former = yield* scenario.begin()
      const { conversationId, tail } = former
      const raised = yield* scenario.store.materialize({ conversationId, producerId: b, epoch: 40 })
      yield* equal("the answer", raised, { tail, epoch: 40 })
      yield* fails(former.append(notes("late")), "FenceRejected")
      const next = yield* scenario.store.materialize({ conversationId, producerId: a })
      yield* equal("the epoch of the next takeover", next.epoch, 41)
    })
  ),

  make("materialize: conversations have owners of their own", (scenario) =>
    Effect.gen(function* () {
      const one = yield* scenario.begin(scenario.id("one"))
      yield* scenario.takeOver(scenario.id("two"), "other")
      yield* scenario.takeOver(scenario.id("two"), "third")
      yield* one.append(notes("mine"))
      yield* equal("the epoch of the first", (yield* scenario.store.tail(one)).epoch, 1)
    })
  )
]
