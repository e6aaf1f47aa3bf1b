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

  it("keeps the ids of lines, from which branches can be told; they are no repairs", () => {
    const conversion = S.convert(
      S.pi(
        S.piEntry("1", null, S.piUser("a")),
        S.piEntry("2", "1", S.piSays([{ type: "toolCall", id: "x", name: "look", arguments: {} }])),
        S.piEntry("3", "2", S.piResult("x", []))
      )
    )
    assert.deepStrictEqual(S.repairs(conversion), {})
    assert.deepStrictEqual(S.tags(conversion), [
      "ConversationCreated",
      "RunStarted",
      "InputRecorded",
      "Custom pi.line",
      "ModelResponded",
      "Custom pi.line",
      "ToolCallSettled",
      "RunEnded",
      "Custom pi.line"
    ])
    assert.deepStrictEqual(
      S.all(conversion, "Custom").map(({ data }) => data),
      [
        { id: "1", parentId: null },
        { id: "2", parentId: "1" },
        { id: "3", parentId: "2" }
      ]
    )
  })

  it("keeps what it does not read of a line or a message as a note", () => {
    const text = [{ type: "text", text: "a" }]
    const usage = { input: 1, output: 2, totalTokens: 3, reasoningTokens: 9, cost: { total: 1 } }
    const line = { type: "message", message: S.piUser("a"), timestamp: "2025-01-01T00:00:00.000Z" }
    const cases: ReadonlyArray<readonly [entry: S.Json, kept: S.Json]> = [
      [
        { ...line, id: 7, mood: "good" },
        { id: 7, mood: "good" }
      ],
      [{ ...line, timestamp: "yesterday" }, { timestamp: "yesterday" }],
      [{ ...line, timestamp: 1e300 }, { timestamp: 1e300 }],
      [
        { ...S.piUser("a"), timestamp: 1e300, name: "n" },
        { timestamp: 1e300, name: "n" }
      ],
      [S.piSays(text, { stopReason: "eos" }), { stopReason: "eos" }],
      [S.piSays(text, { errorMessage: "odd" }), { errorMessage: "odd" }],
      [S.piSays(text, { usage }), { usage: { reasoningTokens: 9 } }],
      [S.piSays(text, { usage: { input: 1, totalTokens: 7 } }), { usage: { totalTokens: 7 } }],
      [S.piSays(text, { model: 5 }), { model: 5 }]
    ]
    for (const [entry, data] of cases) {
      const notes = S.pi(entry).items.slice(1)
      assert.deepStrictEqual(
        notes.map((item) => (item._tag === "Note" ? [item.name, item.data] : item)),
        [["import.unknown-field", data]],
        JSON.stringify(entry)
      )
    }
    const [result] = S.pi(S.piResult("x", [], { isError: "yes", toolName: 5 })).items
    assert.deepInclude(result, { isFailure: false, result: { content: [], isError: "yes", toolName: 5 } })
  })

  it("keeps an id of the session that is no text as metadata", () => {
    const { id, metadata } = PiSession.parse([{ line: 1, value: { type: "session", id: 7, cwd: "/x" } }])
    assert.deepStrictEqual({ id, metadata }, { id: undefined, metadata: { id: 7, cwd: "/x" } })
  })
})
