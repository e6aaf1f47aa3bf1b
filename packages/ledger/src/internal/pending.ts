/**
 * Recordings that go on behind the turns they are of, by ledger.
 *
 *     run ──► going on ──► over
 *                │  ▲
 *                │  └── awaitOf: whoever reads the ledger waits for those of its own, of this process
 *                └───── the scope ends: it waits for all of them; each has a deadline
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"

export const make = Effect.gen(function* () {
  const all = yield* FiberSet.make<unknown, never>()
  // Before the set interrupts what is in it: an entry that a model is being asked for is not lost with the process.
  yield* Effect.addFinalizer(() => FiberSet.awaitEmpty(all))
  const byLedger = new Map<string, Set<Fiber.Fiber<unknown, unknown>>>()
  return {
    run: (ledger: string, recording: Effect.Effect<unknown>): Effect.Effect<void> =>
      Effect.gen(function* () {
        const fibers = byLedger.get(ledger) ?? new Set()
        byLedger.set(ledger, fibers)
        const fiber = yield* FiberSet.run(all, recording)
        fibers.add(fiber)
        fiber.addObserver(() => {
          fibers.delete(fiber)
          if (fibers.size === 0 && byLedger.get(ledger) === fibers) byLedger.delete(ledger)
        })
      }),
    awaitOf: (ledger: string): Effect.Effect<void> =>
      Effect.suspend(() =>
        Effect.forEach([...(byLedger.get(ledger) ?? [])], (fiber) => Fiber.await(fiber), { discard: true })
      ),
    awaitAll: FiberSet.awaitEmpty(all)
  }
})
