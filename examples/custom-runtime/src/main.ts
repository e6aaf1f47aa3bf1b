/** A desk that plans before it acts, with a scripted model in place of a real one: it runs offline. */
import { CommandQueues } from "@colloquy/capabilities"
import { Agent } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import { Ids } from "@colloquy/session"
import { MemoryStorage } from "@colloquy/storage-memory"
import { Conversations } from "@colloquy/store"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import * as PlanRuntime from "./PlanRuntime.ts"

const LookUp = Tool.make("look_up_order", {
  description: "Looks an order up by its number.",
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.Struct({ state: Schema.String })
}).annotate(Tool.Readonly, true)

const tools = Toolkit.make(LookUp)
const desk = Agent.make({ name: "desk", instructions: "Plan first, one numbered line for each step.", toolkit: tools })

const place = { conversationId: Ids.ConversationId.make("ticket-42"), runId: Ids.RunId.make("run-1") }

const program = Effect.gen(function* () {
  const { response } = yield* PlanRuntime.run(desk, "Where is A1?", place)
  const conversations = yield* Conversations.Conversations
  for (const { messages } of yield* conversations.entries(place.conversationId)) {
    for (const { content, role } of messages) yield* Console.log(`${role}: ${JSON.stringify(content)}`)
  }
  return response
})

const model = ScriptedModel.layer([
  ScriptedModel.text("1. Look A1 up.\n2. Tell the customer."),
  ScriptedModel.calls([{ id: "call_1", name: "look_up_order", params: { order: "A1" } }]),
  ScriptedModel.text("It is on its way."),
  ScriptedModel.text("A1 is on its way.")
])

const handlers = tools.toLayer({ look_up_order: () => Effect.succeed({ state: "on its way" }) })

const storage = Layer.provideMerge(Conversations.layer, MemoryStorage.layer)

program.pipe(Effect.provide([storage, CommandQueues.layer, handlers, model]), NodeRuntime.runMain)
