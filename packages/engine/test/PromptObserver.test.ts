import { SummaryModel } from "@colloquy/capabilities"
import { Seams } from "@colloquy/session"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import { Agent, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, text, ticking } from "./support.ts"
import { attributesOf, tracing } from "./tracing.ts"

const fresh = () => processOver(MemoryDatabase.make())

/** Notes what it is told, and marks the span that it is told in with the number of the call. */
const watching = () => {
  const told: Array<Seams.ModelRequest> = []
  const observer: Seams.Observer = (request) =>
    Effect.suspend(() => Effect.annotateCurrentSpan("call", told.push(request)))
  return { told, observer, layer: Layer.succeed(Seams.PromptObserver, observer) }
}

const toolNames = ({ tools }: Seams.ModelRequest) => tools.map(({ name }) => name)

describe("who watches prompts", () => {
  for (const streaming of [false, true]) {
    it.effect(`is told of each model call before it is made, in its span${streaming ? " (stream)" : ""}`, () => {
      const { layer, told } = watching()
      const { layer: tracer, named } = tracing()
      return Effect.gen(function* () {
        yield* AgentRuntime.run(desk, "Where is A1?", { conversationId, streaming })
        const asked = (yield* ScriptedModel.Requests).all()
        assert.deepStrictEqual(
          told.map(({ prompt }) => prompt),
          asked.map(({ prompt }) => prompt)
        )
        assert.deepStrictEqual(told.map(toolNames), [
          ["look_up", "refund"],
          ["look_up", "refund"]
        ])
        assert.deepStrictEqual(
          named("chat").map((span) => attributesOf(span)["call"]),
          [1, 2]
        )
        assert.isUndefined(attributesOf(named("invoke_agent")[0])["call"])
      }).pipe(
        Effect.provide([
          tracer,
          Layer.provide(fresh(), layer),
          handlers(),
          ScriptedModel.layer([calls([lookUp("c1")]), text("On its way.")])
        ])
      )
    })
  }

  it.effect("is told again of a call that is made again", () => {
    const { layer, told } = watching()
    const { layer: tracer, named } = tracing()
    return Effect.gen(function* () {
      yield* ticking(AgentRuntime.run(desk, "go", { conversationId }))
      assert.strictEqual(told.length, 2)
      assert.deepStrictEqual(
        named("chat").map((span) => attributesOf(span)["call"]),
        [1, 2]
      )
    }).pipe(
      Effect.provide([
        tracer,
        Layer.provide(fresh(), layer),
        handlers(),
        ScriptedModel.layer([ScriptedModel.fail(new AiError.RateLimitError({})), text("ok")])
      ])
    )
  })

  it.effect("is told of no tools where a structure is asked for, since none are sent", () => {
    const { layer, told } = watching()
    const judge = Agent.make({ name: "judge", instructions: "Judge.", output: Schema.Struct({ ok: Schema.Boolean }) })
    return Effect.gen(function* () {
      yield* AgentRuntime.run(judge, "go", { conversationId })
      assert.deepStrictEqual(told.map(toolNames), [[]])
    }).pipe(Effect.provide([Layer.provide(fresh(), layer), ScriptedModel.layer([text('{"ok":true}')])]))
  })

  it.effect("is told of calls for summaries, by the run's own model and by another one, each in its span", () =>
    Effect.gen(function* () {
      const word = "word ".repeat(400)
      const answers = ({ toolNames }: ScriptedModel.Request) => text(toolNames.length === 0 ? "They talked." : word)
      for (const whose of ["own", "another"] as const) {
        const { layer, told } = watching()
        const { layer: tracer, named } = tracing()
        yield* Effect.gen(function* () {
          const service = yield* LanguageModel.LanguageModel
          const summaryModel = whose === "own" ? undefined : SummaryModel.fromService(service, { name: "small-1" })
          const compaction = { maxInputTokens: 2_000, targetInputTokens: 1_200, summaryModel }
          for (let turn = 0; turn < 6; turn++)
            yield* AgentRuntime.run(desk, `Go on: ${word}`, { conversationId, compaction })
          const asked = (yield* ScriptedModel.Requests).all()
          assert.isAbove(asked.filter(({ toolNames }) => toolNames.length === 0).length, 0)
          assert.deepStrictEqual(
            told.map((request) => [toolNames(request).length, request.prompt]),
            asked.map(({ prompt, toolNames }) => [toolNames.length, prompt])
          )
          const chats = named("chat")
          assert.deepStrictEqual(
            chats.map((span) => attributesOf(span)["call"]),
            chats.map((_, index) => index + 1)
          )
          assert.deepStrictEqual(
            [...new Set(chats.map(({ name }) => name))],
            ["chat scripted-1", ...(whose === "own" ? [] : ["chat small-1"])]
          )
          for (const span of chats) assert.isAbove(Number(attributesOf(span)["gen_ai.usage.input_tokens"]), 0)
        }).pipe(Effect.provide([tracer, Layer.provide(fresh(), layer), handlers(), ScriptedModel.layerOf(answers)]))
      }
    })
  )

  it.effect("of the caller comes before the layer's", () => {
    const outer = watching()
    const own = watching()
    return Effect.gen(function* () {
      yield* Effect.provide(AgentRuntime.run(desk, "go", { conversationId }), own.layer)
      yield* AgentRuntime.run(desk, "go", { conversationId })
      assert.deepStrictEqual([own.told.length, outer.told.length], [1, 1])
    }).pipe(Effect.provide([Layer.provide(fresh(), outer.layer), handlers(), ScriptedModel.layerOf(() => text("ok"))]))
  })

  it.effect("and dies of it costs the call nothing", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* AgentRuntime.run(desk, "go", { conversationId })).text, "ok")
    }).pipe(
      Effect.provideService(Seams.PromptObserver, () => Effect.die("the observer broke")),
      Effect.provide([fresh(), handlers(), ScriptedModel.layer([text("ok")])])
    )
  )
})
