/**
 * The agents of the scene with an approval and a handoff: a desk that hands broken bicycles over to the workshop, whose
 * refunds a person must approve.
 */
import { Agent } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { appendFileSync } from "node:fs"

export const conversationId = "ticket-3001"

const Refund = Tool.make("refund", {
  description: "Refunds an order to the card it was paid with.",
  parameters: Schema.Struct({ order: Schema.String, cents: Schema.Int }),
  success: Schema.String,
  needsApproval: true
})

const tools = Toolkit.make(Refund)

const workshop = Agent.make({
  name: "workshop",
  instructions: "You are the workshop. Refund what cannot be repaired.",
  toolkit: tools
})

export const frontDesk = Agent.make({
  name: "front-desk",
  instructions: "Hand broken bicycles over to the workshop.",
  delegates: [Agent.handoff(workshop)]
})

/** Appends what is refunded to a file, a line each. */
export const handlers = (file: string) =>
  tools.toLayer({
    refund: ({ cents, order }) =>
      Effect.sync(() => {
        appendFileSync(file, `${JSON.stringify({ key: "claims", order, cents })}\n`)
        return `refunded ${cents} cents for ${order}`
      })
  })

/** Each agent is known by what it may do. This provider, too, calls every call `call_1`. */
export const model = ScriptedModel.layerOf(({ prompt, toolNames }) => {
  const calls = prompt.content.filter(({ role }) => role === "tool").length
  if (toolNames.includes("hand_over_to_workshop")) {
    return ScriptedModel.calls([
      { id: "call_1", name: "hand_over_to_workshop", params: { reason: "the frame is bent" } }
    ])
  }
  if (calls <= 1)
    return ScriptedModel.calls([{ id: "call_1", name: "refund", params: { order: "F-1", cents: 89_000 } }])
  return ScriptedModel.text("The frame is bent beyond repair, so you have your € 890.00 back.")
})
