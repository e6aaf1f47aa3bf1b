/**
 * Everything that the desk answers: the API, its document, and the page.
 */
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Layer from "effect/Layer"
import { DeskApi } from "../api/DeskApi.ts"
import * as ConversationsHandlers from "./ConversationsHandlers.ts"
import * as Docs from "./Docs.ts"
import * as EventsHandlers from "./EventsHandlers.ts"
import * as Faults from "./Faults.ts"
import * as Page from "./Page.ts"
import * as SecurityHeaders from "./SecurityHeaders.ts"
import * as ShopHandlers from "./ShopHandlers.ts"
import * as SystemHandlers from "./SystemHandlers.ts"
import * as TalkHandlers from "./TalkHandlers.ts"

const api = HttpApiBuilder.layer(DeskApi, { openapiPath: "/openapi.json" }).pipe(
  Layer.provide([
    ConversationsHandlers.layer,
    TalkHandlers.layer,
    EventsHandlers.layer,
    ShopHandlers.layer,
    SystemHandlers.layer
  ])
)

export const layer = (pageRoot: string) =>
  Layer.mergeAll(api, Docs.layer, Page.layer(pageRoot), SecurityHeaders.layer, Faults.layer)

/** Ids of conversations have up to 512 bytes, each of them up to three characters in a URL. */
export const options = { disableLogger: true, disableListenLog: true, routerConfig: { maxParamLength: 1536 } }
