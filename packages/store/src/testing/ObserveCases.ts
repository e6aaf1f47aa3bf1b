/**
 * Observing: every record after a place exactly once and in order, with no gap between what was there and what comes.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ConversationId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { notes } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

/** Collects this many records in the background. */
const observing = (scenario: Scenario, count: number, after = 0, conversationId: ConversationId = scenario.id()) =>
  Effect.forkScoped(Stream.runCollect(Stream.take(scenario.store.observe({ conversationId, after }), count)), {
    startImmediately: true
  })

/** Puts what is observed into a queue, so that a case can wait for a record. */
const observed = Effect.fnUntraced(function* (scenario: Scenario, after = 0) {
  const queue = yield* Queue.unbounded<CanonicalRecord>()
  const records = scenario.store.observe({ conversationId: scenario.id(), after })
  const fiber = yield* Effect.forkScoped(Stream.runForEach(records, (record) => Queue.offer(queue, record)))
  return { queue, fiber, next: (count: number) => Queue.takeBetween(queue, count, count) }
})

/** The log from `first` to `last`, each record once. */
const sees = (
  scenario: Scenario,
  records: ReadonlyArray<CanonicalRecord>,
  first: number,
  last: number,
  conversationId: ConversationId = scenario.id()
) =>
  Effect.gen(function* () {
    const expected = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    yield* equal(
      "the observed sequences",
      records.map(({ sequence }) => sequence),
      expected
    )
    const log = yield* scenario.log(conversationId)
    yield* equal("the observed records", records, log.slice(first - 1, last))
  })

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const observeCases: ReadonlyArray<ConformanceCase> = [
  make("observe: what was there before", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 5))
      yield* sees(scenario, yield* Fiber.join(yield* observing(scenario, 6)), 1, 6)
    })
  ),

  make("observe: what comes while it waits", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const { next } = yield* observed(scenario)
      const seen = [...(yield* next(1))]
      for (const size of [1, 3, 2]) {
        yield* owner.append(notes(`b/${size}`, size))
        seen.push(...(yield* next(size)))
      }
      yield* sees(scenario, seen, 1, 7)
    })
  ),

  make("observe: an empty conversation, from its first record on", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver()
      const fiber = yield* observing(scenario, 3)
      yield* owner.append(notes("b", 3))
      yield* sees(scenario, yield* Fiber.join(fiber), 1, 3)
    })
  ),

  make("observe: only what comes after a place", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 4))
      const fiber = yield* observing(scenario, 4, 3)
      yield* owner.append(notes("c", 2))
      yield* sees(scenario, yield* Fiber.join(fiber), 4, 7)
    })
  ),

  make("observe: from the tail on, only what is new", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const fiber = yield* observing(scenario, 2, 1)
      yield* owner.append(notes("b", 2))
      yield* sees(scenario, yield* Fiber.join(fiber), 2, 3)
    })
  ),

  make("observe: a place that is not reached yet is waited for", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const fiber = yield* observing(scenario, 2, 5)
      for (let i = 2; i <= 7; i++) yield* owner.append(notes(`b/${i}`))
      yield* sees(scenario, yield* Fiber.join(fiber), 6, 7)
    })
  ),

  make("observe: a backlog of many pages goes over into what is new", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (let i = 0; i < 6; i++) yield* owner.append(notes(`old/${i}`, 200))
      const fiber = yield* observing(scenario, 1_801)
      for (let i = 0; i < 6; i++) yield* owner.append(notes(`new/${i}`, 100))
      yield* sees(scenario, yield* Fiber.join(fiber), 1, 1_801)
    })
  ),

  make("observe: started before, while and after it is written to", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const fibers = [yield* observing(scenario, 61)]
      for (let i = 0; i < 60; i++) {
        yield* owner.append(notes(`b/${i}`))
        if (i % 10 === 5) fibers.push(yield* observing(scenario, 61))
      }
      fibers.push(yield* observing(scenario, 61))
      for (const fiber of fibers) yield* sees(scenario, yield* Fiber.join(fiber), 1, 61)
    })
  ),

  make("observe: many observers see the same", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const fibers = yield* Effect.forEach(Array.from({ length: 50 }), () => observing(scenario, 21))
      for (let i = 0; i < 10; i++) yield* owner.append(notes(`b/${i}`, 2))
      for (const fiber of fibers) yield* sees(scenario, yield* Fiber.join(fiber), 1, 21)
    })
  ),

  make("observe: two conversations that are written at once, each its own", (scenario) =>
    Effect.gen(function* () {
      const ids = [scenario.id("one"), scenario.id("two")]
      const write = (id: ConversationId) =>
        Effect.gen(function* () {
          const owner = yield* scenario.begin(id)
          const fiber = yield* observing(scenario, 101, 0, id)
          for (let i = 0; i < 50; i++) yield* owner.append(notes(`b/${i}`, 2))
          return yield* Fiber.join(fiber)
        })
      const seen = yield* Effect.forEach(ids, write, { concurrency: "unbounded" })
      for (const [i, id] of ids.entries()) yield* sees(scenario, seen[i]!, 1, 101, id)
    })
  ),

  make("observe: while ownership changes hands", (scenario) =>
    Effect.gen(function* () {
      const first = yield* scenario.begin()
      const fiber = yield* observing(scenario, 41)
      let former = first
      for (let i = 0; i < 20; i++) {
        const owner = yield* scenario.takeOver(scenario.id(), `owner ${i % 3}`)
        yield* fails(former.append(notes(`late/${i}`)), "FenceRejected")
        yield* owner.append(notes(`b/${i}`, 2))
        former = owner
      }
      const seen = yield* Fiber.join(fiber)
      yield* sees(scenario, seen, 1, 41)
      yield* equal("the last epoch", seen.at(-1)?.epoch, 21)
    })
  ),

  make("observe: while two owners take the conversation from each other", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.begin()
      const last = notes("last")
      const fiber = yield* Effect.forkScoped(
        Stream.runCollect(
          scenario.store
            .observe({ conversationId: scenario.id(), after: 0 })
            .pipe(Stream.takeUntil(({ batchId }) => batchId === last.batchId))
        )
      )
      const fight = (name: string) =>
        Effect.gen(function* () {
          let won = 0
          for (let i = 0; i < 40; i++) {
            const owner = yield* scenario.takeOver(scenario.id(), name)
            // Another takeover may come between: then this one has lost.
            const result = yield* Effect.result(owner.append(notes(`${name}/${i}`)))
            if (result._tag === "Success") won++
            else yield* equal("the failure", result.failure._tag, "FenceRejected")
          }
          return won
        })
      const won = yield* Effect.all([fight("one"), fight("two")], { concurrency: "unbounded" })
      yield* (yield* scenario.takeOver()).append(last)
      yield* sees(scenario, yield* Fiber.join(fiber), 1, 2 + won[0] + won[1])
    })
  ),

  make("observe: an unknown conversation is not found", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      const records = Stream.runCollect(scenario.store.observe({ conversationId, after: 0 }))
      const error = yield* fails(records, "ConversationNotFound")
      yield* equal("the conversation", error.conversationId, conversationId)
    })
  ),

  make("observe: an interrupted observer is gone, and holds nobody up", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const left = yield* observed(scenario)
      const stays = yield* observed(scenario)
      yield* left.next(1)
      yield* stays.next(1)
      yield* Fiber.interrupt(left.fiber)
      yield* owner.append(notes("b", 3))
      yield* equal("what the other one sees", (yield* stays.next(3)).length, 3)
      yield* equal("what is left", (yield* Queue.clear(left.queue)).length, 0)
      yield* sees(scenario, yield* Fiber.join(yield* observing(scenario, 4)), 1, 4)
    })
  ),

  make("observe: an observer that goes away while records come misses none when it comes back", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const seen: Array<CanonicalRecord> = []
      for (let i = 0; i < 30; i++) {
        const fiber = yield* observing(scenario, 1, seen.length)
        yield* owner.append(notes(`b/${i}`, 1))
        seen.push(...(yield* Fiber.join(fiber)))
      }
      yield* sees(scenario, seen, 1, 30)
    })
  ),

  make("observe: an import is seen once it is whole", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.id()
      const producerId = (yield* scenario.begin(scenario.id("other"))).producerId
      const first = { conversationId, producerId, batches: [notes("a", 2)] }
      yield* scenario.store.importBatches(first)
      const fiber = yield* observing(scenario, 5)
      yield* scenario.store.importBatches({ ...first, batches: [notes("a", 2), notes("b", 1), notes("c", 2)] })
      yield* sees(scenario, yield* Fiber.join(fiber), 1, 5)
    })
  )
]
