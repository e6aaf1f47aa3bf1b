import { assert, describe, it } from "@effect/vitest"
import * as PiSession from "../../src/import/PiSession.ts"
import * as S from "./samples.ts"

describe("PiSession", () => {
  it("keeps the session's fields as metadata, and its times in UTC", () => {
    const transcript = S.pi(S.piUser("hi"))
    assert.strictEqual(transcript.id, "s")
    assert.deepStrictEqual(transcript.metadata, { timestamp: "2025-01-01T00:00:00.000Z", cwd: "/tmp/x" })
    const [created, run] = S.convert(transcript).batches
    assert.strictEqual(created?.records[0]?.at, Date.UTC(2025, 0, 1, 0, 0, 0))
    assert.strictEqual(run?.records[0]?.at, Date.UTC(2025, 0, 1, 0, 0, 1))
  })

  it("reads a session without its first line", () => {
    const [value] = S.piLines(S.piUser("hi"))
    const transcript = PiSession.parse([{ line: 1, value }])
    assert.isUndefined(transcript.id)
    assert.strictEqual(transcript.items.length, 1)
  })

  it("keeps thinking with its signature under the provider that signed it", () => {
    const thinking = { type: "thinking", thinking: "hm", thinkingSignature: "sig" }
    const redacted = { type: "thinking", thinking: "", thinkingSignature: "blob", redacted: true }
    const other = { api: "openai-responses", provider: "openai" }
    const [first, second] = S.pi(S.piSays([thinking, redacted]), S.piSays([thinking], other)).items
    assert.deepInclude(first, {
      content: [
        { type: "reasoning", text: "hm", options: { anthropic: { signature: "sig" } } },
        { type: "reasoning", text: "", options: { anthropic: { redactedData: "blob" } } }
      ]
    })
    assert.deepInclude(second, {
      content: [{ type: "reasoning", text: "hm", options: { openai: { signature: "sig" } } }]
    })
  })

  it("carries provider, model, usage, finish reason and response id", () => {
    const [item] = S.pi(S.piSays([{ type: "text", text: "x" }], { stopReason: "toolUse", responseId: "r" })).items
    assert.deepInclude(item, {
      provider: "anthropic",
      model: "m-1",
      finishReason: "tool-calls",
      responseId: "r",
      end: "complete"
    })
  })

  it("keeps a result whole and shows the model its text and images", () => {
    const content = [
      { type: "text", text: "a" },
      { type: "image", data: "AAAA", mimeType: "image/png" }
    ]
    const [item] = S.pi(S.piResult("x", content, { details: { diff: "+" }, isError: true })).items
    assert.deepInclude(item, {
      callId: "x",
      isFailure: true,
      result: { content, details: { diff: "+" } },
      modelOutput: [
        { type: "text", text: "a" },
        { type: "file", mediaType: "image/png", data: "AAAA" }
      ]
    })
  })

  it("shows the model a placeholder for a result that says nothing", () => {
    const [item] = S.pi(S.piResult("x", [{ type: "text", text: "" }])).items
    assert.deepInclude(item, {
      result: { content: [{ type: "text", text: "" }] },
      modelOutput: [{ type: "text", text: "(empty)" }]
    })
  })
})
