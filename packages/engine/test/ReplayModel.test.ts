import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentRuntime, Agents, Approvals } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { assertReplays, recordedLog } from "./replaying.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, recorded, refund, text } from "./support.ts"

const run = (input: string, runId?: string) => AgentRuntime.run(desk, input, { conversationId, runId })

const fresh = () => processOver(MemoryDatabase.make())

/** The log of what happens. */
const logOf = <A, E, R>(happening: Effect.Effect<A, E, R>) => Effect.andThen(Effect.exit(happening), recordedLog)

const Danger = Tool.make("danger", {
  parameters: Schema.Struct({ what: Schema.String }),
  success: Schema.String,
  needsApproval: true
})
const danger = (id: string) => ({ id, name: "danger", params: { what: "all" } })
const asking = Toolkit.make(Danger)
const careful = Agent.make({ name: "careful", instructions: "Ask.", toolkit: asking })
const dangerous = asking.toLayer({ danger: () => Effect.succeed("done") })

/** A model whose stream stops in the middle of a text, with a whole call before it. */
const halting = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    generateText: () => Effect.never,
    streamText: () =>
      Stream.concat(
        Stream.fromIterable([
          { type: "text-start", id: "a" },
          { type: "text-delta", id: "a", delta: "whole" },
          { type: "text-end", id: "a" },
          { type: "reasoning-start", id: "r" },
          { type: "reasoning-delta", id: "r", delta: "unfinished" },
          { type: "tool-call", ...refund("c9") },
          { type: "text-start", id: "b" },
          { type: "text-delta", id: "b", delta: "half" }
        ] as const),
        Stream.never
      )
  })
)

describe("ReplayModel.replay", () => {
  it.effect("several runs, steps, parallel calls, failures, and results in the order in which they came", () =>
    Effect.gen(function* () {
      const released = yield* Deferred.make<void>()
      const log = yield* logOf(
        Effect.gen(function* () {
          const handle = yield* AgentRuntime.start(desk, "Where are they?", { conversationId })
          yield* recorded(({ payload }) => payload._tag === "ToolCallSettled" && payload.callId === "c4")
          yield* Deferred.succeed(released, undefined)
          yield* handle.await
          yield* run("And C3?")
        })
      ).pipe(
        Effect.provide([
          fresh(),
          handlers({
            look_up: ({ order }) =>
              order === "slow"
                ? Effect.as(Deferred.await(released), { status: "late" })
                : order === "none"
                  ? Effect.fail("no such order")
                  : order === "broken"
                    ? Effect.die("broken")
                    : Effect.succeed({ status: "there" })
          }),
          ScriptedModel.layer([
            calls([lookUp("c1", "slow"), refund("c2"), lookUp("c3", "broken"), lookUp("c4", "none")], "I look."),
            calls([
              { id: "c5", name: "unheard_of", params: {} },
              { id: "c6", name: "look_up", params: { order: 7 } }
            ]),
            text("They are there."),
            [{ type: "reasoning", text: "hm", metadata: { acme: { signature: "s" } } }, ...text("It is.")]
          ])
        ])
      )
      const order = log.flatMap(({ payload }) => (payload._tag === "ToolCallSettled" ? [payload.callId] : []))
      assert.deepStrictEqual(order, ["c3", "c4", "c2", "c1", "c5", "c6"])
      assert.deepStrictEqual(yield* assertReplays(log), { runs: 2, steps: 4, stops: [] })
    })
  )

  it.effect("repeated ids as they were renamed, more calls than run at once, and calls after a length limit", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 9 }, (_, i) => lookUp(`c${i % 3}`, `A${i}`))
      const log = yield* logOf(Effect.andThen(run("one"), run("two"))).pipe(
        Effect.provide([
          fresh(),
          handlers(),
          ScriptedModel.layer([
            calls(many),
            calls(many),
            text("one"),
            [{ type: "tool-call", id: "c1", name: "refund", params: { order: "A" } }, ScriptedModel.finish("length")],
            text("two")
          ])
        ])
      )
      assert.deepStrictEqual(yield* assertReplays(log), { runs: 2, steps: 5, stops: [] })
    })
  )

  it.effect("steering and follow-ups, at the seams where they were read", () =>
    Effect.gen(function* () {
      const log = yield* logOf(
        Effect.gen(function* () {
          const called = yield* Deferred.make<void>()
          const go = yield* Deferred.make<void>()
          const hold = handlers({
            refund: () => Effect.andThen(Deferred.succeed(called, undefined), Deferred.await(go))
          })
          const handle = yield* Effect.provide(AgentRuntime.start(desk, "go", { conversationId }), hold)
          yield* Deferred.await(called)
          yield* handle.followUp("and then?", { inputId: "f1" })
          yield* handle.steer("hurry", { inputId: "s1", author: "boss" })
          yield* Deferred.succeed(go, undefined)
          yield* handle.await
        })
      ).pipe(
        Effect.provide([
          fresh(),
          ScriptedModel.layer([calls([refund("c1")]), text("first"), calls([lookUp("c2")]), text("second")])
        ])
      )
      assert.deepStrictEqual(yield* assertReplays(log), { runs: 1, steps: 4, stops: [] })
    })
  )

  it.effect("a handoff, and agents by their recorded names", () =>
    Effect.gen(function* () {
      const billing = Agent.make({ name: "billing", instructions: "Bill." })
      const front = Agent.make({ name: "front", instructions: "Greet.", delegates: [Agent.handoff(billing)] })
      const log = yield* logOf(
        Effect.andThen(
          AgentRuntime.run(front, "bill me", { conversationId }),
          AgentRuntime.run(billing, "thanks", { conversationId })
        )
      ).pipe(
        Effect.provide([
          fresh(),
          ScriptedModel.layer([
            calls([{ id: "c1", name: "hand_over_to_billing", params: { reason: "money" } }]),
            text("Billed."),
            text("You are welcome.")
          ])
        ])
      )
      assert.isTrue(log.some(({ payload }) => payload._tag === "HandedOff"))
      assert.deepStrictEqual(yield* assertReplays(log), { runs: 2, steps: 3, stops: [] })
    })
  )

  it.effect("decisions: approved, denied, answered; and a request that a new input closed", () =>
    Effect.gen(function* () {
      const log = yield* logOf(
        Effect.gen(function* () {
          const { approvals } = yield* AgentRuntime.run(careful, "do", { conversationId })
          const [one, two, three] = approvals
          yield* AgentRuntime.decide(careful, conversationId, [Approvals.approve(one!)])
          yield* AgentRuntime.decide(careful, conversationId, [
            Approvals.deny(two!, { reason: "no" }),
            Approvals.answer(three!, "42")
          ])
          yield* AgentRuntime.run(careful, "again", { conversationId })
          yield* AgentRuntime.run(careful, "never mind", { conversationId })
        })
      ).pipe(
        Effect.provide([
          fresh(),
          dangerous,
          ScriptedModel.layer([
            calls([danger("c1"), danger("c2"), danger("c3")]),
            text("one of three"),
            calls([danger("c4")]),
            text("fine")
          ])
        ])
      )
      assert.isTrue(log.some(({ payload }) => payload._tag === "ApprovalResolved" && payload.decision === "superseded"))
      assert.deepStrictEqual(yield* assertReplays(log), { runs: 3, steps: 4, stops: [] })
    })
  )

  it.effect("what a mode has refused, and a run that came to its limit", () =>
    Effect.gen(function* () {
      const log = yield* logOf(AgentRuntime.run(desk, "plan", { conversationId, mode: "plan", maxToolRounds: 2 })).pipe(
        Effect.provide([
          fresh(),
          handlers(),
          ScriptedModel.layer([calls([lookUp("c1"), refund("c2")]), calls([refund("c3")]), text("That is all.")])
        ])
      )
      assert.strictEqual(log.at(-1)?.payload._tag, "RunEnded")
      assert.deepStrictEqual(yield* assertReplays(log), { runs: 1, steps: 3, stops: [] })
    })
  )

  it.effect("runs that were cancelled with calls open and with a response half there, or failed with the model", () =>
    Effect.gen(function* () {
      const log = yield* logOf(
        Effect.gen(function* () {
          const called = yield* Deferred.make<void>()
          const hang = handlers({ refund: () => Effect.andThen(Deferred.succeed(called, undefined), Effect.never) })
          const fiber = yield* Effect.forkChild(Effect.provide(run("one"), hang))
          yield* Deferred.await(called)
          yield* recorded(({ payload }) => payload._tag === "ToolCallSettled" && payload.callId === "c1")
          yield* Fiber.interrupt(fiber)
          yield* Effect.exit(Effect.provide(run("two"), handlers()))
          yield* Effect.exit(Effect.provide(run("three"), handlers({ refund: () => Effect.die("broken") })))
          const arrived = yield* Deferred.make<void>()
          const half = yield* AgentRuntime.start(desk, "four", {
            conversationId,
            streaming: true,
            onEvent: (event) => {
              if (event._tag === "TextDelta" && event.delta === "half") Deferred.doneUnsafe(arrived, Effect.void)
            }
          }).pipe(Effect.provide(halting))
          yield* Deferred.await(arrived)
          yield* half.cancel
          yield* Effect.provide(run("five"), handlers())
        }).pipe(Effect.provide(handlers()))
      ).pipe(
        Effect.provide([
          fresh(),
          ScriptedModel.layer([
            calls([lookUp("c1"), refund("c2")]),
            ScriptedModel.fail(new AiError.InvalidRequestError({ description: "no" })),
            calls([lookUp("c3"), refund("c4")]),
            text("five")
          ])
        ])
      )
      assert.isTrue(log.some(({ payload }) => payload._tag === "ModelResponded" && payload.partial === true))
      assert.deepStrictEqual(yield* assertReplays(log), { runs: 5, steps: 4, stops: [] })
    })
  )

  it.effect("a run that crashed is dropped there and resumed: unknown, repeated, not started", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      let killed = false
      const doomed = processOver(database, {
        beforeCommit: () => Effect.suspend(() => (killed ? Effect.die(new Error("killed")) : Effect.void))
      })
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(desk, "go", { conversationId, toolConcurrency: 2 })
        yield* recorded(({ payload }) => payload._tag === "ToolCallStarted" && payload.callId === "c2")
        killed = true
      }).pipe(
        Effect.provide([
          doomed,
          handlers({ look_up: () => Effect.never, refund: () => Effect.never }),
          ScriptedModel.layer([calls([lookUp("c1"), refund("c2"), lookUp("c3")])])
        ])
      )
      const log = yield* logOf(
        Effect.andThen(AgentRuntime.resume(Agents.make(desk), conversationId), run("more"))
      ).pipe(Effect.provide([processOver(database), handlers(), ScriptedModel.layer([text("done"), text("yes")])]))
      assert.isTrue(log.some(({ payload }) => payload._tag === "RunResumed"))
      assert.deepStrictEqual(yield* assertReplays(log), { runs: 2, steps: 3, stops: [] })
    })
  )

  it.effect("a log that ends in the middle of a run is replayed up to there", () =>
    Effect.gen(function* () {
      const log = yield* logOf(run("go")).pipe(
        Effect.provide([
          fresh(),
          handlers(),
          ScriptedModel.layer([calls([lookUp("c1"), refund("c2")]), calls([lookUp("c3")]), text("done")])
        ])
      )
      for (const batchId of new Set(log.map(({ batchId }) => batchId))) {
        const cut = log.slice(0, log.findLastIndex((record) => record.batchId === batchId) + 1)
        yield* assertReplays(cut)
      }
    })
  )
})
