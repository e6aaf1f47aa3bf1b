/**
 * The shop's tables over HTTP.
 */
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { DeskApi } from "../api/DeskApi.ts"
import { Shop } from "../shop/Shop.ts"
import { noOrder, unavailable } from "./ApiErrors.ts"

export const layer = HttpApiBuilder.group(DeskApi, "shop", (handlers) =>
  Effect.gen(function* () {
    const shop = yield* Shop
    return handlers.handleAll({
      orders: () => Effect.catch(shop.orders(), unavailable),
      order: ({ params }) =>
        Effect.catchTags(shop.order(params.orderId), {
          OrderAbsent: () => Effect.fail(noOrder),
          ShopUnavailable: unavailable
        })
    })
  })
)
