import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Text from "../src/Text.ts"
import { Random, runs, Seed } from "./random.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe("cut", () => {
  it.each(["\u{1f600}", "a\u{1f600}b\u{1f468}\u200d\u{1f469}c", "中文字", "é", "plain", ""])(
    "falls between code points at every offset of %s",
    (text) => {
      const whole = bytesOf(text)
      for (let bytes = 0; bytes <= whole.length + 3; bytes++) {
        const shown = Text.cut(text, bytes)
        assert.isTrue(shown.isWellFormed())
        assert.isTrue(text.startsWith(shown))
        assert.isAtMost(bytesOf(shown).length, bytes)
        // The longest such beginning: one more code point would be too much.
        const next = [...text][[...shown].length]
        if (next !== undefined) assert.isAbove(bytesOf(shown + next).length, bytes)
        else assert.strictEqual(shown, text)
      }
    }
  )

  it.effect.prop(
    "never splits a code point, and keeps as much as fits",
    [Seed],
    ([{ seed, size }]) =>
      Effect.sync(() => {
        const random = new Random(seed)
        const text = random.text(size)
        const bytes = random.int(0, Text.byteLength(text) + 2)
        const shown = Text.cut(text, bytes)
        const points = [...text]
        assert.deepStrictEqual([...shown], points.slice(0, [...shown].length))
        assert.isAtMost(Text.byteLength(shown), bytes)
        const next = points[[...shown].length]
        if (next !== undefined) assert.isAbove(Text.byteLength(shown + next), bytes)
      }),
    runs(300)
  )
})

describe("byteLength", () => {
  it("counts UTF-8 bytes", () => {
    for (const text of ["", "a", "é", "中", "\u{1f600}", "a\u0000"]) {
      assert.strictEqual(Text.byteLength(text), bytesOf(text).length)
    }
  })
})
