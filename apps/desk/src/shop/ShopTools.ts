/**
 * What an agent can do in the shop.
 */
import * as ToolCall from "@colloquy/engine/ToolCall"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Note, Order, OrderDetails, Refund, Shipment } from "./Order.ts"
import { OrderAbsent, RefundTooLarge, Shop, ShopUnavailable } from "./Shop.ts"

const orderId = Schema.String.annotate({ description: "The number of the order, such as A-1003." })

const LookUpOrder = Tool.make("look_up_order", {
  description: "Looks an order up by its number, with its shipment, refunds and notes.",
  parameters: Schema.Struct({ orderId }),
  success: OrderDetails,
  failure: Schema.Union([OrderAbsent, ShopUnavailable]),
  failureMode: "return"
}).annotate(Tool.Readonly, true)

const ListOrders = Tool.make("list_orders", {
  description: "Lists orders, of one customer where a part of a name is given.",
  parameters: Schema.Struct({ customer: Schema.optionalKey(Schema.String) }),
  success: Schema.Array(Order),
  failure: ShopUnavailable,
  failureMode: "return"
}).annotate(Tool.Readonly, true)

const TrackShipment = Tool.make("track_shipment", {
  description: "Says where the parcel of an order is; null when nothing was sent yet.",
  parameters: Schema.Struct({ orderId }),
  success: Schema.NullOr(Shipment),
  failure: Schema.Union([OrderAbsent, ShopUnavailable]),
  failureMode: "return"
}).annotate(Tool.Readonly, true)

// Idempotent: the handler passes the call's key on, so that running it again pays nothing again.
const RefundOrder = Tool.make("refund_order", {
  description: "Sends money back to the card that an order was paid with. A person has to approve it.",
  parameters: Schema.Struct({
    orderId,
    cents: Schema.optionalKey(
      Schema.Int.check(Schema.isGreaterThan(0)).annotate({
        description: "How much, in cents; without it all that is left."
      })
    ),
    reason: Schema.String
  }),
  success: Refund,
  failure: Schema.Union([OrderAbsent, RefundTooLarge, ShopUnavailable]),
  failureMode: "return",
  needsApproval: true
}).annotate(Tool.Idempotent, true)

const AddNote = Tool.make("add_note", {
  description: "Keeps a note with an order, for colleagues.",
  parameters: Schema.Struct({ orderId, text: Schema.NonEmptyString }),
  success: Note,
  failure: Schema.Union([OrderAbsent, ShopUnavailable]),
  failureMode: "return"
})

export const tools = Toolkit.make(LookUpOrder, ListOrders, TrackShipment, RefundOrder, AddNote)

/** The handlers over the shop. */
export const handlers = tools.toLayer(
  Shop.useSync((shop) => ({
    look_up_order: ({ orderId }) => shop.order(orderId),
    list_orders: ({ customer }) => shop.orders(customer),
    track_shipment: ({ orderId }) => Effect.map(shop.order(orderId), ({ shipment }) => shipment ?? null),
    refund_order: Effect.fnUntraced(function* ({ cents, orderId, reason }) {
      const call = yield* ToolCall.CurrentToolCall
      if (call === undefined) return yield* Effect.die(new Error("a refund without a call has no key"))
      return yield* shop.refund({ refundId: call.idempotencyKey, orderId, cents, reason })
    }),
    add_note: ({ orderId, text }) => shop.addNote(orderId, text)
  }))
)
