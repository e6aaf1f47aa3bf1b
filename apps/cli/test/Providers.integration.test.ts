/** Runs of the engine over the real provider packages, which talk to servers of ours in their providers' protocols. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import { AiSdkModel, ContextOverflow as Overflow } from "@colloquy/ai-sdk"
import { Anthropic, OpenAiResponses, Server, type Turn } from "@colloquy/ai-sdk/testing"
import { Agent, AgentRuntime, ContextOverflow } from "@colloquy/engine"
import { type CanonicalRecord, Ids } from "@colloquy/session"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { ConversationStore } from "@colloquy/store"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"

const conversationId = Ids.ConversationId.make("ticket-42")
const apiKey = "sk-test-0123456789abcdef"

const LookUp = Tool.make("look_up", {
  description: "Looks an order up.",
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.String
}).annotate(Tool.Readonly, true)
const tools = Toolkit.make(LookUp)
const desk = Agent.make({ name: "desk", instructions: "Help with orders.", toolkit: tools, modelRetries: 1 })
const handlers = tools.toLayer({ look_up: ({ order }) => Effect.succeed(`${order} is on its way`) })

const providers = [
  {
    name: "Anthropic",
    model: (url: string) => createAnthropic({ baseURL: `${url}/v1`, apiKey })("claude-sonnet-4-5"),
    reply: Anthropic.reply,
    content: Anthropic.content,
    overflow: Anthropic.error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    limited: Anthropic.error(429, "rate_limit_error", "slow down", { "retry-after-ms": "5" })
  },
  {
    name: "OpenAI",
    model: (url: string) => createOpenAI({ baseURL: `${url}/v1`, apiKey }).responses("gpt-5"),
    reply: OpenAiResponses.reply,
    content: OpenAiResponses.content,
    overflow: Server.json(400, {
      error: {
        message: "Your input exceeds the context window of this model.",
        type: "invalid_request_error",
        code: "context_length_exceeded",
        param: "input"
      }
    }),
    limited: Server.json(429, { error: { message: "slow down", type: "rate_limit" } }, { "retry-after-ms": "5" })
  }
] as const

type Provider = (typeof providers)[number]
type Script = Parameters<typeof Server.make>[0]

const over = (provider: Provider, { url }: Server.Server) =>
  Layer.mergeAll(
    Layer.provideMerge(AgentRuntime.layer, SqliteStorage.layer({ filename: ":memory:" })),
    handlers,
    AiSdkModel.layer(provider.model(url)),
    Layer.succeed(ContextOverflow.ContextOverflow, Overflow.isContextOverflow)
  )

const records = Effect.gen(function* () {
  const store = yield* ConversationStore.ConversationStore
  return yield* Stream.runCollect(store.read({ conversationId }))
})

const contentOf = (all: ReadonlyArray<CanonicalRecord.CanonicalRecord>) =>
  all.flatMap(({ payload }) => (payload._tag === "ModelResponded" ? [payload.content] : []))

const call = (id: string, order: string) =>
  ({ type: "call", id, name: "look_up", arguments: JSON.stringify({ order }) }) as const

const story: ReadonlyArray<Turn.Turn> = [
  {
    content: [
      { type: "reasoning", text: "Two orders.", seal: "c2VhbA==" },
      { type: "text", text: "Let me look." },
      call("call_1", "A1"),
      call("call_2", "B2")
    ]
  },
  { content: [{ type: "text", text: "Both are on their way." }] }
]

const withServer = <A, E>(script: Script, use: (server: Server.Server) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(Server.make(script), use))

for (const provider of providers) {
  describe(`a run over ${provider.name}`, () => {
    for (const streaming of [false, true]) {
      it.live(`${streaming ? "streamed" : "whole"}: parallel calls, their results, and reasoning that goes back`, () =>
        withServer(story.map(provider.reply), (server) =>
          Effect.gen(function* () {
            const result = yield* AgentRuntime.run(desk, "Where are A1 and B2?", { conversationId, streaming })
            assert.strictEqual(result.text, "Both are on their way.")
            const [first] = contentOf(yield* records)
            assert.deepStrictEqual(
              first?.map(({ type }) => type),
              ["reasoning", "text", "tool-call", "tool-call"]
            )
            const asked = JSON.stringify(server.requests()[1]?.body)
            for (const word of ["c2VhbA==", "A1 is on its way", "B2 is on its way"]) assert.include(asked, word)
          }).pipe(Effect.provide(over(provider, server)))
        )
      )
    }

    it.live("waits as long as the provider asks, and tries again", () =>
      withServer([provider.limited, provider.reply({ content: [{ type: "text", text: "ok" }] })], (server) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* AgentRuntime.run(desk, "Hi", { conversationId })).text, "ok")
          assert.strictEqual(server.requests().length, 2)
        }).pipe(Effect.provide(over(provider, server)))
      )
    )

    it.live("that is too large for the window says so, and is not tried again", () =>
      withServer([provider.overflow], (server) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(AgentRuntime.run(desk, "Hi", { conversationId }))
          assert.strictEqual(error._tag, "ContextTooLarge")
          assert.strictEqual(server.requests().length, 1)
          const last = (yield* records).at(-1)?.payload
          assert.isTrue(last?._tag === "RunEnded" && last.error?.tag === "ContextTooLarge")
        }).pipe(Effect.provide(over(provider, server)))
      )
    )

    it.live("cancelled in the middle of a text keeps what had come, and closes the connection", () =>
      Effect.gen(function* () {
        const forever = yield* Deferred.make<void>()
        const pieces = provider.content({ content: [{ type: "text", text: "On its way, I think." }] })
        yield* withServer([Server.events([...pieces, Server.wait(Deferred.await(forever))])], (server) =>
          Effect.gen(function* () {
            const seen = yield* Deferred.make<void>()
            const run = yield* AgentRuntime.start(desk, "Where?", {
              conversationId,
              streaming: true,
              onEvent: (event) => {
                if (event._tag === "TextDelta") Deferred.doneUnsafe(seen, Effect.void)
              }
            })
            yield* Deferred.await(seen)
            yield* run.cancel
            const request = yield* server.request(0)
            assert.strictEqual(yield* request.closed, "gone")
            assert.strictEqual((yield* run.await).outcome, "cancelled")
            const [content] = contentOf(yield* records)
            assert.isTrue(content?.[0]?.type === "text" && "On its way, I think.".startsWith(content[0].text))
          }).pipe(Effect.provide(over(provider, server)))
        )
        yield* Deferred.succeed(forever, undefined)
      })
    )

    it.live("whose connection is cut again and again fails, typed, with what had come", () => {
      const torn = Server.events([...provider.content({ content: [{ type: "text", text: "half" }] }), Server.cut])
      return withServer([torn, torn], (server) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(AgentRuntime.run(desk, "Where?", { conversationId, streaming: true }))
          assert.strictEqual(error._tag, "AiError")
          assert.strictEqual(server.requests().length, 2)
          const all = yield* records
          const responses = all.flatMap(({ payload }) => (payload._tag === "ModelResponded" ? [payload.partial] : []))
          assert.deepStrictEqual(responses, [true])
        }).pipe(Effect.provide(over(provider, server)))
      )
    })
  })
}
