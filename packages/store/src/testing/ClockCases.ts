/**
 * Clocks that stand still or step back: time informs, the sequence orders.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { exported, under } from "./Archives.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal } from "./Expect.ts"
import { at, batch, created, notes, withTime } from "./Records.ts"

/**
 * The system's clock, but for the time of day, which is given.
 *
 * @category clocks
 * @since 0.1.0
 */
export const withTimeOfDay =
  (millis: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.Clock, (clock) =>
      Effect.provideService(effect, Clock.Clock, {
        currentTimeMillisUnsafe: () => millis,
        currentTimeMillis: Effect.succeed(millis),
        currentTimeNanosUnsafe: () => BigInt(Math.floor(millis)) * 1_000_000n,
        currentTimeNanos: Effect.succeed(BigInt(Math.floor(millis)) * 1_000_000n),
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        sleep: (duration) => clock.sleep(duration)
      })
    )

const times = [at, at, at + 5_000, at - 60_000, at + 5_000, 0, at]

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const clockCases: ReadonlyArray<ConformanceCase> = [
  make("clock: records keep their order whatever their times", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (const [i, time] of times.entries()) yield* owner.append(withTime(notes(`b/${i}`), time))
      const log = (yield* scenario.log()).slice(1)
      yield* equal(
        "the times",
        log.map((record) => record.at),
        times
      )
      yield* equal(
        "the sequences",
        log.map(({ sequence }) => sequence),
        times.map((_, i) => i + 2)
      )
      yield* equal("the epoch", log.at(-1)?.epoch, 1)
    })
  ),

  make("clock: a store whose clock stands still or steps back keeps the order", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver().pipe(withTimeOfDay(at))
      yield* owner.append(batch("created", created())).pipe(withTimeOfDay(at))
      for (const [i, time] of times.entries()) yield* owner.append(notes(`b/${i}`)).pipe(withTimeOfDay(time))
      const log = yield* scenario.log()
      yield* equal(
        "the batches",
        log.slice(1).map(({ batchId }) => batchId),
        times.map((_, i) => notes(`b/${i}`).batchId)
      )
      yield* equal("the log's faults", (yield* scenario.store.verify(owner)).faults, [])
    })
  ),

  make("clock: a store whose clock has fractions of a millisecond stores whole ones", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver().pipe(withTimeOfDay(at + 0.5))
      yield* owner.append(batch("created", created())).pipe(withTimeOfDay(at + 1.25))
      const listed = (yield* scenario.listed()).map(({ createdAt, updatedAt }) => ({ createdAt, updatedAt }))
      yield* equal("the times", listed, [{ createdAt: at, updatedAt: at + 1 }])
      const lines = under(scenario.id("copy"), yield* exported(scenario))
      const imported = yield* scenario.store.import(Stream.fromIterable(lines))
      yield* equal("imported", imported.imported, true)
    })
  ),

  make("clock: a takeover with a clock that steps back fences all the same", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.takeOver().pipe(withTimeOfDay(at))
      const owner = yield* scenario.takeOver(scenario.id(), "new owner").pipe(withTimeOfDay(at - 3_600_000))
      yield* equal("the epoch", owner.epoch, 2)
      yield* owner.append(notes("b")).pipe(withTimeOfDay(0))
      yield* equal("the number of records", (yield* scenario.log()).length, 1)
    })
  )
]
