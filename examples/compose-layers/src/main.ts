/**
 * A support desk from four layers: a store, the engine, the tools' handlers, and a model. With `TEST=1` the store is in
 * memory, and nothing else changes.
 */
import { Agent, AgentRuntime } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import { MemoryStorage } from "@colloquy/storage-memory"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"

const LookUp = Tool.make("look_up_order", {
  description: "Looks an order up by its number.",
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.Struct({ state: Schema.String })
}).annotate(Tool.Readonly, true)

const tools = Toolkit.make(LookUp)
const desk = Agent.make({ name: "desk", instructions: "Help with orders.", toolkit: tools })

const program = Effect.gen(function* () {
  // A crash may have cut the last run off.
  yield* AgentRuntime.resumeIfNeeded(desk, "ticket-42")
  const { text } = yield* AgentRuntime.run(desk, "Where is A1?", { conversationId: "ticket-42" })
  yield* Console.log(text)
})

const handlers = tools.toLayer({ look_up_order: () => Effect.succeed({ state: "on its way" }) })

const storage = Layer.unwrap(
  Effect.gen(function* () {
    if (yield* Config.Boolean("TEST").pipe(Config.withDefault(false))) return MemoryStorage.layer
    return SqliteStorage.layer({ filename: yield* Config.String("DB").pipe(Config.withDefault("desk.db")) })
  })
)

// Any Effect AI model takes this place; the scripted one needs no key.
const model = ScriptedModel.layerOf(({ prompt }) =>
  prompt.content.at(-1)?.role === "tool"
    ? ScriptedModel.text("A1 is on its way.")
    : ScriptedModel.calls([{ id: "call_1", name: "look_up_order", params: { order: "A1" } }])
)

program.pipe(Effect.provide([Layer.provide(AgentRuntime.layer, storage), handlers, model]), NodeRuntime.runMain)
