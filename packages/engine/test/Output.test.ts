import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Agent, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import {
  calls,
  conversationId,
  faultsOfLast,
  handlers,
  lookUp,
  processOver,
  story,
  text,
  ticking,
  tools
} from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())

const Verdict = Schema.Struct({ open: Schema.Boolean, since: Schema.DateTimeUtcFromString })

const judge = Agent.make({ name: "judge", instructions: "Judge.", output: Verdict })
const clerk = Agent.make({ name: "clerk", instructions: "Look, then judge.", output: Verdict, toolkit: tools })

const answer = text('{"open":true,"since":"2026-01-02T00:00:00.000Z"}')
const since = Date.UTC(2026, 0, 2)

const choices = Effect.map(ScriptedModel.Requests, (requests) =>
  requests.all().map(({ toolNames }) => toolNames.length)
)

describe("a structured answer", () => {
  for (const streaming of [false, true]) {
    it.effect(`of an agent without tools is one model call, and typed${streaming ? " (stream)" : ""}`, () =>
      Effect.gen(function* () {
        const { outcome, text, value } = yield* AgentRuntime.run(judge, "Is it open?", { conversationId, streaming })
        const typed: typeof Verdict.Type | undefined = value
        assert.isTrue(typed?.open)
        assert.strictEqual(typed?.since.epochMilliseconds, since)
        assert.isTrue(outcome === "completed" && text.startsWith("{"))
        assert.deepStrictEqual(yield* choices, [0])
        assert.deepStrictEqual((yield* story).slice(3), ["responded 1", "ended completed"])
      }).pipe(Effect.provide([fresh(), ScriptedModel.layer([answer])]))
    )

    it.effect(`that the text after tools is already needs no further call${streaming ? " (stream)" : ""}`, () =>
      Effect.gen(function* () {
        const { value } = yield* AgentRuntime.run(clerk, "Is it open?", { conversationId, streaming })
        assert.isTrue(value?.open)
        assert.deepStrictEqual(yield* choices, [2, 2])
      }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([calls([lookUp("c1")]), answer])]))
    )

    it.effect(`that the text after tools is not is asked for once${streaming ? " (stream)" : ""}`, () =>
      Effect.gen(function* () {
        const { usage, value } = yield* AgentRuntime.run(clerk, "Is it open?", { conversationId, streaming })
        assert.isTrue(value?.open)
        assert.deepStrictEqual(yield* choices, [2, 2, 0])
        assert.deepStrictEqual(yield* faultsOfLast, [])
        const asked = (yield* ScriptedModel.Requests).all().at(-1)!.prompt.content.at(-1)
        assert.strictEqual(asked?.role, "user", "a request does not end with what the model said")
        assert.strictEqual(usage.outputTokens.total, 15)
        assert.deepStrictEqual((yield* story).slice(-3), ["responded 2", "responded 3", "ended completed"])
      }).pipe(
        Effect.provide([fresh(), handlers(), ScriptedModel.layer([calls([lookUp("c1")]), text("It is."), answer])])
      )
    )
  }

  it.effect("is asked for behind the limit of rounds too", () =>
    Effect.gen(function* () {
      const { outcome, value } = yield* AgentRuntime.run(clerk, "go", { conversationId, maxToolRounds: 1 })
      assert.strictEqual(outcome, "limit-reached")
      assert.isTrue(value?.open)
    }).pipe(
      Effect.provide([fresh(), handlers(), ScriptedModel.layer([calls([lookUp("c1")]), calls([lookUp("c2")]), answer])])
    )
  )

  it.effect("that does not come fails the run, after the retries, and the conversation goes on", () =>
    Effect.gen(function* () {
      const error = yield* ticking(
        Effect.flip(AgentRuntime.run(judge, "Is it open?", { conversationId, modelRetries: 2 }))
      )
      assert.isTrue(error._tag === "AiError" && error.reason._tag === "StructuredOutputError")
      assert.strictEqual((yield* ScriptedModel.Requests).all().length, 3)
      assert.deepStrictEqual((yield* story).slice(3), ["ended failed"])
      assert.isTrue((yield* AgentRuntime.run(judge, "And now?", { conversationId })).value?.open)
      assert.deepStrictEqual(yield* faultsOfLast, [])
    }).pipe(Effect.provide([fresh(), ScriptedModel.layer([text("yes"), text('{"open":1}'), text(""), answer])]))
  )

  it.effect("is missing from a run that was stopped", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const model = ScriptedModel.layer([() => Effect.andThen(Deferred.succeed(asked, undefined), Effect.never)])
      const result = yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(judge, "go", { conversationId })
        yield* Deferred.await(asked)
        yield* run.cancel
        return yield* run.await
      }).pipe(Effect.provide(model))
      assert.isTrue(result.outcome === "cancelled" && result.value === undefined)
    }).pipe(Effect.provide(fresh()))
  )
})
