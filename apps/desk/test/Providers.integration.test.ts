/**
 * Real providers by environment, over servers that speak their protocols, and every way in which one does not answer.
 */
import { Anthropic, OpenAiChat, Server } from "@colloquy/ai-sdk/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { RunFailed, runFailedName } from "../src/api/ConversationModel.ts"
import { type Client, clientOf, folder, lastAnswer, ticket, viewUntil } from "./desk.ts"
import { start } from "./process.ts"

type Script = Parameters<typeof Server.make>[0]

const params = { conversationId: ticket }
const key = "sk-test-0123456789abcdef"
const says = (text: string) => ({ content: [{ type: "text" as const, text }] })

const withServer = <A, E>(script: Script, use: (server: Server.Server) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(Server.make(script), use))

/** A desk whose environment has these. */
const deskWith = Effect.fnUntraced(function* (env: Record<string, string>) {
  const desk = yield* start(["--port", "0"], { cwd: yield* folder, env })
  return { client: yield* clientOf(yield* desk.url), desk }
})

const send = (client: Client, text: string, inputId: string) =>
  client.talk.send({ params, payload: { text, inputId, onBusy: "reject" } })

const hasAnswered =
  (times: number) => (view: { readonly records: ReadonlyArray<{ readonly payload: { readonly _tag: string } }> }) =>
    view.records.filter(({ payload }) => payload._tag === "RunEnded").length >= times

describe("the environment", () => {
  it.live("chooses the provider that answers at the desk, and its tools are those of the desk", () =>
    withServer(
      [
        OpenAiChat.reply({
          content: [
            { type: "call", id: "call_1", name: "track_shipment", arguments: JSON.stringify({ orderId: "A-1003" }) }
          ]
        }),
        OpenAiChat.reply(says("It is in Porto."))
      ],
      ({ requests, url }) =>
        Effect.gen(function* () {
          const env = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, COLLOQUY_MODEL: "llama" }
          const { client } = yield* deskWith(env)
          assert.strictEqual((yield* client.health({})).model, "compatible/llama")
          yield* send(client, "where is my parcel?", "m1")
          const { records } = yield* viewUntil(client, ticket, hasAnswered(1))
          assert.strictEqual(lastAnswer(records), "It is in Porto.")
          assert.strictEqual(requests()[0]?.headers.authorization, `Bearer ${key}`)
          assert.include(JSON.stringify(requests()[1]?.body), "Parcelo")
        }).pipe(Effect.scoped)
    )
  )

  it.live("chooses Anthropic by its key", () =>
    withServer([Anthropic.reply(says("from Anthropic"))], ({ url }) =>
      Effect.gen(function* () {
        const { client } = yield* deskWith({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: `${url}/v1` })
        yield* send(client, "hi", "m1")
        const { records } = yield* viewUntil(client, ticket, hasAnswered(1))
        assert.strictEqual(lastAnswer(records), "from Anthropic")
      }).pipe(Effect.scoped)
    )
  )
})

describe("a provider that does not answer", () => {
  const isFailed = Schema.is(RunFailed)

  /** What the conversation says about it. */
  const reasonIn = Effect.fnUntraced(function* (client: Client, inputId: string) {
    yield* send(client, "hi", inputId)
    const { records } = yield* viewUntil(client, ticket, ({ records }) =>
      records.some(({ payload }) => payload._tag === "Custom" && payload.name === runFailedName)
    )
    const ended = records.find(({ payload }) => payload._tag === "RunEnded")?.payload
    assert.isTrue(ended?._tag === "RunEnded" && ended.outcome === "failed")
    const said = records.find(({ payload }) => payload._tag === "Custom")?.payload
    const data = said?._tag === "Custom" ? said.data : undefined
    assert.isTrue(isFailed(data))
    return isFailed(data) ? data : assert.fail("it does not say why")
  })

  const garbage = Server.events(["data: <html>Hotel Wi-Fi</html>\n\n"])
  const cases = [
    {
      name: "refuses the key",
      reply: OpenAiChat.error(401, { message: `Incorrect API key provided: ${key}`, code: "invalid_api_key" }),
      reason: "AuthenticationError",
      wayOut: /check OPENAI_API_KEY/
    },
    { name: "streams garbage", reply: garbage, reason: "InvalidResponseError", wayOut: /check OPENAI_BASE_URL/ }
  ]
  for (const { name, reason, reply, wayOut } of cases) {
    it.live(`because it ${name}: the conversation says so, with the way out, and goes on afterwards`, () =>
      withServer([reply, OpenAiChat.reply(says("here I am"))], ({ url }) =>
        Effect.gen(function* () {
          const env = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, COLLOQUY_MODEL: "m" }
          const { client } = yield* deskWith(env)
          const said = yield* reasonIn(client, "m1")
          assert.strictEqual(said.reason, reason)
          assert.match(said.wayOut, wayOut)
          assert.notInclude(JSON.stringify(yield* client.conversations.records({ params, query: {} })), key)
          yield* send(client, "and now?", "m2")
          const { records } = yield* viewUntil(client, ticket, hasAnswered(2))
          assert.strictEqual(lastAnswer(records), "here I am")
        }).pipe(Effect.scoped)
      )
    )
  }

  it.live("because there is no network: the conversation says so, after a few tries", () =>
    Effect.gen(function* () {
      // A port that was free a moment ago: nobody listens there.
      const url = yield* withServer([], ({ url }) => Effect.succeed(url))
      const { client } = yield* deskWith({ OPENAI_BASE_URL: `${url}/v1`, COLLOQUY_MODEL: "m" })
      const said = yield* reasonIn(client, "m1")
      assert.strictEqual(said.reason, "NetworkError")
      assert.match(said.wayOut, /check that a model's server listens at/)
    }).pipe(Effect.scoped)
  )
})

describe("the offline model", () => {
  it.live("fails on demand, with what it had said", () =>
    Effect.gen(function* () {
      const { client } = yield* deskWith({})
      yield* send(client, "simulate a provider error", "m1")
      const { records } = yield* viewUntil(client, ticket, ({ records }) =>
        records.some(({ payload }) => payload._tag === "Custom" && payload.name === runFailedName)
      )
      const partial = records.find(({ payload }) => payload._tag === "ModelResponded")?.payload
      assert.isTrue(partial?._tag === "ModelResponded" && partial.partial === true)
      assert.match(lastAnswer(records), /^Let me look that up/)
    }).pipe(Effect.scoped)
  )
})
