import { PromptFault } from "@colloquy/session"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Stream from "effect/Stream"
import * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import { AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import {
  calls,
  conversationId,
  desk,
  handlers,
  lookUp,
  payloads,
  processOver,
  recorded,
  refund,
  story,
  text
} from "./support.ts"

const { chunks, finish } = ScriptedModel

const fresh = () => processOver(MemoryDatabase.make())

const broken = AiError.make({
  module: "Test",
  method: "test",
  reason: new AiError.InvalidRequestError({ description: "broken" })
})

const thought: ReadonlyArray<Response.StreamPartEncoded> = [
  { type: "reasoning-start", id: "r" },
  { type: "reasoning-delta", id: "r", delta: "hm" }
]
const thoughtEnd: ReadonlyArray<Response.StreamPartEncoded> = [
  { type: "reasoning-delta", id: "r", delta: "m" },
  { type: "reasoning-end", id: "r", metadata: { scripted: { signature: "s1" } } }
]
const said: ReadonlyArray<Response.StreamPartEncoded> = [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "I " },
  { type: "text-delta", id: "t", delta: "look" }
]
const saidEnd: ReadonlyArray<Response.StreamPartEncoded> = [{ type: "text-end", id: "t" }]
const arguing: ReadonlyArray<Response.StreamPartEncoded> = [
  { type: "tool-params-start", id: "c1", name: "look_up" },
  { type: "tool-params-delta", id: "c1", delta: '{"ord' }
]
const called: ReadonlyArray<Response.StreamPartEncoded> = [
  { type: "tool-params-delta", id: "c1", delta: 'er":"A1"}' },
  { type: "tool-params-end", id: "c1" },
  { type: "tool-call", ...lookUp("c1") }
]
const searching: ReadonlyArray<Response.StreamPartEncoded> = [
  { type: "tool-call", id: "s1", name: "look_up", params: { order: "A1" }, providerExecuted: true }
]

interface Point {
  readonly at: string
  readonly arrived: ReadonlyArray<Response.StreamPartEncoded>
  /** What is kept of it: the kinds of its parts. */
  readonly kept: ReadonlyArray<string>
  readonly settled?: ReadonlyArray<string>
}

/** Every place at which a response can break off. */
const points: ReadonlyArray<Point> = [
  { at: "before anything has arrived", arrived: [], kept: [] },
  {
    at: "behind the response's metadata",
    arrived: [{ type: "response-metadata", id: "resp_1", modelId: "m", timestamp: undefined }],
    kept: []
  },
  { at: "at the start of a text", arrived: said.slice(0, 1), kept: [] },
  { at: "in the middle of reasoning", arrived: thought, kept: [] },
  { at: "behind the reasoning", arrived: [...thought, ...thoughtEnd], kept: ["reasoning hmm"] },
  { at: "in the middle of a text", arrived: said.slice(0, 2), kept: ["text I "] },
  {
    at: "in the middle of a text behind reasoning",
    arrived: [...thought, ...thoughtEnd, ...said],
    kept: ["reasoning hmm", "text I look"]
  },
  {
    at: "in the middle of reasoning behind a text",
    arrived: [...said, ...saidEnd, ...thought],
    kept: ["text I look"]
  },
  { at: "in the middle of a call's parameters", arrived: [...said, ...saidEnd, ...arguing], kept: ["text I look"] },
  { at: "in the middle of the only call's parameters", arrived: arguing, kept: [] },
  {
    at: "behind a call",
    arrived: [...said, ...saidEnd, ...arguing, ...called],
    kept: ["text I look", "tool-call c1"],
    settled: ["settled c1 interrupted"]
  },
  {
    at: "in the middle of the second call's parameters",
    arrived: [...arguing, ...called, { type: "tool-params-start", id: "c2", name: "refund" }],
    kept: ["tool-call c1"],
    settled: ["settled c1 interrupted"]
  },
  {
    at: "behind a call that the provider runs",
    arrived: [...said, ...saidEnd, ...searching],
    kept: ["text I look", "tool-call s1"]
  },
  {
    at: "behind a call and the finish",
    arrived: [...thought, ...thoughtEnd, ...arguing, ...called, finish("tool-calls")],
    kept: ["reasoning hmm", "tool-call c1"],
    settled: ["settled c1 interrupted"]
  }
]

/** How it breaks off, how the run is made to, and what its end says then. */
const breaks = {
  "an error": { chunk: () => Effect.fail(broken), outcome: "failed" },
  "an error part": { chunk: () => ({ type: "error" as const, error: "overloaded" }), outcome: "failed" },
  "a reader that stops": { chunk: () => Effect.never, outcome: "cancelled" },
  "an interruption": { chunk: () => Effect.never, outcome: "cancelled" }
} as const

const keptOf = Effect.map(payloads, (log) => {
  const partial = log.find(({ _tag }) => _tag === "ModelResponded")
  if (partial?._tag !== "ModelResponded") return []
  assert.isTrue(partial.partial)
  return partial.content.map((part) =>
    part.type === "tool-call" ? `tool-call ${part.id}` : `${part.type} ${"text" in part ? part.text : ""}`
  )
})

/** The log is whole, the run has one end, and the conversation goes on: a provider takes its next prompt. */
const usable = Effect.gen(function* () {
  assert.strictEqual((yield* story).filter((line) => line.startsWith("ended")).length, 1)
  assert.strictEqual((yield* AgentRuntime.run(desk, "And now?", { conversationId })).text, "ok")
  const { prompt } = (yield* ScriptedModel.Requests).all().at(-1)!
  assert.deepStrictEqual(PromptFault.check(prompt), [])
  assert.include(JSON.stringify(prompt.content), "Where is A1?")
})

describe("a stream that breaks off", () => {
  for (const [how, { chunk, outcome }] of Object.entries(breaks)) {
    describe(`by ${how}`, () => {
      for (const { arrived, at, kept, settled = [] } of points) {
        it.effect(`${at}: ${kept.length === 0 ? "no response" : "what had arrived"}, and one end`, () =>
          Effect.gen(function* () {
            const reached = yield* Deferred.make<void>()
            const model = ScriptedModel.layerOf(({ call }) =>
              call === 0 ? chunks([...arrived, Deferred.succeed(reached, undefined), chunk()]) : text("ok")
            )
            yield* Effect.gen(function* () {
              const options = { conversationId, runId: "r1" }
              if (how === "a reader that stops") {
                yield* AgentRuntime.stream(desk, "Where is A1?", options).pipe(
                  Stream.interruptWhen(Deferred.await(reached)),
                  Stream.runDrain
                )
              } else if (how === "an interruption") {
                const run = yield* AgentRuntime.start(desk, "Where is A1?", { ...options, streaming: true })
                yield* Deferred.await(reached)
                yield* run.cancel
                const result = yield* run.await
                assert.strictEqual(result.outcome, "cancelled")
                assert.isTrue(result.persisted)
              } else {
                const streaming = { ...options, streaming: true }
                const error = yield* Effect.flip(AgentRuntime.run(desk, "Where is A1?", streaming))
                assert.strictEqual(error._tag, "AiError")
              }
              assert.deepStrictEqual(yield* keptOf, kept)
              assert.deepStrictEqual((yield* story).slice(3), [
                ...(kept.length === 0 ? [] : ["responded 1"]),
                ...settled,
                `ended ${outcome}`
              ])
              yield* usable
            }).pipe(Effect.provide(model))
          }).pipe(Effect.provide([fresh(), handlers()]))
        )
      }
    })
  }
})

describe("a later step that breaks off", () => {
  it.effect("leaves the steps before it, and its calls have ids that the conversation has not used", () =>
    Effect.gen(function* () {
      const options = { conversationId, runId: "r1", streaming: true }
      const error = yield* Effect.flip(AgentRuntime.run(desk, "Where is A1?", options))
      assert.strictEqual(error._tag, "AiError")
      assert.deepStrictEqual((yield* story).slice(3), [
        "responded 1",
        "started c1 1",
        "settled c1 success",
        "responded 2",
        "settled c1_2 interrupted",
        "settled c1_3 interrupted",
        "ended failed"
      ])
      yield* usable
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([
          calls([lookUp("c1")]),
          chunks([...arguing, ...called, ...arguing, ...called, Effect.fail(broken)]),
          text("ok")
        ])
      ])
    )
  )
})

describe("a model call in one piece that breaks off", () => {
  for (const how of ["fails", "is interrupted"] as const) {
    it.effect(`and ${how}: no response, and one end`, () =>
      Effect.gen(function* () {
        const reached = yield* Deferred.make<void>()
        const ending = how === "fails" ? Effect.fail(broken) : Effect.never
        const model = ScriptedModel.layerOf(({ call }) =>
          call === 0 ? () => Effect.andThen(Deferred.succeed(reached, undefined), ending) : text("ok")
        )
        yield* Effect.gen(function* () {
          const run = yield* AgentRuntime.start(desk, "Where is A1?", { conversationId })
          yield* Deferred.await(reached)
          if (how === "fails") assert.strictEqual((yield* Effect.flip(run.await))._tag, "AiError")
          else yield* run.cancel
          const end = how === "fails" ? "ended failed" : "ended cancelled"
          assert.deepStrictEqual((yield* story).slice(3), [end])
          yield* usable
        }).pipe(Effect.provide(model))
      }).pipe(Effect.provide([fresh(), handlers()]))
    )
  }
})

describe("a model that interrupts itself", () => {
  for (const streaming of [false, true]) {
    it.effect(`fails the run${streaming ? " (stream)" : ""}: nobody has stopped it`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(AgentRuntime.run(desk, "Where is A1?", { conversationId, streaming }))
        assert.strictEqual(error._tag, "AiError")
        assert.strictEqual((yield* story).at(-1), "ended failed")
        yield* usable
      }).pipe(
        Effect.provide([
          fresh(),
          handlers(),
          ScriptedModel.layer([chunks([...said, ...saidEnd, Effect.interrupt]), text("ok")])
        ])
      )
    )
  }

  it.effect("or dies fails it too", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(AgentRuntime.run(desk, "Where is A1?", { conversationId }))
      assert.isTrue(exit._tag === "Failure" && Cause.hasDies(exit.cause))
      assert.strictEqual((yield* story).at(-1), "ended failed")
      yield* usable
    }).pipe(
      Effect.provide([fresh(), handlers(), ScriptedModel.layer([() => Effect.die(new Error("broken")), text("ok")])])
    )
  )
})

describe("an interruption among tools", () => {
  for (const streaming of [false, true]) {
    it.effect(`keeps the results that are there, and settles the rest${streaming ? ", also of a stream" : ""}`, () =>
      Effect.gen(function* () {
        const layer = handlers({ refund: () => Effect.never })
        yield* Effect.gen(function* () {
          const options = { conversationId, streaming, toolConcurrency: 2 }
          const run = yield* AgentRuntime.start(desk, "Where is A1?", options)
          yield* recorded(({ payload }) => payload._tag === "ToolCallStarted" && payload.callId === "c3")
          yield* run.cancel
          assert.deepStrictEqual((yield* story).slice(3), [
            "responded 1",
            "started c1 1",
            "started c2 1",
            "settled c1 success",
            "started c3 1",
            "settled c2 interrupted",
            "settled c3 interrupted",
            "settled c4 interrupted",
            "ended cancelled"
          ])
          const texts = (yield* payloads).flatMap((payload) =>
            payload._tag === "ToolCallSettled" && payload.outcome === "interrupted" ? [payload.result] : []
          )
          // The one whose handler never began is known not to have taken effect.
          assert.isTrue(String(texts[0]).includes("not known") && String(texts[2]).includes("before it began"))
          yield* usable
        }).pipe(
          Effect.provide([
            layer,
            ScriptedModel.layer([calls([lookUp("c1"), refund("c2"), refund("c3"), lookUp("c4")]), text("ok")])
          ])
        )
      }).pipe(Effect.provide(fresh()))
    )
  }

  it.effect("while a handler cannot be interrupted waits for it, and says that nobody knows what it did", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const held = Effect.uninterruptible(
        Effect.andThen(Deferred.succeed(begun, undefined), Effect.as(Deferred.await(release), { status: "late" }))
      )
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "Where is A1?", { conversationId })
        yield* Deferred.await(begun)
        const stopping = yield* Effect.forkChild(run.cancel, { startImmediately: true })
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(stopping)
        yield* run.await
        assert.deepStrictEqual((yield* story).slice(-2), ["settled c1 interrupted", "ended cancelled"])
        assert.include(JSON.stringify(yield* payloads), "not known whether it took effect")
        yield* usable
      }).pipe(
        Effect.provide([handlers({ look_up: () => held }), ScriptedModel.layer([calls([lookUp("c1")]), text("ok")])])
      )
    }).pipe(Effect.provide(fresh()))
  )
})

describe("an interruption while something is stored", () => {
  /** Materialize, creation, start; then the response, the results, the answer with the end. */
  const firstOfRun = 3
  const lastOfRun = 7

  for (const side of ["beforeCommit", "afterCommit"] as const) {
    for (const streaming of [false, true]) {
      it.effect(
        `(${side}, ${streaming ? "stream" : "run"}), at whichever write: one end, and what the run says of it`,
        () =>
          Effect.gen(function* () {
            for (let at = firstOfRun; at <= lastOfRun; at++) {
              const reached = yield* Deferred.make<void>()
              const open = yield* Latch.make()
              let commits = 0
              const layer = processOver(MemoryDatabase.make(), {
                [side]: () =>
                  Effect.suspend(() =>
                    ++commits === at ? Effect.andThen(Deferred.succeed(reached, undefined), open.await) : Effect.void
                  )
              })
              yield* Effect.gen(function* () {
                const options = { conversationId, streaming }
                const starting = yield* Effect.forkChild(AgentRuntime.run(desk, "Where is A1?", options))
                yield* Deferred.await(reached)
                const stopping = yield* Effect.forkChild(Fiber.interrupt(starting), { startImmediately: true })
                yield* open.open
                yield* Fiber.join(stopping)
                const told = yield* story
                const ends = told.filter((line) => line.startsWith("ended"))
                // The last write is the answer with its end: then there was nothing left to stop.
                assert.deepStrictEqual([at, ends], [at, [at === lastOfRun ? "ended completed" : "ended cancelled"]])
                const begun = told.filter((line) => line.startsWith("started")).length
                assert.strictEqual(told.filter((line) => line.startsWith("settled")).length, begun)
                yield* usable
              }).pipe(
                Effect.provide([
                  layer,
                  handlers(),
                  ScriptedModel.layerOf(({ prompt }) => {
                    const said = JSON.stringify(prompt.content)
                    if (said.includes("And now?")) return text("ok")
                    return said.includes("c2") ? text("Done.") : calls([lookUp("c1"), refund("c2")])
                  })
                ])
              )
            }
          })
      )
    }
  }
})
