/** Who is let in, what they may ask for, and what every answer says to the browser. */
import { Ids } from "@colloquy/session"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { createServer, request as nodeRequest } from "node:http"
import * as OfflineModel from "../src/agent/OfflineModel.ts"
import type { Authorizer, Limits } from "../src/api/Access.ts"
import { loopbackOnly } from "../src/server/Authorization.ts"
import * as Wiring from "../src/server/Wiring.ts"
import { clientOf, serve, talk, ticket, withDesk } from "./desk.ts"

interface Operation {
  readonly responses: object
  readonly summary?: string
  readonly description?: string
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

/** A request as no browser makes one: with whatever headers it is to have. */
const ask = (
  url: string,
  path: string,
  options: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {}
) =>
  Effect.promise(
    () =>
      new Promise<Answer>((resolve, reject) => {
        const request = nodeRequest(url + path, { method: options.method ?? "GET", headers: options.headers ?? {} })
        request.on("error", reject)
        request.on("response", (response) => {
          const chunks: Array<Buffer> = []
          response.on("data", (chunk: Buffer) => chunks.push(chunk))
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks).toString()
            })
          )
        })
        request.end(options.body)
      })
  )

const routes = [
  ["GET", ""],
  ["PATCH", "", { title: "x" }],
  ["DELETE", ""],
  ["GET", "/records"],
  ["GET", "/entries"],
  ["GET", "/export"],
  ["GET", "/ledger"],
  ["DELETE", "/records/1"],
  ["POST", "/fork", {}],
  ["POST", "/steer", { text: "x", inputId: "s" }],
  ["POST", "/resume"],
  ["POST", "/cancel"],
  ["POST", "/approvals", { approvalId: "a", parametersDigest: "0".repeat(64), decision: "approved" }]
] as const

const json = { "content-type": "application/json" }

describe("an authorizer", () => {
  it("is needed to mount the desk: without one it does not compile", () => {
    const desk = Wiring.layer({
      filename: ":memory:",
      pageRoot: "/nowhere",
      chosen: { provider: "offline" },
      model: OfflineModel.layer()
    }).pipe(Layer.provide(NodeHttpServer.layer(() => createServer(), { port: 0 })))
    const needs: Layer.Services<typeof desk> extends Authorizer | Limits ? true : false = true
    const isMounted: [Layer.Services<typeof desk>] extends [never] ? true : false = false
    assert.deepStrictEqual([needs, isMounted], [true, false])
  })

  it.live("that refuses lets nothing through", () =>
    withDesk({ decide: loopbackOnly }, ({ url }) =>
      Effect.gen(function* () {
        const { port } = new URL(url)
        for (const headers of [
          { host: "evil.example" },
          { host: `evil.example:${port}` },
          { origin: "http://evil.example" },
          { origin: "null" },
          { origin: `http://localhost:${port}` },
          { "sec-fetch-site": "cross-site" },
          { "sec-fetch-site": "same-site" }
        ]) {
          for (const [method, path] of [
            ["GET", "/api/conversations"],
            ["POST", "/api/conversations/a/cancel"]
          ] as const) {
            const { body, status } = yield* ask(url, path, { method, headers })
            assert.strictEqual(status, 401, JSON.stringify(headers))
            assert.strictEqual(JSON.parse(body)._tag, "Unauthorized")
          }
        }
        const own = { origin: url, "sec-fetch-site": "same-origin" }
        assert.strictEqual((yield* ask(url, "/api/conversations", { headers: own })).status, 200)
      })
    )
  )
})

describe("somebody else's conversation", () => {
  it.live("is answered as one that does not exist, to the byte, on every route", () =>
    withDesk({}, ({ client, url }) =>
      Effect.gen(function* () {
        yield* talk(client, "refund A-1003", "m1")
        for (const [method, path, body] of routes) {
          const as = (id: string) =>
            ask(url, `/api/conversations/${id}${path}`, {
              method,
              headers: { "x-tenant": "other", ...(body === undefined ? {} : json) },
              ...(body === undefined ? {} : { body: JSON.stringify(body) })
            })
          const foreign = yield* as(ticket)
          const unknown = yield* as("no-such-ticket")
          assert.strictEqual(foreign.status, 404, `${method} ${path}`)
          assert.deepStrictEqual(
            [foreign.body, foreign.headers["content-length"]],
            [unknown.body, unknown.headers["content-length"]]
          )
        }
        const others = yield* clientOf(url, "other")
        assert.deepStrictEqual((yield* others.conversations.list({ query: {} })).conversations, [])
        assert.deepStrictEqual(yield* others.conversations.runs({}), [])
        assert.strictEqual(
          (yield* client.conversations.get({ params: { conversationId: ticket } })).approvals.length,
          1
        )
      })
    )
  )

  it.live("may have the id that one's own has: they are two", () =>
    withDesk({}, ({ client, url }) =>
      Effect.gen(function* () {
        const others = yield* clientOf(url, "other")
        yield* talk(client, "where is A-1003?", "m1")
        yield* talk(others, "orders of Ada", "m1")
        const params = { conversationId: ticket }
        const mine = yield* client.conversations.get({ params })
        const theirs = yield* others.conversations.get({ params })
        assert.deepStrictEqual([mine.summary.title, theirs.summary.title], ["where is A-1003?", "orders of Ada"])
      })
    )
  )
})

describe("a request", () => {
  it.live("that is too large is refused, with a length and without one", () =>
    withDesk({ limits: { maxBodyBytes: 2000 } }, ({ url }) =>
      Effect.gen(function* () {
        const body = JSON.stringify({ text: "x".repeat(3000), inputId: "m1", onBusy: "steer" })
        const path = `/api/conversations/${ticket}/messages`
        for (const headers of [
          { ...json, "content-length": String(body.length) },
          { ...json, "transfer-encoding": "chunked" }
        ]) {
          const answer = yield* ask(url, path, { method: "POST", headers, body })
          assert.strictEqual(answer.status, 413, answer.body)
          assert.strictEqual(JSON.parse(answer.body).maximumBytes, 2000)
        }
        assert.strictEqual((yield* ask(url, `/api/conversations/${ticket}`)).status, 404)
      })
    )
  )

  it.live("too many is refused, and told when to come back; others are not held up", () =>
    withDesk({ limits: { requests: 3, window: "1 hour" } }, ({ url }) =>
      Effect.gen(function* () {
        for (let i = 0; i < 3; i++) assert.strictEqual((yield* ask(url, "/api/health")).status, 200)
        const refused = yield* ask(url, "/api/health")
        assert.strictEqual(refused.status, 429)
        assert.strictEqual(refused.headers["retry-after"], String(JSON.parse(refused.body).retryAfter))
        assert.isAtLeast(JSON.parse(refused.body).retryAfter, 1)
        assert.strictEqual((yield* ask(url, "/api/health", { headers: { "x-tenant": "other" } })).status, 200)
      })
    )
  )

  it.live("that is none says what is wrong with it", () =>
    withDesk({}, ({ url }) =>
      Effect.gen(function* () {
        const path = `/api/conversations/${ticket}/messages`
        for (const [body, why] of [
          ["{", /payload/],
          [JSON.stringify({ text: "hi", inputId: "m1" }), /onBusy/],
          [JSON.stringify({ text: "  ", inputId: "m1", onBusy: "steer" }), /text/],
          [JSON.stringify({ text: "hi", inputId: "", onBusy: "steer" }), /inputId/]
        ] as const) {
          const answer = yield* ask(url, path, { method: "POST", headers: json, body })
          assert.strictEqual(answer.status, 400, answer.body)
          assert.match(JSON.parse(answer.body).message, why)
        }
        const long = yield* ask(url, `/api/conversations/${"x".repeat(600)}`)
        assert.strictEqual(long.status, 400)
        // What a form of another page could send without being asked: https://fetch.spec.whatwg.org/#simple-header
        const form = yield* ask(url, path, { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" })
        assert.strictEqual(form.status, 415)
      })
    )
  )
})

const broken = () => Effect.die(new Error("the table of callers is upside down"))

describe("a fault of the desk", () => {
  it.live("is told in the log, and to the caller only that there is one", () => {
    const told: Array<string> = []
    const logger = Logger.make<unknown, void>(({ cause, message }) => {
      told.push(`${String(message)} ${Cause.pretty(cause)}`)
    })
    return withDesk({ decide: broken }, ({ url }) =>
      Effect.gen(function* () {
        const { body, status } = yield* ask(url, "/api/conversations")
        assert.deepStrictEqual([status, body], [500, ""])
        assert.strictEqual(told.length, 1)
        assert.match(told[0] ?? "", /GET \/api\/conversations.*upside down/)
        yield* ask(url, "/nothing-here")
        assert.strictEqual(told.length, 1)
      })
    ).pipe(Effect.provide(Logger.layer([logger])))
  })
})

describe("every answer", () => {
  it.live("forbids the browser whatever the page does not need", () =>
    Effect.gen(function* () {
      const { url } = yield* serve()
      yield* talk(yield* clientOf(url), "hello", "m1")
      for (const path of [
        "/",
        "/nothing-here",
        "/openapi.json",
        "/api/health",
        "/api/conversations",
        `/api/conversations/${Ids.ConversationId.make("none")}`,
        "/api/no-such-route",
        `/api/conversations/${ticket}/export`
      ]) {
        const { headers } = yield* ask(url, path)
        const policy = String(headers["content-security-policy"])
        assert.match(policy, /default-src 'none'/, path)
        assert.match(policy, /frame-ancestors 'none'/, path)
        assert.notMatch(policy, /unsafe/, path)
        assert.strictEqual(headers["x-content-type-options"], "nosniff", path)
        assert.strictEqual(headers["referrer-policy"], "no-referrer", path)
        if (path.startsWith("/api/")) assert.strictEqual(headers["cache-control"], "no-store", path)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is kept in no cache and may run nothing, however its address is written", () =>
    Effect.gen(function* () {
      const { url } = yield* serve()
      for (const path of ["/API/health", "//api/health", "/%61pi/health", "/api/health/"]) {
        const { headers } = yield* ask(url, path)
        assert.strictEqual(headers["cache-control"], "no-store", path)
      }
      for (const path of ["/docs-of-mine", "/docs/none"]) {
        const { headers } = yield* ask(url, path)
        assert.notMatch(String(headers["content-security-policy"]), /unsafe/, path)
      }
    }).pipe(Effect.scoped)
  )
})

describe("the API's document", () => {
  it.live("names every route, and its page loads nothing from elsewhere", () =>
    Effect.gen(function* () {
      const { url } = yield* serve()
      const document = JSON.parse((yield* ask(url, "/openapi.json")).body)
      const paths = Object.keys(document.paths)
      assert.include(paths, "/api/conversations/{conversationId}/messages")
      assert.strictEqual(paths.length, 20)
      for (const operations of Object.values<Record<string, Operation>>(document.paths)) {
        for (const { description, responses, summary } of Object.values(operations)) {
          assert.containsAllKeys(responses, ["200", "401", "429"])
          assert.isAbove(Math.min(description?.length ?? 0, summary?.length ?? 0), 5, summary)
        }
      }
      const page = yield* ask(url, "/docs")
      assert.strictEqual(page.status, 200)
      assert.match(String(page.headers["content-security-policy"]), /connect-src 'self'/)
      assert.notMatch(page.body.slice(0, 2000), /<(script|link)[^>]+(src|href)=/)
    }).pipe(Effect.scoped)
  )
})
