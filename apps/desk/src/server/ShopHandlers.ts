/**
 * The shop's tables over HTTP.
 */
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { NotFound, Unavailable } from "../api/ApiError.ts"
import { DeskApi } from "../api/DeskApi.ts"
import { Shop } from "../shop/Shop.ts"
import { noOrder, unavailable } from "./ApiErrors.ts"

export const layer = HttpApiBuilder.group(DeskApi, "shop", (handlers) =>
  Effect.gen(function* () {
    const shop = yield* Shop
    return handlers.handleAll({
      orders: () => Effect.catch(shop.orders(), unavailable),
      order: ({ params }) =>
        Effect.catch(shop.order(params.orderId), (error): Effect.Effect<never, NotFound | Unavailable> =>
          error._tag === "OrderAbsent" ? Effect.fail(noOrder) : unavailable(error)
        )
    })
  })
)
