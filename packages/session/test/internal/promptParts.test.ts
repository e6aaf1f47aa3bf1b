import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Parts from "../../src/internal/promptParts.ts"

const options = { openai: { itemId: "item" } }

describe("parts and messages are those that Effect makes", () => {
  it("with options, and without", () => {
    const words = { text: "words" }
    const call = { id: "c", name: "look", params: { at: 1 }, providerExecuted: false }
    const result = {
      id: "c",
      name: "look",
      isFailure: false,
      result: [1],
      modelOutput: undefined,
      providerExecuted: true
    }
    assert.deepStrictEqual(Parts.text(words), Prompt.makePart("text", words))
    assert.deepStrictEqual(Parts.text({ ...words, options }), Prompt.makePart("text", { ...words, options }))
    assert.deepStrictEqual(Parts.reasoning(words), Prompt.makePart("reasoning", words))
    assert.deepStrictEqual(Parts.toolCall(call), Prompt.makePart("tool-call", call))
    assert.deepStrictEqual(Parts.toolResult(result), Prompt.makePart("tool-result", result))
    const content = [Parts.text(words)]
    assert.deepStrictEqual(Parts.system("words"), Prompt.makeMessage("system", { content: "words" }))
    assert.deepStrictEqual(Parts.user(content), Prompt.makeMessage("user", { content }))
    assert.deepStrictEqual(Parts.user(content, options), Prompt.makeMessage("user", { content, options }))
    assert.deepStrictEqual(Parts.assistant(content), Prompt.makeMessage("assistant", { content }))
    const results = [Parts.toolResult(result)]
    assert.deepStrictEqual(Parts.tool(results), Prompt.makeMessage("tool", { content: results }))
  })

  it("from stored parts, whatever else they have", () => {
    const stored = { type: "text", text: "words", extra: true } as const
    assert.deepStrictEqual(Parts.text(stored), Prompt.makePart("text", stored))
    assert.isTrue(Prompt.isPart(Parts.text(stored)))
    assert.isTrue(Prompt.isMessage(Parts.user([Parts.text(stored)])))
  })
})
