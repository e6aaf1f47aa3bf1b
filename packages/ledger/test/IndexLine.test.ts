import { assert, describe, it } from "@effect/vitest"
import { Value } from "../src/LedgerEntry.ts"
import * as IndexLine from "../src/IndexLine.ts"
import { call, entry } from "./given.ts"

describe("the line of a turn", () => {
  it("says when, which, whether it replied, how it ended, and what it wrote", () => {
    const turn = entry(1, {
      delivery: "unsent",
      decision: "failed",
      blockedOn: "Why?",
      calls: [
        call("look", { issue: "POC-9" }, { readOnly: true }),
        call("comment", { body: "It is on its way now", issue: "POC-1", tags: ["urgent", "v2"], count: 3 }),
        call("pay", { order: "A-1042" }, { outcome: "error", error: Value.cases.Whole.make({ text: "no" }) }),
        call("post", {}, { arguments: [{ name: "id", value: Value.cases.Condensed.make({ text: "POC-8" }) }] })
      ]
    })
    assert.strictEqual(
      IndexLine.render(turn),
      "- 2026-03-02T10:15:04Z (turn a1b2c3d1): did NOT reply; ended failed; blocked; called comment(POC-1, v2, 3), pay(A-1042) → error, post()"
    )
    assert.deepStrictEqual(IndexLine.identifiers([turn]), ["a1b2c3d1", "POC-1", "v2", "3", "A-1042"])
  })

  it("names nothing that another text could be taken for", () => {
    const turn = entry(1, { calls: [call("a name\n- x", { a: "b\nc-1", d: "x".repeat(65), e: "two words 1", f: "" })] })
    assert.strictEqual(
      IndexLine.render(turn),
      '- 2026-03-02T10:15:04Z (turn a1b2c3d1): replied; called "a name\\n- x"()'
    )
  })
})

describe("an identifier", () => {
  it.each([
    ["POC-7", "see POC-7.", true],
    ["POC-7", "(POC-7)", true],
    ["POC-7", "POC-77 and XPOC-7", false],
    ["POC-7", "POC-7-b and a/POC-7", false],
    ["3", "in 3 days", true],
    ["3", "13, 30 and 3.5", false],
    ["acme/api#42", "acme/api#42, then", true],
    ["acme/api#42", "acme/api#421", false],
    ["POC-7", "", false]
  ])("%s is named by %j: %s", (identifier, text, named) => {
    assert.deepStrictEqual(IndexLine.missing(text, [identifier]), named ? [] : [identifier])
  })
})
