/** A desk whose refunds are paid and never answered: `dying.ts <file>`. Says `paid` when the money is gone. */
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as OfflineModel from "../../src/agent/OfflineModel.ts"
import * as Authorization from "../../src/server/Authorization.ts"
import * as Build from "../../src/server/Build.ts"
import { ChosenModel } from "../../src/server/ChosenModel.ts"
import * as Desks from "../../src/server/Desks.ts"
import * as Listening from "../../src/server/Listening.ts"
import * as RequestLimits from "../../src/server/RequestLimits.ts"
import * as Routes from "../../src/server/Routes.ts"
import * as Shop from "../../src/shop/Shop.ts"
import * as ShopTools from "../../src/shop/ShopTools.ts"

const [filename = ""] = process.argv.slice(2)

const dyingShop = Layer.effect(
  Shop.Shop,
  Effect.map(Shop.Shop, (shop) =>
    Shop.Shop.of({
      ...shop,
      refund: (request) => Effect.andThen(Effect.tap(shop.refund(request), Console.log("paid")), Effect.never)
    })
  )
)

const served = HttpRouter.serve(Routes.layer("/nowhere"), Routes.options).pipe(
  Layer.provide(Desks.layer),
  Layer.provide([
    Layer.provide(ShopTools.handlers, dyingShop),
    OfflineModel.layer({ pause: 0 }),
    Build.layer("/nowhere"),
    Layer.succeed(ChosenModel, { provider: "offline" }),
    Authorization.layer(Authorization.loopbackOnly),
    RequestLimits.layer()
  ]),
  Layer.provide(Layer.merge(SqliteStorage.layerStorage(), Shop.layer)),
  Layer.provide(SqliteStorage.layerMigrations),
  Layer.provide(SqliteStorage.layerFile({ filename })),
  Layer.provideMerge(Listening.layer(0))
)

const announce = Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
  Console.log(`http://127.0.0.1:${"port" in address ? address.port : 0}/`)
)

NodeRuntime.runMain(Layer.launch(Layer.provideMerge(Layer.effectDiscard(announce), served)))
