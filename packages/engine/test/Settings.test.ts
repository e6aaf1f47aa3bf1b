import { CommandQueues, ConversationTracker } from "@colloquy/capabilities"
import { Ids } from "@colloquy/session"
import { Conversations, SettingsStore } from "@colloquy/store"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Agent, AgentError, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { append, call, kit, noted, prompts, read } from "./people.ts"
import { calls, conversationId, text } from "./support.ts"

const open = Agent.make({
  name: "clerk",
  instructions: "Help.",
  toolkit: kit,
  configurable: ["mode", "maxToolRounds", "toolConcurrency", "modelRetries", "persistence"]
})

const settingsId = Ids.SettingsId.make("careful")

const put = (settings: { readonly [key: string]: unknown }, id = settingsId) =>
  Effect.flatMap(SettingsStore.SettingsStore, (store) => store.put({ settingsId: id, settings }))

const firstMode = Effect.map(read(), (records) => {
  const start = records.find(({ payload }) => payload._tag === "RunStarted")?.payload
  return start?._tag === "RunStarted" ? start.mode : undefined
})

/** A model that calls a tool for ever, as long as it may. */
const busy = ScriptedModel.layerOf(({ call: n, toolChoice }) =>
  toolChoice === "none" ? text("enough") : calls([call(`c${n}`, "look")])
)

for (const [name, storage] of [
  ["memory", () => MemoryStorage.layerWith({ database: MemoryDatabase.make() })],
  ["SQLite", () => SqliteStorage.layer({ filename: ":memory:" })]
] as const) {
  const app = () => AgentRuntime.layer.pipe(Layer.provideMerge(storage()))

  describe(`stored settings in ${name}`, () => {
    it.effect("count for the options that the agent names, over its own", () =>
      Effect.gen(function* () {
        yield* put({ mode: "plan", maxToolRounds: 2, theme: "dark" })
        const result = yield* AgentRuntime.run(open, "go", { settingsId })
        assert.strictEqual(result.outcome, "limit-reached")
        assert.strictEqual((yield* prompts).length, 3)
        const half = Agent.make({
          name: "clerk",
          instructions: "Help.",
          toolkit: kit,
          maxToolRounds: 1,
          configurable: ["mode"]
        })
        yield* AgentRuntime.run(half, "go", { settingsId })
        assert.strictEqual((yield* prompts).length, 5)
      }).pipe(Effect.provide(Layer.mergeAll(app(), noted().layer, busy)))
    )

    it.effect("count less than an option of the run", () =>
      Effect.gen(function* () {
        yield* put({ maxToolRounds: 2 })
        yield* AgentRuntime.run(open, "go", { settingsId, maxToolRounds: 1 })
        assert.strictEqual((yield* prompts).length, 2)
      }).pipe(Effect.provide(Layer.mergeAll(app(), noted().layer, busy)))
    )

    it.effect("that are not there, or are no settings, fail the start and store nothing", () =>
      Effect.gen(function* () {
        yield* put({ mode: 7 })
        yield* put({ persistence: "never" }, Ids.SettingsId.make("odd"))
        for (const id of ["nobody", "", "careful", "odd"]) {
          const error = yield* Effect.flip(AgentRuntime.run(open, "go", { settingsId: id, conversationId }))
          assert.instanceOf(error, AgentError.UnknownSettings)
          assert.strictEqual(error.settingsId, id)
        }
        // What the agent lets nobody set does no harm.
        const closed = Agent.make({ name: "clerk", instructions: "Help." })
        yield* AgentRuntime.run(closed, "go", { settingsId })
        const store = yield* Effect.flip(read())
        assert.strictEqual(store._tag, "ConversationNotFound")
      }).pipe(
        Effect.provide(
          Layer.mergeAll(
            app(),
            noted().layer,
            ScriptedModel.layerOf(() => text("ok"))
          )
        )
      )
    )

    it.effect("that are out of bounds fail the start, and say which", () =>
      Effect.gen(function* () {
        for (const [option, value] of [
          ["maxToolRounds", 0],
          ["toolConcurrency", 65],
          ["modelRetries", -1]
        ] as const) {
          yield* put({ [option]: value })
          const error = yield* Effect.flip(AgentRuntime.run(open, "go", { settingsId, conversationId }))
          assert.isTrue(error instanceof AgentError.InvalidOption && error.option === option)
          // An option of the run stands for it.
          yield* AgentRuntime.run(open, "go", { settingsId, [option]: 1 })
        }
      }).pipe(
        Effect.provide(
          Layer.mergeAll(
            app(),
            noted().layer,
            ScriptedModel.layerOf(() => text("ok"))
          )
        )
      )
    )

    it.effect("and a conversation have nothing to do with each other: either, both or none", () =>
      Effect.gen(function* () {
        yield* put({ mode: "plan" })
        yield* AgentRuntime.run(open, "none")
        yield* AgentRuntime.run(open, "settings alone", { settingsId })
        yield* AgentRuntime.run(open, "both", { settingsId, conversationId })
        assert.strictEqual(yield* firstMode, "plan")
        // It stays in its mode, and remembers no settings.
        yield* put({ mode: "execute", maxToolRounds: 1 })
        yield* AgentRuntime.run(open, "conversation alone", { conversationId })
        yield* AgentRuntime.run(open, "both again", { settingsId, conversationId })
        const modes = (yield* read()).flatMap(({ payload }) => (payload._tag === "RunStarted" ? [payload.mode] : []))
        assert.deepStrictEqual(modes, ["plan", "plan", "plan"])
      }).pipe(
        Effect.provide(
          Layer.mergeAll(
            app(),
            noted().layer,
            ScriptedModel.layerOf(() => text("ok"))
          )
        )
      )
    )

    it.effect("set no mode over an option of the run", () =>
      Effect.gen(function* () {
        yield* put({ mode: "plan" })
        yield* AgentRuntime.run(open, "go", { settingsId, conversationId, mode: "careful" })
        assert.strictEqual(yield* firstMode, "careful")
      }).pipe(
        Effect.provide(
          Layer.mergeAll(
            app(),
            noted().layer,
            ScriptedModel.layerOf(() => text("ok"))
          )
        )
      )
    )
  })
}

describe("stored settings", () => {
  it.effect("without a store of them are unknown", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(AgentRuntime.run(open, "go", { settingsId }))
      assert.isTrue(error instanceof AgentError.UnknownSettings && error.reason.includes("no store"))
      assert.strictEqual((yield* AgentRuntime.run(open, "go")).text, "ok")
    }).pipe(Effect.provide([AgentRuntime.layerEphemeral, noted().layer, ScriptedModel.layerOf(() => text("ok"))]))
  )

  it.effect("do not count over a mode that was recorded before the first run", () =>
    Effect.gen(function* () {
      yield* put({ mode: "plan" })
      yield* append([{ _tag: "ModeChanged", mode: "execute" }])
      yield* AgentRuntime.run(open, "go", { settingsId, conversationId })
      assert.strictEqual(yield* firstMode, "execute")
    }).pipe(
      Effect.provide([
        Layer.mergeAll(
          AgentRuntime.layerWithout.pipe(
            Layer.provideMerge(Layer.merge(CommandQueues.layer, ConversationTracker.layer)),
            Layer.provideMerge(Conversations.layer),
            Layer.provideMerge(MemoryStorage.layer)
          ),
          noted().layer,
          ScriptedModel.layerOf(() => text("ok"))
        )
      ])
    )
  )
})
