/**
 * The desk's HTTP API: declarations alone, for the server, the page's typed client and the OpenAPI document.
 */
import * as Schema from "effect/Schema"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { Authorizer, Limits } from "./Access.ts"
import { ConversationsApi } from "./ConversationsApi.ts"
import { EventsApi } from "./EventsApi.ts"
import { ShopApi } from "./ShopApi.ts"
import { TalkApi } from "./TalkApi.ts"

const health = HttpApiEndpoint.get("health", "/health", {
  success: Schema.Struct({ ok: Schema.Literal(true), version: Schema.String, model: Schema.String })
}).annotateMerge(
  OpenApi.annotations({
    summary: "Ask whether the desk is there",
    description: "Whether the server is there, which build it is, and which model answers."
  })
)

class SystemApi extends HttpApiGroup.make("system", { topLevel: true }).add(health) {}

// What is added last is asked first: who is let in is limited.
export class DeskApi extends HttpApi.make("desk")
  .add(ConversationsApi)
  .add(TalkApi)
  .add(EventsApi)
  .add(ShopApi)
  .add(SystemApi)
  .prefix("/api")
  .middleware(Limits)
  .middleware(Authorizer)
  .annotateMerge(
    OpenApi.annotations({
      title: "The desk",
      version: "0.1.0",
      description: "Conversations with a support agent: talk, watch, decide, change."
    })
  ) {}
