import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { layer, providers } from "./providers.ts"
import * as Server from "../src/testing/Server.ts"

describe.each(providers)("$name: the server sees the connection close", (provider) => {
  const head = provider.content({ content: [{ type: "text", text: "As far as" }] })
  const hanging = Server.events([...head, Server.wait(Effect.never)])

  it.effect("when a whole response is no longer wanted", () =>
    Effect.gen(function* () {
      const silent = { status: 200, headers: {}, body: [Server.wait(Effect.never)] }
      const server = yield* Server.make([silent])
      const fiber = yield* LanguageModel.generateText({ prompt: "?" }).pipe(
        Effect.provide(layer(provider, server)),
        Effect.forkChild
      )
      const request = yield* server.request(0)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* request.closed, "gone")
    })
  )

  it.effect("when a stream is interrupted before it began", () =>
    Effect.gen(function* () {
      const server = yield* Server.make([Server.events([Server.wait(Effect.never)])])
      const fiber = yield* Stream.runDrain(LanguageModel.streamText({ prompt: "?" })).pipe(
        Effect.provide(layer(provider, server)),
        Effect.forkChild
      )
      const request = yield* server.request(0)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* request.closed, "gone")
    })
  )

  it.effect("when a stream is interrupted in the middle", () =>
    Effect.gen(function* () {
      const server = yield* Server.make([hanging])
      const arrived = yield* Deferred.make<void>()
      const fiber = yield* LanguageModel.streamText({ prompt: "?" }).pipe(
        Stream.runForEach((part) => (part.type === "text-delta" ? Deferred.succeed(arrived, undefined) : Effect.void)),
        Effect.provide(layer(provider, server)),
        Effect.forkChild
      )
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(fiber)
      const request = yield* server.request(0)
      assert.strictEqual(yield* request.closed, "gone")
    })
  )

  it.effect("when the reader of a stream has had enough", () =>
    Effect.gen(function* () {
      const server = yield* Server.make([hanging])
      const parts = yield* LanguageModel.streamText({ prompt: "?" }).pipe(
        Stream.takeUntil((part) => part.type === "text-delta"),
        Stream.runCollect,
        Effect.provide(layer(provider, server))
      )
      assert.strictEqual(parts.at(-1)?.type, "text-delta")
      const request = yield* server.request(0)
      assert.strictEqual(yield* request.closed, "gone")
    })
  )

  it.effect("when the reader fails", () =>
    Effect.gen(function* () {
      const server = yield* Server.make([hanging])
      const error = yield* LanguageModel.streamText({ prompt: "?" }).pipe(
        Stream.runForEach((part) => (part.type === "text-delta" ? Effect.fail("mine") : Effect.void)),
        Effect.flip,
        Effect.provide(layer(provider, server))
      )
      assert.strictEqual(error, "mine")
      const request = yield* server.request(0)
      assert.strictEqual(yield* request.closed, "gone")
    })
  )

  it.effect("and not when the response was complete", () =>
    Effect.gen(function* () {
      const server = yield* Server.make([provider.reply({ content: [{ type: "text", text: "Here." }] })])
      yield* Stream.runDrain(LanguageModel.streamText({ prompt: "?" })).pipe(Effect.provide(layer(provider, server)))
      const request = yield* server.request(0)
      assert.strictEqual(yield* request.closed, "answered")
    })
  )
})
