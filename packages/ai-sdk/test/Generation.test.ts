import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { callsOf, collect, finishOf, layer, openAiChat, type Provider, providers, textOf } from "./providers.ts"
import * as Server from "../src/testing/Server.ts"
import type { Turn } from "../src/testing/Turn.ts"

const tools = Toolkit.make(
  Tool.make("GetOrder", { description: "Reads an order.", parameters: Schema.Struct({ id: Schema.String }) }),
  Tool.make("GetStock", { parameters: Schema.Struct({ sku: Schema.String, place: Schema.optionalKey(Schema.String) }) })
)

const deferred = { disableToolCallResolution: true, toolCallValidation: "deferred" } as const

const withTools = tools.pipe(
  Effect.provide(tools.toLayer({ GetOrder: () => Effect.void, GetStock: () => Effect.void }))
)

/** The same turn, asked for whole and as a stream. */
const both = Effect.fnUntraced(function* (provider: Provider, turn: Turn, prompt: Prompt.RawInput = "Where is A1?") {
  const server = yield* Server.make([provider.reply(turn), provider.reply(turn)])
  const toolkit = yield* withTools
  const model = layer(provider, server)
  const whole = yield* LanguageModel.generateText({ prompt, toolkit, ...deferred }).pipe(Effect.provide(model))
  const streamed = yield* collect(LanguageModel.streamText({ prompt, toolkit, ...deferred })).pipe(
    Effect.provide(model)
  )
  assert.isUndefined(streamed.error)
  const parts: ReadonlyArray<ReadonlyArray<Response.AnyPart>> = [whole.content, streamed.parts]
  return { parts, server }
})

describe.each(providers)("$name", (provider) => {
  it.effect("gives the text", () =>
    Effect.gen(function* () {
      const { parts } = yield* both(provider, { content: [{ type: "text", text: "A1 left Łódź 🚚 today." }] })
      for (const response of parts) {
        assert.strictEqual(textOf(response), "A1 left Łódź 🚚 today.")
        assert.strictEqual(finishOf(response)?.reason, "stop")
        const metadata = response.find((part) => part.type === "response-metadata" && part.id !== undefined)
        assert.include(metadata, { modelId: "served-model" })
        assert.strictEqual(response.at(-1)?.type, "finish")
      }
    })
  )

  it.effect("has the names of provider and model", () =>
    Effect.gen(function* () {
      const server = yield* Server.make([])
      const names = yield* Effect.all([Model.ProviderName, Model.ModelName]).pipe(
        Effect.provide(layer(provider, server))
      )
      assert.deepEqual(names, [provider.provider, provider.model(server).modelId])
    })
  )

  it.effect("gives parallel calls, their arguments in interleaved pieces", () =>
    Effect.gen(function* () {
      const calls = [
        { id: "call_1", name: "GetOrder", arguments: `{"id":"A1 — \\"the big one\\""}` },
        { id: "call_2", name: "GetStock", arguments: `{"sku":"S-9","place":"Łódź"}` },
        { id: "call_3", name: "GetOrder", arguments: `{"id":"B2"}` }
      ]
      const { parts } = yield* both(provider, {
        content: [{ type: "text", text: "I look." }, ...calls.map((call) => ({ type: "call" as const, ...call }))]
      })
      for (const response of parts) {
        assert.deepEqual(
          callsOf(response),
          calls.map(({ id, name, ...call }) => ({ id, name, params: JSON.parse(call.arguments) }))
        )
        assert.strictEqual(finishOf(response)?.reason, "tool-calls")
      }
      const [, streamed = []] = parts
      for (const { id, ...call } of calls) {
        const pieces = streamed.flatMap((part) =>
          part.type === "tool-params-delta" && part.id === id ? part.delta : []
        )
        assert.strictEqual(pieces.join(""), call.arguments)
        const [start, finish] = ["tool-params-start", "tool-params-end"].map((type) =>
          streamed.findIndex((part) => part.type === type && "id" in part && part.id === id)
        )
        assert.isTrue(start !== undefined && finish !== undefined && 0 <= start && start < finish)
      }
    })
  )

  it.effect("gives a call without arguments an empty object", () =>
    Effect.gen(function* () {
      const { parts } = yield* both(provider, {
        content: [{ type: "call", id: "c", name: "GetOrder", arguments: "{}" }]
      })
      for (const response of parts) assert.deepEqual(callsOf(response), [{ id: "c", name: "GetOrder", params: {} }])
    })
  )

  it.effect("gives unparsable arguments and undeclared names as calls", () =>
    Effect.gen(function* () {
      const server = yield* Server.make([
        Server.events(
          provider.stream({
            content: [
              { type: "call", id: "c1", name: "GetOrder", arguments: `{"id": "A1` },
              { type: "call", id: "c2", name: "Unheard", arguments: `{"x":1}` }
            ]
          })
        )
      ])
      const toolkit = yield* withTools
      const { error, parts } = yield* collect(LanguageModel.streamText({ prompt: "?", toolkit, ...deferred })).pipe(
        Effect.provide(layer(provider, server))
      )
      assert.isUndefined(error)
      assert.deepEqual(callsOf(parts), [
        { id: "c1", name: "GetOrder", params: `{"id": "A1` },
        { id: "c2", name: "Unheard", params: { x: 1 } }
      ])
    })
  )

  it.effect("says which tool is not there when calls are validated", () =>
    Effect.gen(function* () {
      const turn: Turn = { content: [{ type: "call", id: "c2", name: "Unheard", arguments: `{"x":1}` }] }
      const server = yield* Server.make([provider.reply(turn), provider.reply(turn)])
      const toolkit = yield* withTools
      const options = { prompt: "?", toolkit, disableToolCallResolution: true } as const
      const whole = yield* LanguageModel.generateText(options).pipe(
        Effect.flip,
        Effect.provide(layer(provider, server))
      )
      const streamed = yield* collect(LanguageModel.streamText(options)).pipe(Effect.provide(layer(provider, server)))
      for (const error of [whole, streamed.error]) {
        assert.strictEqual(error?.reason._tag, "ToolNotFoundError")
        assert.include(error?.message, "GetOrder, GetStock")
      }
    })
  )

  it.effect("runs the tools where Effect resolves calls", () =>
    Effect.gen(function* () {
      const turn: Turn = { content: [{ type: "call", id: "c1", name: "GetOrder", arguments: `{"id":"A1"}` }] }
      const server = yield* Server.make([provider.reply(turn)])
      const toolkit = yield* withTools
      const { error, parts } = yield* collect(LanguageModel.streamText({ prompt: "?", toolkit })).pipe(
        Effect.provide(layer(provider, server))
      )
      assert.isUndefined(error)
      assert.include(
        parts.find((part) => part.type === "tool-result"),
        { id: "c1", isFailure: false }
      )
    })
  )

  it.effect("says why a response ended", () =>
    Effect.gen(function* () {
      for (const [stop, reason] of [
        ["length", "length"],
        ["filter", "content-filter"]
      ] as const) {
        const { parts } = yield* both(provider, { content: [{ type: "text", text: "So far" }], stop })
        for (const response of parts) assert.strictEqual(finishOf(response)?.reason, reason)
      }
    })
  )

  it.effect("gives a refusal as text that was filtered", () =>
    Effect.gen(function* () {
      const { parts } = yield* both(provider, {
        content: [{ type: "refusal", text: "I cannot help with that." }],
        // Only Anthropic has a reason of its own for it.
        stop: provider.name === "Anthropic" ? "filter" : "stop"
      })
      for (const response of parts) {
        assert.strictEqual(textOf(response), "I cannot help with that.")
        assert.strictEqual(finishOf(response)?.reason, "content-filter")
      }
    })
  )

  it.effect("counts tokens, cached and thought ones among them", () =>
    Effect.gen(function* () {
      const isAnthropic = provider.name === "Anthropic"
      const usage = { input: 120, output: 50, cacheRead: 80, cacheWrite: isAnthropic ? 20 : 0, reasoning: 30 }
      const { parts } = yield* both(provider, { content: [{ type: "text", text: "Here." }], usage })
      for (const response of parts) {
        const finish = finishOf(response)
        // Anthropic counts what is not cached; all others count everything.
        const total = isAnthropic ? 220 : 120
        assert.deepInclude(finish?.usage.inputTokens, { total, uncached: isAnthropic ? 120 : 40, cacheRead: 80 })
        assert.strictEqual(finish?.usage.outputTokens.total, 50)
        if (isAnthropic) assert.strictEqual(finish?.usage.inputTokens.cacheWrite, 20)
        else assert.deepInclude(finish?.usage.outputTokens, { reasoning: 30, text: 20 })
        assert.isObject(finish?.metadata["ai-sdk"])
      }
    })
  )

  it.effect("passes over an answer in which nothing was said", () =>
    Effect.gen(function* () {
      const { parts } = yield* both(provider, { content: [], usage: { output: 0 } })
      for (const response of parts) {
        assert.strictEqual(textOf(response), "")
        assert.strictEqual(finishOf(response)?.reason, "stop")
      }
    })
  )

  it.effect("puts characters together that were cut between bytes", () =>
    Effect.gen(function* () {
      const text = "żółw 🐢 学習 👩‍👩‍👧"
      const wire = provider.stream({ content: [{ type: "text", text }] }).join("")
      for (const size of [1, 3, 7]) {
        const server = yield* Server.make([Server.events(Server.inBytes(wire, size))])
        const { error, parts } = yield* collect(LanguageModel.streamText({ prompt: "?" })).pipe(
          Effect.provide(layer(provider, server))
        )
        assert.isUndefined(error)
        assert.strictEqual(textOf(parts), text)
      }
    })
  )

  it.effect("asks for an object, and reads it", () =>
    Effect.gen(function* () {
      const schema = Schema.Struct({ city: Schema.String, days: Schema.optionalKey(Schema.Int) }).annotate({
        description: "A place."
      })
      const server = yield* Server.make([
        provider.reply({ content: [{ type: "text", text: `{"city":"Łódź","days":null}` }] }),
        provider.reply({ content: [{ type: "text", text: `{"city":"Łódź"}` }] })
      ])
      const ask = LanguageModel.generateObject({ prompt: "Where?", schema, objectName: "place" }).pipe(
        Effect.provide(layer(provider, server))
      )
      // OpenAI knows no optional fields: they are null. To all others they are left out.
      const first = yield* Effect.exit(ask)
      const second = yield* Effect.exit(ask)
      const { value } = yield* provider.name.startsWith("OpenAI ") ? first : second
      assert.deepEqual(value, { city: "Łódź" })
      const sent = JSON.stringify(server.requests()[0]?.body)
      assert.include(sent, provider.name === "OpenAI-compatible" ? "json_object" : `"city":{"type":"string"`)
    })
  )

  it.effect("sends no setting that is not set, and all that are", () =>
    Effect.gen(function* () {
      const turn: Turn = { content: [{ type: "text", text: "Here." }] }
      const server = yield* Server.make([provider.reply(turn), provider.reply(turn)])
      const ask = LanguageModel.generateText({ prompt: "?" })
      yield* ask.pipe(Effect.provide(layer(provider, server)))
      const settings = { maxOutputTokens: 77, temperature: 0.5, stopSequences: ["END"], headers: { "x-tenant": "t1" } }
      yield* ask.pipe(Effect.provide(layer(provider, server, settings)))
      const [bare, set] = server.requests()
      for (const name of ["temperature", "stop", "stop_sequences", "tools", "tool_choice", "seed"]) {
        assert.notProperty(bare?.body, name)
      }
      assert.include(JSON.stringify(set?.body), "77")
      assert.strictEqual(set?.headers["x-tenant"], "t1")
    })
  )

  it.effect("tells of tools, and how to choose among them", () =>
    Effect.gen(function* () {
      const turn: Turn = { content: [{ type: "text", text: "Here." }] }
      const choices = [
        "auto",
        "none",
        "required",
        { tool: "GetStock" },
        { mode: "required", oneOf: ["GetStock"] }
      ] as const
      const server = yield* Server.make(choices.map(() => provider.reply(turn)))
      const toolkit = yield* withTools
      for (const toolChoice of choices) {
        yield* LanguageModel.generateText({ prompt: "?", toolkit, toolChoice, ...deferred }).pipe(
          Effect.provide(layer(provider, server))
        )
      }
      const sent = server.requests().map(({ body }) => body)
      const named = {
        "OpenAI responses": { type: "function", name: "GetStock" },
        Anthropic: { type: "tool", name: "GetStock" }
      }[provider.name] ?? { type: "function", function: { name: "GetStock" } }
      const plain = (choice: string) =>
        provider.name === "Anthropic" ? { type: choice === "required" ? "any" : choice } : choice
      assert.deepEqual(
        sent.map(({ tool_choice }) => tool_choice),
        [plain("auto"), plain("none"), plain("required"), named, plain("required")]
      )
      // Without a choice the tools stay: caches and some providers need them.
      assert.deepEqual(
        sent.map(({ tools }) => (Array.isArray(tools) ? tools.length : 0)),
        [2, 2, 2, 2, 1]
      )
    })
  )

  it.effect("says the same as a stream and as a prompt", () =>
    Effect.gen(function* () {
      const { parts } = yield* both(provider, {
        content: [
          { type: "reasoning", text: "They want A1.", seal: "c2VhbA==" },
          { type: "text", text: "I look." },
          { type: "call", id: "c1", name: "GetOrder", arguments: `{"id":"A1"}` }
        ]
      })
      const [whole, streamed] = parts.map((response) => Prompt.fromResponseParts(response).content[0])
      assert.deepEqual(
        streamed?.role === "assistant" ? streamed.content.map(({ type }) => type) : [],
        whole?.role === "assistant" ? whole.content.map(({ type }) => type) : []
      )
    })
  )
})

describe("AiSdkModel", () => {
  it.effect("asks anew for every run of a stream, and not before it is run", () =>
    Effect.gen(function* () {
      const turn: Turn = { content: [{ type: "text", text: "Here." }] }
      const server = yield* Server.make([openAiChat.reply(turn), openAiChat.reply(turn)])
      const stream = LanguageModel.streamText({ prompt: "?" })
      assert.lengthOf(server.requests(), 0)
      yield* Stream.runDrain(stream).pipe(Effect.provide(layer(openAiChat, server)))
      yield* Stream.runDrain(stream).pipe(Effect.provide(layer(openAiChat, server)))
      assert.lengthOf(server.requests(), 2)
    })
  )
})
