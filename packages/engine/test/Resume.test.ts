import { Ids, PromptFault, Usage } from "@colloquy/session"
import { Conversations, ConversationStore } from "@colloquy/store"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentError, AgentRuntime, ToolCall } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, recorded, refund, story, text } from "./support.ts"

/** The three turns of a run with two steps of tools: what it answers depends only on what it is shown. */
const model = ScriptedModel.layerOf(({ prompt }) => {
  const results = prompt.content.filter(({ role }) => role === "tool").length
  if (results === 0) return calls([lookUp("c1"), refund("c2"), lookUp("c3", "B2")])
  return results === 1 ? calls([lookUp("c4", "C3")]) : text("All done.")
})

/**
 * A process that dies: at its nth commit, before it or after it. Its runtime's scope is left open, as a killed process
 * writes nothing more: the fault kills every later commit too.
 */
const dying = (database: MemoryDatabase.MemoryDatabase, at: number, side: "before" | "after") => {
  let commits = 0
  const die = () => (commits >= at ? Effect.die(new Error("killed")) : Effect.void)
  return processOver(database, {
    beforeCommit: () =>
      Effect.suspend(() => {
        commits++
        return side === "before" || commits > at ? die() : Effect.void
      }),
    afterCommit: () => Effect.suspend(() => (side === "after" ? die() : Effect.void))
  })
}

describe("AgentRuntime.resume", () => {
  for (const side of ["before", "after"] as const) {
    it.effect(`a run killed ${side} any of its writes is finished by the next process, with nothing doubled`, () =>
      Effect.gen(function* () {
        const seen: Array<string> = []
        for (let at = 1; at <= 12; at++) {
          const database = MemoryDatabase.make()
          const runs = new Map<string, number>()
          const count = (name: string) => Effect.sync(() => runs.set(name, (runs.get(name) ?? 0) + 1))
          const counted = handlers({
            look_up: ({ order }) => Effect.as(count(`look ${order}`), { status: "ok" }),
            refund: () => count("refund")
          })
          yield* Effect.exit(
            Effect.provide(AgentRuntime.run(desk, "Where?", { conversationId, runId: "r1" }), [
              dying(database, at, side),
              counted,
              model
            ])
          )
          const told = yield* Effect.gen(function* () {
            const resumed = yield* AgentRuntime.resumeIfNeeded(desk, conversationId)
            if (Option.isSome(resumed)) assert.strictEqual(resumed.value.text, "All done.")
            else {
              // Nothing of the run was stored, or all of it.
              const again = yield* Effect.result(AgentRuntime.run(desk, "Where?", { conversationId, runId: "r1" }))
              const text = Result.isSuccess(again) ? again.success.text : again.failure._tag
              assert.include(["All done.", "RunExists"], text)
            }
            const store = yield* ConversationStore.ConversationStore
            const report = yield* store.verify({ conversationId })
            assert.deepStrictEqual(report.faults, [])
            for (const { prompt } of (yield* ScriptedModel.Requests).all()) {
              assert.deepStrictEqual(PromptFault.check(prompt), [])
            }
            return yield* story
          }).pipe(Effect.provide([processOver(database), counted, model]))
          assert.strictEqual(told.filter((line) => line.startsWith("ended")).length, 1)
          assert.strictEqual(told.at(-1), "ended completed")
          for (const id of ["c1", "c2", "c3", "c4"]) {
            assert.strictEqual(told.filter((line) => line.startsWith(`settled ${id} `)).length, 1, `${at} ${id}`)
          }
          // A refund is never repeated: it either ran once, or nobody knows and the model is told.
          assert.isAtMost(runs.get("refund") ?? 0, 1)
          seen.push(told.includes("settled c2 unknown") ? "unknown" : "settled")
        }
        assert.include(seen, "unknown")
        assert.include(seen, "settled")
      })
    )
  }

  it.effect("a call that had started is told unknown to the model, unless the tool may be repeated", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(desk, "go", { conversationId })
        yield* recorded(({ payload }) => payload._tag === "ToolCallStarted" && payload.callId === "c2")
        yield* doomed.kill
      }).pipe(
        Effect.provide([
          doomed.layer,
          handlers({ look_up: () => Effect.never, refund: () => Effect.never }),
          ScriptedModel.layer([calls([lookUp("c1"), refund("c2")])])
        ])
      )
      yield* Effect.gen(function* () {
        const result = yield* AgentRuntime.resume(desk, conversationId)
        assert.strictEqual(result.text, "done")
        assert.deepStrictEqual((yield* story).slice(-6), [
          "resumed 2",
          "settled c2 unknown",
          "started c1 2",
          "settled c1 success",
          "responded 2",
          "ended completed"
        ])
        const shown = JSON.stringify((yield* ScriptedModel.Requests).all()[0]!.prompt.content.at(-1))
        assert.include(shown, "not known whether it took effect")
      }).pipe(Effect.provide([processOver(database), handlers(), ScriptedModel.layer([text("done")])]))
    })
  )

  it.effect("an answer that was stored without its end is ended without another model call", () =>
    Effect.gen(function* () {
      // A foreign runtime wrote the answer and died.
      const runId = Ids.RunId.make("r1")
      const conversations = yield* Conversations.Conversations
      yield* Effect.scoped(
        Effect.flatMap(conversations.open(conversationId), (writer) =>
          writer.append([
            { _tag: "RunStarted", runId, agent: Ids.AgentName.make("desk"), mode: "execute" },
            { _tag: "InputRecorded", runId, kind: "user", message: { role: "user", content: "go" } },
            {
              _tag: "ModelResponded",
              runId,
              agent: Ids.AgentName.make("desk"),
              step: 1,
              content: [{ type: "text", text: "hi" }],
              provider: "foreign",
              model: "foreign-1",
              finishReason: "stop",
              usage: Usage.empty
            }
          ])
        )
      )
      const result = yield* AgentRuntime.resume(desk, conversationId)
      assert.strictEqual(result.text, "hi")
      assert.strictEqual(result.outcome, "completed")
      assert.deepStrictEqual((yield* story).slice(-3), ["responded 1", "resumed 2", "ended completed"])
      assert.strictEqual((yield* ScriptedModel.Requests).all().length, 0)
      const error = yield* Effect.flip(AgentRuntime.resume(desk, conversationId))
      assert.isTrue(error instanceof AgentError.NothingToResume && error.reason === "ended")
    }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers(), ScriptedModel.layer([])]))
  )

  it.effect("a redelivered start of an ended run leaves another run that is unfinished to be resumed", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.run(desk, "one", { conversationId, runId: "r1" })
        yield* AgentRuntime.start(desk, "two", { conversationId, runId: "r2" })
        yield* doomed.kill
      }).pipe(
        Effect.provide([
          doomed.layer,
          handlers(),
          ScriptedModel.layerOf(({ call }) => (call === 0 ? text("ok") : () => Effect.never))
        ])
      )
      yield* Effect.gen(function* () {
        const error = yield* Effect.flip(AgentRuntime.run(desk, "one", { conversationId, runId: "r1" }))
        assert.isTrue(error instanceof AgentError.RunExists && error.status === "ended")
        const open = yield* Effect.flip(AgentRuntime.run(desk, "two", { conversationId, runId: "r2" }))
        assert.isTrue(open instanceof AgentError.RunExists && open.status === "unfinished")
        assert.strictEqual((yield* AgentRuntime.resume(desk, conversationId)).runId, "r2")
      }).pipe(Effect.provide([processOver(database), handlers(), ScriptedModel.layer([text("two is done")])]))
    })
  )

  it.effect("closes a run with more open calls than a batch takes", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      const many = Array.from({ length: 300 }, (_, i) => refund(`c${i}`))
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(desk, "go", { conversationId, runId: "r1" })
        yield* recorded(({ payload }) => payload._tag === "ToolCallStarted" && payload.callId === "c3")
        yield* doomed.kill
      }).pipe(
        Effect.provide([doomed.layer, handlers({ refund: () => Effect.never }), ScriptedModel.layer([calls(many)])])
      )
      // Whoever closes it first dies between its two batches.
      yield* Effect.exit(AgentRuntime.run(desk, "and?", { conversationId })).pipe(
        Effect.provide([dying(database, 3, "before"), handlers(), ScriptedModel.layer([text("never said")])])
      )
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* AgentRuntime.run(desk, "and?", { conversationId })).text, "ok")
        const told = yield* story
        assert.strictEqual(told.filter((line) => line.startsWith("settled")).length, 300)
        assert.strictEqual(told.filter((line) => line === "ended failed").length, 1)
        assert.strictEqual(told.filter((line) => line === "RepairAnnotated").length, 2)
      }).pipe(Effect.provide([processOver(database), handlers(), ScriptedModel.layer([text("ok")])]))
    })
  )

  it.effect("nothing to resume says why: unknown conversation", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(AgentRuntime.resume(desk, "nobody"))
      assert.isTrue(error instanceof AgentError.NothingToResume && error.reason === "unknown-conversation")
      assert.isTrue(Option.isNone(yield* AgentRuntime.resumeIfNeeded(desk, "nobody")))
      const store = yield* ConversationStore.ConversationStore
      const id = yield* Effect.flip(store.tail({ conversationId }))
      assert.strictEqual(id._tag, "ConversationNotFound")
    }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers(), ScriptedModel.layer([])]))
  )

  it.effect("a call whose tool is omitted after a crash is decided again, and never run by itself", () => {
    const Ship = Tool.make("ship", { parameters: Schema.Struct({ order: Schema.String }) }).annotate(
      ToolCall.OnCrash,
      "omit"
    )
    const kit = Toolkit.make(Ship)
    const shipper = Agent.make({ name: "desk", instructions: "Ship.", toolkit: kit })
    const shipped: Array<string> = []
    return Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(shipper, "go", { conversationId })
        yield* recorded(({ payload }) => payload._tag === "ToolCallStarted" && payload.callId === "c1")
        yield* doomed.kill
      }).pipe(
        Effect.provide([
          doomed.layer,
          kit.toLayer({ ship: () => Effect.never }),
          ScriptedModel.layer([calls([ship("c1", "first")])])
        ])
      )
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* AgentRuntime.resume(shipper, conversationId)).text, "done")
        assert.deepStrictEqual(shipped, ["second"])
        assert.notInclude(JSON.stringify((yield* ScriptedModel.Requests).all()[0]!.prompt), "first")
      }).pipe(
        Effect.provide([
          processOver(database),
          kit.toLayer({ ship: ({ order }) => Effect.sync(() => void shipped.push(order)) }),
          ScriptedModel.layer([calls([ship("c2", "second")]), text("done")])
        ])
      )
    })
  })

  it.effect("another agent's run is not resumed by this one", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      yield* Effect.andThen(AgentRuntime.start(desk, "go", { conversationId }), doomed.kill).pipe(
        Effect.provide([doomed.layer, handlers(), ScriptedModel.layerOf(() => () => Effect.never)])
      )
      const other = Agent.make({ name: "other", instructions: "x" })
      const error = yield* Effect.flip(AgentRuntime.resume(other, conversationId)).pipe(
        Effect.provide([processOver(database), ScriptedModel.layer([])])
      )
      assert.isTrue(error instanceof AgentError.UnknownAgent && error.recorded === "desk")
    })
  )

  it.effect("a new run on an unfinished conversation closes the old one; its steps stay visible", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(desk, "go", { conversationId, runId: "r1" })
        yield* recorded(({ payload }) => payload._tag === "ToolCallStarted" && payload.callId === "c2")
        yield* doomed.kill
      }).pipe(
        Effect.provide([
          doomed.layer,
          handlers({ refund: () => Effect.never }),
          ScriptedModel.layer([calls([refund("c2")], "Refunding.")])
        ])
      )
      yield* Effect.gen(function* () {
        yield* AgentRuntime.run(desk, "and?", { conversationId, runId: "r2" })
        assert.deepStrictEqual((yield* story).slice(-8), [
          "started c2 1",
          "RepairAnnotated",
          "settled c2 unknown",
          "ended failed",
          "RunStarted",
          "InputRecorded",
          "responded 1",
          "ended completed"
        ])
        const { prompt } = (yield* ScriptedModel.Requests).all()[0]!
        assert.include(JSON.stringify(Prompt.make(prompt).content), "Refunding.")
        assert.deepStrictEqual(PromptFault.check(prompt), [])
      }).pipe(Effect.provide([processOver(database), handlers(), ScriptedModel.layer([text("ok")])]))
    })
  )

  it.effect("who was taken over stops at its next write and cannot disturb the new owner", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const one = yield* Layer.build(processOver(database))
      const two = yield* Layer.build(processOver(database))
      const gateOne = yield* Latch.make()
      const first = yield* AgentRuntime.start(desk, "go", { conversationId, runId: "r1" }).pipe(
        Effect.provide([
          handlers(),
          ScriptedModel.layerOf(() => () => Effect.as(gateOne.await, text("from the first process")))
        ]),
        Effect.provideContext(one)
      )
      const resumed = yield* AgentRuntime.resume(desk, conversationId).pipe(
        Effect.provide([handlers(), ScriptedModel.layer([text("from the second")])]),
        Effect.provideContext(two)
      )
      assert.strictEqual(resumed.text, "from the second")
      yield* gateOne.open
      const error = yield* Effect.flip(first.await)
      assert.strictEqual(error._tag, "FenceRejected")
      const told = yield* Effect.provideContext(story, two)
      assert.strictEqual(told.filter((line) => line.startsWith("ended")).length, 1)
    })
  )
})

const ship = (id: string, order: string) => ({ id, name: "ship", params: { order } })

/** A process that can be killed: nothing that it does afterwards is written. */
const killable = (database: MemoryDatabase.MemoryDatabase) => {
  let killed = false
  const beforeCommit = () => Effect.suspend(() => (killed ? Effect.die(new Error("killed")) : Effect.void))
  const kill = Effect.sync(() => {
    killed = true
  })
  return { layer: processOver(database, { beforeCommit }), kill }
}
