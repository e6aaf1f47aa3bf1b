import { PromptFault } from "@colloquy/session"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { AgentError, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, recorded, refund, story, text } from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())

describe("one run at a time", () => {
  it.effect("a start while another goes on is busy; different conversations run in parallel", () =>
    Effect.gen(function* () {
      const release = yield* Deferred.make<void>()
      const model = ScriptedModel.layerOf(({ call }) =>
        call === 0 ? () => Effect.as(Deferred.await(release), text("first")) : text("other")
      )
      yield* Effect.gen(function* () {
        const first = yield* AgentRuntime.start(desk, "one", { conversationId, runId: "r1" })
        const busy = yield* Effect.flip(AgentRuntime.run(desk, "two", { conversationId }))
        assert.instanceOf(busy, AgentError.ConversationBusy)
        assert.strictEqual(busy.runId, first.runId)
        const other = yield* AgentRuntime.run(desk, "two", { conversationId: "another" })
        assert.strictEqual(other.text, "other")
        yield* Deferred.succeed(release, undefined)
        assert.strictEqual((yield* first.await).text, "first")
        assert.strictEqual((yield* AgentRuntime.run(desk, "three", { conversationId })).text, "other")
      }).pipe(Effect.provide(model))
    }).pipe(Effect.provide([fresh(), handlers()]))
  )

  it.effect("who starts while another loads waits; when loading fails, it loads instead", () =>
    Effect.gen(function* () {
      const loading = yield* Deferred.make<void>()
      const fail = yield* Deferred.make<void>()
      let commits = 0
      const runtime = processOver(MemoryDatabase.make(), {
        beforeCommit: () =>
          Effect.gen(function* () {
            if (commits++ > 0) return
            yield* Deferred.succeed(loading, undefined)
            yield* Deferred.await(fail)
            return yield* Effect.die("the database is gone")
          })
      })
      yield* Effect.gen(function* () {
        const first = yield* Effect.forkChild(AgentRuntime.run(desk, "one", { conversationId }))
        yield* Deferred.await(loading)
        const second = yield* Effect.forkChild(AgentRuntime.run(desk, "two", { conversationId }))
        yield* Effect.yieldNow
        yield* Deferred.succeed(fail, undefined)
        assert.isTrue((yield* Fiber.await(first))._tag === "Failure")
        assert.strictEqual((yield* Fiber.join(second)).text, "ok")
      }).pipe(Effect.provide([runtime, handlers(), ScriptedModel.layer([text("ok")])]))
    })
  )

  it.effect("cancel stops the run and stores its end; the handle gives a cancelled result", () =>
    Effect.gen(function* () {
      const called = yield* Deferred.make<void>()
      const hang = handlers({ refund: () => Effect.andThen(Deferred.succeed(called, undefined), Effect.never) })
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId })
        yield* Deferred.await(called)
        yield* recorded(({ payload }) => payload._tag === "ToolCallSettled" && payload.callId === "c1")
        assert.isTrue(yield* AgentRuntime.cancel(conversationId))
        assert.strictEqual((yield* run.await).outcome, "cancelled")
        const told = yield* story
        assert.include(told, "settled c1 success")
        assert.include(told, "settled c2 interrupted")
        assert.strictEqual(told.at(-1), "ended cancelled")
        assert.isFalse(yield* AgentRuntime.cancel(conversationId))
        // The conversation accepts the next turn, and its prompt is valid.
        assert.strictEqual((yield* AgentRuntime.run(desk, "and now?", { conversationId })).text, "ok")
        const last = (yield* ScriptedModel.Requests).all().at(-1)!
        assert.deepStrictEqual(PromptFault.check(last.prompt), [])
      }).pipe(Effect.provide(hang))
    }).pipe(Effect.provide([fresh(), ScriptedModel.layer([calls([lookUp("c1"), refund("c2")]), text("ok")])]))
  )

  it.effect("interrupting run stores the end before the interruption is over", () =>
    Effect.gen(function* () {
      const called = yield* Deferred.make<void>()
      const hang = handlers({ refund: () => Effect.andThen(Deferred.succeed(called, undefined), Effect.never) })
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(AgentRuntime.run(desk, "go", { conversationId }))
        yield* Deferred.await(called)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual((yield* story).at(-1), "ended cancelled")
      }).pipe(Effect.provide(hang))
    }).pipe(Effect.provide([fresh(), ScriptedModel.layer([calls([refund("c2")]), text("ok")])]))
  )

  it.effect("50 conversations at once do not mix", () =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 50 }, (_, i) => `conversation-${i}`)
      const results = yield* Effect.forEach(ids, (id) => AgentRuntime.run(desk, id, { conversationId: id }), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        results.map(({ text }) => text),
        ids.map((id) => `you said ${id}`)
      )
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layerOf(({ prompt }) => {
          const said = prompt.content.at(-1)!
          return text(
            `you said ${said.role === "user" && said.content[0]?.type === "text" ? said.content[0].text : "?"}`
          )
        })
      ])
    )
  )
})
