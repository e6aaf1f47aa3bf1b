import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { Agent, AgentRuntime, Approvals } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { append, call, clerk, kit, noted, prompts, read, shown, tale } from "./people.ts"
import { calls, conversationId, processOver, text } from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())

/** The modes that records carry, in order. */
const modes = Effect.map(read(), (records) =>
  records.flatMap(({ payload }) =>
    payload._tag === "RunStarted" || payload._tag === "RunEnded" || payload._tag === "RunSuspended"
      ? [`${payload._tag} ${payload.mode}`]
      : []
  )
)

const planner = Agent.make({
  name: "clerk",
  instructions: "Help.",
  toolkit: kit,
  mode: "plan",
  modes: { careful: (tool) => tool.name !== "wipe" }
})

describe("plan mode", () => {
  it.effect("refuses tools that are not read-only, with a result that says so, and asks nobody", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const result = yield* AgentRuntime.run(planner, "go", { conversationId, runId: "r1" })
      assert.strictEqual(result.outcome, "completed")
      assert.deepStrictEqual(ran, ["look A1"])
      const words = yield* tale()
      assert.include(words, "settled c2 rejected")
      assert.include(words, "settled c3 rejected")
      assert.notInclude(words, "asked c2")
      assert.notInclude(words, "started c2 1")
      assert.include(shown((yield* prompts).at(-1)), `The tool pay cannot be used in the mode \\"plan\\".`)
      assert.deepStrictEqual(yield* modes, ["RunStarted plan", "RunEnded plan"])
    }).pipe(
      Effect.provide([
        fresh(),
        layer,
        ScriptedModel.layer([calls([call("c1", "look"), call("c2", "pay"), call("c3", "wipe")]), text("a plan")])
      ])
    )
  })

  it.effect("refuses what a standing grant covers", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const { approvals } = yield* AgentRuntime.run(clerk, "go", { conversationId })
      yield* AgentRuntime.decide(clerk, conversationId, [Approvals.approve(approvals[0]!, { scope: "conversation" })])
      yield* AgentRuntime.run(clerk, "again", { conversationId, mode: "plan" })
      assert.deepStrictEqual(ran, ["pay A1"])
    }).pipe(
      Effect.provide([
        fresh(),
        layer,
        ScriptedModel.layer([calls([call("c1", "pay")]), text("ok"), calls([call("c2", "pay")]), text("ok")])
      ])
    )
  })

  it.effect("set while people decide: what they approve is refused all the same", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const { approvals } = yield* AgentRuntime.run(clerk, "go", { conversationId })
      yield* append([{ _tag: "ModeChanged", mode: "plan" }])
      yield* AgentRuntime.decide(clerk, conversationId, [Approvals.approve(approvals[0]!)])
      assert.deepStrictEqual(ran, [])
      assert.include(yield* tale(), "settled c1 rejected")
      assert.deepStrictEqual(yield* modes, ["RunStarted execute", "RunSuspended execute", "RunEnded plan"])
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([calls([call("c1", "pay")]), text("ok")])]))
  })
})

describe("a mode of the app's own", () => {
  it.effect("is a predicate over tools; one that nobody has named lets all run", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      yield* AgentRuntime.run(planner, "go", { conversationId: "a", mode: "careful" })
      assert.deepStrictEqual(ran, ["look A1"])
      yield* AgentRuntime.run(planner, "go", { conversationId: "b", mode: "else" })
      assert.deepStrictEqual(ran, ["look A1", "look A1", "wipe A1"])
    }).pipe(
      Effect.provide([
        fresh(),
        layer,
        ScriptedModel.layerOf(({ prompt }) =>
          prompt.content.at(-1)!.role === "tool" ? text("ok") : calls([call("c1", "look"), call("c2", "wipe")])
        )
      ])
    )
  })

  it.effect("may be what plan means", () => {
    const notes = Agent.make({
      name: "clerk",
      instructions: "Note.",
      toolkit: kit,
      modes: { plan: (tool) => tool.name === "wipe" }
    })
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      yield* AgentRuntime.run(notes, "go", { conversationId, mode: "plan" })
      assert.deepStrictEqual(ran, ["wipe A1"])
    }).pipe(
      Effect.provide([
        fresh(),
        layer,
        ScriptedModel.layer([calls([call("c1", "look"), call("c2", "wipe")]), text("ok")])
      ])
    )
  })
})

describe("the mode of a run", () => {
  it.effect("is the option, else the recorded one, else the agent's; the next run starts in it", () => {
    const { layer } = noted()
    return Effect.gen(function* () {
      yield* AgentRuntime.run(planner, "one", { conversationId })
      yield* AgentRuntime.run(clerk, "two", { conversationId })
      yield* AgentRuntime.run(planner, "three", { conversationId, mode: "execute" })
      yield* AgentRuntime.run(planner, "four", { conversationId })
      assert.deepStrictEqual(yield* modes, [
        "RunStarted plan",
        "RunEnded plan",
        "RunStarted plan",
        "RunEnded plan",
        "RunStarted execute",
        "RunEnded execute",
        "RunStarted execute",
        "RunEnded execute"
      ])
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layerOf(() => text("ok"))]))
  })

  it.effect("is the recorded one also before the first run", () => {
    const { layer } = noted()
    return Effect.gen(function* () {
      yield* append([{ _tag: "ModeChanged", mode: "execute" }])
      yield* AgentRuntime.run(planner, "one", { conversationId })
      assert.deepStrictEqual(yield* modes, ["RunStarted execute", "RunEnded execute"])
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layerOf(() => text("ok"))]))
  })

  it.effect("changes in the middle of it, in the log: from then on calls are judged by the new one", () =>
    Effect.gen(function* () {
      const looking = yield* Deferred.make<void>()
      const seen = yield* Deferred.make<string>()
      const { layer, ran } = noted({
        look: () => Effect.andThen(Deferred.succeed(looking, undefined), Deferred.await(seen))
      })
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(clerk, "go", { conversationId })
        yield* Deferred.await(looking)
        yield* append([{ _tag: "ModeChanged", mode: "plan" }])
        yield* Deferred.succeed(seen, "seen")
        yield* run.await
        assert.deepStrictEqual(ran, ["look A1"])
        assert.include(yield* tale(), "settled c2 rejected")
        assert.deepStrictEqual(yield* modes, ["RunStarted execute", "RunEnded plan"])
        yield* AgentRuntime.run(clerk, "and?", { conversationId })
        assert.strictEqual((yield* modes).at(-1), "RunEnded plan")
      }).pipe(
        Effect.provide([
          fresh(),
          layer,
          ScriptedModel.layer([calls([call("c1", "look")]), calls([call("c2", "wipe")]), text("ok"), text("ok")])
        ])
      )
    })
  )

  it.effect("that is empty is refused before anything is stored", () => {
    const { layer } = noted()
    return Effect.gen(function* () {
      const error = yield* Effect.flip(AgentRuntime.run(clerk, "go", { conversationId, mode: "" }))
      assert.isTrue(error._tag === "InvalidOption" && error.option === "mode")
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([])]))
  })
})
