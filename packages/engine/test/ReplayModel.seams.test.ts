/** Replays of what stands between the model calls of a run: compactions, requests that stay open, structured answers. */
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as AiError from "effect/ai/AiError"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentRuntime, type Approvals } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { assertReplays, type Log, recordedLog, replayed } from "./replaying.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, text, tools } from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())

const has = (log: Log, tag: Log[number]["payload"]["_tag"]) => log.some(({ payload }) => payload._tag === tag)

describe("ReplayModel.replay", () => {
  it.effect("takes along what a run has compacted, within it and before it", () =>
    Effect.gen(function* () {
      const long = "word ".repeat(400)
      const compaction = { maxInputTokens: 900, targetInputTokens: 650 }
      const log = yield* Effect.gen(function* () {
        yield* AgentRuntime.run(desk, "Where are they?", { conversationId, compaction })
        yield* AgentRuntime.run(desk, `And? ${long}`, { conversationId, compaction })
        return yield* recordedLog
      }).pipe(
        Effect.provide([
          fresh(),
          handlers({ look_up: ({ order }) => Effect.succeed({ status: `${order} ${long}` }) }),
          ScriptedModel.layerOf(({ call, toolNames }) => {
            if (toolNames.length === 0) return text("They were looked up.")
            return call < 4 ? calls([lookUp(`c${call}`, `A${call}`)]) : text("done")
          })
        ])
      )
      assert.isTrue(has(log, "Compacted"))
      const { stops } = yield* assertReplays(log)
      assert.deepStrictEqual(stops, [])
    })
  )

  it.effect("waits again where a model call has failed while requests were open", () =>
    Effect.gen(function* () {
      const Pay = Tool.make("pay", { parameters: Schema.Struct({}), success: Schema.String, needsApproval: true })
      const Look = Tool.make("look", { parameters: Schema.Struct({}), success: Schema.String })
      const kit = Toolkit.make(Pay, Look)
      const clerk = Agent.make({ name: "clerk", instructions: "Ask.", toolkit: kit })
      const called = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const log = yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(clerk, "Pay.", { conversationId })
        yield* Deferred.await(called)
        yield* run.steer("Wait!", { inputId: "s1" })
        yield* Deferred.succeed(go, undefined)
        assert.strictEqual((yield* Effect.flip(run.await))._tag, "AiError")
        const approvals = (yield* recordedLog).flatMap(({ payload }) =>
          payload._tag === "ApprovalRequested" ? [payload] : []
        )
        const [request] = approvals
        const { approvalId, parametersDigest } = request!
        const decision: Approvals.Decision = { approvalId, parametersDigest, decision: "approved" }
        assert.strictEqual((yield* AgentRuntime.decide(clerk, conversationId, [decision])).text, "Paid.")
        return yield* recordedLog
      }).pipe(
        Effect.provide([
          fresh(),
          kit.toLayer({
            pay: () => Effect.succeed("paid"),
            look: () => Effect.as(Effect.andThen(Deferred.succeed(called, undefined), Deferred.await(go)), "there")
          }),
          ScriptedModel.layer([
            calls([
              { id: "c1", name: "pay", params: {} },
              { id: "c2", name: "look", params: {} }
            ]),
            ScriptedModel.fail(new AiError.InvalidRequestError({ description: "no" })),
            text("Paid.")
          ])
        ])
      )
      assert.deepStrictEqual(yield* assertReplays(log), { runs: 1, steps: 2, stops: [] })
    })
  )

  it.effect("holds an agent with a structured answer against its record, and the recorded one without it", () =>
    Effect.gen(function* () {
      const output = Schema.Struct({ open: Schema.Boolean })
      const clerk = Agent.make({ name: "clerk", instructions: "Judge.", output, toolkit: tools })
      const log = yield* Effect.gen(function* () {
        yield* AgentRuntime.run(clerk, "Is it open?", { conversationId, runId: "r1" })
        return yield* recordedLog
      }).pipe(
        Effect.provide([
          fresh(),
          handlers(),
          ScriptedModel.layer([calls([lookUp("c1")]), text("It is."), text('{"open":true}')])
        ])
      )
      const stops = [{ runId: "r1", step: 2, reason: "not-ended" as const }]
      assert.deepStrictEqual(yield* assertReplays(log), { runs: 1, steps: 3, stops })
      const { report } = yield* Effect.provide(replayed(log, { agents: clerk }), handlers())
      assert.deepStrictEqual(report, { runs: 1, steps: 3, stops })
    })
  )
})
