import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Lines from "../../src/import/Lines.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

const read = (...chunks: ReadonlyArray<Uint8Array>) => Stream.runCollect(Lines.fromBytes(Stream.fromIterable(chunks)))

describe("Lines", () => {
  it.effect("cuts at line ends wherever the chunks end, between the bytes of a character too", () =>
    Effect.gen(function* () {
      const whole = bytes("\ufeffone\r\n\nthrée 🙂\nlast")
      for (let cut = 0; cut <= whole.length; cut++) {
        assert.deepStrictEqual(yield* read(whole.subarray(0, cut), whole.subarray(cut)), [
          { number: 1, text: "one" },
          { number: 2, text: "" },
          { number: 3, text: "thrée 🙂" },
          { number: 4, text: "last" }
        ])
      }
    })
  )

  it.effect("gives nothing for nothing, and nothing behind the last line end", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read(), [])
      assert.deepStrictEqual(yield* read(bytes("a\n")), [{ number: 1, text: "a" }])
    })
  )

  it.effect("says where bytes are no UTF-8", () =>
    Effect.gen(function* () {
      const fault = (line: ReadonlyArray<number>) =>
        Effect.flip(read(bytes("ok\n"), Uint8Array.from(line), bytes("\nok")))
      assert.deepStrictEqual(yield* fault([0x61, 0x62, 0xff, 0x63]), { number: 2, byte: 3, reason: "not-utf8" })
      assert.deepStrictEqual(yield* fault([0x61, 0xe2, 0x82, 0x28]), { number: 2, byte: 2, reason: "not-utf8" })
      // Half a character at the end of the line.
      assert.deepStrictEqual(yield* fault([0x61, 0xf0, 0x9f, 0x99]), { number: 2, byte: 2, reason: "not-utf8" })
      // A surrogate is no character: https://www.rfc-editor.org/rfc/rfc3629#section-3
      assert.deepStrictEqual(yield* fault([0xed, 0xa0, 0x80]), { number: 2, byte: 1, reason: "not-utf8" })
    })
  )
})
