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
})
