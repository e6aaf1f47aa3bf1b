/**
 * Somebody comes back to a place after a while: the agent is shown nothing of the old conversation, and its ledger tells
 * it what it did there.
 */
import { Agent, AgentRuntime } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import { LedgerSettings, SessionLedger } from "@colloquy/ledger"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { claim, heading, say } from "./Claim.ts"

export const play = Effect.fn("LedgerScene")(function* (database: string) {
  yield* heading("11. Somebody writes in the same channel again. The ledger tells the agent what it did there.")
  const request = { runId: "lamp-001", inputId: "m1", input: "My lamp for order D-9 is broken. Can I have a new one?" }
  const [first = ""] = yield* Effect.provide(turn(request), processOver(database))
  yield* claim(
    first === request.input,
    "the first turn in a channel is given what was written, and nothing else",
    first
  )

  // What the two processes share is the file.
  const later = { runId: "lamp-002", inputId: "m2", input: "Hello, is anybody looking after my lamp?" }
  const shown = yield* Effect.provide(turn(later), processOver(database))
  const [second = ""] = shown
  yield* say(second)
  yield* claim(second.endsWith(`## Task\n\n${later.input}`), "the second turn is given its task behind a block", second)
  yield* claim(
    second.includes(request.input) && second.includes(`- send_lamp({"order":"D-9"}) → success`),
    "the block says what was asked for, and what took effect",
    second
  )
  yield* claim(shown.length === 1, "so the model answers at once, and sends no second lamp", shown.length)
})

const LookUpOrder = Tool.make("look_up_order", {
  description: "Looks an order up by its number.",
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.String
}).annotate(Tool.Readonly, true)

const SendLamp = Tool.make("send_lamp", {
  description: "Sends a new lamp for an order.",
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.String
})

const tools = Toolkit.make(LookUpOrder, SendLamp)

const desk = Agent.make({
  name: "desk",
  instructions: "Help with orders. Send nothing twice.",
  toolkit: tools,
  earlierRuns: "ledger"
})

const handlers = tools.toLayer({
  look_up_order: ({ order }) => Effect.succeed(`${order} has arrived`),
  send_lamp: ({ order }) => Effect.succeed(`a lamp for ${order} is on its way`)
})

/** Sends a lamp, unless it is told that it has. */
const model = ScriptedModel.layerOf(({ prompt }) => {
  const calls = prompt.content.filter(({ role }) => role === "tool").length
  if (JSON.stringify(prompt.content).includes("You replied: ")) {
    return ScriptedModel.text("Your new lamp is on its way already.")
  }
  const params = { order: "D-9" }
  if (calls === 0) return ScriptedModel.calls([{ id: "call_1", name: "look_up_order", params }])
  if (calls === 1) return ScriptedModel.calls([{ id: "call_1", name: "send_lamp", params }])
  return ScriptedModel.text("I have sent you a new lamp for D-9.")
})

const ledger = SessionLedger.layerRecorder.pipe(
  Layer.provide(SessionLedger.layer({ isReadOnly: SessionLedger.readOnlyOf(tools) })),
  Layer.provide(LedgerSettings.layer)
)

const processOver = (filename: string) =>
  Layer.mergeAll(
    AgentRuntime.layer.pipe(Layer.provide(ledger), Layer.provide(SqliteStorage.layer({ filename }))),
    handlers,
    model
  )

/** Runs a turn; gives the user message of each request that its model was sent. */
const turn = Effect.fnUntraced(function* (asked: {
  readonly runId: string
  readonly inputId: string
  readonly input: string
}) {
  const { input, inputId, runId } = asked
  const options = { conversationId: "ticket-5001", conversationKey: "slack:D1", inputId, runId }
  const { text } = yield* AgentRuntime.run(desk, input, options)
  yield* say(`> ${input}\ndesk: ${text}`)
  const { all } = yield* ScriptedModel.Requests
  return all().map(({ prompt }) => {
    const message = prompt.content.findLast(({ role }) => role === "user")
    return message?.role === "user"
      ? message.content.map((part) => (part.type === "text" ? part.text : "")).join("")
      : ""
  })
})
