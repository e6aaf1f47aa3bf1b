import { assert, describe, it } from "@effect/vitest"
import * as OpenAiChat from "../../src/import/OpenAiChat.ts"
import * as S from "./samples.ts"

describe("OpenAiChat", () => {
  it("keeps id and title, and everything else of the conversation as metadata", () => {
    const { id, metadata, title } = OpenAiChat.parse({ id: 7, title: "T", messages: [], reward: 0.5, tools: null }, 3)
    assert.deepStrictEqual({ id, metadata, title }, { id: "7", title: "T", metadata: { reward: 0.5, tools: null } })
    assert.deepStrictEqual(OpenAiChat.parse({ id: { odd: true }, messages: [] }, 1).metadata, { id: { odd: true } })
  })

  it("reads what others have added to a response", () => {
    const [item] = OpenAiChat.parse(
      {
        model: "whole",
        messages: [
          {
            role: "assistant",
            content: "ok",
            reasoning_content: "hm",
            refusal: "no",
            id: "resp_1",
            finish_reason: "length",
            created: 1_700_000_000,
            usage: {
              prompt_tokens: 10,
              completion_tokens: 4,
              prompt_tokens_details: { cached_tokens: 3 },
              completion_tokens_details: { reasoning_tokens: 2 }
            }
          }
        ]
      },
      1
    ).items
    assert.deepInclude(item, {
      _tag: "Response",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "ok" },
        { type: "text", text: "no", options: { openai: { refusal: true } } }
      ],
      finishReason: "length",
      model: "whole",
      responseId: "resp_1",
      at: 1_700_000_000_000,
      usage: { inputTokens: { total: 10, cacheRead: 3 }, outputTokens: { total: 4, reasoning: 2 } }
    })
  })

  it("reads images, audio and files, and keeps fields that only the provider knows", () => {
    const [item] = S.chat(
      S.user([
        { type: "text", text: "see", cache: true },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
        { type: "image_url", image_url: { url: "https://example.org/a.png" } },
        { type: "input_audio", input_audio: { data: "BBBB", format: "wav" } },
        { type: "file", file: { file_data: "data:application/pdf;base64,CCCC", filename: "a.pdf" } }
      ])
    ).items
    assert.deepInclude(item, {
      content: [
        { type: "text", text: "see", options: { openai: { cache: true } } },
        { type: "file", mediaType: "image/png", data: "AAAA", options: { openai: { detail: "low" } } },
        { type: "file", mediaType: "image/*", data: { _tag: "URL", href: "https://example.org/a.png" } },
        { type: "file", mediaType: "audio/wav", data: "BBBB" },
        { type: "file", mediaType: "application/pdf", data: "CCCC", fileName: "a.pdf" }
      ]
    })
  })

  it("keeps a result of parts whole, and shows the model its text", () => {
    const parts = [{ type: "text", text: "a" }, { type: "odd" }]
    const [item] = S.chat(S.result("x", parts)).items
    assert.deepInclude(item, { result: parts, modelOutput: [{ type: "text", text: "a" }] })
    const [plain, none] = S.chat(S.result("x", "text"), S.result("x", null)).items
    assert.deepInclude(plain, { result: "text", modelOutput: undefined })
    assert.deepInclude(none, { result: null })
  })

  it("reads the older form of calls and results", () => {
    const conversion = S.convert(
      S.chat(
        S.user("go"),
        { role: "assistant", content: null, function_call: { name: "look", arguments: "{}" } },
        { role: "function", name: "look", content: "seen" }
      )
    )
    assert.deepStrictEqual(S.repairs(conversion), {})
    assert.deepStrictEqual(
      S.all(conversion, "ToolCallSettled").map(({ result }) => result),
      ["seen"]
    )
  })

  it("takes missing and empty arguments as none", () => {
    const [item] = S.chat({
      role: "assistant",
      tool_calls: [S.call("a", ""), S.call("b", null), S.call("c", { x: 1 })]
    }).items
    assert.deepStrictEqual(
      item?._tag === "Response" ? item.content.map((part) => (part.type === "tool-call" ? part.params : part)) : [],
      [{}, {}, { x: 1 }]
    )
  })

  it("keeps what it does not read of a message as a note", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, cost: 0.5, cache: null }
    const cases: ReadonlyArray<readonly [message: S.Json, kept: S.Json]> = [
      [S.says("a", { reasoning_content: "x", reasoning: "y" }), { reasoning: "y" }],
      [S.says("a", { usage }), { usage: { cost: 0.5 } }],
      [S.says("a", { usage: { prompt_tokens: -1 } }), { usage: { prompt_tokens: -1 } }],
      [S.says("a", { usage: { total_tokens: 7 } }), { usage: { total_tokens: 7 } }],
      [
        S.says("a", { usage: { prompt_tokens_details: { cached_tokens: 0, audio_tokens: 4 } } }),
        { usage: { prompt_tokens_details: { audio_tokens: 4 } } }
      ],
      [S.says("a", { usage: "much" }), { usage: "much" }],
      [S.says("a", { finish_reason: "eos" }), { finish_reason: "eos" }],
      [S.says("a", { finish_reason: "constructor" }), { finish_reason: "constructor" }],
      [S.says("a", { id: 7, model: [] }), { id: 7, model: [] }],
      [S.says("a", { refusal: { why: "x" } }), { refusal: { why: "x" } }],
      [{ ...S.user("a"), name: 5 }, { name: 5 }],
      [{ ...S.user("a"), timestamp: "yesterday" }, { timestamp: "yesterday" }],
      [{ ...S.user("a"), timestamp: 1e300 }, { timestamp: 1e300 }],
      [{ ...S.user("a"), timestamp: -5 }, { timestamp: -5 }],
      [{ ...S.result("x"), tool_call_id: 5 }, { tool_call_id: 5 }],
      [{ ...S.system("a"), name: "s" }, { name: "s" }]
    ]
    for (const [message, data] of cases) {
      const notes = S.chat(message).items.slice(1)
      assert.deepStrictEqual(
        notes.map((item) => (item._tag === "Note" ? [item.name, item.data] : item)),
        [["import.unknown-field", data]],
        JSON.stringify(message)
      )
    }
  })

  it("makes no note of what it has read", () => {
    const message = S.says("a", {
      reasoning_content: "",
      reasoning: "x",
      refusal: null,
      finish_reason: "stop",
      usage: { prompt_tokens: 1, total_tokens: 1, prompt_tokens_details: { cached_tokens: 1 } }
    })
    const [response, ...notes] = S.chat({ ...message, timestamp: "2025-01-01T00:00:00Z" }).items
    assert.deepStrictEqual(notes, [])
    assert.deepInclude(response, { at: Date.UTC(2025, 0, 1), finishReason: "stop" })
  })

  it("takes the first time that can be read, and keeps the others", () => {
    const [item, note] = S.chat({ ...S.user("a"), timestamp: "odd", created_at: 1_700_000_000 }).items
    assert.strictEqual(item?.at, 1_700_000_000_000)
    assert.deepInclude(note, { data: { timestamp: "odd" } })
  })

  it("keeps what it does not read of a call in its options", () => {
    const called = { name: "look", arguments: "{}", strict: true }
    const [item] = S.chat({ role: "assistant", tool_calls: [{ id: 7, type: "odd", index: 0, function: called }] }).items
    assert.deepInclude(item, {
      content: [
        {
          type: "tool-call",
          id: "",
          name: "look",
          params: {},
          options: { openai: { id: 7, type: "odd", function: { strict: true } } }
        }
      ]
    })
  })

  it("keeps what it does not read of a part in its options", () => {
    const [item] = S.chat(
      S.user([
        { type: "image_url", image_url: { url: "https://example.org/a.png", detail: "low", alt: "a" }, cache: 1 },
        { type: "input_audio", input_audio: { data: "BBBB", format: "wav", id: "au" } },
        { type: "file", file: { file_data: "data:application/pdf;base64,CCCC", file_id: "f" } }
      ])
    ).items
    assert.deepStrictEqual(item?._tag === "Input" ? item.content.map(({ options }) => options) : [], [
      { openai: { image_url: { alt: "a" }, cache: 1, detail: "low" } },
      { openai: { input_audio: { id: "au" } } },
      { openai: { file: { file_id: "f" } } }
    ])
  })
})
