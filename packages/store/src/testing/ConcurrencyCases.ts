/**
 * Many at once in one process: one wins, nobody is lost, and the log stays one log.
 *
 * @since 0.1.0
 */
import { ProducerId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { exported, follow } from "./Archives.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, holds } from "./Expect.ts"
import { notes, withIds } from "./Records.ts"
import type { Producer, Scenario } from "./Scenario.ts"

const unbounded = { concurrency: "unbounded" } as const

const times = <A>(count: number, make: (i: number) => A): Array<A> => Array.from({ length: count }, (_, i) => make(i))

const appendOnce = (owner: Producer) => Effect.result(owner.append(notes(owner.producerId)))

const isWhole = (scenario: Scenario) =>
  Effect.gen(function* () {
    const { faults } = yield* scenario.store.verify({ conversationId: scenario.id() })
    yield* equal("the log's faults", faults, [])
  })

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const concurrencyCases: ReadonlyArray<ConformanceCase> = [
  make("concurrency: of 32 appends at one tail one wins, and 31 are told the real tail", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const attempts = times(32, (i) => Effect.result(owner.attempt(notes(`b/${i}`, (i % 3) + 1))))
      const results = yield* Effect.all(attempts, unbounded)
      const won = results.filter(Result.isSuccess)
      yield* equal("how many have won", won.length, 1)
      const tail = yield* scenario.tail()
      yield* equal("the tail", won[0]!.success.tail, tail)
      for (const { failure } of results.filter(Result.isFailure)) {
        const told = failure._tag === "AppendConflict" ? { reason: failure.reason, tail: failure.tail } : failure._tag
        yield* equal("what a loser is told", told, { reason: "tail", tail })
      }
      yield* equal("the number of batches", new Set((yield* scenario.log()).map(({ batchId }) => batchId)).size, 2)
      yield* isWhole(scenario)
    })
  ),

  make("concurrency: takeovers at once have epochs of their own", (scenario) =>
    Effect.gen(function* () {
      const owners = yield* Effect.all(
        times(16, (i) => scenario.takeOver(scenario.id(), `owner ${i}`)),
        unbounded
      )
      const epochs = owners.map(({ epoch }) => epoch).toSorted((a, b) => a - b)
      yield* equal(
        "the epochs",
        epochs,
        times(16, (i) => i + 1)
      )
      const results = yield* Effect.forEach(owners, appendOnce, unbounded)
      yield* equal("how many may write", results.filter(Result.isSuccess).length, 1)
      const { producerId } = yield* scenario.store.tail({ conversationId: scenario.id() })
      const holder = owners.find((owner) => owner.epoch === 16)
      yield* equal("who may write", producerId, holder?.producerId ?? null)
      yield* equal("the list", (yield* scenario.listed()).length, 1)
    })
  ),

  make("concurrency: the same epoch asked for at once is granted once", (scenario) =>
    Effect.gen(function* () {
      const { conversationId, epoch } = yield* scenario.begin()
      const ask = (i: number) =>
        Effect.result(
          scenario.store.materialize({ conversationId, producerId: ProducerId.make(`${i}`), epoch: epoch + 5 })
        )
      const results = yield* Effect.all(times(8, ask), unbounded)
      yield* equal("how many hold it", results.filter(Result.isSuccess).length, 1)
      yield* equal("the epoch", (yield* scenario.store.tail({ conversationId })).epoch, epoch + 5)
    })
  ),

  make("concurrency: writers of different conversations do not hinder each other", (scenario) =>
    Effect.gen(function* () {
      const write = (i: number) =>
        Effect.gen(function* () {
          const owner = yield* scenario.begin(scenario.id(`${i}`))
          for (let n = 0; n < 20; n++) yield* owner.append(notes(`b/${n}`, 2))
          return (yield* scenario.log(owner.conversationId)).length
        })
      yield* equal(
        "the lengths",
        yield* Effect.all(times(16, write), unbounded),
        times(16, () => 41)
      )
    })
  ),

  make("concurrency: everybody gets in who reads on and tries again", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const write = (i: number) =>
        Effect.gen(function* () {
          let expectedTail = owner.tail
          while (true) {
            const result = yield* Effect.result(owner.attempt(notes(`b/${i}`), { expectedTail }))
            if (Result.isSuccess(result)) return
            if (result.failure._tag !== "AppendConflict") return yield* result.failure
            expectedTail = result.failure.tail
          }
        })
      yield* Effect.all(times(24, write), unbounded)
      yield* equal("the number of records", (yield* scenario.log()).length, 25)
      yield* isWhole(scenario)
    })
  ),

  make("concurrency: one record id in two batches at once is written once", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const attempts = times(8, (i) => Effect.result(owner.attempt(withIds(notes(`b/${i}`), "the one"))))
      const results = yield* Effect.all(attempts, unbounded)
      yield* equal("how many have written", results.filter(Result.isSuccess).length, 1)
      const next = yield* fails(
        owner.attempt(withIds(notes("c"), "the one"), { expectedTail: yield* scenario.tail() }),
        "AppendConflict"
      )
      yield* equal("the reason", next.reason, "record-identity")
    })
  ),

  make("concurrency: a snapshot taken while it is written to is whole", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const writing = Effect.forEach(
        times(60, (i) => i),
        (i) => owner.append(notes(`b/${i}`, (i % 7) + 1))
      )
      const reading = Effect.forEach(
        times(15, (i) => i),
        () => exported(scenario)
      )
      const [, snapshots] = yield* Effect.all([writing, reading], unbounded)
      const whole = follow(yield* exported(scenario))
      for (const snapshot of snapshots) {
        const { records, tail } = follow(snapshot)
        const then = follow(yield* exported(scenario, scenario.id(), records))
        yield* equal("a snapshot", { records, tail }, then)
        yield* holds("a part of the whole", records <= whole.records, records)
      }
    })
  ),

  make("concurrency: an interrupted append is in the log whole, or not at all", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (let i = 0; i < 20; i++) {
        const batch = notes(`b/${i}`, 5)
        const expectedTail = yield* scenario.tail()
        const fiber = yield* Effect.forkChild(owner.attempt(batch, { expectedTail }), { startImmediately: i % 2 === 0 })
        yield* Fiber.interrupt(fiber)
        const stored = yield* scenario.store.batch({ ...owner, batchId: batch.batchId })
        const { sequence } = yield* scenario.tail()
        yield* equal("the tail", sequence, expectedTail.sequence + (Option.isSome(stored) ? 5 : 0))
        const { last } = yield* owner.attempt(batch, { expectedTail: yield* scenario.tail() })
        yield* equal("the end of the batch", last, expectedTail.sequence + 5)
      }
      yield* equal("the number of records", (yield* scenario.log()).length, 101)
      yield* isWhole(scenario)
    })
  )
]
