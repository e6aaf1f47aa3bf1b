import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as DerivedId from "../src/DerivedId.ts"
import * as Ids from "../src/Ids.ts"
import { byteLength } from "../src/Text.ts"
import { Random, runs, Seed } from "./random.ts"

const isId = Schema.is(Ids.ConversationId)

const parts = (random: Random): [string, ...Array<string>] => {
  const part = () => {
    const piece = random.array(3, () => random.pick(["a", "/", "~", "0", "1", "2", "~2", "中"])).join("")
    return random.chance(0.1) ? piece.repeat(random.int(100, 300)) : piece
  }
  return [part(), ...random.array(3, part)]
}

describe("a derived id", () => {
  it("joins its parts, and escapes the separator inside them", () => {
    assert.strictEqual(DerivedId.derive("run-1", "step", "2"), "run-1/step/2")
    assert.strictEqual(DerivedId.derive("a/b", "c~d", "~1"), "a~1b/c~0d/~01")
    assert.strictEqual(DerivedId.derive("a", "", "b"), "a//b")
  })

  it("stays within the bound, and keeps its beginning", () => {
    const exact = DerivedId.derive("a".repeat(510), "b")
    assert.strictEqual(exact, `${"a".repeat(510)}/b`)
    const long = DerivedId.derive("a".repeat(511), "b")
    assert.strictEqual(byteLength(long), 512)
    assert.match(long, /^a{446}~2[0-9a-f]{64}$/)
    assert.isTrue(isId(DerivedId.derive("\u{1f600}".repeat(200), "b")))
  })

  it.effect.prop(
    "is one for one tuple",
    [Seed],
    ([{ seed }]) =>
      Effect.sync(() => {
        const random = new Random(seed)
        const tuples = new Map<string, string>()
        for (let i = 0; i < 400; i++) {
          const tuple = parts(random)
          const id = DerivedId.derive(...tuple)
          const written = JSON.stringify(tuple)
          assert.strictEqual(tuples.get(id) ?? written, written, id)
          assert.strictEqual(DerivedId.derive(...tuple), id)
          tuples.set(id, written)
        }
      }),
    runs(100)
  )

  it.effect.prop(
    "is an id when its parts are",
    [Seed],
    ([{ seed }]) =>
      Effect.sync(() => {
        const random = new Random(seed)
        for (let i = 0; i < 50; i++) {
          const [first, ...rest] = parts(random).map((part) => (part === "" ? "x" : part))
          const id = DerivedId.derive(first ?? "x", ...rest)
          assert.isUndefined(Ids.idFault(id), id)
        }
      }),
    runs(50)
  )
})
