import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentRuntime, ToolCall } from "../src/index.ts"
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
  recorded,
  refund,
  story,
  text
} from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())

const settledOf = Effect.map(payloads, (log) =>
  log.flatMap((payload) => (payload._tag === "ToolCallSettled" ? [payload] : []))
)

/** What the model is shown of the results, in the last request. */
const shown = Effect.map(ScriptedModel.Requests, (requests) =>
  requests
    .all()
    .at(-1)!
    .prompt.content.flatMap((message) => (message.role === "tool" ? message.content : []))
    .flatMap((part) => (part.type === "tool-result" ? [part] : []))
)

describe("what a handler returns", () => {
  it.effect("in whatever order: the model is shown results in the order of the calls, byte for byte the same", () =>
    Effect.gen(function* () {
      const prompts: Array<string> = []
      for (const order of [
        [0, 1, 2, 3],
        [3, 2, 1, 0],
        [2, 0, 3, 1]
      ]) {
        const doors = yield* Effect.forEach([0, 1, 2, 3], () => Deferred.make<void>())
        const layer = handlers({
          look_up: ({ order: place }) => Effect.as(Deferred.await(doors[Number(place)]!), { status: place })
        })
        yield* Effect.gen(function* () {
          const run = yield* AgentRuntime.start(desk, "go", { conversationId, runId: "r1" })
          for (const place of order) {
            yield* Deferred.succeed(doors[place]!, undefined)
            yield* recorded(({ payload }) => payload._tag === "ToolCallSettled" && payload.callId === `c${place}`)
          }
          yield* run.await
          assert.deepStrictEqual(
            (yield* settledOf).map(({ callId }) => callId),
            order.map((place) => `c${place}`)
          )
          assert.deepStrictEqual(
            (yield* shown).map(({ id }) => id),
            ["c0", "c1", "c2", "c3"]
          )
          prompts.push(JSON.stringify((yield* ScriptedModel.Requests).all().at(-1)?.prompt))
        }).pipe(
          Effect.provide([
            fresh(),
            layer,
            ScriptedModel.layer([calls(["0", "1", "2", "3"].map((place) => lookUp(`c${place}`, place))), text("ok")])
          ])
        )
      }
      assert.strictEqual(new Set(prompts).size, 1)
    })
  )

  it.effect("of 100 MB is kept as its beginning, its size and its digest", () =>
    Effect.gen(function* () {
      const result = yield* AgentRuntime.run(desk, "go", { conversationId })
      assert.strictEqual(result.text, "ok")
      const kept = (yield* settledOf)[0]?.result
      const { tooLarge } = yield* Schema.decodeUnknownEffect(
        Schema.Struct({ tooLarge: Schema.Struct({ bytes: Schema.Int }) })
      )(kept)
      assert.isAbove(tooLarge.bytes, 100 * 1024 * 1024)
      assert.isBelow(JSON.stringify(kept).length, 1024 * 1024)
      assert.isBelow(JSON.stringify(yield* shown).length, 70 * 1024)
    }).pipe(
      Effect.provide([
        fresh(),
        handlers({ look_up: () => Effect.succeed({ status: "x".repeat(100 * 1024 * 1024) }) }),
        ScriptedModel.layer([calls([lookUp("c1")]), text("ok")])
      ])
    )
  )

  it.effect("over the bytes that its tool allows is shortened for the model, between characters", () => {
    const Long = Tool.make("long", { parameters: Schema.Struct({}), success: Schema.String })
    const kit = Toolkit.make(Long.annotate(ToolCall.MaxResultBytes, 10))
    const agent = Agent.make({ name: "long", instructions: "x", toolkit: kit })
    const whole = "🙂".repeat(20)
    return Effect.gen(function* () {
      yield* AgentRuntime.run(agent, "go", { conversationId })
      const [kept] = yield* settledOf
      assert.isTrue(kept?.result === whole && kept.shownBytes === 10)
      const [seen] = yield* shown
      assert.isTrue(String(seen?.result).startsWith("🙂🙂") && String(seen?.result).isWellFormed())
      assert.notInclude(String(seen?.result), "🙂🙂🙂")
    }).pipe(
      Effect.provide([
        fresh(),
        kit.toLayer({ long: () => Effect.succeed(whole) }),
        ScriptedModel.layer([calls([{ id: "c1", name: "long", params: {} }]), text("ok")])
      ])
    )
  })

  for (const mode of ["error", "return"] as const) {
    it.effect(`that its schema refuses is a failure that the model sees (failure mode ${mode})`, () => {
      const Count = Tool.make("count", {
        parameters: Schema.Struct({}),
        success: Schema.Int,
        failureMode: mode
      })
      const kit = Toolkit.make(Count)
      const agent = Agent.make({ name: "count", instructions: "x", toolkit: kit })
      return Effect.gen(function* () {
        assert.strictEqual((yield* AgentRuntime.run(agent, "go", { conversationId })).text, "ok")
        const [kept] = yield* settledOf
        assert.isTrue(kept?.outcome === "failure" && kept.isFailure)
        assert.isTrue((yield* shown)[0]?.isFailure)
        assert.deepStrictEqual(yield* faultsOfLast, [])
      }).pipe(
        Effect.provide([
          fresh(),
          kit.toLayer({ count: () => Effect.succeed(1.5) }),
          ScriptedModel.layer([calls([{ id: "c1", name: "count", params: {} }]), text("ok")])
        ])
      )
    })
  }

  it.effect("is nothing: the model is shown that there is nothing", () =>
    Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "go", { conversationId })
      assert.deepStrictEqual(
        (yield* settledOf).map(({ isFailure, result }) => [isFailure, result]),
        [[false, null]]
      )
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([calls([refund("c1")]), text("ok")])]))
  )

  it.effect("never: the run can be stopped all the same", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const layer = handlers({ look_up: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never) })
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId })
        yield* Deferred.await(begun)
        yield* run.cancel
        assert.strictEqual((yield* run.await).outcome, "cancelled")
      }).pipe(Effect.provide([layer, ScriptedModel.layer([calls([lookUp("c1")])])]))
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("is a defect: with failure mode return a failure, with error the end of the run", () => {
    const Fragile = Tool.make("fragile", { parameters: Schema.Struct({}), success: Schema.Void })
    const kit = Toolkit.make(Fragile)
    const agent = Agent.make({ name: "fragile", instructions: "x", toolkit: kit })
    return Effect.gen(function* () {
      const exit = yield* Effect.exit(AgentRuntime.run(agent, "go", { conversationId }))
      assert.strictEqual(exit._tag, "Failure")
      const end = (yield* payloads).at(-1)
      assert.isTrue(end?._tag === "RunEnded" && end.outcome === "failed" && end.error?.tag === "Defect")
      assert.deepStrictEqual(
        (yield* settledOf).map(({ outcome }) => outcome),
        ["interrupted"]
      )
      // The desk's tool returns its failures.
      assert.strictEqual((yield* AgentRuntime.run(desk, "go", { conversationId })).text, "ok")
      assert.strictEqual((yield* settledOf).at(-1)?.outcome, "failure")
      assert.deepStrictEqual(yield* faultsOfLast, [])
    }).pipe(
      Effect.provide([
        fresh(),
        kit.toLayer({ fragile: () => Effect.die("broken") }),
        handlers({ look_up: () => Effect.die("broken") }),
        ScriptedModel.layer([calls([{ id: "c1", name: "fragile", params: {} }]), calls([lookUp("c2")]), text("ok")])
      ])
    )
  })
})

describe("what a model calls", () => {
  const wrong: ReadonlyArray<readonly [what: string, name: string, params: unknown]> = [
    ["a tool that is not there", "no_such_tool", { order: "A1" }],
    ["a name that every object has", "constructor", {}],
    ["parameters that do not decode", "look_up", { order: 1 }],
    ["parameters that are no object", "look_up", null],
    ["parameters that are a list", "look_up", ["A1"]],
    ["parameters that are a text", "look_up", '{"order":"A1"']
  ]
  for (const streaming of [false, true]) {
    for (const [what, name, params] of wrong) {
      it.effect(`${what}: a failure that says so, no handler runs${streaming ? " (stream)" : ""}`, () =>
        Effect.gen(function* () {
          assert.strictEqual((yield* AgentRuntime.run(desk, "go", { conversationId, streaming })).text, "ok")
          const [kept] = yield* settledOf
          assert.strictEqual(kept?.outcome, "failure")
          assert.include(JSON.stringify(kept?.result), name)
          assert.deepStrictEqual(yield* faultsOfLast, [])
        }).pipe(
          Effect.provide([
            fresh(),
            handlers({ look_up: () => Effect.die("must not run") }),
            ScriptedModel.layer([calls([{ id: "c1", name, params }]), text("ok")])
          ])
        )
      )
    }
  }

  it.effect("behind the limit of rounds is discarded: not stored, not run, and ids of it are free", () =>
    Effect.gen(function* () {
      const first = yield* AgentRuntime.run(desk, "go", { conversationId, maxToolRounds: 1 })
      assert.isTrue(first.outcome === "limit-reached" && first.text === "That is all.")
      assert.notInclude(yield* story, "settled c2 success")
      assert.strictEqual((yield* AgentRuntime.run(desk, "again", { conversationId })).text, "ok")
      assert.include(yield* story, "settled c2 success")
      assert.deepStrictEqual(yield* faultsOfLast, [])
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([
          calls([lookUp("c1")]),
          calls([lookUp("c2")], "That is all."),
          calls([lookUp("c2")]),
          text("ok")
        ])
      ])
    )
  )
})
