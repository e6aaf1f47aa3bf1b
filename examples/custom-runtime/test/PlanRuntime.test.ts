import { CommandQueues } from "@colloquy/capabilities"
import { Agent, AgentError } from "@colloquy/engine"
import { ReplayModel, ScriptedModel } from "@colloquy/engine/testing"
import { Ids, PromptFault } from "@colloquy/session"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { Conversations, ConversationStore } from "@colloquy/store"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schema, Stream } from "effect"
import { Tool, Toolkit } from "effect/ai"
import * as PlanRuntime from "../src/PlanRuntime.ts"

const LookUp = Tool.make("look_up", {
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.String
}).annotate(Tool.Readonly, true)
const Refund = Tool.make("refund", { parameters: Schema.Struct({ order: Schema.String }), success: Schema.Void })
const tools = Toolkit.make(LookUp, Refund)
const desk = Agent.make({ name: "desk", instructions: "Plan first.", toolkit: tools })

const conversationId = Ids.ConversationId.make("ticket-42")
const place = { conversationId, runId: Ids.RunId.make("r1") }

const handlers = (refunded: () => void = () => undefined) =>
  tools.toLayer({ look_up: ({ order }) => Effect.succeed(`${order} is there`), refund: () => Effect.sync(refunded) })

/** A process over a database, with what goes wrong around its commits. */
const processOver = (database: MemoryDatabase.MemoryDatabase, faults: MemoryStorage.Options["faults"] = {}) =>
  Layer.mergeAll(Conversations.layer, CommandQueues.layer).pipe(
    Layer.provideMerge(MemoryStorage.layerWith({ database, faults }))
  )

/** What it answers depends only on what it is shown. */
const model = ScriptedModel.layerOf(({ prompt }) => {
  const said = prompt.content.flatMap((message) =>
    message.role === "user" ? message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : []
  )
  const step = said.findLast((text) => text.startsWith("Step "))
  const isAnswered = prompt.content.at(-1)?.role === "tool"
  if (step === undefined) return ScriptedModel.text("1. Look A1 up.\n2. Refund it.\n3. Say so.")
  if (isAnswered || step.startsWith("Step 3")) return ScriptedModel.text(`Done: ${step}`)
  const name = step.startsWith("Step 1") ? "look_up" : "refund"
  return ScriptedModel.calls([{ id: "call", name, params: { order: "A1" } }])
})

const log = Effect.gen(function* () {
  const store = yield* ConversationStore.ConversationStore
  return yield* Stream.runCollect(store.read({ conversationId }))
})

const story = Effect.map(log, (records) =>
  records.flatMap(({ payload }) => {
    switch (payload._tag) {
      case "InputRecorded":
        return [`${payload.kind} ${payload.inputId ?? ""}`.trim()]
      case "ModelResponded":
        return [payload.partial === true ? "partial" : "response"]
      case "ToolCallSettled":
        return [`${payload.callId} ${payload.outcome}`]
      case "RunEnded":
        return [`ended ${payload.outcome}`]
      default:
        return []
    }
  })
)

const whole =
  "user, response, follow-up plan-step-1, response, call success, response, follow-up plan-step-2, response, " +
  "call_2 success, response, follow-up plan-step-3, response, ended completed"

const assertPrompts = Effect.gen(function* () {
  for (const { prompt } of (yield* ScriptedModel.Requests).all()) assert.deepStrictEqual(PromptFault.check(prompt), [])
})

describe("PlanRuntime", () => {
  it.effect("writes a plan without tools, then carries it out; its log can be replayed by the engine's own loop", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const records = yield* Effect.gen(function* () {
        const { outcome } = yield* PlanRuntime.run(desk, "Refund A1.", place)
        assert.strictEqual(outcome, "completed")
        assert.strictEqual((yield* story).join(", "), whole)
        const [first] = (yield* ScriptedModel.Requests).all()
        assert.strictEqual(first?.toolChoice, "none")
        yield* assertPrompts
        const again = yield* Effect.flip(PlanRuntime.run(desk, "Refund A1.", place))
        assert.instanceOf(again, AgentError.RunExists)
        return yield* log
      }).pipe(Effect.provide([processOver(database), handlers(), model]))
      const report = yield* Effect.provide(ReplayModel.replay(records), MemoryStorage.layer)
      assert.deepStrictEqual(report, { runs: 1, steps: 6, stops: [] })
    })
  )

  for (const side of ["before", "after"] as const) {
    it.effect(`a run killed ${side} any of its writes is finished by the next process, with nothing doubled`, () =>
      Effect.gen(function* () {
        for (let at = 3; at <= 14; at++) {
          const database = MemoryDatabase.make()
          let commits = 0
          let refunds = 0
          const die = (from: number) =>
            Effect.suspend(() => (commits >= from ? Effect.die(new Error("killed")) : Effect.void))
          const doomed = processOver(database, {
            beforeCommit: () =>
              Effect.suspend(() => {
                commits++
                return die(side === "before" ? at : at + 1)
              }),
            afterCommit: () => (side === "after" ? die(at) : Effect.void)
          })
          const counted = handlers(() => refunds++)
          yield* Effect.exit(Effect.provide(PlanRuntime.run(desk, "Refund A1.", place), [doomed, counted, model]))
          yield* Effect.gen(function* () {
            // Nothing of the run was stored, part of it, or all.
            const resumed = yield* Effect.result(PlanRuntime.resume(desk, place))
            if (resumed._tag === "Failure") yield* Effect.result(PlanRuntime.run(desk, "Refund A1.", place))
            const told = yield* story
            // Of the refund nobody may know.
            assert.strictEqual(told.join(", ").replace("call_2 unknown", "call_2 success"), whole, `killed at ${at}`)
            assert.isAtMost(refunds, 1)
            const store = yield* ConversationStore.ConversationStore
            assert.deepStrictEqual((yield* store.verify({ conversationId })).faults, [])
            yield* assertPrompts
          }).pipe(Effect.provide([processOver(database), counted, model]))
        }
      })
    )
  }

  it.effect("reads steering before its next model call, and a follow-up before its end", () =>
    Effect.gen(function* () {
      const called = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const held = tools.toLayer({
        look_up: () => Effect.as(Effect.andThen(Deferred.succeed(called, undefined), Deferred.await(go)), "there"),
        refund: () => Effect.void
      })
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(PlanRuntime.run(desk, "Refund A1.", place))
        yield* Deferred.await(called)
        const queues = yield* CommandQueues.CommandQueues
        yield* queues.followUp(conversationId, "And then?", { inputId: "f1" })
        yield* queues.steer(conversationId, "Be quick.", { inputId: "s1" })
        const busy = yield* Effect.flip(
          PlanRuntime.run(desk, "Me too.", { conversationId, runId: Ids.RunId.make("r2") })
        )
        assert.instanceOf(busy, AgentError.ConversationBusy)
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(fiber)
        const told = yield* story
        assert.strictEqual(told[told.indexOf("call success") + 1], "steering s1")
        assert.deepStrictEqual(told.slice(-3), ["follow-up f1", "response", "ended completed"])
        yield* assertPrompts
      }).pipe(Effect.provide([processOver(MemoryDatabase.make()), held, model]))
    })
  )

  it.effect("when it is interrupted, keeps what had arrived, settles what was open, and ends once", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const halting = ScriptedModel.layer([
        ScriptedModel.chunks([
          { type: "text-start", id: "t" },
          { type: "text-delta", id: "t", delta: "1. Look" },
          Deferred.succeed(arrived, undefined),
          Effect.never
        ])
      ])
      const database = MemoryDatabase.make()
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(PlanRuntime.run(desk, "Refund A1.", place))
        yield* Deferred.await(arrived)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* story, ["user", "partial", "ended cancelled"])
        const nothing = yield* Effect.flip(PlanRuntime.resume(desk, place))
        assert.instanceOf(nothing, AgentError.NothingToResume)
      }).pipe(Effect.provide([processOver(database), handlers(), halting]))

      // In a tool; and the conversation takes the next run.
      const called = yield* Deferred.make<void>()
      const hanging = tools.toLayer({
        look_up: () => Effect.andThen(Deferred.succeed(called, undefined), Effect.never),
        refund: () => Effect.void
      })
      yield* Effect.gen(function* () {
        const second = { conversationId, runId: Ids.RunId.make("r2") }
        const fiber = yield* Effect.forkChild(PlanRuntime.run(desk, "Again.", second))
        yield* Deferred.await(called)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual((yield* story).slice(-2), ["call interrupted", "ended cancelled"])
        yield* assertPrompts
      }).pipe(Effect.provide([processOver(database), hanging, model]))
    })
  )
})
