/** A desk for tests: a real server on a port of its own over a real file, and clients of it. */
import type * as LiveUpdateModule from "@colloquy/capabilities/LiveUpdate"
import * as ConversationView from "@colloquy/capabilities/ConversationView"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { ConversationId, TenantId } from "@colloquy/session/Ids"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type { LanguageModel } from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as OfflineModel from "../src/agent/OfflineModel.ts"
import { DeskApi } from "../src/api/DeskApi.ts"
import * as Authorization from "../src/server/Authorization.ts"
import * as RequestLimits from "../src/server/RequestLimits.ts"
import * as Wiring from "../src/server/Wiring.ts"

export const ticket = ConversationId.make("ticket-1")

export interface Options {
  readonly model?: Layer.Layer<LanguageModel> | undefined
  readonly limits?: RequestLimits.Options | undefined
  readonly decide?: Authorization.Decide | undefined
  readonly pageRoot?: string | undefined
  /** A file of before (default: a new one). */
  readonly filename?: string | undefined
}

/** A folder that is removed with the scope. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "desk-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Says with the header `x-tenant` whose desk it is. */
const byHeader: Authorization.Decide = ({ headers }) =>
  Effect.succeed({ tenant: TenantId.make(headers["x-tenant"] ?? "acme"), author: "Ada" })

/** Serves a desk for the scope; gives its address without a slash at the end. */
export const serve = Effect.fnUntraced(function* (options: Options = {}) {
  const filename = options.filename ?? join(yield* folder, "desk.db")
  const scope = yield* Effect.scope
  const served = Wiring.layer({
    filename,
    pageRoot: options.pageRoot ?? "/nowhere",
    chosen: { provider: "offline" },
    model: options.model ?? OfflineModel.layer({ pause: 0 })
  }).pipe(
    Layer.provide([
      Authorization.layer(options.decide ?? byHeader),
      RequestLimits.layer({ requests: 100_000, ...options.limits })
    ]),
    Layer.provideMerge(
      NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0, gracefulShutdownTimeout: 0 })
    )
  )
  const services = yield* Layer.buildWithScope(served, scope)
  const { address } = yield* Effect.provide(HttpServer.HttpServer, services)
  return { filename, url: `http://127.0.0.1:${"port" in address ? address.port : 0}` }
})

/** The typed client, as a tenant. */
export const clientOf = (url: string, tenant = "acme") =>
  HttpApiClient.make(DeskApi, {
    baseUrl: url,
    transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("x-tenant", tenant))
  }).pipe(Effect.provide(FetchHttpClient.layer))

export type Client = Effect.Success<ReturnType<typeof clientOf>>

type LiveUpdate = LiveUpdateModule.LiveUpdate

/** The updates of a conversation behind a sequence. */
export const updatesOf = (client: Client, conversationId: ConversationId, after: number): Stream.Stream<LiveUpdate> =>
  Stream.unwrap(client.events.conversation({ params: { conversationId }, query: { after }, headers: {} })).pipe(
    Stream.filterMap((event) => (event.event === "update" ? Result.succeed(event.data) : Result.fail(undefined))),
    Stream.orDie
  )

/** The picture of a conversation once it holds something. */
export const viewUntil = (
  client: Client,
  conversationId: ConversationId,
  isThere: (view: ConversationView.ConversationView) => boolean
) =>
  updatesOf(client, conversationId, 0).pipe(
    Stream.scan(() => ConversationView.empty, ConversationView.fold),
    Stream.filter(isThere),
    Stream.runHead,
    Effect.flatMap(Effect.fromOption),
    Effect.orDie
  )

/** So many runs of it have ended, or wait for people. */
export const hasRested =
  (times: number) =>
  ({ records }: ConversationView.ConversationView): boolean =>
    records.filter(({ payload }) => payload._tag === "RunEnded" || payload._tag === "RunSuspended").length >= times

/** Sends a message and waits until its run rests; gives the records. */
export const talk = Effect.fnUntraced(function* (client: Client, text: string, inputId: string, rests = 1) {
  yield* client.talk.send({
    params: { conversationId: ticket },
    payload: { text, inputId, onBusy: "reject" }
  })
  return (yield* viewUntil(client, ticket, hasRested(rests))).records
})

/** What the model said, response by response. */
export const answersIn = (records: ReadonlyArray<CanonicalRecord>): ReadonlyArray<string> =>
  records.flatMap(({ payload }) =>
    payload._tag === "ModelResponded"
      ? [payload.content.map((part) => (part.type === "text" ? part.text : "")).join("")]
      : []
  )

export const lastAnswer = (records: ReadonlyArray<CanonicalRecord>): string => answersIn(records).at(-1) ?? ""

/** Runs a test in a scope, with a desk. */
export const withDesk = <A, E>(
  options: Options,
  use: (desk: {
    readonly url: string
    readonly filename: string
    readonly client: Client
  }) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.gen(function* () {
    const { filename, url } = yield* serve(options)
    return yield* use({ url, filename, client: yield* clientOf(url) })
  }).pipe(Effect.scoped)
