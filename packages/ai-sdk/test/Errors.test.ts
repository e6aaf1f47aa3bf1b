import { createOpenAI } from "@ai-sdk/openai"
import { AiSdkModel, ContextOverflow } from "@colloquy/ai-sdk"
import { assert, describe, it } from "@effect/vitest"
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import {
  anthropic,
  apiKey,
  collect,
  compatible,
  layer,
  openAiChat,
  openAiResponses,
  type Provider,
  providers,
  textOf
} from "./providers.ts"
import * as Anthropic from "../src/testing/Anthropic.ts"
import * as OpenAiChat from "../src/testing/OpenAiChat.ts"
import * as OpenAiResponses from "../src/testing/OpenAiResponses.ts"
import * as Server from "../src/testing/Server.ts"

/** How a call fails that is answered so: whole, and as a stream. */
const failures = Effect.fnUntraced(function* (provider: Provider, reply: Server.Reply) {
  const server = yield* Server.make([reply, reply])
  const model = layer(provider, server)
  const whole = yield* LanguageModel.generateText({ prompt: "?" }).pipe(Effect.flip, Effect.provide(model))
  const streamed = yield* Stream.runDrain(LanguageModel.streamText({ prompt: "?" })).pipe(
    Effect.flip,
    Effect.provide(model)
  )
  // Nothing asks again by itself.
  assert.lengthOf(server.requests(), 2)
  return [whole, streamed]
})

const isCut = (error: AiError.AiError | undefined) => {
  assert.deepInclude(error?.reason, { _tag: "NetworkError", reason: "TransportError" })
  assert.isTrue(error?.isRetryable)
}

describe.each(providers)("$name", (provider) => {
  it.effect("a rate limit tells how long to wait", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-05-01T12:00:00Z"))
      for (const [headers, millis] of [
        [{ "retry-after": "7" }, 7_000],
        [{ "retry-after": "0.5" }, 500],
        [{ "retry-after-ms": "250", "retry-after": "1" }, 250],
        [{ "retry-after": "Fri, 01 May 2026 12:00:30 GMT", date: "Fri, 01 May 2026 12:00:10 GMT" }, 20_000],
        [{ "retry-after": "Fri, 01 May 2026 11:00:00 GMT", date: "Fri, 01 May 2026 12:00:10 GMT" }, 0],
        [{ "retry-after": "soon" }, undefined],
        [{}, undefined]
      ] as const) {
        for (const error of yield* failures(provider, provider.error(429, "Slow down.", headers))) {
          assert.strictEqual(error.reason._tag, "RateLimitError")
          assert.isTrue(error.isRetryable)
          assert.strictEqual(error.retryAfter && Duration.toMillis(error.retryAfter), millis)
        }
      }
    })
  )

  it.effect("an overloaded provider can be asked again, after the time that it names", () =>
    Effect.gen(function* () {
      for (const status of [500, 502, 503, 529]) {
        const reply = provider.error(status, "Overloaded", status === 503 ? { "retry-after": "3" } : {})
        for (const error of yield* failures(provider, reply)) {
          assert.strictEqual(error.reason._tag, "InternalProviderError")
          assert.isTrue(error.isRetryable)
          assert.include(error.message, "Overloaded")
          assert.strictEqual(error.retryAfter && Duration.toSeconds(error.retryAfter), status === 503 ? 3 : undefined)
        }
      }
    })
  )

  it.effect("a wrong key is one, and stays a secret", () =>
    Effect.gen(function* () {
      for (const error of yield* failures(provider, provider.error(401, `Incorrect API key provided: ${apiKey}.`))) {
        assert.deepInclude(error.reason, { _tag: "AuthenticationError", kind: "InvalidKey" })
        assert.isFalse(error.isRetryable)
        const shown = `${Cause.pretty(Cause.fail(error))}${JSON.stringify(error)}`
        assert.include(shown, "<redacted>")
        assert.notInclude(shown, apiKey)
      }
      for (const error of yield* failures(provider, provider.error(403, "Not for you."))) {
        assert.deepInclude(error.reason, { _tag: "AuthenticationError", kind: "InsufficientPermissions" })
      }
    })
  )

  it.effect("a refused request is not sent again", () =>
    Effect.gen(function* () {
      for (const status of [400, 404, 413, 422]) {
        for (const error of yield* failures(provider, provider.error(status, "No such thing: temperature."))) {
          assert.strictEqual(error.reason._tag, "InvalidRequestError")
          assert.include(error.message, "No such thing: temperature.")
          assert.isFalse(error.isRetryable)
          assert.isFalse(ContextOverflow.isContextOverflow(error))
        }
      }
    })
  )

  it.effect("an account without money is not asked again", () =>
    Effect.gen(function* () {
      for (const [status, message] of [
        [402, "Payment required"],
        [400, "Your credit balance is too low to access the API."]
      ] as const) {
        for (const error of yield* failures(provider, provider.error(status, message))) {
          assert.strictEqual(error.reason._tag, "QuotaExhaustedError")
          assert.isFalse(error.isRetryable)
        }
      }
    })
  )

  it.effect("an answer that is none of the provider's is told from one that is", () =>
    Effect.gen(function* () {
      const page = { status: 200, headers: { "content-type": "text/html" }, body: ["<html>Sign in to Wi-Fi</html>"] }
      const [whole] = yield* failures(provider, page)
      assert.strictEqual(whole?.reason._tag, "InvalidResponseError")
      const proxy = { status: 502, headers: { "content-type": "text/html" }, body: ["<html>Bad gateway</html>"] }
      for (const error of yield* failures(provider, proxy)) {
        assert.strictEqual(error.reason._tag, "InternalProviderError")
        assert.include(JSON.stringify(error), "Bad gateway")
      }
    })
  )

  it.effect("nobody answers", () =>
    Effect.gen(function* () {
      const server = yield* Effect.scoped(Server.make([]))
      const error = yield* LanguageModel.generateText({ prompt: "?" }).pipe(
        Effect.flip,
        Effect.provide(layer(provider, server))
      )
      assert.deepInclude(error.reason, { _tag: "NetworkError", reason: "TransportError" })
      assert.isTrue(error.isRetryable)
      assert.include(error.message, server.url)
    })
  )
})

describe.each(providers)("a stream of $name that breaks off", (provider) => {
  const text = { content: [{ type: "text" as const, text: "As far as that." }] }
  const head = provider.content({ content: [{ type: "text", text: "As far as" }] })

  /** Once the text has arrived, the server goes on with these pieces. */
  const breaking = Effect.fnUntraced(function* (...pieces: ReadonlyArray<Server.Piece>) {
    const arrived = yield* Deferred.make<void>()
    const server = yield* Server.make([Server.events([...head, Server.wait(Deferred.await(arrived)), ...pieces])])
    const stream = LanguageModel.streamText({ prompt: "?" }).pipe(
      Stream.tap((part) => (part.type === "text-delta" ? Deferred.succeed(arrived, undefined) : Effect.void))
    )
    const { error, parts } = yield* collect(stream).pipe(Effect.provide(layer(provider, server)))
    assert.strictEqual(textOf(parts), "As far as")
    assert.isFalse(parts.some(({ type }) => type === "finish" || type === "error"))
    return { error, request: yield* server.request(0) }
  })

  it.effect("between two chunks", () =>
    Effect.gen(function* () {
      const { error } = yield* breaking(Server.cut)
      isCut(error)
    })
  )

  it.effect("in the middle of a chunk", () =>
    Effect.gen(function* () {
      const { error } = yield* breaking('data: {"id":"x","choi', Server.cut)
      isCut(error)
    })
  )

  it.effect("with a good end of the answer, and without one of the response", () =>
    Effect.gen(function* () {
      const { error } = yield* breaking()
      isCut(error)
    })
  )

  it.effect("with an error of the provider", () =>
    Effect.gen(function* () {
      const { error, request } = yield* breaking(provider.errorEvent("The engine stalled."), Server.wait(Effect.never))
      assert.strictEqual(error?.reason._tag, "InternalProviderError")
      assert.isTrue(error?.isRetryable)
      assert.include(error?.message, "The engine stalled.")
      assert.strictEqual(yield* request.closed, "gone")
    })
  )

  it.effect("with something that is not JSON", () =>
    Effect.gen(function* () {
      const { error } = yield* breaking("data: {not json}\n\n", ...provider.stream(text))
      assert.strictEqual(error?.reason._tag, "InvalidResponseError")
      assert.isFalse(error?.isRetryable)
    })
  )

  it.effect("with a first event that is not JSON", () =>
    Effect.gen(function* () {
      const server = yield* Server.make([Server.events(["data: {not json}\n\n", Server.wait(Effect.never)])])
      const { error } = yield* collect(LanguageModel.streamText({ prompt: "?" })).pipe(
        Effect.provide(layer(provider, server))
      )
      assert.strictEqual(error?.reason._tag, "InvalidResponseError")
      const request = yield* server.request(0)
      assert.strictEqual(yield* request.closed, "gone")
    })
  )

  it.effect("before it began", () =>
    Effect.gen(function* () {
      for (const pieces of [[], [Server.cut], [": a comment\n\n"]]) {
        const server = yield* Server.make([Server.events(pieces)])
        const { error, parts } = yield* collect(LanguageModel.streamText({ prompt: "?" })).pipe(
          Effect.provide(layer(provider, server))
        )
        assert.lengthOf(parts, 0)
        isCut(error)
      }
    })
  )

  it.effect("within a call: what was written of it is told, and it is none", () =>
    Effect.gen(function* () {
      const turn = { content: [{ type: "call" as const, id: "c", name: "GetOrder", arguments: `{"id":"A1234"}` }] }
      const cut = provider.content(turn).findIndex((piece) => typeof piece === "string" && piece.includes("A"))
      const server = yield* Server.make([Server.events(provider.content(turn).slice(0, cut + 1))])
      const { error, parts } = yield* collect(
        LanguageModel.streamText({ prompt: "?", disableToolCallResolution: true, toolCallValidation: "deferred" })
      ).pipe(Effect.provide(layer(provider, server)))
      isCut(error)
      assert.isTrue(parts.some(({ type }) => type === "tool-params-delta"))
      assert.isFalse(parts.some(({ type }) => type === "tool-call"))
    })
  )
})

describe("ContextOverflow", () => {
  it.effect("is seen in what each provider says", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [Provider, Server.Reply]> = [
        [
          openAiResponses,
          OpenAiChat.error(400, {
            message: "Your input exceeds the context window of this model.",
            code: "context_length_exceeded"
          })
        ],
        [openAiChat, OpenAiChat.error(400, { message: "Too long.", code: "context_length_exceeded" })],
        [
          anthropic,
          Anthropic.error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
        ],
        [anthropic, Anthropic.error(413, "request_too_large", "Request exceeds the maximum size")],
        [
          compatible,
          Server.json(400, {
            object: "error",
            message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
            type: "BadRequestError",
            param: null,
            code: 400
          })
        ],
        [
          compatible,
          Server.json(400, {
            error: {
              code: 400,
              message: "request (9000 tokens) exceeds the available context size (4096 tokens)",
              type: "exceed_context_size_error",
              n_prompt_tokens: 9000,
              n_ctx: 4096
            }
          })
        ],
        [compatible, Server.json(500, { error: "the input length exceeds the context length" })]
      ]
      for (const [provider, reply] of cases) {
        for (const error of yield* failures(provider, reply)) {
          assert.strictEqual(error.reason._tag, "InvalidRequestError")
          assert.isFalse(error.isRetryable)
          assert.isTrue(ContextOverflow.isContextOverflow(error), error.message)
        }
      }
    })
  )

  it.effect("is seen in a stream that began well", () =>
    Effect.gen(function* () {
      const message = "Your input exceeds the context window of this model."
      const server = yield* Server.make([
        Server.events([OpenAiResponses.errorEvent("context_length_exceeded", message)])
      ])
      const { error } = yield* collect(LanguageModel.streamText({ prompt: "?" })).pipe(
        Effect.provide(layer(openAiResponses, server))
      )
      assert.isTrue(error !== undefined && ContextOverflow.isContextOverflow(error))
    })
  )

  it.effect("is not a rate limit, and no answer that was to be too long", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [Provider, Server.Reply]> = [
        [
          openAiChat,
          OpenAiChat.error(429, {
            message: "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.",
            code: "rate_limit_exceeded"
          })
        ],
        [
          anthropic,
          Anthropic.error(
            400,
            "invalid_request_error",
            "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"
          )
        ]
      ]
      for (const [provider, reply] of cases) {
        for (const error of yield* failures(provider, reply)) assert.isFalse(ContextOverflow.isContextOverflow(error))
      }
    })
  )
})

describe("what providers have words of their own for", () => {
  it.effect("money, policy, overload", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [Provider, Server.Reply, AiError.AiErrorReason["_tag"]]> = [
        [openAiChat, OpenAiChat.error(429, { message: "Quota", code: "insufficient_quota" }), "QuotaExhaustedError"],
        [openAiChat, OpenAiChat.error(400, { message: "Filtered", code: "content_filter" }), "ContentPolicyError"],
        [
          openAiResponses,
          OpenAiChat.error(400, {
            message: "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            code: "invalid_prompt"
          }),
          "ContentPolicyError"
        ],
        [anthropic, Anthropic.error(529, "overloaded_error", "Overloaded"), "InternalProviderError"],
        [anthropic, Anthropic.error(400, "billing_error", "No plan."), "QuotaExhaustedError"],
        [compatible, Server.json(503, { detail: "Loading model" }), "InternalProviderError"],
        [compatible, Server.json(408, {}), "InternalProviderError"]
      ]
      for (const [provider, reply, tag] of cases) {
        for (const error of yield* failures(provider, reply)) assert.strictEqual(error.reason._tag, tag)
      }
    })
  )

  it.effect("an overloaded Anthropic that answers 200 first", () =>
    Effect.gen(function* () {
      const server = yield* Server.make([Server.events([Anthropic.errorEvent("overloaded_error", "Overloaded")])])
      const { error } = yield* collect(LanguageModel.streamText({ prompt: "?" })).pipe(
        Effect.provide(layer(anthropic, server))
      )
      assert.deepInclude(error?.reason, { _tag: "InternalProviderError", description: "Overloaded" })
    })
  )

  it.effect("a key that is not there", () =>
    Effect.gen(function* () {
      const model = AiSdkModel.layer(createOpenAI({ baseURL: "http://127.0.0.1:1/v1" })("gpt-5"))
      const error = yield* LanguageModel.generateText({ prompt: "?" }).pipe(Effect.flip, Effect.provide(model))
      assert.deepInclude(error.reason, { _tag: "AuthenticationError", kind: "MissingKey" })
    })
  )

  it.effect("a file that a provider does not take", () =>
    Effect.gen(function* () {
      const server = yield* Server.make([])
      const prompt = [
        { role: "user", content: [{ type: "file", mediaType: "model/gltf+json", data: new Uint8Array([1]) }] }
      ] as const
      const error = yield* LanguageModel.generateText({ prompt }).pipe(
        Effect.flip,
        Effect.provide(layer(anthropic, server))
      )
      assert.strictEqual(error.reason._tag, "InvalidUserInputError")
      assert.lengthOf(server.requests(), 0)
    })
  )
})
