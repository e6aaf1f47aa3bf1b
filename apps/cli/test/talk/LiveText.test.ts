import { RunEvent } from "@colloquy/capabilities/RunEvent"
import { assert, describe, it } from "@effect/vitest"
import { LiveText } from "../../src/talk/LiveText.ts"
import { plain } from "../../src/TerminalText.ts"

const show = (...deltas: ReadonlyArray<string>) => {
  const live = new LiveText(plain)
  let offset = 0
  const pieces = deltas.map((delta) => {
    const piece = live.show(RunEvent.TextDelta({ step: 1, offset, delta }))
    offset += delta.length
    return piece
  })
  return [...pieces, live.close()]
}

describe("text that appears piece by piece", () => {
  it("is what it is as a whole, wherever it is cut", () => {
    const text = "a 😀 b\r\nc\u001b[2Jd"
    const whole = show(text).join("")
    for (let cut = 0; cut <= text.length; cut++) {
      assert.strictEqual(show(text.slice(0, cut), text.slice(cut)).join(""), whole)
    }
    assert.strictEqual(whole, "a 😀 b\nc\\x1b[2Jd\n")
  })

  it("ends with a line end, once", () => {
    assert.deepStrictEqual(show("a", "b"), ["a", "b", "\n"])
    assert.deepStrictEqual(show(), [""])
  })

  it("says that what came of a step is void", () => {
    const live = new LiveText(plain)
    live.show(RunEvent.TextDelta({ step: 1, offset: 0, delta: "half" }))
    assert.strictEqual(live.show(RunEvent.Reset({ step: 1 })), "\n(that came to nothing; once more)\n")
    assert.strictEqual(live.show(RunEvent.Reset({ step: 1 })), "")
  })
})
