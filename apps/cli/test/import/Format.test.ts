import { assert, describe, it } from "@effect/vitest"
import { detect, layoutOf } from "../../src/import/Format.ts"

describe("detect", () => {
  it("tells the formats by the first line", () => {
    const header = { header: { format: "colloquy-conversation", version: 1 } }
    assert.deepStrictEqual(detect(header), { format: "archive", layout: "lines" })
    assert.deepStrictEqual(detect({ type: "session", id: "s" }), { format: "pi", layout: "lines" })
    assert.deepStrictEqual(detect({ type: "message", message: {} }), { format: "pi", layout: "lines" })
    assert.deepStrictEqual(detect({ id: "x", messages: [] }), { format: "openai", layout: "lines" })
    assert.deepStrictEqual(detect([{ role: "user", content: "x" }]), { format: "openai", layout: "document" })
    assert.deepStrictEqual(detect([{ messages: [] }]), { format: "openai", layout: "document" })
    assert.deepStrictEqual(detect({ role: "user", content: "x" }), { format: "openai", layout: "messages" })
    assert.deepStrictEqual(detect({ id: "m1", role: "user", parts: [] }), { format: "vercel", layout: "messages" })
    assert.deepStrictEqual(detect({ type: "human", content: "x" }), { format: "langchain", layout: "messages" })
    const state = { values: { messages: [{ type: "human", content: "x" }] }, next: [] }
    assert.deepStrictEqual(detect(state), { format: "langchain", layout: "lines" })
    assert.deepStrictEqual(detect([state]), { format: "langchain", layout: "document" })
    // A document over several lines: its first line is no JSON.
    assert.deepStrictEqual(detect(undefined), { format: "openai", layout: "document" })
  })

  it("knows nothing else", () => {
    for (const other of [null, 1, "x", {}, [], [1], { role: "user" }]) assert.isUndefined(detect(other))
  })

  it("leaves only the layout open where the format is named", () => {
    assert.deepStrictEqual(layoutOf("openai", { messages: [] }), { format: "openai", layout: "lines" })
    assert.deepStrictEqual(layoutOf("openai", undefined), { format: "openai", layout: "document" })
    assert.deepStrictEqual(layoutOf("openai", { role: "user" }), { format: "openai", layout: "messages" })
    assert.deepStrictEqual(layoutOf("pi", { type: "moon_phase" }), { format: "pi", layout: "lines" })
  })

  it("does not take what is plainly of another shape for the named one", () => {
    assert.isUndefined(layoutOf("pi", { messages: [] }))
    assert.isUndefined(layoutOf("pi", {}))
    assert.isUndefined(layoutOf("openai", { type: "session", id: "s" }))
    assert.isUndefined(layoutOf("openai", 42))
  })
})
