import { Failpoints } from "@colloquy/ledger"
import { ledgerFailpointCases } from "@colloquy/ledger/testing"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** One database, however often the store is opened. */
const durable = () => MemoryStorage.layerWith({ database: MemoryDatabase.make() })

describe("a store of ledgers that dies", () => {
  it("does so at every failpoint", () => {
    assert.deepStrictEqual(
      ledgerFailpointCases.map(({ point }) => point),
      Failpoints.failpoints
    )
  })

  for (const { name, run } of ledgerFailpointCases) it.live(name, () => run(durable()))
})

describe("the failpoint cases of ledgers", () => {
  for (const { name, point, run } of ledgerFailpointCases) {
    it.live(`find that ${point} is never reached`, () =>
      Effect.gen(function* () {
        const deaf = Layer.provide(durable(), Layer.succeed(Failpoints.Failpoints, undefined))
        const violation = yield* Effect.flip(run(deaf))
        assert.strictEqual(violation.caseName, name)
        assert.include(violation.expected, `${point} is reached`)
      })
    )
  }

  it.live("find a store that forgets what it has acknowledged", () =>
    Effect.forEach(
      ledgerFailpointCases.filter(({ point }) => point === "update.after" || point === "begin.after"),
      ({ name, run }) =>
        Effect.map(Effect.flip(run(MemoryStorage.layer)), ({ caseName }) => assert.strictEqual(caseName, name))
    )
  )
})
