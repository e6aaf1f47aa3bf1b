import { CommandQueues, EphemeralConversations } from "@colloquy/capabilities"
import { Ids } from "@colloquy/session"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Prompt from "effect/ai/Prompt"
import { AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { calls, conversationId, desk, handlers, lookUp, text } from "./support.ts"

const { toRunConversationOptions } = EphemeralConversations
const service = EphemeralConversations.EphemeralConversations
const runId = (n: number) => Ids.RunId.make(`r${n}`)

const withoutStore = Layer.merge(AgentRuntime.layerEphemeral, EphemeralConversations.layer)

const rolesOf = (prompt: Prompt.Prompt) => prompt.content.map(({ role }) => role)

describe("a run over a history of its caller's", () => {
  it.effect("shows it, puts itself behind it, and needs no store", () =>
    Effect.gen(function* () {
      const conversations = yield* service
      yield* conversations.create(conversationId)
      for (let n = 0; n < 2; n++) {
        const result = yield* AgentRuntime.run(
          desk,
          `turn ${n}`,
          toRunConversationOptions(conversations, conversationId, runId(n))
        )
        assert.isTrue(result.persisted)
      }
      const requests = (yield* ScriptedModel.Requests).all()
      assert.deepStrictEqual(rolesOf(requests[2]!.prompt), ["system", "user", "assistant", "tool", "assistant", "user"])
      assert.deepStrictEqual(rolesOf(yield* conversations.snapshot(conversationId)), [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant"
      ])
    }).pipe(
      Effect.provide([
        withoutStore,
        handlers(),
        ScriptedModel.layer([calls([lookUp("call_1")]), text("one"), text("two")])
      ])
    )
  )

  it.effect("renames a call whose id the history has", () =>
    Effect.gen(function* () {
      const conversations = yield* service
      yield* conversations.create(conversationId)
      for (let n = 0; n < 2; n++) {
        yield* AgentRuntime.run(desk, "go", toRunConversationOptions(conversations, conversationId, runId(n)))
      }
      const history = yield* conversations.snapshot(conversationId)
      const ids = history.content.flatMap((message) =>
        message.role === "assistant"
          ? message.content.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))
          : []
      )
      assert.deepStrictEqual(ids, ["call_1", "call_1_2"])
    }).pipe(
      Effect.provide([
        withoutStore,
        handlers(),
        ScriptedModel.layer([calls([lookUp("call_1")]), text("one"), calls([lookUp("call_1")]), text("two")])
      ])
    )
  )

  it.effect("a second one at the same time is refused before it reads the history; a steer reaches the first", () =>
    Effect.gen(function* () {
      const conversations = yield* service
      yield* conversations.create(conversationId)
      const reached = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const model = ScriptedModel.layerOf(({ prompt }) =>
        prompt.content.length > 2
          ? text("both")
          : () =>
              Deferred.succeed(reached, undefined).pipe(Effect.andThen(Deferred.await(go)), Effect.as(text("first")))
      )
      yield* Effect.gen(function* () {
        const first = yield* Effect.forkChild(
          AgentRuntime.run(desk, "one", toRunConversationOptions(conversations, conversationId, runId(1)))
        )
        yield* Deferred.await(reached)
        const second = AgentRuntime.run(desk, "two", toRunConversationOptions(conversations, conversationId, runId(2)))
        assert.strictEqual((yield* Effect.flip(second))._tag, "ConversationBusy")
        const queues = yield* CommandQueues.CommandQueues
        assert.strictEqual((yield* queues.steer(conversationId, "and this"))._tag, "Accepted")
        yield* Deferred.succeed(go, undefined)
        assert.strictEqual((yield* Fiber.join(first)).text, "both")
      }).pipe(Effect.provide(model))
    }).pipe(Effect.provide([withoutStore, handlers()]))
  )

  it.effect("that cannot be kept gives its answer all the same, and says so; one that is not there is refused", () =>
    Effect.gen(function* () {
      const conversations = yield* service
      const options = toRunConversationOptions(conversations, conversationId, runId(1))
      assert.strictEqual((yield* Effect.flip(AgentRuntime.run(desk, "one", options)))._tag, "UnknownEphemeral")
      yield* conversations.create(conversationId)
      const result = yield* AgentRuntime.run(desk, "one", options)
      assert.deepStrictEqual([result.text, result.persisted], ["hello", false])
      assert.deepStrictEqual((yield* conversations.snapshot(conversationId)).content, [])
    }).pipe(
      Effect.provide([
        Layer.merge(AgentRuntime.layerEphemeral, EphemeralConversations.layerWith({ maxMessages: 1 })),
        handlers(),
        ScriptedModel.layer([text("hello")])
      ])
    )
  )

  it.effect("a conversation without a history is refused where there is no store", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(AgentRuntime.run(desk, "one", { conversationId }))
      assert.isTrue(error._tag === "InvalidOption" && error.option === "conversationId")
      assert.strictEqual((yield* AgentRuntime.run(desk, "one")).text, "hello")
    }).pipe(Effect.provide([AgentRuntime.layerEphemeral, handlers(), ScriptedModel.layer([text("hello")])]))
  )
})
