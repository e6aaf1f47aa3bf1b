/**
 * Orders of the shop, with their shipments and what was refunded. Amounts are in cents, times UTC in milliseconds.
 */
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

/** A letter, a hyphen and four digits: `A-1003`. */
export const OrderId = Schema.String.check(Schema.isPattern(/^[A-Z]-\d{4}$/))

const OrderStatus = Schema.Literals(["paid", "shipped", "delivered", "returned"])

export const Order = Schema.Struct({
  orderId: OrderId,
  customer: Schema.String,
  item: Schema.String,
  totalCents: Schema.Natural,
  refundedCents: Schema.Natural,
  status: OrderStatus,
  placedAt: Schema.Int
})
export interface Order extends Schema.Schema.Type<typeof Order> {}

export const Shipment = Schema.Struct({
  orderId: OrderId,
  carrier: Schema.String,
  trackingCode: Schema.String,
  status: Schema.Literals(["label-made", "in-transit", "delayed", "delivered", "lost"]),
  place: Schema.String,
  updatedAt: Schema.Int
})
export interface Shipment extends Schema.Schema.Type<typeof Shipment> {}

/** Money that went back; `refundId` is made of the key of the call that asked for it. */
export const Refund = Schema.Struct({
  refundId: Schema.String,
  orderId: OrderId,
  cents: Schema.Natural,
  reason: Schema.String,
  at: Schema.Int
})
export interface Refund extends Schema.Schema.Type<typeof Refund> {}

export const Note = Schema.Struct({ orderId: OrderId, text: Schema.String, at: Schema.Int })
export interface Note extends Schema.Schema.Type<typeof Note> {}

/** An order with all that belongs to it, each in the order of its time. */
export const OrderDetails = Schema.Struct({
  order: Order,
  shipment: optional(Shipment),
  refunds: Schema.Array(Refund),
  notes: Schema.Array(Note)
})
export interface OrderDetails extends Schema.Schema.Type<typeof OrderDetails> {}
