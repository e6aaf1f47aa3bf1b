import { PromptFault } from "@colloquy/session"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentError, AgentRuntime, Approvals, ToolCall } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import {
  append,
  call,
  clerk,
  dying,
  killable,
  noted,
  openRequests,
  prompts,
  read,
  requestOf,
  sound,
  tale,
  taleFrom
} from "./people.ts"
import { calls, conversationId, processOver, recorded, text } from "./support.ts"

const options = { conversationId, runId: "r1" }

/** What it says depends only on what it is shown. */
const modelFor = (tool: "pay" | "ship") =>
  ScriptedModel.layerOf(({ prompt }) =>
    prompt.content.some(({ role }) => role === "tool")
      ? text("All done.")
      : calls([call("c1", tool), call("c2", "look", "B2")])
  )

/** Says yes to whatever is asked, until the run is over. */
const seeThrough = Effect.gen(function* () {
  for (let i = 0; i < 5; i++) {
    const open = yield* Effect.orElseSucceed(openRequests(), () => [])
    const going = yield* Effect.exit(
      open.length > 0 && (yield* tale()).at(-1)?.startsWith("suspended") === true
        ? AgentRuntime.decide(
            clerk,
            conversationId,
            open.map((request) => Approvals.approve(request))
          )
        : Effect.flatMap(AgentRuntime.resumeIfNeeded(clerk, conversationId), (resumed) =>
            Option.isSome(resumed)
              ? Effect.succeed(resumed.value)
              : Effect.catchTag(AgentRuntime.run(clerk, "go", options), "RunExists", () => Effect.undefined)
          )
    )
    if (going._tag === "Failure") return yield* Effect.failCause(going.cause)
    if (going.value?.outcome !== "awaiting-approval") return
  }
  return yield* Effect.die("it goes on for ever")
})

describe("a process that dies around a request", () => {
  for (const tool of ["pay", "ship"] as const) {
    for (const side of ["before", "after"] as const) {
      it.effect(`${side} any write, with a call of ${tool}: the next process sees it through`, () =>
        Effect.gen(function* () {
          const outcomes = new Set<string>()
          let isOver = false
          for (let at = 1; !isOver; at++) {
            const database = MemoryDatabase.make()
            const { keys, layer, ran } = noted()
            const doomed = dying(database, at, side)
            yield* Effect.exit(seeThrough).pipe(Effect.provide([doomed.layer, layer, modelFor(tool)]))
            isOver = !doomed.died()
            yield* Effect.gen(function* () {
              yield* seeThrough
              yield* sound()
              yield* prompts
              const words = yield* tale()
              assert.strictEqual(words.at(-1), "ended completed", `${at}: ${words.join(", ")}`)
              const count = (start: string) => words.filter((word) => word.startsWith(start)).length
              assert.strictEqual(count("asked"), 1)
              assert.strictEqual(count("approved"), 1)
              assert.strictEqual(count("settled c1"), 1)
              assert.strictEqual(count("settled c2"), 1)
              assert.isBelow(words.indexOf("approved"), words.indexOf("started c1 1"))
              const times = ran.filter((name) => name.startsWith(tool)).length
              // Only what may be repeated is, and under the same key.
              if (tool === "pay") assert.isAtMost(times, 1)
              assert.isAtMost(new Set(keys).size, 2)
              outcomes.add(words.find((word) => word.startsWith("settled c1")) ?? "none")
            }).pipe(Effect.provide([processOver(database), layer, modelFor(tool)]))
          }
          assert.deepStrictEqual(
            [...outcomes].toSorted(),
            tool === "pay" ? ["settled c1 success", "settled c1 unknown"] : ["settled c1 success"]
          )
        })
      )
    }
  }

  it.effect("approved and not started: it runs; started: by the tool's policy", () => {
    const { layer, ran } = noted({ pay: () => Effect.never })
    return Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      yield* Effect.gen(function* () {
        const { approvals } = yield* AgentRuntime.run(clerk, "go", options)
        yield* AgentRuntime.startDecide(clerk, conversationId, [Approvals.approve(requestOf({ approvals }, "c1"))])
        yield* recorded(({ payload }) => payload._tag === "ToolCallStarted" && payload.callId === "c1")
        yield* doomed.kill
      }).pipe(Effect.provide([doomed.layer, layer, modelFor("pay")]))
      yield* Effect.gen(function* () {
        const { text } = yield* AgentRuntime.resume(clerk, conversationId)
        assert.strictEqual(text, "All done.")
        assert.deepStrictEqual(yield* taleFrom("approved"), [
          "approved",
          "resumed 2 decision clerk",
          "started c1 1",
          "resumed 3 crash clerk",
          "settled c1 unknown",
          "clerk says 2",
          "ended completed"
        ])
        assert.deepStrictEqual(ran.filter((name) => name.startsWith("pay")).length <= 1, true)
      }).pipe(Effect.provide([processOver(database), layer, modelFor("pay")]))
    })
  })

  it.effect("asks before it repeats a call that says so, each time anew", () => {
    const { layer, ran } = noted({ wipe: () => Effect.never })
    const model = ScriptedModel.layerOf(({ prompt }) =>
      prompt.content.some(({ role }) => role === "tool") ? text("wiped") : calls([call("c1", "wipe")])
    )
    const seen = new Set<string>()
    return Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const start = killable(database)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(clerk, "go", options)
        yield* recorded(({ payload }) => payload._tag === "ToolCallStarted")
        yield* start.kill
      }).pipe(Effect.provide([start.layer, layer, model]))
      for (const attempt of [2, 3]) {
        const process = killable(database)
        yield* Effect.gen(function* () {
          const waiting = yield* AgentRuntime.resume(clerk, conversationId)
          assert.strictEqual(waiting.outcome, "awaiting-approval")
          const request = requestOf(waiting, "c1")
          assert.isFalse(seen.has(request.approvalId))
          seen.add(request.approvalId)
          yield* AgentRuntime.startDecide(clerk, conversationId, [Approvals.approve(request)])
          yield* recorded(({ payload }) => payload._tag === "ToolCallStarted" && payload.attempt === attempt)
          yield* process.kill
        }).pipe(Effect.provide([process.layer, layer, model]))
      }
      yield* Effect.gen(function* () {
        const waiting = yield* AgentRuntime.resume(clerk, conversationId)
        const result = yield* AgentRuntime.decide(clerk, conversationId, [
          Approvals.deny(requestOf(waiting, "c1"), { reason: "enough" })
        ])
        assert.strictEqual(result.text, "wiped")
        const shown = JSON.stringify((yield* prompts).at(-1)!.content)
        assert.include(shown, "A person denied this call: enough")
        assert.include(shown, "not known whether it took effect")
        assert.strictEqual((yield* tale()).filter((word) => word === "asked c1").length, 3)
        assert.isAtMost(ran.length, 3)
        yield* sound()
      }).pipe(Effect.provide([processOver(database), layer, model]))
    })
  })

  it.effect("approved: it runs also where a tool's calls that had not started are left out", () => {
    const Send = Tool.make("send", { success: Schema.String, needsApproval: true }).annotate(ToolCall.OnWaiting, "omit")
    const kit = Toolkit.make(Send)
    const sender = Agent.make({ name: "clerk", instructions: "Send.", toolkit: kit })
    let sent = 0
    return Effect.gen(function* () {
      const { approvals } = yield* AgentRuntime.run(sender, "go", options)
      const result = yield* AgentRuntime.decide(sender, conversationId, [Approvals.approve(approvals[0]!)])
      assert.strictEqual(result.text, "sent")
      assert.strictEqual(sent, 1)
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        kit.toLayer({ send: () => Effect.sync(() => String(sent++)) }),
        ScriptedModel.layer([calls([{ id: "c1", name: "send", params: {} }]), text("sent")])
      ])
    )
  })
})

const send = (id: string) => ({ id, name: "send", params: {} })

describe("a predicate over the messages", () => {
  it.effect("is asked with the same ones after a crash as before", () => {
    const seen: Array<string> = []
    const Send = Tool.make("send", {
      success: Schema.String,
      needsApproval: (_, { messages }) => {
        seen.push(messages.map(({ role }) => role).join())
        return messages.at(-1)?.role !== "user"
      }
    })
    const kit = Toolkit.make(Send)
    const sender = Agent.make({ name: "clerk", instructions: "Send.", toolkit: kit, toolConcurrency: 1 })
    const model = ScriptedModel.layerOf(({ prompt }) =>
      prompt.content.some(({ role }) => role === "tool") ? text("sent") : calls([send("c1"), send("c2")], "Sending.")
    )
    return Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(sender, "go", options)
        yield* recorded(({ payload }) => payload._tag === "ToolCallStarted")
        yield* doomed.kill
      }).pipe(Effect.provide([doomed.layer, kit.toLayer({ send: () => Effect.never }), model]))
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* AgentRuntime.resume(sender, conversationId)).text, "sent")
        assert.deepStrictEqual(seen, ["system,user", "system,user", "system,user"])
      }).pipe(Effect.provide([processOver(database), kit.toLayer({ send: () => Effect.succeed("sent") }), model]))
    })
  })
})

describe("a decision that was stored without its resumption", () => {
  it.effect("lets the run go on when it is resumed: what was approved runs, the rest is waited for", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const first = yield* AgentRuntime.run(clerk, "go", options)
      const { approvalId } = requestOf(first, "c1")
      yield* append([{ _tag: "ApprovalResolved", approvalId, decision: "approved", scope: "once" }])
      const second = yield* AgentRuntime.resume(clerk, conversationId)
      assert.strictEqual(second.outcome, "awaiting-approval")
      assert.deepStrictEqual(ran, ["pay A1"])
      // The other one's decision comes with its settlement.
      const other = requestOf(second, "c3")
      yield* append([{ _tag: "ApprovalResolved", approvalId: other.approvalId, decision: "approved", scope: "once" }])
      const third = yield* AgentRuntime.resume(clerk, conversationId)
      assert.strictEqual(third.text, "All done.")
      assert.deepStrictEqual(ran, ["pay A1", "pay C3"])
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        layer,
        ScriptedModel.layer([calls([call("c1", "pay"), call("c3", "pay", "C3")]), text("All done.")])
      ])
    )
  })
})

const decide = (decision: Approvals.Decision) => Effect.result(AgentRuntime.decide(clerk, conversationId, [decision]))

describe("more decisions than a batch takes", () => {
  it.effect("that a crash cuts in two: what was decided runs, once, and the rest is still waited for", () => {
    const { layer, ran } = noted()
    const many = Array.from({ length: 300 }, (_, i) => call(`c${i}`, "pay", `o${i}`))
    const model = ScriptedModel.layerOf(({ prompt }) =>
      prompt.content.some(({ role }) => role === "tool") ? text("All done.") : calls(many)
    )
    return Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const first = yield* Effect.provide(AgentRuntime.run(clerk, "go", options), [processOver(database), layer, model])
      assert.strictEqual(first.approvals.length, 300)
      // Materialize, then the first of two batches.
      const doomed = dying(database, 3, "before")
      yield* Effect.exit(
        AgentRuntime.decide(
          clerk,
          conversationId,
          first.approvals.map((request) => Approvals.approve(request))
        )
      ).pipe(Effect.provide([doomed.layer, layer, model]))
      assert.isTrue(doomed.died())
      assert.deepStrictEqual(ran, [])
      yield* Effect.gen(function* () {
        const second = yield* AgentRuntime.resume(clerk, conversationId)
        assert.strictEqual(second.outcome, "awaiting-approval")
        assert.strictEqual(second.approvals.length, 44)
        assert.strictEqual(ran.length, 256)
        const third = yield* AgentRuntime.decide(
          clerk,
          conversationId,
          second.approvals.map((request) => Approvals.approve(request))
        )
        assert.strictEqual(third.text, "All done.")
        assert.strictEqual(new Set(ran).size, 300)
        assert.strictEqual(ran.length, 300)
        yield* sound()
      }).pipe(Effect.provide([processOver(database), layer, model]))
    })
  })
})

describe("two processes that decide at once", () => {
  it.effect("one wins; the other is told, and the call runs once", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const one = yield* Layer.build(processOver(database))
      const two = yield* Layer.build(processOver(database))
      const { approvals } = yield* Effect.provideContext(AgentRuntime.run(clerk, "go", options), one)
      const results = yield* Effect.all(
        [
          Effect.provideContext(decide(Approvals.approve(approvals[0]!)), one),
          Effect.provideContext(decide(Approvals.approve(approvals[0]!, { author: "eve" })), two)
        ],
        { concurrency: "unbounded" }
      )
      const failures = results.flatMap((result) => (result._tag === "Failure" ? [result.failure._tag] : []))
      assert.strictEqual(failures.length, 1)
      assert.include(["FenceRejected", "DecisionRejected"], failures[0])
      assert.deepStrictEqual(
        ran.filter((name) => name.startsWith("pay")),
        ["pay A1"]
      )
      yield* Effect.provideContext(sound(), one)
    }).pipe(Effect.provide([layer, modelFor("pay")]))
  })

  it.effect("a decision that comes too late does not disturb the run that goes on in another process", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const one = yield* Layer.build(processOver(database))
      const two = yield* Layer.build(processOver(database))
      const { approvals } = yield* Effect.provideContext(AgentRuntime.run(clerk, "go", options), one)
      const approve = Approvals.approve(approvals[0]!)
      const running = yield* Effect.provideContext(AgentRuntime.startDecide(clerk, conversationId, [approve]), one)
      const late = yield* Effect.provideContext(Effect.flip(AgentRuntime.decide(clerk, conversationId, [approve])), two)
      assert.isTrue(late instanceof AgentError.DecisionRejected && late.reason === "closed")
      assert.strictEqual((yield* running.await).text, "All done.")
      assert.deepStrictEqual(ran, ["look B2", "pay A1"])
    }).pipe(Effect.provide([layer, modelFor("pay")]))
  })

  it.effect("in one process the second is busy, or too late", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const { approvals } = yield* AgentRuntime.run(clerk, "go", options)
      const deciding = decide(Approvals.approve(approvals[0]!))
      const results = yield* Effect.all([deciding, deciding, deciding], { concurrency: "unbounded" })
      const failures = results.flatMap((result) => (result._tag === "Failure" ? [result.failure._tag] : []))
      assert.strictEqual(failures.length, 2)
      for (const tag of failures) assert.include(["ConversationBusy", "DecisionRejected"], tag)
      assert.deepStrictEqual(ran, ["look B2", "pay A1"])
      assert.deepStrictEqual(PromptFault.check((yield* prompts).at(-1)!), [])
      assert.isAbove((yield* read()).length, 0)
    }).pipe(Effect.provide([processOver(MemoryDatabase.make()), layer, modelFor("pay")]))
  })
})
