import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import type { ModelChoice } from "@colloquy/models/ModelChoice"
import type { LanguageModel } from "effect/ai/LanguageModel"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Shop from "../shop/Shop.ts"
import * as ShopTools from "../shop/ShopTools.ts"
import * as Build from "./Build.ts"
import { ChosenModel } from "./ChosenModel.ts"
import * as Desks from "./Desks.ts"
import * as Routes from "./Routes.ts"

/** Conversations, ledgers and the shop in one file, over one connection. */
const storage = (filename: string) =>
  Layer.merge(SqliteStorage.layerStorage(), Shop.layer).pipe(
    Layer.provide(SqliteStorage.layerMigrations),
    Layer.provide(SqliteStorage.layerFile({ filename }))
  )

/** Needs a server to be served by, and an `Authorizer` and `Limits`: without them it does not compile. */
export const layer = (parts: {
  readonly filename: string
  readonly pageRoot: string
  readonly chosen: ModelChoice
  readonly model: Layer.Layer<LanguageModel>
}) =>
  HttpRouter.serve(Routes.layer(parts.pageRoot), Routes.options).pipe(
    Layer.provide(Desks.layer),
    Layer.provide([ShopTools.handlers, parts.model, Build.layer(parts.pageRoot)]),
    Layer.provide(Layer.succeed(ChosenModel, parts.chosen)),
    Layer.provide(storage(parts.filename))
  )
