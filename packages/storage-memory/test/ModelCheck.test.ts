import { assert, describe, it } from "@effect/vitest"
import { MemoryDatabase, MemoryDriver, MemoryStorage } from "@colloquy/storage-memory"
import { type Commit, ConversationDriver } from "@colloquy/store/ConversationDriver"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import { modelCheck } from "@colloquy/store/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

type Driver = ConversationDriver["Service"]

const over = (breakIt: (driver: Driver) => Partial<Driver>) =>
  ConversationStore.layer().pipe(
    Layer.provide(
      Layer.sync(ConversationDriver, () => {
        const driver = MemoryDriver.make(MemoryDatabase.make())
        return { ...driver, ...breakIt(driver) }
      })
    )
  )

/** Takes a commit that was meant for another end of the log, and moves its rows there. */
const withoutTailCheck = over((driver) => ({
  commit: (commit) =>
    Effect.flatMap(driver.head(commit.conversationId), (head) => {
      if (commit.guard === "absent" || Option.isNone(head)) return driver.commit(commit)
      const { sequence, tail } = head.value
      const shift = sequence - (commit.guard.sequence ?? sequence)
      return driver.commit({
        ...commit,
        guard: { ...commit.guard, sequence, tail },
        head: { ...commit.head, sequence: (commit.head.sequence ?? sequence) + shift },
        batches: (commit.batches ?? []).map((row) => ({ ...row, first: row.first + shift, last: row.last + shift })),
        records: (commit.records ?? []).map((row) => ({ ...row, sequence: row.sequence + shift }))
      })
    })
}))

const withoutEpochCheck = over((driver) => ({
  commit: (commit: Commit) => {
    if (commit.guard === "absent") return driver.commit(commit)
    const { epoch: _, ...guard } = commit.guard
    return driver.commit({ ...commit, guard })
  }
}))

describe("the model check", () => {
  it.live(
    "finds nothing wrong with memory",
    () => Effect.provide(modelCheck({ seed: 1, runs: 300, commands: 40 }), MemoryStorage.layer),
    60_000
  )

  it.live(
    "says the seed and the shortest sequence when a stale tail is accepted",
    () =>
      Effect.gen(function* () {
        const violation = yield* Effect.flip(modelCheck({ seed: 1, runs: 50, commands: 40 }))
        assert.include(violation.message, "seed 1, run ")
        assert.include(violation.expected, "AppendConflict")
        assert.include(violation.found, "1. materialize ")
        assert.match(violation.found, /append [^\n]+$/)
        assert.isAtMost(violation.found.split("\n    ").length, 2 + 4)
      }).pipe(Effect.provide(withoutTailCheck)),
    60_000
  )

  it.live(
    "finds that the epoch is not checked",
    () =>
      Effect.gen(function* () {
        const violation = yield* Effect.flip(modelCheck({ seed: 1, runs: 50, commands: 40 }))
        assert.include(violation.expected, "FenceRejected")
        assert.isAtMost(violation.found.split("\n    ").length, 2 + 4)
      }).pipe(Effect.provide(withoutEpochCheck)),
    60_000
  )

  it.live(
    "tells the same failure every time",
    () =>
      Effect.gen(function* () {
        const check = Effect.flip(modelCheck({ seed: 7, runs: 50, commands: 40 }))
        const one = yield* Effect.provide(check, Layer.fresh(withoutTailCheck))
        const other = yield* Effect.provide(check, Layer.fresh(withoutTailCheck))
        assert.strictEqual(one.message, other.message)
      }),
    60_000
  )
})
