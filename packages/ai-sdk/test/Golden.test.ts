/**
 * One conversation, as a log gives it, in the body of each provider's request. What stands in the files is what is sent:
 * a line that changes costs a prompt cache, or more.
 */
import { describe, expect, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { layer, providers } from "./providers.ts"
import * as Server from "../src/testing/Server.ts"

/** The smallest PNG there is. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

const call = (id: string, name: string, params: unknown) => ({ type: "tool-call" as const, id, name, params })

const result = (id: string, name: string, result: unknown, isFailure = false) => ({
  type: "tool-result" as const,
  id,
  name,
  result,
  isFailure
})

/** As JSON, so that it is what a store gives back. */
const conversation: ReadonlyArray<Prompt.MessageEncoded> = [
  {
    role: "system",
    content: "Help with orders.",
    options: { anthropic: { cacheControl: { type: "ephemeral" } } }
  },
  {
    role: "user",
    content: [
      { type: "text", text: "Where is A1? It looked like this — żółty:" },
      { type: "file", mediaType: "image/png", data: pixel, fileName: "a1.png" },
      { type: "file", mediaType: "image/png", data: { _tag: "URL", href: "https://shop.example/b2.png" } }
    ]
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "Two orders.", options: { anthropic: { signature: "c2lnbmF0dXJl" } } },
      {
        type: "reasoning",
        text: "Two orders.",
        options: { openai: { itemId: "rs_1", reasoningEncryptedContent: "ZW5jcnlwdGVk" } }
      },
      { type: "text", text: "I look.", options: { openai: { itemId: "msg_1" } } },
      call("call_1", "GetOrder", { id: "A1" }),
      call("call_2", "GetOrder", { id: "B2" }),
      call("call_3", "Photo", { id: "A1" }),
      call("call_4", "Refund", '{"amount": 3')
    ]
  },
  {
    role: "tool",
    content: [
      result("call_1", "GetOrder", { state: "left", at: 1_700_000_000 }),
      result("call_2", "GetOrder", { reason: "no such order" }, true),
      {
        ...result("call_3", "Photo", null),
        modelOutput: [
          { type: "text", text: "At the door:" },
          { type: "file", mediaType: "image/png", data: { _tag: "Uint8Array", base64: pixel } }
        ]
      },
      result("call_4", "Refund", "Invalid parameters for tool 'Refund'", true)
    ]
  },
  { role: "assistant", content: [call("call_5", "Refund", { amount: 3 }), call("call_6", "Note", {})] },
  {
    role: "tool",
    content: [
      result("call_5", "Refund", { type: "execution-denied", reason: "not without the manager" }, true),
      result("call_6", "Note", "(empty)")
    ]
  },
  { role: "assistant", content: "A1 has left; B2 is not known." },
  {
    role: "user",
    content: [{ type: "text", text: "And C3?", options: { anthropic: { cacheControl: { type: "ephemeral" } } } }]
  }
]

const toolkit = Toolkit.make(
  Tool.make("GetOrder", { description: "Reads an order.", parameters: Schema.Struct({ id: Schema.String }) }),
  Tool.make("Refund", { parameters: Schema.Struct({ amount: Schema.Int }) }).annotate(Tool.Strict, true),
  Tool.dynamic("Photo", {
    description: "A photo.",
    parameters: { type: "object", properties: { id: { type: "string" } } }
  }),
  Tool.make("Note")
)

const handlers = toolkit.toLayer({
  GetOrder: () => Effect.void,
  Refund: () => Effect.void,
  Photo: () => Effect.void,
  Note: () => Effect.void
})

describe("what is sent", () => {
  it.effect.each(providers)("to $name", (provider) =>
    Effect.gen(function* () {
      const server = yield* Server.make([provider.reply({ content: [{ type: "text", text: "C3 is on its way." }] })])
      const tools = yield* Effect.provide(toolkit, handlers)
      yield* LanguageModel.generateText({
        prompt: conversation,
        toolkit: tools,
        disableToolCallResolution: true,
        toolCallValidation: "deferred"
      }).pipe(Effect.provide(layer(provider, server)))
      const request = yield* server.request(0)
      const sent = JSON.stringify({ path: request.path, body: request.body }, null, 2)
      const file = provider.name.toLowerCase().replaceAll(" ", "-")
      yield* Effect.promise(() => expect(`${sent}\n`).toMatchFileSnapshot(`golden/${file}.json`))
    })
  )
})
