/**
 * The agent of the demo: a bicycle shop's desk with two tools over a real file of payments, and the model that plays it.
 */
import { Agent, ToolCall } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { appendFileSync, existsSync, readFileSync } from "node:fs"

export const conversationId = "ticket-1042"

const LookUpOrder = Tool.make("look_up_order", {
  description: "Looks an order up by its number.",
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.Struct({ item: Schema.String, paidCents: Schema.Int, state: Schema.String })
}).annotate(Tool.Readonly, true)

// Idempotent: the handler passes the call's key on, so that running it again pays nothing again.
const Refund = Tool.make("refund", {
  description: "Refunds an order to the card it was paid with.",
  parameters: Schema.Struct({ order: Schema.String, cents: Schema.Int }),
  success: Schema.Struct({ refunded: Schema.Int })
}).annotate(Tool.Idempotent, true)

const tools = Toolkit.make(LookUpOrder, Refund)

export const desk = Agent.make({
  name: "desk",
  instructions: "You are the desk of a bicycle shop. Look orders up before you answer. Refund what came broken.",
  toolkit: tools
})

/** A payment as the file holds it, a line each. */
const Payment = Schema.Struct({ key: Schema.String, order: Schema.String, cents: Schema.Int })

const decodePayment = Schema.decodeUnknownSync(Schema.fromJsonString(Payment))

export const readPayments = (file: string): ReadonlyArray<typeof Payment.Type> =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => decodePayment(line))
    : []

/**
 * The handlers over a file of payments. `afterPaying` runs between the payment and the tool's answer: the moment in which
 * a crash hurts most.
 */
export const handlers = (file: string, afterPaying: Effect.Effect<void>) =>
  tools.toLayer({
    look_up_order: () => Effect.succeed({ item: "front lamp", paidCents: 3900, state: "delivered, lens broken" }),
    refund: Effect.fn("refund")(function* ({ cents, order }) {
      const call = yield* ToolCall.CurrentToolCall
      const key = call?.idempotencyKey ?? ""
      if (!readPayments(file).some((payment) => payment.key === key)) {
        appendFileSync(file, `${JSON.stringify({ key, order, cents })}\n`)
        yield* afterPaying
      }
      return { refunded: cents }
    })
  })

/** The model: what it says depends only on what it is shown, as a real one's words would. */
export const model = ScriptedModel.layerOf(({ prompt }) => {
  const lastInput = prompt.content.findLastIndex(({ role }) => role === "user")
  const results = prompt.content.slice(lastInput).filter(({ role }) => role === "tool").length
  // This provider numbers its calls per response, as some local servers do.
  if (results === 0) {
    return ScriptedModel.calls([{ id: "call_1", name: "look_up_order", params: { order: "B-77" } }], "Let me look.")
  }
  if (results === 1) {
    return ScriptedModel.calls([{ id: "call_1", name: "refund", params: { order: "B-77", cents: 3900 } }])
  }
  return ScriptedModel.text("Your lamp came with a broken lens, so I have refunded € 39.00 to your card.")
})
