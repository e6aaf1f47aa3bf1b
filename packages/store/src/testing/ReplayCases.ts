/**
 * A batch that comes again: recognised for ever, whatever tail, epoch or producer the request names.
 *
 * @since 0.1.0
 */
import type { Batch } from "@colloquy/session/CanonicalRecord"
import * as Digest from "@colloquy/session/Digest"
import * as Effect from "effect/Effect"
import type { AppendError, Tail } from "../StoreError.ts"
import type { Appended } from "../StoreModel.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, some } from "./Expect.ts"
import { at, batch, note, notes, withIds, withTime } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

/** The attempt is a replay of the original, at this epoch, and writes nothing. */
const replays = (
  scenario: Scenario,
  original: Appended,
  epoch: number,
  attempt: Effect.Effect<Appended, AppendError>
) =>
  Effect.gen(function* () {
    const before = yield* scenario.tail()
    const { records, ...answer } = yield* attempt
    const { first, last, tail } = original
    yield* equal("the answer", answer, { first, last, tail, replayed: true, epoch })
    yield* equal("its records", records(), original.records())
    yield* equal("the tail afterwards", yield* scenario.tail(), before)
  })

/** A batch with this content under a known id is a conflict, in whatever place and from whoever it comes. */
const conflicts = (scenario: Scenario, other: Batch) =>
  Effect.gen(function* () {
    const owner = yield* scenario.begin()
    const start = owner.tail
    yield* owner.append(batch("b", note("one"), note("two")))
    const error = yield* fails(owner.attempt(other), "AppendConflict")
    yield* equal("the reason", error.reason, "batch-content")
    yield* equal("the real tail", error.tail, owner.tail)
    const stale = yield* fails(owner.attempt(other, { expectedTail: start }), "AppendConflict")
    yield* equal("the reason with a stale tail", stale.reason, "batch-content")
    const fenced = yield* fails(owner.attempt(other, { epoch: 7 }), "AppendConflict")
    yield* equal("the reason with another epoch", fenced.reason, "batch-content")
    yield* equal("the tail afterwards", yield* scenario.tail(), owner.tail)
  })

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const replayCases: ReadonlyArray<ConformanceCase> = [
  make("replay: immediately, with the tail of the first attempt", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const expectedTail = owner.tail
      const original = yield* owner.append(notes("b", 3))
      yield* replays(scenario, original, 1, owner.attempt(notes("b", 3), { expectedTail }))
    })
  ),

  make("replay: with the correct new tail", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const original = yield* owner.append(notes("b", 3))
      yield* replays(scenario, original, 1, owner.attempt(notes("b", 3)))
    })
  ),

  make("replay: with any tail", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const original = yield* owner.append(notes("b"))
      yield* owner.append(notes("c"))
      const tails: ReadonlyArray<Tail> = [
        original.tail,
        { sequence: 0, digest: Digest.empty },
        { sequence: 900, digest: Digest.text("nowhere") }
      ]
      for (const expectedTail of tails) {
        yield* replays(scenario, original, 1, owner.attempt(notes("b"), { expectedTail }))
      }
    })
  ),

  make("replay: with another epoch, lower or higher", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const original = yield* owner.append(notes("b"))
      for (const epoch of [0, 2, 99]) yield* replays(scenario, original, 1, owner.attempt(notes("b"), { epoch }))
    })
  ),

  make("replay: by its producer after a takeover, which reads the new epoch", (scenario) =>
    Effect.gen(function* () {
      const former = yield* scenario.begin()
      const expectedTail = former.tail
      const original = yield* former.append(notes("b"))
      const owner = yield* scenario.takeOver(scenario.id(), "new owner")
      yield* replays(scenario, original, owner.epoch, former.attempt(notes("b"), { expectedTail }))
      yield* fails(former.append(notes("c")), "FenceRejected")
    })
  ),

  make("replay: by a new owner, at another time", (scenario) =>
    Effect.gen(function* () {
      const former = yield* scenario.begin()
      const original = yield* former.append(notes("b", 2))
      const owner = yield* scenario.takeOver(scenario.id(), "new owner")
      yield* replays(scenario, original, owner.epoch, owner.append(withTime(notes("b", 2), at + 5_000)))
      const record = yield* some("the batch", yield* scenario.store.batch({ ...owner, batchId: notes("b").batchId }))
      yield* equal("its producer", record.producerId, former.producerId)
      yield* equal("its epoch", record.epoch, former.epoch)
      yield* equal("the time of its records", (yield* scenario.log())[1]?.at, at)
    })
  ),

  make("replay: after a thousand other batches", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const original = yield* owner.append(notes("b", 2))
      for (let i = 0; i < 1_000; i++) yield* owner.append(notes(`other/${i}`))
      yield* replays(scenario, original, 1, owner.attempt(notes("b", 2), { expectedTail: original.tail }))
      yield* replays(scenario, original, 1, owner.attempt(notes("b", 2)))
    })
  ),

  make("replay: after refused attempts under the same id", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* fails(owner.attempt(notes("b", 2), { epoch: 5 }), "FenceRejected")
      const original = yield* owner.append(notes("b", 2))
      yield* fails(owner.attempt(notes("b", 3)), "AppendConflict")
      yield* replays(scenario, original, 1, owner.attempt(notes("b", 2)))
    })
  ),

  make("replay: the order of keys makes no other batch", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const original = yield* owner.append(batch("b", note({ a: 1, b: { c: 2, d: 3 } })))
      yield* replays(scenario, original, 1, owner.attempt(batch("b", note({ b: { d: 3, c: 2 }, a: 1 }))))
    })
  ),

  make("replay: a property that is undefined is an absent one", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const original = yield* owner.append(batch("b", note({ a: 1, b: undefined, zero: -0 })))
      yield* replays(scenario, original, 1, owner.attempt(batch("b", note({ a: 1, zero: 0 }))))
    })
  ),

  make("replay: sixteen attempts at once write once", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const attempts = Array.from({ length: 16 }, () => owner.attempt(notes("b", 2)))
      const answers = yield* Effect.all(attempts, { concurrency: "unbounded" })
      yield* equal("how many have written", answers.filter(({ replayed }) => !replayed).length, 1)
      for (const { tail } of answers) yield* equal("the tail", tail, yield* scenario.tail())
      yield* equal("the number of records", (yield* scenario.log()).length, 3)
    })
  ),

  make("replay: another payload under a known id is a conflict", (scenario) =>
    conflicts(scenario, batch("b", note("one"), note("TWO")))
  ),

  make("replay: one record more under a known id is a conflict", (scenario) =>
    conflicts(scenario, batch("b", note("one"), note("two"), note("three")))
  ),

  make("replay: one record less under a known id is a conflict", (scenario) =>
    conflicts(scenario, batch("b", note("one")))
  ),

  make("replay: another order under a known id is a conflict", (scenario) =>
    conflicts(scenario, withIds(batch("b", note("two"), note("one")), "b/1", "b/0"))
  ),

  make("replay: another record id under a known id is a conflict", (scenario) =>
    conflicts(scenario, withIds(batch("b", note("one"), note("two")), "b/0", "b/2"))
  )
]
