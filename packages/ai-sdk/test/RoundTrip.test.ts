import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { anthropic, collect, layer, openAiResponses, type Provider, providers } from "./providers.ts"
import * as Server from "../src/testing/Server.ts"
import type { Turn } from "../src/testing/Turn.ts"

const deferred = { disableToolCallResolution: true, toolCallValidation: "deferred" } as const

/** Signatures are opaque: every character counts. */
const seal = `EqQBCgIYAhIM${"aB3+/=".repeat(40)}==`

const turn: Turn = {
  content: [
    { type: "reasoning", text: "The customer asks for A1.\nI look it up.", seal },
    { type: "redacted", data: `Em${seal}` },
    { type: "text", text: "I look." },
    { type: "call", id: "toolu_1", name: "GetOrder", arguments: `{"id":"A1"}` },
    { type: "call", id: "toolu_2", name: "GetOrder", arguments: `{"id":"B2"}` }
  ]
}

const codec = Schema.fromJsonString(Prompt.Prompt)

/** The conversation goes on, out of a log: what the second request holds of the first response. */
const goOn = Effect.fnUntraced(function* (provider: Provider, turn: Turn, isStreamed: boolean) {
  const server = yield* Server.make([
    provider.reply(turn),
    provider.reply({ content: [{ type: "text", text: "Both left." }] })
  ])
  const model = layer(provider, server)
  const question = Prompt.make("Where are A1 and B2?")
  const said: ReadonlyArray<Response.AnyPart> = isStreamed
    ? (yield* collect(LanguageModel.streamText({ prompt: question, ...deferred })).pipe(Effect.provide(model))).parts
    : (yield* LanguageModel.generateText({ prompt: question, ...deferred }).pipe(Effect.provide(model))).content
  const results = turn.content.flatMap((block) =>
    block.type === "call"
      ? [
          Prompt.makePart("tool-result", {
            id: block.id,
            name: block.name,
            isFailure: false,
            result: { state: "left" },
            providerExecuted: false
          })
        ]
      : []
  )
  const prompt = Prompt.fromMessages([
    ...question.content,
    ...Prompt.fromResponseParts(said).content,
    ...(results.length === 0 ? [] : [Prompt.makeMessage("tool", { content: results })])
  ])
  const stored = yield* Schema.encodeEffect(codec)(prompt)
  yield* LanguageModel.generateText({ prompt: yield* Schema.decodeEffect(codec)(stored), ...deferred }).pipe(
    Effect.provide(model)
  )
  const second = yield* server.request(1)
  return second.body
})

describe.each([true, false])("a response that goes back (stream: %s)", (isStreamed) => {
  it.effect("to Anthropic, thinking signed and hidden", () =>
    Effect.gen(function* () {
      const body = yield* goOn(anthropic, turn, isStreamed)
      assert.deepInclude(body["messages"], {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "The customer asks for A1.\nI look it up.", signature: seal },
          { type: "redacted_thinking", data: `Em${seal}` },
          { type: "text", text: "I look." },
          { type: "tool_use", id: "toolu_1", name: "GetOrder", input: { id: "A1" } },
          { type: "tool_use", id: "toolu_2", name: "GetOrder", input: { id: "B2" } }
        ]
      })
    })
  )

  it.effect("to OpenAI, reasoning encrypted and nothing by reference", () =>
    Effect.gen(function* () {
      const body = yield* goOn(openAiResponses, turn, isStreamed)
      assert.strictEqual(body["store"], false)
      assert.include(JSON.stringify(body["include"]), "reasoning.encrypted_content")
      const [, ...sent] = Array.isArray(body["input"]) ? body["input"] : []
      assert.deepEqual(sent, [
        {
          type: "reasoning",
          id: "rs_0",
          encrypted_content: seal,
          summary: [{ type: "summary_text", text: "The customer asks for A1.\nI look it up." }]
        },
        { type: "reasoning", id: "rs_1", encrypted_content: `Em${seal}`, summary: [] },
        { role: "assistant", content: "I look." },
        { type: "function_call", call_id: "toolu_1", name: "GetOrder", arguments: `{"id":"A1"}` },
        { type: "function_call", call_id: "toolu_2", name: "GetOrder", arguments: `{"id":"B2"}` },
        { type: "function_call_output", call_id: "toolu_1", output: `{"state":"left"}` },
        { type: "function_call_output", call_id: "toolu_2", output: `{"state":"left"}` }
      ])
    })
  )

  it.effect("to OpenAI, which is trusted to keep it", () =>
    Effect.gen(function* () {
      const server = yield* Server.make([openAiResponses.reply(turn)])
      const options = { providerOptions: { openai: { store: true } } }
      yield* LanguageModel.generateText({ prompt: "?", ...deferred }).pipe(
        Effect.provide(layer(openAiResponses, server, options))
      )
      assert.strictEqual(server.requests()[0]?.body["store"], true)
    })
  )
})

describe.each(providers)("$name", (provider) => {
  it.effect("is shown the arguments that it got wrong, as an object", () =>
    Effect.gen(function* () {
      const broken = { content: [{ type: "call" as const, id: "c1", name: "GetOrder", arguments: `{"id": "A1` }] }
      const body = yield* goOn(provider, broken, true)
      const sent = JSON.stringify(body)
      assert.include(sent, "invalidArguments")
      // Once as JSON (Anthropic), twice where arguments are a text in JSON.
      assert.match(sent, /\{\\+"id\\+": \\+"A1/)
    })
  )
})
