import type { LanguageModelV4Content, LanguageModelV4Message, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { AiSdkModel, ContextOverflow, type CallSettings } from "@colloquy/ai-sdk"
import { assert, describe, expect, it } from "@effect/vitest"
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Model from "effect/ai/Model"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as FakeModel from "./FakeModel.ts"
import { callsOf, collect, finishOf } from "./providers.ts"

const deferred = { disableToolCallResolution: true, toolCallValidation: "deferred" } as const

const webSearch = Tool.providerDefined({
  id: "anthropic.web_search_20250305",
  customName: "WebSearch",
  providerName: "web_search",
  args: Schema.Struct({ maxUses: Schema.optionalKey(Schema.Int) }),
  parameters: Schema.Struct({ query: Schema.String }),
  success: Schema.Json
})({ maxUses: 3 })

const custom = Tool.providerDefined({
  id: "openai.custom",
  customName: "Sql",
  providerName: "sql",
  parameters: Schema.String,
  requiresHandler: true
})({ failureMode: "return" })

const toolkit = Toolkit.make(webSearch, custom, Tool.make("Note", { parameters: Schema.Struct({ n: Schema.Int }) }))

const tools = Effect.provide(toolkit, toolkit.toLayer({ Sql: () => Effect.void, Note: () => Effect.void }))

const codec = Schema.fromJsonString(Prompt.Prompt)

/** What the model said, as a prompt that has been stored and read again. */
const stored = (parts: ReadonlyArray<Response.AnyPart>) =>
  Schema.encodeEffect(codec)(Prompt.fromResponseParts(parts)).pipe(Effect.flatMap(Schema.decodeEffect(codec)))

const generated = Effect.fnUntraced(function* (content: ReadonlyArray<LanguageModelV4Content>) {
  const model = yield* AiSdkModel.make(FakeModel.make({ content }))
  const response = yield* model.generateText({ prompt: "?", toolkit: yield* tools, ...deferred })
  const parts: ReadonlyArray<Response.AnyPart> = response.content
  return parts
})

const streamed = Effect.fnUntraced(function* (parts: ReadonlyArray<LanguageModelV4StreamPart>) {
  const model = yield* AiSdkModel.make(FakeModel.make({ parts }))
  const result = yield* collect(model.streamText({ prompt: "?", toolkit: yield* tools, ...deferred }))
  const seen: ReadonlyArray<Response.AnyPart> = result.parts
  return { ...result, parts: seen }
})

/** What is sent for a prompt. */
const sent = Effect.fnUntraced(function* (prompt: Prompt.RawInput, options?: AiSdkModel.Options) {
  const fake = FakeModel.make({})
  const model = yield* AiSdkModel.make(fake, options)
  yield* model.generateText({ prompt, toolkit: yield* tools, ...deferred })
  return fake.calls[0]
})

describe("what Effect has no part for", () => {
  const opaque = { openai: { itemId: "cmp_1", encryptedContent: "ZW5j" } }
  const content: ReadonlyArray<LanguageModelV4Content> = [
    { type: "custom", kind: "openai.compaction", providerMetadata: opaque },
    { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
    { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://x.example/a.png") } },
    { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2, 3]) } },
    {
      type: "tool-call",
      toolCallId: "m1",
      toolName: "mcp.lookup",
      input: `{"q":1}`,
      providerExecuted: true,
      dynamic: true,
      providerMetadata: { openai: { itemId: "mcp_1" } }
    },
    { type: "tool-result", toolCallId: "m1", toolName: "mcp.lookup", result: { hits: [1] }, dynamic: true },
    { type: "tool-result", toolCallId: "m2", toolName: "mcp.lookup", result: { code: "gone" }, isError: true },
    { type: "text", text: "Found." }
  ]
  const back: Extract<LanguageModelV4Message, { role: "assistant" }>["content"] = [
    { type: "custom", kind: "openai.compaction", providerOptions: opaque },
    { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
    {
      type: "file",
      mediaType: "image/png",
      data: { type: "url", url: new URL("https://x.example/a.png"), originalUrl: "https://x.example/a.png" }
    },
    { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
    {
      type: "tool-call",
      toolCallId: "m1",
      toolName: "mcp.lookup",
      input: { q: 1 },
      providerExecuted: true,
      providerOptions: { openai: { itemId: "mcp_1" } }
    },
    {
      type: "tool-result",
      toolCallId: "m1",
      toolName: "mcp.lookup",
      output: { type: "json", value: { hits: [1] } }
    },
    {
      type: "tool-result",
      toolCallId: "m2",
      toolName: "mcp.lookup",
      output: { type: "error-json", value: { code: "gone" } }
    },
    { type: "text", text: "Found." }
  ]

  it.effect("comes back as it was said", () =>
    Effect.gen(function* () {
      const call = yield* sent(yield* stored(yield* generated(content)))
      assert.deepEqual(call?.prompt, [{ role: "assistant", content: back }])
    })
  )

  it.effect("comes back as it was streamed", () =>
    Effect.gen(function* () {
      const parts = content.flatMap((part): Array<LanguageModelV4StreamPart> =>
        part.type === "text"
          ? [
              { type: "text-start", id: "t" },
              { type: "text-delta", id: "t", delta: part.text },
              { type: "text-end", id: "t" }
            ]
          : part.type === "reasoning"
            ? []
            : [part]
      )
      const { error, parts: seen } = yield* streamed([...parts, FakeModel.finish])
      assert.isUndefined(error)
      const call = yield* sent(yield* stored(seen))
      assert.deepEqual(call?.prompt, [{ role: "assistant", content: back }])
    })
  )

  it.effect("is told of the response where it is about the response", () =>
    Effect.gen(function* () {
      const { parts } = yield* streamed([
        { type: "stream-start", warnings: [{ type: "unsupported", feature: "seed" }] },
        { type: "custom", kind: "anthropic.message_start", providerMetadata: { anthropic: { id: "msg_1" } } },
        { type: "ping" },
        { type: "raw", rawValue: {} },
        FakeModel.finish
      ])
      assert.deepEqual(
        parts.map(({ type }) => type),
        ["response-metadata", "finish"]
      )
      assert.deepEqual(parts[0]?.metadata, { anthropic: { id: "msg_1" } })
      assert.deepEqual(finishOf(parts)?.metadata, {
        "ai-sdk": { finishReason: "stop", warnings: [{ type: "unsupported", feature: "seed" }] }
      })
    })
  )
})

describe("tools of the provider", () => {
  it.effect("are named by id, with their arguments and without Effect's own", () =>
    Effect.gen(function* () {
      const call = yield* sent("?")
      assert.deepEqual(call?.tools, [
        { type: "provider", id: "anthropic.web_search_20250305", name: "WebSearch", args: { maxUses: 3 } },
        { type: "provider", id: "openai.custom", name: "Sql", args: {} },
        {
          type: "function",
          name: "Note",
          inputSchema: {
            type: "object",
            properties: { n: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 } },
            required: ["n"],
            additionalProperties: true
          }
        }
      ])
    })
  )

  it.effect("give calls and results inside the response", () =>
    Effect.gen(function* () {
      const result = [{ url: "https://x.example", encryptedContent: "ZW5j" }]
      const parts = yield* generated([
        {
          type: "tool-call",
          toolCallId: "s1",
          toolName: "WebSearch",
          input: `{"query":"A1"}`,
          providerExecuted: true,
          providerMetadata: { anthropic: { caller: { type: "direct" } } }
        },
        { type: "tool-result", toolCallId: "s1", toolName: "WebSearch", result },
        { type: "tool-call", toolCallId: "s2", toolName: "WebSearch", input: `{"query":"B2"}`, providerExecuted: true },
        {
          type: "tool-result",
          toolCallId: "s2",
          toolName: "WebSearch",
          result: { errorCode: "max_uses_exceeded" },
          isError: true
        },
        { type: "tool-call", toolCallId: "c1", toolName: "Sql", input: JSON.stringify("select 1") }
      ])
      const [first, failed] = parts.filter((part) => part.type === "tool-result")
      assert.deepInclude(first, { isFailure: false, providerExecuted: true, result })
      // The tool declares no failure, and Effect refuses one that is not declared.
      assert.deepInclude(failed?.result, { type: "execution-interrupted" })
      const call = yield* sent(yield* stored(parts))
      assert.deepEqual(call?.prompt, [
        {
          role: "assistant",
          content: [
            {
              type: "tool-call",
              toolCallId: "s1",
              toolName: "WebSearch",
              input: { query: "A1" },
              providerExecuted: true,
              providerOptions: { anthropic: { caller: { type: "direct" } } }
            },
            { type: "tool-result", toolCallId: "s1", toolName: "WebSearch", output: { type: "json", value: result } },
            {
              type: "tool-call",
              toolCallId: "s2",
              toolName: "WebSearch",
              input: { query: "B2" },
              providerExecuted: true
            },
            {
              type: "tool-result",
              toolCallId: "s2",
              toolName: "WebSearch",
              output: { type: "error-json", value: { errorCode: "max_uses_exceeded" } }
            },
            // A text of the provider's own kind is no broken JSON.
            { type: "tool-call", toolCallId: "c1", toolName: "Sql", input: "select 1" }
          ]
        }
      ])
    })
  )

  it.effect("show results on the way, which are not kept", () =>
    Effect.gen(function* () {
      const { error, parts } = yield* streamed([
        {
          type: "tool-call",
          toolCallId: "s1",
          toolName: "WebSearch",
          input: `{"query":"A1"}`,
          providerExecuted: true
        },
        { type: "tool-result", toolCallId: "s1", toolName: "WebSearch", result: "half", preliminary: true },
        { type: "tool-result", toolCallId: "s1", toolName: "WebSearch", result: "whole" },
        FakeModel.finish
      ])
      assert.isUndefined(error)
      assert.deepEqual(
        parts.flatMap((part) => (part.type === "tool-result" ? [[part.result, part.preliminary]] : [])),
        [
          ["half", true],
          ["whole", false]
        ]
      )
      assert.lengthOf(Prompt.fromResponseParts(parts).content, 1)
    })
  )

  it.effect("ask for approval, and are answered", () =>
    Effect.gen(function* () {
      const parts = yield* generated([{ type: "tool-approval-request", approvalId: "ap_1", toolCallId: "m1" }])
      assert.deepInclude(parts[0], { type: "tool-approval-request", approvalId: "ap_1", toolCallId: "m1" })
      const call = yield* sent([
        {
          role: "tool",
          content: [{ type: "tool-approval-response", approvalId: "ap_1", approved: false, reason: "no" }]
        }
      ])
      assert.deepEqual(call?.prompt, [
        {
          role: "tool",
          content: [{ type: "tool-approval-response", approvalId: "ap_1", approved: false, reason: "no" }]
        }
      ])
    })
  )
})

const find = (id: string, input: object) =>
  ({ type: "tool-call", toolCallId: id, toolName: "Find", input: JSON.stringify(input) }) as const

describe("strict tools", () => {
  it.effect("are asked for nothing that is optional, and get what they declare", () =>
    Effect.gen(function* () {
      const kit = Toolkit.make(
        Tool.make("Find", {
          parameters: Schema.Struct({ sku: Schema.String, max: Schema.optionalKey(Schema.FiniteFromString) })
        }).annotate(Tool.Strict, true)
      )
      const fake = {
        ...FakeModel.make({
          content: [find("a", { sku: "S", max: null }), find("b", { sku: "S", max: "3" }), find("c", { sku: 1 })]
        }),
        provider: "openai.responses"
      }
      const model = yield* AiSdkModel.make(fake)
      const toolkit = yield* Effect.provide(kit, kit.toLayer({ Find: () => Effect.void }))
      const { content } = yield* model.generateText({ prompt: "?", toolkit, ...deferred })
      assert.deepEqual(
        callsOf(content).map(({ params }) => params),
        [{ sku: "S" }, { sku: "S", max: "3" }, { sku: 1 }]
      )
      const [tool] = fake.calls[0]?.tools ?? []
      assert.deepInclude(tool, { strict: true })
      assert.deepInclude(tool?.type === "function" ? tool.inputSchema : {}, {
        required: ["sku", "max"],
        additionalProperties: false
      })
    })
  )
})

describe("a response", () => {
  it.effect("names its sources, with and without a title", () =>
    Effect.gen(function* () {
      const parts = yield* generated([
        { type: "source", sourceType: "url", id: "1", url: "https://x.example/a", title: "A" },
        { type: "source", sourceType: "url", id: "2", url: "https://x.example/b" },
        { type: "source", sourceType: "url", id: "3", url: "not a url" },
        {
          type: "source",
          sourceType: "document",
          id: "4",
          mediaType: "application/pdf",
          title: "D",
          filename: "d.pdf",
          providerMetadata: { openai: { fileId: "f" } }
        }
      ])
      const sources = parts.flatMap((part) => (part.type === "source" ? [part] : []))
      assert.deepEqual(
        sources.map(({ id, title }) => [id, title]),
        [
          ["1", "A"],
          ["2", "https://x.example/b"],
          ["3", "not a url"],
          ["4", "D"]
        ]
      )
      assert.deepInclude(sources[3], { fileName: "d.pdf", metadata: { openai: { fileId: "f" } } })
    })
  )

  it.effect("keeps citations with the text", () =>
    Effect.gen(function* () {
      const citations = [
        {
          source: { type: "source" as const, sourceType: "url" as const, id: "1", url: "https://x.example" },
          startIndex: 0,
          endIndex: 4
        }
      ]
      const [text] = yield* generated([{ type: "text", text: "Said", citations }])
      assert.deepEqual(text?.metadata, { "ai-sdk": { citations } })
      const { parts } = yield* streamed([
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "Said" },
        { type: "text-end", id: "t", citations },
        FakeModel.finish
      ])
      const [message] = Prompt.fromResponseParts(parts).content
      assert.deepInclude(message?.content[0], { options: { "ai-sdk": { citations } } })
      // No provider is sent what is ours.
      assert.deepEqual((yield* sent(Prompt.fromResponseParts(parts)))?.prompt, [
        { role: "assistant", content: [{ type: "text", text: "Said" }] }
      ])
    })
  )

  it.effect("survives what is undefined, and figures that are none", () =>
    Effect.gen(function* () {
      const fake = FakeModel.make({
        content: [
          {
            type: "text",
            text: "A",
            // The type does not allow it at this depth, and packages do it all the same.
            providerMetadata: { openai: { itemId: "m", phase: undefined, deep: { nothing: undefined } } }
          }
        ],
        result: {
          usage: {
            inputTokens: { total: Number.NaN, noCache: 1.5, cacheRead: undefined, cacheWrite: undefined },
            outputTokens: { total: 2, text: undefined, reasoning: undefined }
          },
          response: { id: "r", timestamp: new Date(Number.NaN) }
        }
      })
      const model = yield* AiSdkModel.make(fake)
      const { content } = yield* model.generateText({ prompt: "?" })
      assert.deepEqual(content.find(({ type }) => type === "text")?.metadata, { openai: { itemId: "m", deep: {} } })
      assert.deepEqual(finishOf(content)?.usage.inputTokens, {
        total: undefined,
        uncached: undefined,
        cacheRead: undefined,
        cacheWrite: undefined
      })
    })
  )

  it.effect("waits to be called again where the provider does", () =>
    Effect.gen(function* () {
      for (const [raw, unified, reason] of [
        ["pause_turn", "stop", "pause"],
        ["compaction", "other", "pause"],
        [undefined, "other", "unknown"],
        ["odd", "other", "other"],
        ["error", "error", "error"],
        [undefined, "interrupted", "unknown"]
      ] as const) {
        const model = yield* AiSdkModel.make(FakeModel.make({ result: { finishReason: { raw, unified } } }))
        const { finishReason } = yield* model.generateText({ prompt: "?" })
        assert.strictEqual(finishReason, reason)
      }
    })
  )

  it.effect("is read as an object where the provider says it stands, and its drafts are kept", () =>
    Effect.gen(function* () {
      const schema = Schema.Struct({ n: Schema.Int })
      for (const [texts, structuredOutputText] of [
        [["Let me think.", `{"n":`, "1}"], `{"n":1}`],
        [[`{"n":2}`, `{"n":1}`], `{"n":1}`],
        [["{", "something else"], `{"n":1}`]
      ] as const) {
        const content = texts.map((text) => ({ type: "text" as const, text }))
        const model = yield* AiSdkModel.make(FakeModel.make({ content, result: { structuredOutputText } }))
        const response = yield* model.generateObject({ prompt: "?", schema })
        assert.deepEqual(response.value, { n: 1 })
        const call = yield* sent(yield* stored(response.content))
        const [message] = call?.prompt ?? []
        const said =
          message?.role === "assistant"
            ? message.content.flatMap((part) => (part.type === "text" ? part.text : []))
            : []
        assert.deepEqual(said.slice(0, texts.length), [...texts])
      }
    })
  )

  it.effect("says on its span what was asked and what it cost", () =>
    Effect.gen(function* () {
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const model = yield* AiSdkModel.make(FakeModel.make({}), { temperature: 0.5 })
      yield* model.generateText({ prompt: "a secret" }).pipe(Effect.withTracer(tracer))
      yield* Stream.runDrain(model.streamText({ prompt: "a secret" })).pipe(Effect.withTracer(tracer))
      assert.lengthOf(spans, 2)
      for (const { attributes } of spans) {
        assert.deepInclude(Object.fromEntries(attributes), {
          "gen_ai.provider.name": "fake",
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": "fake-1",
          "gen_ai.request.temperature": 0.5,
          "gen_ai.usage.input_tokens": 3,
          "gen_ai.usage.output_tokens": 2
        })
        assert.notInclude(JSON.stringify([...attributes]), "secret")
      }
    })
  )
})

const note = (id: string, input: string): Array<LanguageModelV4StreamPart> => [
  { type: "tool-input-start", id, toolName: "Note" },
  { type: "tool-input-delta", id, delta: input },
  { type: "tool-input-end", id },
  { type: "tool-call", toolCallId: id, toolName: "Note", input }
]

describe("a stream", () => {
  it.effect("opens what was never started, and closes what was never ended", () =>
    Effect.gen(function* () {
      const { error, parts } = yield* streamed([
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "Hm." },
        { type: "text-delta", id: "t", delta: "So." },
        FakeModel.finish
      ])
      assert.isUndefined(error)
      const [message] = Prompt.fromResponseParts(parts).content
      assert.deepEqual(
        message?.role === "assistant" ? message.content.map((part) => ("text" in part ? part.text : part.type)) : [],
        ["Hm.", "So."]
      )
    })
  )

  it.effect("ends with the finish part, whatever comes behind it", () =>
    Effect.gen(function* () {
      const { parts } = yield* streamed([
        FakeModel.finish,
        { type: "source", sourceType: "url", id: "1", url: "https://x.example" },
        { type: "finish", usage: FakeModel.usage, finishReason: { unified: "length", raw: "length" } }
      ])
      assert.deepEqual(
        parts.map(({ type }) => type),
        ["source", "finish"]
      )
      assert.strictEqual(finishOf(parts)?.reason, "length")
    })
  )

  it.effect("that was cut gives the calls that are whole, and no other", () =>
    Effect.gen(function* () {
      for (const last of [
        { type: "finish", usage: FakeModel.usage, finishReason: { unified: "interrupted", raw: undefined } },
        { type: "error", error: "gone" }
      ] satisfies ReadonlyArray<LanguageModelV4StreamPart>) {
        const { error, parts } = yield* streamed([
          ...note("a", `{"n":1}`),
          // Both had begun; the package gives them out because there is nothing more.
          { type: "tool-input-end", id: "b" },
          { type: "tool-call", toolCallId: "b", toolName: "Note", input: `{"n":` },
          { type: "tool-call", toolCallId: "c", toolName: "Note", input: "" },
          last
        ])
        assert.isDefined(error)
        assert.deepEqual(callsOf(parts), [{ id: "a", name: "Note", params: { n: 1 } }])
        assert.deepEqual(
          parts.flatMap((part) => (part.type === "tool-params-end" ? [part.id] : [])),
          ["a"]
        )
      }
    })
  )

  it.effect("that was too long runs none of its calls", () =>
    Effect.gen(function* () {
      let runs = 0
      const kit = Toolkit.make(Tool.make("Note", { parameters: Schema.Struct({ n: Schema.Int }) }))
      const toolkit = yield* Effect.provide(kit, kit.toLayer({ Note: () => Effect.sync(() => void runs++) }))
      const length: LanguageModelV4StreamPart = {
        type: "finish",
        usage: FakeModel.usage,
        finishReason: { unified: "length", raw: "length" }
      }
      // As a package has it that gives calls out at the end.
      const calls = [note("a", `{"n":1}`), note("b", `{"n":2}`)]
      const parts = [...calls.flatMap((call) => call.slice(0, 2)), ...calls.flatMap((call) => call.slice(2)), length]
      const model = yield* AiSdkModel.make(FakeModel.make({ parts }))
      yield* Stream.runDrain(model.streamText({ prompt: "?", toolkit }))
      assert.strictEqual(runs, 0)
    })
  )

  it.effect("that nobody reads any more is cancelled, heed its model the signal or not", () =>
    Effect.gen(function* () {
      const cancelled = yield* Deferred.make<void>()
      const source = new ReadableStream<LanguageModelV4StreamPart>({
        start: (controller) => controller.enqueue({ type: "text-start", id: "t" }),
        cancel: () => void Deferred.doneUnsafe(cancelled, Effect.void)
      })
      const model = yield* AiSdkModel.make(FakeModel.make({ stream: () => Promise.resolve(source) }))
      yield* model.streamText({ prompt: "?" }).pipe(Stream.take(1), Stream.runDrain)
      yield* Deferred.await(cancelled)
    })
  )

  it.effect("that nobody waits for any more is cancelled when it comes", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const gate = Promise.withResolvers<void>()
      const cancelled = yield* Deferred.make<void>()
      const model = yield* AiSdkModel.make(
        FakeModel.make({
          // A model that does not heed the signal.
          stream: async () => {
            Deferred.doneUnsafe(asked, Effect.void)
            await gate.promise
            return new ReadableStream({ cancel: () => void Deferred.doneUnsafe(cancelled, Effect.void) })
          }
        })
      )
      const fiber = yield* Stream.runDrain(model.streamText({ prompt: "?" })).pipe(Effect.forkChild)
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(fiber)
      gate.resolve()
      yield* Deferred.await(cancelled)
    })
  )
})

const file = (data: string | Uint8Array | URL) => ({ type: "file" as const, mediaType: "text/plain", data })

describe("a prompt", () => {
  it.effect("is the whole history to those that would keep it, unless they are asked to", () =>
    Effect.gen(function* () {
      for (const [provider, providerOptions, expected] of [
        ["openai.responses", undefined, { openai: { store: false } }],
        ["proxy.responses", { openai: { user: "u" } }, { openai: { store: false, user: "u" } }],
        ["openai.responses", { openai: { store: true } }, { openai: { store: true } }],
        ["azure.responses", undefined, { azure: { store: false } }],
        ["azure.responses", { openai: { user: "u" } }, { openai: { store: false, user: "u" } }],
        ["azure.responses", { azure: { user: "u" } }, { azure: { store: false, user: "u" } }],
        ["openai.chat", undefined, undefined]
      ] as const) {
        const fake = { ...FakeModel.make({}), provider }
        const model = yield* AiSdkModel.make(fake, { providerOptions })
        yield* model.generateText({ prompt: "?" })
        assert.deepEqual(fake.calls[0]?.providerOptions, expected)
      }
    })
  )

  it.effect("sends files as bytes, base64 and URLs, however they are given", () =>
    Effect.gen(function* () {
      const call = yield* sent([
        {
          role: "user",
          content: [
            file(new Uint8Array([104, 105])),
            file("aGk="),
            file("data:text/plain;base64,aGk="),
            file(new URL("data:text/plain,hi%20%C5%BC")),
            file(new URL("https://x.example/a.txt")),
            file("https://x.example/A.txt")
          ]
        }
      ])
      const [message] = call?.prompt ?? []
      assert.deepEqual(
        message?.role === "user" ? message.content.map((part) => part.type === "file" && part.data) : [],
        [
          { type: "data", data: new Uint8Array([104, 105]) },
          { type: "data", data: "aGk=" },
          { type: "data", data: "aGk=" },
          { type: "data", data: "aGkgxbw=" },
          { type: "url", url: new URL("https://x.example/a.txt") },
          { type: "url", url: new URL("https://x.example/A.txt"), originalUrl: "https://x.example/A.txt" }
        ]
      )
    })
  )

  it.effect("keeps the options of messages and parts, and drops what is for nobody", () =>
    Effect.gen(function* () {
      const cache = { anthropic: { cacheControl: { type: "ephemeral" } } }
      const call = yield* sent([
        { role: "system", content: "S", options: { ...cache, other: null } },
        { role: "user", content: [{ type: "text", text: "U", options: { ...cache, "ai-sdk": { x: 1 } } }] },
        { role: "user", content: [] },
        { role: "assistant", content: [{ type: "text", text: "A", options: cache }], options: cache },
        {
          role: "assistant",
          content: [
            { type: "tool-call", id: "c", name: "Note", params: { n: 1 } },
            { type: "tool-result", id: "c", name: "Note", result: null, isFailure: false }
          ]
        },
        { role: "tool", content: [], options: cache }
      ])
      assert.deepEqual(call?.prompt, [
        { role: "system", content: "S", providerOptions: cache },
        { role: "user", content: [{ type: "text", text: "U", providerOptions: cache }] },
        { role: "assistant", content: [{ type: "text", text: "A", providerOptions: cache }], providerOptions: cache },
        { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "Note", input: { n: 1 } }] },
        {
          role: "tool",
          content: [{ type: "tool-result", toolCallId: "c", toolName: "Note", output: { type: "json", value: null } }]
        }
      ])
    })
  )

  it.effect("carries images of results where it is told to", () =>
    Effect.gen(function* () {
      const prompt = [
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              id: "c",
              name: "Photo",
              result: null,
              isFailure: false,
              modelOutput: [
                { type: "text", text: "Look:" },
                { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) }
              ]
            }
          ]
        }
      ] as const
      const inside = yield* sent(prompt)
      const image = { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } }
      assert.deepNestedInclude(inside?.prompt[0], {
        "content[0].output": { type: "content", value: [{ type: "text", text: "Look:" }, image] }
      })
      // Results of one response may stand in several messages, and nothing may come between them.
      const behind = yield* sent([...prompt, ...prompt, { role: "assistant", content: "Seen." }], {
        toolResultFiles: "message"
      })
      assert.deepEqual(
        behind?.prompt.map(({ role }) => role),
        ["tool", "tool", "user", "assistant"]
      )
    })
  )
})

describe("types", () => {
  it("are those of a model layer", () => {
    const model = FakeModel.make({})
    const layer: Layer.Layer<LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName> =
      AiSdkModel.layer(model)
    const made: Effect.Effect<LanguageModel.LanguageModel> = AiSdkModel.make(model)
    const settings: CallSettings = { seed: 1 }
    const predicate: (error: AiError.AiError) => boolean = ContextOverflow.isContextOverflow
    expect([layer, made, settings, predicate]).toHaveLength(4)
  })

  it.effect("need nothing else, and fail with nothing else", () => {
    const answer = LanguageModel.generateText({ prompt: "?" }).pipe(
      Effect.provide(AiSdkModel.layer(FakeModel.make({})))
    )
    const typed: Effect.Effect<LanguageModel.GenerateTextResponse<{}>, AiError.AiError> = answer
    return Effect.asVoid(typed)
  })
})
