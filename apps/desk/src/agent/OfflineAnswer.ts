/**
 * What the offline model does next in its turn: it thinks, calls what it has not called yet, and answers from the
 * results. Pure.
 */
import * as Schema from "effect/Schema"
import { Note, Order, OrderDetails, Refund, Shipment } from "../shop/Order.ts"
import type { Asked } from "./Asked.ts"
import type { Call, OfflineTurn } from "./OfflineTurn.ts"

/** A response of the model: reasoning, text, and calls. */
export interface OfflineAnswer {
  readonly reasoning: string
  readonly text: string
  readonly calls: ReadonlyArray<{ readonly name: string; readonly params: Call["params"] }>
}

export const next = (turn: OfflineTurn): OfflineAnswer => {
  const { asked } = turn
  const calls = asked.flatMap((one) => missing(one, turn))
  if (calls.length > 0) {
    const names = [...new Set(calls.map(({ name }) => name))].join(" and ")
    return {
      reasoning: `I was asked: ${turn.said.join(" / ")}. I do not know that by heart, so I call ${names}.`,
      text: calls.some(({ name }) => name === "refund_order")
        ? "A person has to approve a refund, so I ask for it."
        : "",
      calls
    }
  }
  const answers = asked.map((one) => answer(one, turn.calls))
  return {
    reasoning: asked.length === 0 ? "" : "I have what I need.",
    text: answers.length === 0 ? help : answers.join("\n\n"),
    calls: []
  }
}

// --- internal ---

const help = `I am the desk's offline stand-in, and understand a few things:

- **where is A-1003?**: I track the parcel
- **what about A-1003?**: I look the order up
- **refund A-1003**, or **refund 5 € of A-1003**: I ask for your approval first
- **note on A-1003: call back on Monday**
- **orders of Ada**
- **write a long answer**
- **simulate a provider error**

Set \`ANTHROPIC_API_KEY\`, \`OPENAI_API_KEY\` or \`OPENAI_BASE_URL\` for a real model.`

/** The calls that are still to be made for what was asked. A refund is asked for once its order was seen. */
const missing = (asked: Asked, { calls }: OfflineTurn): OfflineAnswer["calls"] => {
  switch (asked._tag) {
    case "Track":
      return notMade(calls, "track_shipment", { orderId: asked.orderId })
    case "LookUp":
      return notMade(calls, "look_up_order", { orderId: asked.orderId })
    case "Refund": {
      const { cents, orderId } = asked
      const look = notMade(calls, "look_up_order", { orderId })
      if (look.length > 0) return look
      const found = detailsOf(calls, orderId)
      if (found === undefined || leftOf(found.order) === 0) return []
      const reason = `the customer asked for it: ${found.order.item}, ${found.order.status}`
      const made = calls.some(({ name, params }) => name === "refund_order" && params["orderId"] === orderId)
      return made
        ? []
        : [{ name: "refund_order", params: { orderId, ...(cents === undefined ? {} : { cents }), reason } }]
    }
    case "Note":
      return notMade(calls, "add_note", { orderId: asked.orderId, text: asked.text })
    case "List":
      return notMade(calls, "list_orders", asked.customer === undefined ? {} : { customer: asked.customer })
    default:
      return []
  }
}

const notMade = (calls: ReadonlyArray<Call>, name: string, params: Call["params"]): OfflineAnswer["calls"] =>
  find(calls, name, params) === undefined ? [{ name, params }] : []

const find = (calls: ReadonlyArray<Call>, name: string, params: Call["params"]): Call | undefined =>
  calls.find((call) => call.name === name && Object.entries(params).every(([key, value]) => call.params[key] === value))

const isDetails = Schema.is(OrderDetails)
const isShipment = Schema.is(Shipment)
const isRefund = Schema.is(Refund)
const isNote = Schema.is(Note)
const isOrders = Schema.is(Schema.Array(Order))

const detailsOf = (calls: ReadonlyArray<Call>, orderId: string): OrderDetails | undefined => {
  const value = find(calls, "look_up_order", { orderId })?.result?.value
  return isDetails(value) ? value : undefined
}

const leftOf = ({ refundedCents, totalCents }: Order): number => totalCents - refundedCents

const euros = (cents: number): string => `€ ${(cents / 100).toFixed(2)}`

const answer = (asked: Asked, calls: ReadonlyArray<Call>): string => {
  switch (asked._tag) {
    case "Track": {
      const result = find(calls, "track_shipment", { orderId: asked.orderId })?.result
      if (isShipment(result?.value)) {
        const { carrier, place, status, trackingCode } = result.value
        return `**${asked.orderId}** is *${status}*: ${carrier} has it in ${place} (tracking code \`${trackingCode}\`).`
      }
      return result?.value === null ? `Nothing was sent yet of **${asked.orderId}**.` : failure(asked.orderId, result)
    }
    case "LookUp": {
      const found = detailsOf(calls, asked.orderId)
      return found === undefined
        ? failure(asked.orderId, find(calls, "look_up_order", { orderId: asked.orderId })?.result)
        : overview(found)
    }
    case "Refund":
      return refunded(asked.orderId, calls)
    case "Note": {
      const result = find(calls, "add_note", { orderId: asked.orderId, text: asked.text })?.result
      return isNote(result?.value) ? `I have kept your note with **${asked.orderId}**.` : failure(asked.orderId, result)
    }
    case "List": {
      const { customer } = asked
      const result = find(calls, "list_orders", customer === undefined ? {} : { customer })?.result
      return isOrders(result?.value) ? table(result.value) : failure("the orders", result)
    }
    case "LongAnswer":
      return longAnswer
    case "Say":
      return asked.text
    case "Fail":
      return ""
  }
}

const refunded = (orderId: string, calls: ReadonlyArray<Call>): string => {
  const result = calls.findLast(({ name, params }) => name === "refund_order" && params["orderId"] === orderId)?.result
  if (isRefund(result?.value)) {
    return `I have sent ${euros(result.value.cents)} back for **${orderId}**. It takes two or three days to arrive.`
  }
  if (result !== undefined) return `I have not refunded **${orderId}**. ${messageOf(result.value)}`
  const found = detailsOf(calls, orderId)
  return found === undefined
    ? failure(orderId, find(calls, "look_up_order", { orderId })?.result)
    : `All of **${orderId}** was refunded already, so there is nothing left to send back.`
}

const overview = ({ notes, order, refunds, shipment }: OrderDetails): string =>
  [
    `**${order.orderId}**: ${order.item} for ${order.customer}, ${euros(order.totalCents)}, *${order.status}*.`,
    ...(shipment === undefined ? [] : [`- Parcel: ${shipment.status}, ${shipment.carrier}, ${shipment.place}`]),
    ...refunds.map(({ cents }) => `- Refunded: ${euros(cents)}`),
    ...notes.map(({ text }) => `- Note: ${text}`)
  ].join("\n")

const table = (orders: ReadonlyArray<Order>): string =>
  orders.length === 0
    ? "There are no such orders."
    : [
        "| order | customer | item | total | state |",
        "| --- | --- | --- | ---: | --- |",
        ...orders.map(
          ({ customer, item, orderId, status, totalCents }) =>
            `| ${orderId} | ${customer} | ${item} | ${euros(totalCents)} | ${status} |`
        )
      ].join("\n")

const failure = (what: string, result: Call["result"]): string =>
  `I cannot say anything about **${what}**: ${messageOf(result?.value)}`

const messageOf = (value: unknown): string => {
  if (typeof value === "string") return value
  if (typeof value === "object" && value !== null) {
    if ("message" in value && typeof value.message === "string") return value.message
    if ("_tag" in value && value._tag === "OrderAbsent") return "there is no order of this number."
    if ("_tag" in value && value._tag === "RefundTooLarge") return "that is more than was paid and not refunded yet."
  }
  return "the shop did not answer."
}

const chapters = ["brakes", "gears", "chain", "wheels", "lights", "saddle", "bearings", "tyres"]

const longAnswer = [
  "# Looking after a bicycle",
  "",
  "An overview first:",
  "",
  "| part | look at it | cost of a new one |",
  "| --- | --- | ---: |",
  ...chapters.map((part, i) => `| ${part} | every ${i + 2} weeks | ${euros(990 + i * 745)} |`),
  "",
  ...chapters.flatMap((part, i) => [
    `## ${i + 1}. The ${part}`,
    "",
    `Clean the ${part} first, then look for what is worn, replace that, and try it out *slowly*. Whatever makes a ` +
      `noise under load wants a closer look: it is cheaper to mend the ${part} early than to mend what they damage.`,
    "",
    `1. Turn the bicycle upside down.`,
    `2. Check the ${part} for play, rust and cracks.`,
    `3. Write down what you find: [ ] good, [x] to be replaced.`,
    ""
  ]),
  "```text",
  "torque: 5 Nm at the stem, 6 Nm at the seat post",
  "```",
  "",
  "> If in doubt, bring it to the workshop."
].join("\n")
