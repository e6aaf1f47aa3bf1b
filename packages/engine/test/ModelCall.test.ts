import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import { AgentError, AgentRuntime, ContextOverflow, type RunEvent } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import {
  calls,
  conversationId,
  desk,
  faultsOfLast,
  handlers,
  lookUp,
  payloads,
  processOver,
  story,
  text,
  ticking
} from "./support.ts"

const { chunks, fail, finish, split } = ScriptedModel

const fresh = () => processOver(MemoryDatabase.make())

const rateLimit = (retryAfter?: Duration.Input) =>
  new AiError.RateLimitError(retryAfter === undefined ? {} : { retryAfter: Duration.fromInputUnsafe(retryAfter) })

const overload = new AiError.InternalProviderError({ description: "overloaded" })

const attempts = Effect.map(ScriptedModel.Requests, (requests) => requests.all().length)

describe("a model call that fails for now", () => {
  it.effect("is made again after the provider's delay, and not before", () =>
    Effect.gen(function* () {
      const run = yield* AgentRuntime.start(desk, "go", { conversationId })
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(yield* attempts, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* run.await).text, "ok")
      assert.strictEqual(yield* attempts, 2)
      assert.deepStrictEqual((yield* story).slice(3), ["responded 1", "ended completed"])
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([fail(rateLimit("30 seconds")), text("ok")])]))
  )

  it.effect("without a delay is made again after one that grows", () =>
    Effect.gen(function* () {
      const run = yield* AgentRuntime.start(desk, "go", { conversationId })
      for (const [wait, made] of [
        [0, 1],
        [500, 2],
        [999, 2],
        [1, 3],
        [2000, 4]
      ] as const) {
        yield* TestClock.adjust(wait)
        assert.strictEqual(yield* attempts, made)
      }
      assert.strictEqual((yield* run.await).text, "ok")
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([fail(rateLimit()), fail(overload), fail(rateLimit()), text("ok")])
      ])
    )
  )

  for (const modelRetries of [0, 1, 5]) {
    it.effect(`is made again ${modelRetries} times and no more: then the run fails with it`, () =>
      Effect.gen(function* () {
        const error = yield* ticking(Effect.flip(AgentRuntime.run(desk, "go", { conversationId, modelRetries })))
        assert.isTrue(error._tag === "AiError" && error.reason._tag === "RateLimitError")
        assert.strictEqual(yield* attempts, 1 + modelRetries)
        assert.deepStrictEqual((yield* story).slice(3), ["ended failed"])
      }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layerOf(() => fail(rateLimit()))]))
    )
  }

  for (const [what, reason] of [
    ["for longer than a minute", rateLimit("61 seconds")],
    ["for a reason that stays", new AiError.InvalidRequestError({ description: "no" })],
    ["since the money is gone", new AiError.QuotaExhaustedError({})]
  ] as const) {
    it.effect(`${what} is left to the caller at once`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(AgentRuntime.run(desk, "go", { conversationId }))
        assert.isTrue(error._tag === "AiError" && error.reason._tag === reason._tag)
        assert.strictEqual(yield* attempts, 1)
      }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layerOf(() => fail(reason))]))
    )
  }

  it.effect("has retries of its own in each step", () =>
    Effect.gen(function* () {
      const result = yield* ticking(AgentRuntime.run(desk, "go", { conversationId, modelRetries: 1 }))
      assert.strictEqual(result.text, "ok")
      assert.strictEqual(yield* attempts, 4)
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([fail(overload), calls([lookUp("c1")]), fail(overload), text("ok")])
      ])
    )
  )

  it.effect("can be stopped while it waits to be made again", () =>
    Effect.gen(function* () {
      const run = yield* AgentRuntime.start(desk, "go", { conversationId, streaming: true })
      yield* TestClock.adjust("1 second")
      yield* run.cancel
      assert.strictEqual((yield* run.await).outcome, "cancelled")
      assert.strictEqual(yield* attempts, 1)
      assert.strictEqual((yield* story).at(-1), "ended cancelled")
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layerOf(() => fail(rateLimit("30 seconds")))]))
  )
})

const watching = (events: Array<RunEvent.RunEvent>) => ({
  conversationId,
  streaming: true,
  onEvent: (event: RunEvent.RunEvent) => void events.push(event)
})

describe("a stream that fails for now", () => {
  const broken = chunks([
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "hm" },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "On i" },
    { type: "error", error: AiError.make({ module: "M", method: "m", reason: rateLimit("1 second") }) }
  ])

  it.effect("is made again behind a reset of what was shown; only the whole response is stored", () =>
    Effect.gen(function* () {
      const events: Array<RunEvent.RunEvent> = []
      const result = yield* ticking(AgentRuntime.run(desk, "go", watching(events)))
      assert.strictEqual(result.text, "On its way.")
      const shown = events.flatMap((event) => {
        if (event._tag === "TextDelta") return [`${event.offset} ${event.delta}`]
        return event._tag === "Reset" ? [`reset ${event.step}`] : []
      })
      assert.deepStrictEqual(shown, ["0 On i", "reset 1", "0 On its", "6  way."])
      assert.deepStrictEqual((yield* story).slice(3), ["responded 1", "ended completed"])
      assert.notInclude(JSON.stringify(yield* payloads), "hm")
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([broken, chunks(split(text("On its way."), 6))])]))
  )

  it.effect("without having shown anything needs no reset", () =>
    Effect.gen(function* () {
      const events: Array<RunEvent.RunEvent> = []
      yield* ticking(AgentRuntime.run(desk, "go", watching(events)))
      assert.isFalse(events.some(({ _tag }) => _tag === "Reset"))
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([fail(overload), text("ok")])]))
  )

  it.effect("for the last time leaves what its last attempt had shown", () =>
    Effect.gen(function* () {
      const events: Array<RunEvent.RunEvent> = []
      const options = { ...watching(events), modelRetries: 1 }
      const error = yield* ticking(Effect.flip(AgentRuntime.run(desk, "go", options)))
      assert.isTrue(error._tag === "AiError" && error.reason._tag === "RateLimitError")
      const log = yield* payloads
      const partial = log.find(({ _tag }) => _tag === "ModelResponded")
      assert.isTrue(partial?._tag === "ModelResponded" && partial.partial)
      assert.strictEqual(JSON.stringify(log).split("On i").length, 2)
      assert.strictEqual((yield* story).at(-1), "ended failed")
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([broken, broken])]))
  )

  it.effect("and is slow comes as it comes, under the clock of the test", () =>
    Effect.gen(function* () {
      const events: Array<RunEvent.RunEvent> = []
      const run = yield* AgentRuntime.start(desk, "go", watching(events))
      const deltas = () => events.flatMap((event) => (event._tag === "TextDelta" ? [event.delta] : []))
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual(deltas(), ["a"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(deltas(), ["a", "b"])
      assert.strictEqual((yield* run.await).text, "ab")
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([
          chunks([
            { type: "text-start", id: "t" },
            { type: "text-delta", id: "t", delta: "a" },
            Effect.sleep("10 seconds"),
            { type: "text-delta", id: "t", delta: "b" },
            { type: "text-end", id: "t" },
            finish("stop")
          ])
        ])
      ])
    )
  )
})

describe("a prompt that is too large", () => {
  const reason = new AiError.InvalidRequestError({ description: "maximum context length exceeded" })
  const recognised = Layer.succeed(ContextOverflow.ContextOverflow, (error) => error.message.includes("context length"))

  for (const streaming of [false, true]) {
    it.effect(
      `is ContextTooLarge with the model's error as its cause, and not tried again${streaming ? " (stream)" : ""}`,
      () =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(AgentRuntime.run(desk, "go", { conversationId, runId: "r1", streaming }))
          assert.instanceOf(error, AgentError.ContextTooLarge)
          assert.isTrue(AiError.isAiError(error.cause) && error.cause.reason === reason)
          assert.deepStrictEqual([error.conversationId, error.runId, error.model], [conversationId, "r1", "scripted-1"])
          assert.strictEqual(yield* attempts, 1)
          const end = (yield* payloads).at(-1)
          assert.isTrue(end?._tag === "RunEnded" && end.outcome === "failed" && end.error?.tag === "ContextTooLarge")
          assert.deepStrictEqual((yield* story).slice(3), ["ended failed"])
        }).pipe(Effect.provide([fresh(), handlers(), recognised, ScriptedModel.layerOf(() => fail(reason))]))
    )
  }

  it.effect("even when its error could be tried again", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(AgentRuntime.run(desk, "go", { conversationId }))
      assert.strictEqual(error._tag, "ContextTooLarge")
      assert.strictEqual(yield* attempts, 1)
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        Layer.succeed(ContextOverflow.ContextOverflow, () => true),
        ScriptedModel.layerOf(() => fail(rateLimit()))
      ])
    )
  )
})

describe("a response that ends", () => {
  const withCall = (reason: Response.FinishReason): ReadonlyArray<Response.PartEncoded> => [
    { type: "text", text: "I look." },
    { type: "tool-call", ...lookUp("c1") },
    finish(reason)
  ]

  for (const [reason, outcome] of [
    ["tool-calls", "success"],
    ["stop", "success"],
    ["pause", "success"],
    ["length", "interrupted"],
    ["content-filter", "interrupted"],
    ["error", "interrupted"],
    ["other", "interrupted"],
    ["unknown", "interrupted"]
  ] as const) {
    it.effect(`with "${reason}": its calls settle ${outcome}, and the model is asked again`, () =>
      Effect.gen(function* () {
        const result = yield* AgentRuntime.run(desk, "go", { conversationId })
        assert.strictEqual(result.text, "ok")
        assert.deepStrictEqual(
          (yield* story).filter((line) => line.startsWith("settled")),
          [`settled c1 ${outcome}`]
        )
        assert.strictEqual((yield* story).includes("started c1 1"), outcome === "success")
        assert.deepStrictEqual(yield* faultsOfLast, [])
      }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([withCall(reason), text("ok")])]))
    )

    it.effect(
      `with "${reason}" and without calls: ${reason === "pause" ? "the model goes on" : "it is the answer"}`,
      () =>
        Effect.gen(function* () {
          const result = yield* AgentRuntime.run(desk, "go", { conversationId })
          assert.strictEqual(result.outcome, "completed")
          assert.strictEqual(result.text, reason === "pause" ? "ok" : "So far.")
          assert.strictEqual(yield* attempts, reason === "pause" ? 2 : 1)
        }).pipe(
          Effect.provide([
            fresh(),
            handlers(),
            ScriptedModel.layer([[{ type: "text", text: "So far." }, finish(reason)], text("ok")])
          ])
        )
    )
  }

  it.effect("with a pause again and again stops at the limit of rounds", () =>
    Effect.gen(function* () {
      const result = yield* AgentRuntime.run(desk, "go", { conversationId, maxToolRounds: 3 })
      assert.strictEqual(result.outcome, "limit-reached")
      assert.strictEqual(yield* attempts, 4)
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layerOf(() => [{ type: "text", text: "hm" }, finish("pause")])
      ])
    )
  )

  it.effect("with nothing in it is an empty answer, and the conversation goes on", () =>
    Effect.gen(function* () {
      for (const streaming of [false, true]) {
        const result = yield* AgentRuntime.run(desk, "go", { conversationId, streaming })
        assert.isTrue(result.outcome === "completed" && result.text === "" && result.content.length === 0)
        assert.deepStrictEqual(yield* faultsOfLast, [])
      }
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layerOf(() => [finish("stop")])]))
  )
})
