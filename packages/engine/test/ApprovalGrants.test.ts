import { Ids } from "@colloquy/session"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { AgentError, AgentRuntime, Approvals } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { append, call, clerk, noted, read, requestOf, sound, tale } from "./people.ts"
import { calls, conversationId, processOver, text } from "./support.ts"

const again = (id = "next") => AgentRuntime.run(clerk, "again", { conversationId, runId: id })

/** Grants a call of the first run with this scope; then other runs call what they call. */
const granted = (
  scope: "once" | "conversation" | "conversation-exact-parameters",
  first: ReturnType<typeof call>,
  ...others: ReadonlyArray<ReturnType<typeof call>>
) =>
  Effect.gen(function* () {
    const { layer, ran } = noted()
    const database = MemoryDatabase.make()
    const model = ScriptedModel.layer([calls([first]), text("ok"), calls(others), text("ok")])
    yield* Effect.gen(function* () {
      const { approvals } = yield* AgentRuntime.run(clerk, "go", { conversationId, runId: "r1" })
      yield* AgentRuntime.decide(clerk, conversationId, [Approvals.approve(approvals[0]!, { scope })])
    }).pipe(Effect.provide([processOver(database), layer, model]))
    // Another process, as after a restart.
    return yield* Effect.gen(function* () {
      const result = yield* again()
      return { ran: ran.slice(1), asked: result.approvals.map(({ callId }) => String(callId)) }
    }).pipe(Effect.provide([processOver(database), layer, ScriptedModel.layer([calls(others), text("ok")])]))
  })

describe("the scope of an approval", () => {
  it.effect("once: the next call is asked about again", () =>
    Effect.gen(function* () {
      const { asked, ran } = yield* granted("once", call("c1", "pay"), call("c2", "pay"))
      assert.deepStrictEqual(asked, ["c2"])
      assert.deepStrictEqual(ran, [])
    })
  )

  it.effect("conversation: every later call of the tool runs, and of no other", () =>
    Effect.gen(function* () {
      const { asked, ran } = yield* granted(
        "conversation",
        call("c1", "pay"),
        call("c2", "pay", "B2"),
        call("c3", "ship", "B2")
      )
      assert.deepStrictEqual(asked, ["c3"])
      assert.deepStrictEqual(ran, ["pay B2"])
    })
  )

  it.effect("exact parameters: the same ones run, others are asked about", () =>
    Effect.gen(function* () {
      const { asked, ran } = yield* granted(
        "conversation-exact-parameters",
        call("c1", "pay"),
        call("c2", "pay", "B2"),
        call("c3", "pay")
      )
      assert.deepStrictEqual(asked, ["c2"])
      assert.deepStrictEqual(ran, ["pay A1"])
    })
  )

  it.effect("exact parameters: an empty set is not any set", () =>
    Effect.gen(function* () {
      const { asked, ran } = yield* granted(
        "conversation-exact-parameters",
        call("c1", "close"),
        { ...call("c2", "close"), params: { order: "A1" } },
        call("c3", "close")
      )
      assert.deepStrictEqual(asked, ["c2"])
      assert.deepStrictEqual(ran, ["close"])
    })
  )

  it.effect("is not that of a denial", () =>
    Effect.gen(function* () {
      const { layer, ran } = noted()
      yield* Effect.gen(function* () {
        const first = yield* AgentRuntime.run(clerk, "go", { conversationId })
        yield* AgentRuntime.decide(clerk, conversationId, [
          { ...Approvals.deny(first.approvals[0]!), scope: "conversation" }
        ])
        assert.strictEqual((yield* again()).outcome, "awaiting-approval")
        assert.deepStrictEqual(ran, [])
      }).pipe(
        Effect.provide([
          processOver(MemoryDatabase.make()),
          layer,
          ScriptedModel.layer([calls([call("c1", "pay")]), text("ok"), calls([call("c2", "pay")])])
        ])
      )
    })
  )
})

describe("a summary", () => {
  it.effect("hides neither grants nor which requests were closed", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const approvals = yield* Effect.gen(function* () {
        const { approvals } = yield* AgentRuntime.run(clerk, "go", { conversationId, runId: "r1" })
        yield* AgentRuntime.decide(clerk, conversationId, [Approvals.approve(approvals[0]!, { scope: "conversation" })])
        const coversThrough = (yield* read()).length
        yield* append([{ _tag: "Compacted", kind: "summary", coversThrough, pinned: [], summary: "They paid." }])
        return approvals
      }).pipe(
        Effect.provide([processOver(database), layer, ScriptedModel.layer([calls([call("c1", "pay")]), text("ok")])])
      )
      yield* Effect.gen(function* () {
        const second = yield* again()
        assert.deepStrictEqual(ran, ["pay A1", "pay B2"])
        const before = yield* read()
        const late = yield* Effect.flip(AgentRuntime.decide(clerk, conversationId, [Approvals.approve(approvals[0]!)]))
        assert.isTrue(late instanceof AgentError.DecisionRejected && late.reason === "closed")
        assert.deepStrictEqual(yield* read(), before)
        assert.strictEqual(second.approvals.length, 1)
        yield* AgentRuntime.decide(clerk, conversationId, [Approvals.approve(requestOf(second, "c3"))])
        yield* sound()
      }).pipe(
        Effect.provide([
          processOver(database),
          layer,
          ScriptedModel.layer([calls([call("c2", "pay", "B2"), call("c3", "ship")]), text("ok")])
        ])
      )
    })
  })
})

describe("requests of several runs", () => {
  it.effect("do not mix: those of a run that is over are closed, whoever left them open", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const first = yield* AgentRuntime.run(clerk, "go", { conversationId, runId: "r1" })
      // Another producer ends the run and closes nothing.
      yield* append([
        {
          _tag: "RunEnded",
          runId: Ids.RunId.make("r1"),
          outcome: "failed",
          mode: "execute",
          usage: { inputTokens: {}, outputTokens: {} }
        }
      ])
      const second = yield* again("r2")
      assert.deepStrictEqual(
        second.approvals.map(({ callId, runId }) => `${runId} ${callId}`),
        ["r2 c2"]
      )
      const old = yield* Effect.flip(
        AgentRuntime.decide(clerk, conversationId, [Approvals.approve(first.approvals[0]!)])
      )
      assert.isTrue(old instanceof AgentError.DecisionRejected && old.reason === "closed")
      const done = yield* AgentRuntime.decide(clerk, conversationId, [Approvals.approve(second.approvals[0]!)])
      assert.strictEqual(done.text, "ok")
      assert.deepStrictEqual(ran, ["pay B2"])
      assert.strictEqual((yield* tale()).at(-1), "ended completed")
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        layer,
        ScriptedModel.layer([calls([call("c1", "pay")]), calls([call("c2", "pay", "B2")]), text("ok")])
      ])
    )
  })
})
