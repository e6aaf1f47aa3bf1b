import { DerivedId, Ids } from "@colloquy/session"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as AiError from "effect/ai/AiError"
import { Agent, AgentRuntime, Approvals } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { childOf, happened, parentOf, task } from "./background.ts"
import { append, call, noted, openRequests, prompts, read, shown, sound, tale, taleFrom } from "./people.ts"
import { calls, conversationId, processOver, recorded, text } from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())
const options = { conversationId, runId: "r1" }
const begins = calls([task("c1")])
const child = childOf("c1")

/** A turn that waits for the test. */
const gated = Effect.gen(function* () {
  const called = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const turn =
    (said: ReturnType<typeof text>): ScriptedModel.Turn =>
    () =>
      Effect.as(Effect.andThen(Deferred.succeed(called, undefined), Deferred.await(gate)), said)
  return { turn, called: Deferred.await(called), open: Deferred.succeed(gate, undefined) }
})

const settledIn = recorded(({ payload }) => payload._tag === "BackgroundSettled")

const settlement = Effect.map(read(), (records) => {
  const found = records.flatMap(({ payload }) => (payload._tag === "BackgroundSettled" ? [payload] : []))
  assert.strictEqual(found.length, 1)
  return found[0]!
})

describe("a background agent", () => {
  it.effect("is recorded, starts in a conversation of its own, and returns at once with its task's id", () =>
    Effect.gen(function* () {
      const { called, open, turn } = yield* gated
      const { layer } = noted()
      const { parent } = parentOf([turn(text("found"))])
      yield* Effect.gen(function* () {
        const result = yield* AgentRuntime.run(parent, "go", options)
        assert.strictEqual(result.text, "meanwhile")
        yield* called
        assert.deepStrictEqual(yield* taleFrom("started c1 1"), [
          "started c1 1",
          "task of helper",
          "settled c1 success",
          "parent says 2",
          "ended completed"
        ])
        const last = (yield* prompts)[1]!.content.at(-1)!
        assert.include(JSON.stringify(last), JSON.stringify({ taskId: DerivedId.derive("task", "c1") }))
        assert.deepStrictEqual((yield* tale(child)).slice(1), [
          `start ${DerivedId.derive("task", DerivedId.derive("task", "c1"))}`,
          "input user"
        ])
        yield* open
        yield* settledIn
        // It is kept for the next run, which reads it behind its own input, once.
        yield* AgentRuntime.run(parent, "and?", { conversationId, runId: "r2" })
        yield* AgentRuntime.run(parent, "thanks", { conversationId, runId: "r3" })
        assert.strictEqual((yield* tale()).filter((word) => word === "input background").length, 1)
        assert.deepStrictEqual((yield* taleFrom("start r2")).slice(0, 4), [
          "start r2",
          "input user",
          "input background",
          "parent says 1"
        ])
        assert.include(shown((yield* prompts)[2]), "found")
        yield* sound()
        yield* sound(child)
      }).pipe(
        Effect.provide([fresh(), layer, ScriptedModel.layer([begins, text("meanwhile"), text("so"), text("welcome")])])
      )
    })
  )

  it.effect("tells its end to the parent's run that goes on, before the next model call", () =>
    Effect.gen(function* () {
      const { layer } = noted()
      const parentTurn = yield* gated
      const { parent } = parentOf([text("found")])
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(parent, "go", options)
        yield* parentTurn.called
        yield* settledIn
        yield* parentTurn.open
        assert.strictEqual((yield* run.await).text, "now I know")
        assert.deepStrictEqual((yield* tale()).slice(-4), [
          "parent says 2",
          "input background",
          "parent says 3",
          "ended completed"
        ])
        const settled = yield* settlement
        assert.strictEqual(settled.outcome, "completed")
        assert.strictEqual(settled.summary, "found")
        assert.strictEqual(settled.usage?.inputTokens.total, 10)
      }).pipe(
        Effect.provide([
          fresh(),
          layer,
          ScriptedModel.layer([begins, parentTurn.turn(text("meanwhile")), text("now I know")])
        ])
      )
    })
  )

  const told = (turns: ReadonlyArray<ScriptedModel.Turn>, limit = {}) =>
    Effect.gen(function* () {
      const { layer } = noted()
      const { parent } = parentOf(turns)
      return yield* Effect.gen(function* () {
        yield* AgentRuntime.run(parent, "go", { ...options, ...limit })
        yield* settledIn
        yield* sound()
        return yield* settlement
      }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([begins, text("ok"), text("ok")])]))
    })

  it.effect("that fails says with what, and what it has used", () =>
    Effect.gen(function* () {
      const settled = yield* told([
        calls([call("d1", "look")]),
        ScriptedModel.fail(new AiError.InvalidRequestError({ description: "no such window" }))
      ])
      assert.strictEqual(settled.outcome, "failed")
      assert.include(settled.summary, "no such window")
      assert.strictEqual(settled.usage?.inputTokens.total, 10)
    })
  )

  it.effect("says no more than a summary, cut between code points", () =>
    Effect.gen(function* () {
      const settled = yield* told([text(`a${"😀".repeat(20_000)}`)])
      assert.isAtMost(new TextEncoder().encode(settled.summary).length, 16 * 1024)
      assert.isTrue(settled.summary?.isWellFormed())
      assert.isTrue(settled.summary?.endsWith("😀"))
    })
  )

  it.effect("whose start fails is a task that failed", () => {
    class Closed extends Schema.TaggedError<Closed>()("Closed", {}) {}
    const helper = Agent.make({ name: "helper", instructions: Effect.fail(new Closed()) })
    const parent = Agent.make({ name: "parent", instructions: "Lead.", delegates: [Agent.background(helper)] })
    return Effect.gen(function* () {
      const result = yield* AgentRuntime.run(parent, "go", options)
      assert.strictEqual(result.text, "pity")
      assert.strictEqual((yield* settlement).outcome, "failed")
      assert.include(yield* tale(), "input background")
      yield* sound()
    }).pipe(Effect.provide([fresh(), ScriptedModel.layer([begins, text("pity")])]))
  })

  it.effect("two at once, of one agent, do not mix; a task without an input is a failure of its call", () =>
    Effect.gen(function* () {
      const { layer } = noted()
      const parentTurn = yield* gated
      const helper = Agent.make({
        name: "helper",
        instructions: "Find out.",
        model: ScriptedModel.layerOf(({ prompt }) => text(`re: ${JSON.stringify(prompt.content.at(-1)!.content)}`))
      })
      const parent = Agent.make({ name: "parent", instructions: "Lead.", delegates: [Agent.background(helper)] })
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(parent, "go", options)
        yield* parentTurn.called
        yield* happened(childOf("c1"), "RunEnded")
        yield* happened(childOf("c2"), "RunEnded")
        yield* parentTurn.open
        yield* run.await
        yield* AgentRuntime.run(parent, "and?", { conversationId })
        const words = yield* tale()
        assert.strictEqual(words.filter((word) => word === "input background").length, 2)
        assert.include(words, "settled c3 failure")
        const sent = shown((yield* prompts).at(-1))
        assert.include(sent, "about A")
        assert.include(sent, "about B")
        yield* sound()
      }).pipe(
        Effect.provide([
          fresh(),
          layer,
          ScriptedModel.layer([
            calls([task("c1", "about A"), task("c2", "about B"), task("c3", "")]),
            parentTurn.turn(text("meanwhile")),
            text("so"),
            text("so"),
            text("so")
          ])
        ])
      )
    })
  )

  it.effect("where nothing is stored, and in plan mode, does not start", () => {
    const { layer } = noted()
    const { parent } = parentOf([])
    return Effect.gen(function* () {
      yield* AgentRuntime.run(parent, "go")
      assert.include(shown((yield* prompts)[1]), "only where the conversation is stored")
      yield* AgentRuntime.run(parent, "go", { ...options, mode: "plan" })
      assert.include(yield* tale(), "settled c1 rejected")
      assert.notInclude(yield* tale(), "task of helper")
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([begins, text("ok"), begins, text("ok")])]))
  })

  it.effect("may have one of its own", () =>
    Effect.gen(function* () {
      const inner = Agent.make({ name: "inner", instructions: "x", model: ScriptedModel.layer([text("deep")]) })
      const outerTurn = yield* gated
      const outer = Agent.make({
        name: "outer",
        instructions: "y",
        delegates: [Agent.background(inner)],
        model: ScriptedModel.layer([
          calls([{ id: "d1", name: "start_inner", params: { input: "dig" } }]),
          outerTurn.turn(text("wait")),
          text("outer knows")
        ])
      })
      const top = Agent.make({ name: "top", instructions: "z", delegates: [Agent.background(outer)] })
      yield* Effect.gen(function* () {
        const id = childOf("c1")
        yield* AgentRuntime.run(top, "go", options)
        yield* outerTurn.called
        yield* happened(id, "BackgroundSettled")
        yield* outerTurn.open
        yield* settledIn
        assert.strictEqual((yield* settlement).summary, "outer knows")
        assert.include(yield* tale(id), "input background")
        yield* sound(childOf("d1", id))
      }).pipe(
        Effect.provide([
          fresh(),
          ScriptedModel.layer([calls([{ id: "c1", name: "start_outer", params: { input: "dig" } }]), text("ok")])
        ])
      )
    })
  )
})

describe("a cancelled parent", () => {
  for (const cancelWithParent of [true, false]) {
    it.effect(`${cancelWithParent ? "takes its task with it" : "leaves its task alone, if told so"}`, () =>
      Effect.gen(function* () {
        const { layer } = noted()
        const childTurn = yield* gated
        const { parent } = parentOf([childTurn.turn(text("found"))], { cancelWithParent })
        yield* Effect.gen(function* () {
          const run = yield* AgentRuntime.start(parent, "go", options)
          yield* childTurn.called
          yield* recorded(({ payload }) => payload._tag === "ToolCallSettled")
          yield* run.cancel
          assert.strictEqual((yield* tale()).at(-1), "ended cancelled")
          if (cancelWithParent) assert.strictEqual((yield* tale(child)).at(-1), "ended cancelled")
          yield* childTurn.open
          yield* settledIn
          assert.strictEqual((yield* settlement).outcome, cancelWithParent ? "cancelled" : "completed")
          yield* sound()
        }).pipe(
          Effect.provide([
            fresh(),
            layer,
            ScriptedModel.layerOf(({ call }) => (call === 0 ? begins : () => Effect.never))
          ])
        )
      })
    )
  }

  it.effect("whose run is over is cancelled all the same: its task stops", () =>
    Effect.gen(function* () {
      const { layer } = noted()
      const childTurn = yield* gated
      const { parent } = parentOf([childTurn.turn(text("found"))])
      yield* Effect.gen(function* () {
        yield* AgentRuntime.run(parent, "go", options)
        yield* childTurn.called
        yield* AgentRuntime.cancel(conversationId)
        assert.strictEqual((yield* settlement).outcome, "cancelled")
      }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([begins, text("ok")])]))
    })
  )
})

describe("a background agent whose call waits for a person", () => {
  const asks = calls([call("d1", "pay")])

  it.effect("goes on when it is decided, and tells its parent then", () => {
    const { layer, ran } = noted()
    const { helper, parent } = parentOf([asks, text("paid")])
    return Effect.gen(function* () {
      yield* AgentRuntime.run(parent, "go", options)
      yield* happened(child, "RunSuspended")
      const [request] = yield* openRequests(child)
      const result = yield* AgentRuntime.decide(helper, child, [Approvals.approve(request!)])
      assert.strictEqual(result.outcome, "completed")
      assert.deepStrictEqual(ran, ["pay A1"])
      assert.strictEqual((yield* settlement).outcome, "completed")
      yield* AgentRuntime.run(parent, "and?", { conversationId })
      assert.include(yield* tale(), "input background")
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([begins, text("ok"), text("ok")])]))
  })

  it.effect("is ended with its parent, and by itself, and the parent is told", () => {
    const { layer } = noted()
    const { parent } = parentOf([asks])
    return Effect.gen(function* () {
      for (const id of ["one", "two"]) {
        const parentId = Ids.ConversationId.make(id)
        const childId = childOf("c1", id)
        yield* AgentRuntime.run(parent, "go", { conversationId: id })
        yield* happened(childId, "RunSuspended")
        yield* AgentRuntime.cancel(id === "one" ? parentId : childId)
        assert.strictEqual((yield* tale(childId)).at(-1), "ended cancelled")
        assert.include(yield* tale(parentId), "task cancelled")
      }
    }).pipe(
      Effect.provide([
        fresh(),
        layer,
        ScriptedModel.layerOf(({ prompt }) => (prompt.content.at(-1)!.role === "tool" ? text("ok") : begins))
      ])
    )
  })
})

describe("the end of a runtime", () => {
  it.effect("stores the ends of tasks and of their parents", () =>
    Effect.gen(function* () {
      const { layer } = noted()
      const childTurn = yield* gated
      const database = MemoryDatabase.make()
      const scope = yield* Scope.make()
      const process = yield* Layer.buildWithScope(processOver(database), scope)
      const { parent } = parentOf([childTurn.turn(text("found"))])
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(parent, "go", options)
        yield* childTurn.called
      }).pipe(
        Effect.provide([layer, ScriptedModel.layerOf(({ call }) => (call === 0 ? begins : () => Effect.never))]),
        Effect.provideContext(process)
      )
      yield* Scope.close(scope, Exit.void)
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* tale(child)).at(-1), "ended cancelled")
        assert.include(yield* tale(), "task cancelled")
        assert.include(yield* tale(), "ended cancelled")
        yield* append([{ _tag: "Custom", name: "n", data: null }])
        yield* sound()
      }).pipe(Effect.provide(processOver(database)))
    })
  )
})
