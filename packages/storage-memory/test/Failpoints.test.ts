import { assert, describe, it } from "@effect/vitest"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { Failpoints, failpoints, settingsFailpoints } from "@colloquy/store/Failpoints"
import { failpointCases, settingsFailpointCases } from "@colloquy/store/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** One database, however often the store is opened. */
const durable = () => MemoryStorage.layerWith({ database: MemoryDatabase.make() })

describe("a store in memory that dies", () => {
  it("does so at every failpoint", () => {
    assert.deepStrictEqual(
      failpointCases.map(({ name }) => name),
      failpoints.map((point) => `failpoint: ${point}`)
    )
    assert.deepStrictEqual(
      settingsFailpointCases.map(({ name }) => name),
      settingsFailpoints.map((point) => `failpoint: ${point}`)
    )
  })

  for (const { name, run } of failpointCases) it.live(name, () => run(durable()), 60_000)

  for (const { name, run } of settingsFailpointCases) it.live(name, () => run(durable()))
})

const oneOf = (point: string) => failpointCases.filter(({ name }) => name === `failpoint: ${point}`)

describe("the failpoint cases", () => {
  for (const { name, run } of oneOf("append.before")) {
    it.live("find that a point is never reached", () =>
      Effect.gen(function* () {
        const deaf = Layer.provide(durable(), Layer.succeed(Failpoints, undefined))
        const violation = yield* Effect.flip(run(deaf))
        assert.strictEqual(violation.caseName, name)
        assert.include(violation.expected, "append.before is reached")
      })
    )
  }

  for (const { name, run } of oneOf("append.after")) {
    it.live("find a store that forgets what it has acknowledged", () =>
      Effect.gen(function* () {
        const violation = yield* Effect.flip(run(MemoryStorage.layer))
        assert.strictEqual(violation.caseName, name)
      })
    )
  }

  for (const { name, run } of settingsFailpointCases) {
    it.live(`find a store without them, or one that forgets: ${name}`, () =>
      Effect.gen(function* () {
        const deaf = Layer.provide(durable(), Layer.succeed(Failpoints, undefined))
        for (const storage of [deaf, MemoryStorage.layer]) {
          const violation = yield* Effect.flip(run(storage))
          assert.strictEqual(violation.caseName, name)
        }
      })
    )
  }
})
