import { ConversationStore, Conversations } from "@colloquy/store"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as AiError from "effect/ai/AiError"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentError, AgentRuntime, RunLimits, ToolCall } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, refund, story, text } from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())

describe("AgentRuntime.run", () => {
  it.effect("answers, and stores start, input, response and end", () =>
    Effect.gen(function* () {
      const result = yield* AgentRuntime.run(desk, "Hello", { conversationId, runId: "r1" })
      assert.strictEqual(result.text, "Hello yourself.")
      assert.strictEqual(result.outcome, "completed")
      assert.deepStrictEqual(result.usage.inputTokens, { uncached: 10, total: 10 })
      assert.deepStrictEqual(yield* story, [
        "ConversationCreated",
        "RunStarted",
        "InputRecorded",
        "responded 1",
        "ended completed"
      ])
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([text("Hello yourself.")])]))
  )

  it.effect("records each call before and after its handler, and shows results in call order", () =>
    Effect.gen(function* () {
      const result = yield* AgentRuntime.run(desk, "Where is A1?", { conversationId })
      assert.strictEqual(result.text, "On its way.")
      assert.deepStrictEqual(result.usage.inputTokens.total, 20)
      const requests = (yield* ScriptedModel.Requests).all()
      const shown = requests[1]!.prompt.content.at(-1)!
      assert.deepStrictEqual(
        shown.role === "tool" && shown.content.map((part) => part.type === "tool-result" && [part.id, part.result]),
        [
          ["c1", { status: "A1 is on its way" }],
          ["c2", null]
        ]
      )
      assert.deepStrictEqual((yield* story).slice(3, 8), [
        "responded 1",
        "started c1 1",
        "started c2 1",
        "settled c1 success",
        "settled c2 success"
      ])
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([calls([lookUp("c1"), refund("c2")]), text("On its way.")])
      ])
    )
  )

  it.effect("continues a conversation: the next run sees what the last ones said", () =>
    Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "one", { conversationId })
      yield* AgentRuntime.run(desk, "two", { conversationId })
      const [, second] = (yield* ScriptedModel.Requests).all()
      assert.deepStrictEqual(
        second!.prompt.content.map(({ role }) => role),
        ["system", "user", "assistant", "user"]
      )
      const conversations = yield* Conversations.Conversations
      const entries = yield* conversations.entries(conversationId)
      assert.deepStrictEqual(
        entries.map(({ endsRun }) => endsRun),
        [false, false, true, false, false, true]
      )
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([text("1"), text("2")])]))
  )

  it.effect("stores nothing without a conversation id, and works all the same", () =>
    Effect.gen(function* () {
      const result = yield* AgentRuntime.run(desk, "Where is A1?")
      assert.strictEqual(result.text, "On its way.")
      const store = yield* ConversationStore.ConversationStore
      const found = yield* Effect.flip(store.tail({ conversationId }))
      assert.strictEqual(found._tag, "ConversationNotFound")
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([calls([lookUp("c1")]), text("On its way.")])]))
  )

  it.effect("renames a call whose id the conversation has, however often", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 3; i++) yield* AgentRuntime.run(desk, `turn ${i}`, { conversationId })
      const settled = (yield* story).filter((line) => line.startsWith("settled"))
      assert.deepStrictEqual(settled, [
        "settled call_1 success",
        "settled call_1_2 success",
        "settled call_1_3 success",
        "settled call_1_4 success"
      ])
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([
          calls([lookUp("call_1")]),
          text("a"),
          calls([lookUp("call_1"), lookUp("call_1", "B2")]),
          text("b"),
          calls([lookUp("call_1")]),
          text("c")
        ])
      ])
    )
  )

  it.effect("runs at most toolConcurrency handlers at once, and starts the next when one settles", () => {
    let running = 0
    let most = 0
    const busy = Effect.gen(function* () {
      most = Math.max(most, ++running)
      yield* Effect.yieldNow
      running--
      return { status: "ok" }
    })
    const many = Array.from({ length: 9 }, (_, i) => lookUp(`c${i}`))
    return Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "all of them", { conversationId, toolConcurrency: 2 })
      assert.strictEqual(most, 2)
      const told = yield* story
      assert.strictEqual(told.filter((line) => line.startsWith("settled")).length, 9)
      // Two are started with the response; each other one in the batch of a result.
      assert.deepStrictEqual(told.slice(3, 6), ["responded 1", "started c0 1", "started c1 1"])
      assert.isTrue(told[6]!.startsWith("settled"))
    }).pipe(
      Effect.provide([fresh(), handlers({ look_up: () => busy }), ScriptedModel.layer([calls(many), text("done")])])
    )
  })

  it.effect("starts as many as may run at once in the batch of their response", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 300 }, (_, i) => lookUp(`c${i}`))
      const model = ScriptedModel.layer([calls(many), text("ok")])
      const result = yield* Effect.provide(
        AgentRuntime.run(desk, "go", { conversationId, toolConcurrency: RunLimits.maxToolConcurrency }),
        model
      )
      assert.strictEqual(result.text, "ok")
      assert.strictEqual((yield* story).filter((line) => line.endsWith(" success")).length, 300)
    }).pipe(Effect.provide([fresh(), handlers()]))
  )

  it.effect("shows the model what was wrong with a call, and goes on", () =>
    Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "try", { conversationId })
      const last = (yield* ScriptedModel.Requests).all()[1]!.prompt.content.at(-1)!
      assert.isTrue(last.role === "tool" && last.content.every((part) => part.type === "tool-result" && part.isFailure))
      assert.include(JSON.stringify(last), "no_such_tool")
      assert.include(JSON.stringify(last), "order")
      assert.include(JSON.stringify(last), "not on file")
      assert.include(JSON.stringify(last), "The tool broke")
      assert.notInclude(JSON.stringify(last), "password")
    }).pipe(
      Effect.provide([
        fresh(),
        handlers({
          look_up: ({ order }) =>
            order === "dies" ? Effect.die(new Error("password=1234")) : Effect.fail(`${order} is not on file`)
        }),
        ScriptedModel.layer([
          calls([
            { id: "c1", name: "no_such_tool", params: {} },
            { id: "c2", name: "look_up", params: { nonsense: 1 } },
            lookUp("c3"),
            lookUp("c4", "dies")
          ]),
          text("sorry")
        ])
      ])
    )
  )

  it.effect("stops at the limit of tool rounds with one last answer, the tools still in the request", () =>
    Effect.gen(function* () {
      const result = yield* AgentRuntime.run(desk, "loop", { conversationId, maxToolRounds: 2 })
      assert.strictEqual(result.outcome, "limit-reached")
      assert.strictEqual(result.text, "As far as I got.")
      const requests = (yield* ScriptedModel.Requests).all()
      assert.deepStrictEqual(
        requests.map(({ toolChoice, toolNames }) => [toolChoice, toolNames.length]),
        [
          ["auto", 2],
          ["auto", 2],
          ["none", 2]
        ]
      )
      assert.strictEqual((yield* story).at(-1), "ended limit-reached")
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([
          calls([lookUp("c1")]),
          calls([lookUp("c2")]),
          // A call that comes all the same is discarded.
          calls([lookUp("c3")], "As far as I got.")
        ])
      ])
    )
  )

  it.effect("does not run calls of a response that was cut off, and asks again", () =>
    Effect.gen(function* () {
      const result = yield* AgentRuntime.run(desk, "go", { conversationId })
      assert.strictEqual(result.text, "again")
      assert.deepStrictEqual((yield* story).slice(3, 5), ["responded 1", "settled c1 interrupted"])
    }).pipe(
      Effect.provide([
        fresh(),
        handlers({ look_up: () => Effect.die("must not run") }),
        ScriptedModel.layer([
          [{ type: "tool-call", id: "c1", name: "look_up", params: { order: "A" } }, ScriptedModel.finish("length")],
          text("again")
        ])
      ])
    )
  )

  it.effect("stores a failed model call as the run's end, and gives the caller the original error", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(AgentRuntime.run(desk, "go", { conversationId }))
      assert.strictEqual(error._tag, "AiError")
      assert.strictEqual((yield* story).at(-1), "ended failed")
      const result = yield* AgentRuntime.run(desk, "again", { conversationId })
      assert.strictEqual(result.text, "fine")
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([ScriptedModel.fail(new AiError.InvalidRequestError({ description: "no" })), text("fine")])
      ])
    )
  )

  it.effect("fails the run with the error of a tool whose mode is error; finished siblings stay", () => {
    const Strict = Tool.make("strict", {
      parameters: Schema.Struct({}),
      success: Schema.Void,
      failure: Schema.String
    })
    const Slow = Tool.make("slow", { parameters: Schema.Struct({}), success: Schema.Void })
    const Fast = Tool.make("fast", { parameters: Schema.Struct({}), success: Schema.String })
    const kit = Toolkit.make(Strict, Slow, Fast)
    const agent = Agent.make({ name: "strict", instructions: "x", toolkit: kit })
    return Effect.gen(function* () {
      const fastDone = yield* Deferred.make<void>()
      const layer = kit.toLayer({
        fast: () => Effect.as(Deferred.succeed(fastDone, undefined), "done"),
        slow: () => Effect.never,
        strict: () => Effect.andThen(Deferred.await(fastDone), Effect.andThen(Effect.yieldNow, Effect.fail("broken")))
      })
      const error = yield* Effect.flip(Effect.provide(AgentRuntime.run(agent, "go", { conversationId }), layer))
      assert.strictEqual(error, "broken")
      const told = yield* story
      assert.include(told, "settled s failure")
      assert.include(told, "settled w interrupted")
      assert.include(told, "settled f success")
      assert.strictEqual(told.at(-1), "ended failed")
    }).pipe(
      Effect.provide([
        fresh(),
        ScriptedModel.layer([
          calls([
            { id: "f", name: "fast", params: {} },
            { id: "w", name: "slow", params: {} },
            { id: "s", name: "strict", params: {} }
          ])
        ])
      ])
    )
  })

  it.effect("gives each handler a key that no other call has", () => {
    const keys: Array<string | undefined> = []
    const note = Effect.gen(function* () {
      keys.push((yield* ToolCall.CurrentToolCall)?.idempotencyKey)
      return { status: "" }
    })
    return Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "go", { conversationId })
      assert.deepStrictEqual(keys, ["ticket-42/c1", "ticket-42/c2"])
    }).pipe(
      Effect.provide([
        fresh(),
        handlers({ look_up: () => note }),
        ScriptedModel.layer([calls([lookUp("c1"), lookUp("c2")]), text("ok")])
      ])
    )
  })

  it.effect("gives the handlers of a run within a run keys of their own", () => {
    const keys: Array<string | undefined> = []
    const note = Effect.gen(function* () {
      keys.push((yield* ToolCall.CurrentToolCall)?.idempotencyKey)
    })
    return Effect.gen(function* () {
      const context = yield* Effect.context<AgentRuntime.AgentRuntime>()
      const inner = Effect.gen(function* () {
        const inner = AgentRuntime.run(desk, "refund it", { conversationId: "inner" })
        yield* Effect.provide(inner, [
          handlers({ refund: () => note }),
          ScriptedModel.layer([calls([refund("c1")]), text("refunded")])
        ])
        return { status: "refunded" }
      }).pipe(Effect.provideContext(context), Effect.orDie)
      yield* Effect.provide(AgentRuntime.run(desk, "go", { conversationId }), [
        handlers({ look_up: () => inner, refund: () => note }),
        ScriptedModel.layer([calls([lookUp("c1"), refund("c2")]), text("ok")])
      ])
      assert.deepStrictEqual(keys.toSorted(), ["inner/c1", "ticket-42/c2"])
    }).pipe(Effect.provide(fresh()))
  })

  it.effect("shortens a long result for the model and keeps it whole in the log", () => {
    const long = "€".repeat(50_000)
    return Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "go", { conversationId })
      const last = JSON.stringify((yield* ScriptedModel.Requests).all()[1]!.prompt.content.at(-1))
      assert.isBelow(last.length, 30_000)
      assert.include(last, "more bytes are not shown")
      const store = yield* ConversationStore.ConversationStore
      const archive = yield* store.export({ conversationId })
      assert.isTrue(archive.batches.some(({ records }) => records.some(({ payload }) => payload.includes(long))))
    }).pipe(
      Effect.provide([
        fresh(),
        handlers({ look_up: () => Effect.succeed({ status: long }) }),
        ScriptedModel.layer([calls([lookUp("c1")]), text("ok")])
      ])
    )
  })

  it.effect("records a result over the payload limit as its beginning, size and digest", () => {
    const huge = "x".repeat(5 * 1024 * 1024)
    return Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "go", { conversationId })
      const told = yield* story
      assert.strictEqual(told.at(-1), "ended completed")
      const store = yield* ConversationStore.ConversationStore
      const archive = yield* store.export({ conversationId })
      const settled = archive.batches
        .flatMap(({ records }) => records)
        .find(({ payload }) => payload.includes("tooLarge"))
      assert.include(settled?.payload, '"bytes":5242893')
    }).pipe(
      Effect.provide([
        fresh(),
        handlers({ look_up: () => Effect.succeed({ status: huge }) }),
        ScriptedModel.layer([calls([lookUp("c1")]), text("ok")])
      ])
    )
  })

  it.effect("refuses the id of an earlier run, however long ago, with the same input or another", () =>
    Effect.gen(function* () {
      for (const runId of ["r1", "r2", "r3"]) yield* AgentRuntime.run(desk, "hi", { conversationId, runId })
      for (const [runId, input] of [
        ["r3", "hi"],
        ["r1", "hi"],
        ["r1", "something else"]
      ] as const) {
        const error = yield* Effect.flip(AgentRuntime.run(desk, input, { conversationId, runId }))
        assert.isTrue(error instanceof AgentError.RunExists && error.runId === runId && error.status === "ended")
      }
      assert.strictEqual((yield* story).filter((line) => line === "RunStarted").length, 3)
      // The conversation is as usable as before.
      assert.strictEqual((yield* AgentRuntime.run(desk, "hi", { conversationId })).text, "ok")
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layerOf(() => text("ok"))]))
  )

  it.effect("refuses an empty input and an id that is none, before anything is stored", () =>
    Effect.gen(function* () {
      const empty = yield* Effect.flip(AgentRuntime.run(desk, "  ", { conversationId }))
      assert.strictEqual(empty._tag, "EmptyInput")
      const invalid = yield* Effect.flip(AgentRuntime.run(desk, "hi", { conversationId: "a\u0000b" }))
      assert.strictEqual(invalid._tag, "InvalidId")
      const store = yield* ConversationStore.ConversationStore
      assert.strictEqual((yield* Effect.flip(store.tail({ conversationId })))._tag, "ConversationNotFound")
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([])]))
  )
})
