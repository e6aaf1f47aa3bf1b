import { PromptFault } from "@colloquy/session"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentRuntime, type Run, type RunEvent } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import {
  calls,
  conversationId,
  desk,
  handlers,
  lookUp,
  payloads,
  processOver,
  refund,
  story,
  text,
  tools
} from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())
const { chunks, finish, split } = ScriptedModel

const Call = Schema.Struct({
  id: Schema.Literals(["c1", "c2", "call_1", "call_1_2"]),
  by: Schema.Literals(["look_up", "refund", "no_such_tool", "provider"]),
  order: Schema.String
})

const Step = Schema.Struct({
  text: Schema.optionalKey(Schema.String),
  reasoning: Schema.optionalKey(Schema.Struct({ text: Schema.String, signature: Schema.String })),
  calls: Schema.Array(Call).check(Schema.isMaxLength(4)),
  source: Schema.Boolean,
  finish: Schema.Literals(["tool-calls", "stop", "length", "content-filter", "pause", "other"])
})

const Script = Schema.Array(Step).check(Schema.isMaxLength(4))

const partsOf = (step: typeof Step.Type): Array<Response.PartEncoded> => [
  { type: "response-metadata", id: "resp_1", modelId: "scripted-1", timestamp: undefined },
  ...(step.reasoning === undefined
    ? []
    : [
        {
          type: "reasoning" as const,
          text: step.reasoning.text,
          metadata: { scripted: { signature: step.reasoning.signature } }
        }
      ]),
  ...(step.text === undefined ? [] : [{ type: "text" as const, text: step.text }]),
  ...(step.source
    ? [{ type: "source" as const, sourceType: "url" as const, id: "s1", url: "https://a.test/", title: "A" }]
    : []),
  ...step.calls.flatMap(({ by, id, order }): Array<Response.PartEncoded> =>
    by === "provider"
      ? [
          { type: "tool-call", id, name: "search", params: { q: order }, providerExecuted: true },
          { type: "tool-result", id, name: "search", result: [order], isFailure: false, providerExecuted: true }
        ]
      : [{ type: "tool-call", id, name: by, params: { order } }]
  ),
  finish(step.finish)
]

const Search = Tool.providerDefined({
  id: "scripted.search",
  customName: "search",
  providerName: "search",
  parameters: Schema.Struct({ q: Schema.String }),
  success: Schema.Array(Schema.String)
})

/** The desk with a tool that its provider runs. */
const searching = Agent.make({
  name: "desk",
  instructions: "Help with orders.",
  toolkit: Toolkit.merge(tools, Toolkit.make(Search()))
})

const runOf = (script: typeof Script.Type, size: number, streaming: boolean, options: Run.RunOptions) =>
  Effect.gen(function* () {
    const limits = { maxToolRounds: 3, modelRetries: 0 }
    const result = yield* AgentRuntime.run(searching, "go", { ...options, ...limits, runId: "r1", streaming })
    const prompts = (yield* ScriptedModel.Requests).all().map(({ prompt }) => prompt)
    for (const prompt of prompts) assert.deepStrictEqual(PromptFault.check(prompt), [])
    const log = options.conversationId === undefined ? [] : yield* payloads
    return { result, prompts, log }
  }).pipe(
    Effect.provide([
      fresh(),
      handlers(),
      ScriptedModel.layerOf(({ call }) => {
        const step = script[call]
        return step === undefined ? text("The end.") : chunks(split(partsOf(step), size))
      })
    ])
  )

const responded = (step: number) => (event: RunEvent.RunEvent) =>
  event._tag === "Recorded" &&
  event.records.some(({ payload }) => payload._tag === "ModelResponded" && payload.step === step)

describe("a streamed run", () => {
  it.effect.prop(
    "leaves the same records and result as one that is not streamed, and sends the same as one that is not stored",
    [Script, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))],
    ([script, size]) =>
      Effect.gen(function* () {
        const whole = yield* runOf(script, size, false, { conversationId })
        assert.deepStrictEqual(yield* runOf(script, size, true, { conversationId }), whole)
        // Without a conversation the model sees the same.
        const unstored = yield* runOf(script, size, true, {})
        assert.deepStrictEqual(unstored.prompts, whole.prompts)
        assert.deepStrictEqual(unstored.result, { ...whole.result, persisted: false })
      }),
    { arbitrary: { runs: 60 } }
  )

  it.effect("shows text and reasoning where they belong, and each record once, in order, before it ends", () =>
    Effect.gen(function* () {
      const events = yield* Stream.runCollect(AgentRuntime.stream(desk, "go", { conversationId, runId: "r1" }))
      const shown = (tag: "TextDelta" | "ReasoningDelta", step: number) => {
        let joined = ""
        for (const event of events) {
          if (event._tag !== tag || event.step !== step) continue
          assert.strictEqual(event.offset, joined.length)
          joined += event.delta
        }
        return joined
      }
      assert.strictEqual(shown("ReasoningDelta", 1), "Let me see: 🙂")
      assert.strictEqual(shown("TextDelta", 1), "I look. Twice.")
      assert.strictEqual(shown("TextDelta", 2), "On its way.")
      const recorded = events.flatMap((event) => (event._tag === "Recorded" ? event.records : []))
      assert.deepStrictEqual(
        recorded.map(({ payload }) => payload),
        (yield* payloads).slice(1)
      )
      assert.strictEqual(events.at(-1)?._tag, "Recorded")
      const place = (isIt: (event: RunEvent.RunEvent) => boolean) => events.findIndex(isIt)
      assert.isBelow(
        place((event) => event._tag === "TextDelta"),
        place(responded(1))
      )
      assert.isAbove(
        place((event) => event._tag === "TextDelta" && event.step === 2),
        place(responded(1))
      )
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([
          chunks(
            split(
              [
                { type: "reasoning", text: "Let me see: 🙂" },
                { type: "text", text: "I look. " },
                { type: "tool-call", ...lookUp("c1") },
                { type: "text", text: "Twice." },
                finish("tool-calls")
              ],
              3
            )
          ),
          chunks(split(text("On its way."), 4))
        ])
      ])
    )
  )

  it.effect("shows text as it comes: the model may still be at it", () =>
    Effect.gen(function* () {
      const seen = yield* Deferred.make<string>()
      const model = ScriptedModel.layer([
        chunks([
          { type: "text-start", id: "t" },
          { type: "text-delta", id: "t", delta: "Well" },
          // Goes on only once what came before was seen.
          Deferred.await(seen),
          { type: "text-end", id: "t" },
          finish("stop")
        ])
      ])
      const result = AgentRuntime.stream(desk, "go", { conversationId }).pipe(
        Stream.tap((event) => (event._tag === "TextDelta" ? Deferred.succeed(seen, event.delta) : Effect.void)),
        Stream.runDrain
      )
      yield* Effect.provide(result, model)
      assert.strictEqual(yield* Deferred.await(seen), "Well")
    }).pipe(Effect.provide([fresh(), handlers()]))
  )

  it.effect("fails with the run's error, behind everything that was recorded", () =>
    Effect.gen(function* () {
      const events: Array<RunEvent.RunEvent> = []
      const exit = yield* AgentRuntime.stream(desk, "go", { conversationId, runId: "r1" }).pipe(
        Stream.runForEach((event) => Effect.sync(() => events.push(event))),
        Effect.exit
      )
      assert.isTrue(Exit.isFailure(exit))
      const error = yield* Effect.flip(exit)
      assert.isTrue(error._tag === "AiError" && error.reason._tag === "UnknownError")
      assert.include(error.message, "overloaded_error")
      const recorded = events.flatMap((event) => (event._tag === "Recorded" ? event.records : []))
      assert.strictEqual(recorded.at(-1)?.payload._tag, "RunEnded")
      assert.deepStrictEqual((yield* story).slice(-2), ["responded 1", "ended failed"])
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([
          chunks([...split([{ type: "text", text: "so far" }]), { type: "error", error: { type: "overloaded_error" } }])
        ])
      ])
    )
  )

  it.effect("fails to start as a run does", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Stream.runDrain(AgentRuntime.stream(desk, "", { conversationId })))
      assert.strictEqual(error._tag, "EmptyInput")
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([])]))
  )

  it.effect("is stopped by a reader that has read enough: what had come is kept", () =>
    Effect.gen(function* () {
      const events = yield* AgentRuntime.stream(desk, "go", { conversationId, runId: "r1" }).pipe(
        Stream.takeUntil((event) => event._tag === "TextDelta" && event.delta === "two"),
        Stream.runCollect
      )
      assert.strictEqual(events.at(-1)?._tag, "TextDelta")
      const told = yield* payloads
      const partial = told.find(({ _tag }) => _tag === "ModelResponded")
      assert.isTrue(partial?._tag === "ModelResponded" && partial.partial)
      assert.strictEqual(JSON.stringify(partial).includes('"one two"'), true)
      assert.deepStrictEqual((yield* story).slice(-2), ["responded 1", "ended cancelled"])
      assert.strictEqual((yield* AgentRuntime.run(desk, "again", { conversationId })).text, "ok")
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([
          chunks([
            { type: "text-start", id: "t" },
            { type: "text-delta", id: "t", delta: "one " },
            { type: "text-delta", id: "t", delta: "two" },
            Effect.never
          ]),
          text("ok")
        ])
      ])
    )
  )

  it.effect("is stopped by an interruption of its reader, and by a cancel from elsewhere", () =>
    Effect.gen(function* () {
      for (const how of ["interrupt", "cancel"] as const) {
        const shown = yield* Deferred.make<void>()
        const reading = yield* AgentRuntime.stream(desk, "go", { conversationId }).pipe(
          Stream.runForEach((event) => (event._tag === "TextDelta" ? Deferred.succeed(shown, undefined) : Effect.void)),
          Effect.forkChild
        )
        yield* Deferred.await(shown)
        if (how === "interrupt") yield* Fiber.interrupt(reading)
        else {
          assert.isTrue(yield* AgentRuntime.cancel(conversationId))
          yield* Fiber.join(reading)
        }
        assert.deepStrictEqual((yield* story).slice(-2), ["responded 1", "ended cancelled"])
      }
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layerOf(() =>
          chunks([{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: "x" }, Effect.never])
        )
      ])
    )
  )

  it.effect("shows preliminary results live, and stores none", () => {
    const Slow = Tool.make("slow", { parameters: Schema.Struct({}), success: Schema.String })
    const kit = Toolkit.make(Slow)
    const agent = Agent.make({ name: "slow", instructions: "x", toolkit: kit })
    const layer = kit.toLayer({
      slow: (_params, { preliminary }) => Effect.as(Effect.andThen(preliminary("half"), preliminary("most")), "all")
    })
    return Effect.gen(function* () {
      const events = yield* Stream.runCollect(AgentRuntime.stream(agent, "go", { conversationId }))
      assert.deepStrictEqual(
        events.flatMap((event) => (event._tag === "ToolProgress" ? [[event.callId, event.name, event.result]] : [])),
        [
          ["c1", "slow", "half"],
          ["c1", "slow", "most"]
        ]
      )
      const stored = JSON.stringify(yield* payloads)
      assert.notInclude(stored, "half")
      assert.include(stored, '"all"')
    }).pipe(
      Effect.provide([
        fresh(),
        layer,
        ScriptedModel.layer([calls([{ id: "c1", name: "slow", params: {} }]), text("ok")])
      ])
    )
  })

  it.effect("takes interleaved duplicates apart: each call has its own parameters and result", () =>
    Effect.gen(function* () {
      yield* Stream.runDrain(AgentRuntime.stream(desk, "go", { conversationId, runId: "r1" }))
      assert.deepStrictEqual((yield* story).slice(3, -2), [
        "responded 1",
        "started call_1 1",
        "started call_1_2 1",
        "settled call_1 success",
        "settled call_1_2 success"
      ])
      const results = (yield* payloads).flatMap((payload) =>
        payload._tag === "ToolCallSettled" ? [payload.result] : []
      )
      assert.deepStrictEqual(results, [{ status: "A1 is on its way" }, null])
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([
          chunks([
            { type: "tool-params-start", id: "call_1", name: "look_up" },
            { type: "tool-params-start", id: "call_1", name: "refund" },
            { type: "tool-params-delta", id: "call_1", delta: '{"order":' },
            { type: "tool-params-delta", id: "call_1", delta: '{"order":"B2"}' },
            { type: "tool-params-delta", id: "call_1", delta: '"A1"}' },
            { type: "tool-params-end", id: "call_1" },
            { type: "tool-params-end", id: "call_1" },
            { type: "tool-call", ...lookUp("call_1") },
            { type: "tool-call", ...refund("call_1", "B2") },
            finish("tool-calls")
          ]),
          text("ok")
        ])
      ])
    )
  )

  it.effect("that fails to connect is a failure of the run and shows nothing", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const reason = new AiError.InvalidRequestError({ description: "no" })
      const error = yield* AgentRuntime.stream(desk, "go", { conversationId }).pipe(
        Stream.runForEach((event) => Effect.sync(() => events.push(event._tag))),
        Effect.flip,
        Effect.provide(ScriptedModel.layer([ScriptedModel.fail(reason)]))
      )
      assert.strictEqual(error._tag, "AiError")
      assert.deepStrictEqual(events, ["Recorded", "Recorded"])
      assert.strictEqual((yield* story).at(-1), "ended failed")
    }).pipe(Effect.provide([fresh(), handlers()]))
  )
})
