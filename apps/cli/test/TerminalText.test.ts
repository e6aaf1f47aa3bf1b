import { assert, describe, it } from "@effect/vitest"
import { oneLine, shorten, table, timeText, visible } from "../src/TerminalText.ts"

describe("timeText", () => {
  it("is UTC to the second, and the number itself where no calendar reaches", () => {
    assert.strictEqual(timeText(Date.UTC(2025, 0, 2, 3, 4, 5, 678)), "2025-01-02 03:04:05")
    assert.strictEqual(timeText(9e15), "9000000000000000")
  })
})

describe("TerminalText", () => {
  it("shows control characters and escapes as what they are", () => {
    assert.strictEqual(visible("a\u001b[31mred\u001b[0m\u0007\r!"), "a\\x1b[31mred\\x1b[0m\\x07\\x0d!")
    assert.strictEqual(visible("\u009b2J\u007f"), "\\x9b2J\\x7f")
  })

  it("shows characters that reorder or hide text", () => {
    assert.strictEqual(visible("\u202eevil\u2066\u2028"), "\\u{202e}evil\\u{2066}\\u{2028}")
    assert.strictEqual(visible("a\u{e0041}"), "a\\u{e0041}")
  })

  it("keeps line breaks, tabs, accents and emoji", () => {
    const text = "é\t👩‍🚀\nнет"
    assert.strictEqual(visible(text), text)
    assert.strictEqual(visible("a\r\nb"), "a\nb")
    assert.strictEqual(oneLine(" a\n\n b "), "a b")
  })

  it("cuts between code points and counts the rest", () => {
    assert.strictEqual(shorten("🙂🙂🙂", 2), "🙂🙂… (1 more)")
    assert.strictEqual(shorten("🙂🙂🙂", 3), "🙂🙂🙂")
  })

  it("sets rows in columns", () => {
    assert.deepStrictEqual(
      table(
        ["name", "n"],
        [
          ["a", 10],
          ["long name", 5]
        ]
      ),
      ["name       n", "a          10", "long name   5"]
    )
  })
})
