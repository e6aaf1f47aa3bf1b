/**
 * The shop's own tables, so that one sees what an agent has changed. Amounts are in cents.
 */
import * as Schema from "effect/Schema"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { NotFound, Unavailable } from "./ApiError.ts"
import { Order, OrderDetails, OrderId } from "../shop/Order.ts"

const orders = HttpApiEndpoint.get("orders", "/orders", {
  success: Schema.Array(Order),
  error: Unavailable
}).annotateMerge(
  OpenApi.annotations({
    summary: "List orders",
    description: "In the order of their numbers."
  })
)

const order = HttpApiEndpoint.get("order", "/orders/:orderId", {
  params: { orderId: OrderId },
  success: OrderDetails,
  error: [NotFound, Unavailable]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Get an order",
    description: "With its shipment, its refunds and its notes."
  })
)

export class ShopApi extends HttpApiGroup.make("shop").add(orders, order) {}
