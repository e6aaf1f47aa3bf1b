/** Listening before there is somebody who answers. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import * as Listening from "../src/server/Listening.ts"

/** Completes when Node has read the head of a request, and handed it on. */
const arrival = Effect.gen(function* () {
  const arrived = yield* Deferred.make<void>()
  // It is told before it is handed on.
  const tell = () => setImmediate(() => Deferred.doneUnsafe(arrived, Effect.void))
  yield* Effect.acquireRelease(
    Effect.sync(() => subscribe("http.server.request.start", tell)),
    () => Effect.sync(() => unsubscribe("http.server.request.start", tell))
  )
  return Deferred.await(arrived)
})

/** A request that has come to a port where nobody answers yet. */
const early = Effect.gen(function* () {
  const listening = yield* Scope.fork(yield* Effect.scope)
  const services = yield* Layer.buildWithScope(Listening.layer(0), listening)
  const { address } = yield* Effect.provide(HttpServer.HttpServer, services)
  const port = "port" in address ? address.port : 0
  const arrived = yield* arrival
  const asked = yield* Effect.forkScoped(
    Effect.tryPromise((signal) => fetch(`http://127.0.0.1:${port}/`, { signal }).then((response) => response.text()))
  )
  yield* arrived
  return { asked, listening, services }
})

describe("a request that comes while the desk starts", () => {
  it.live("is answered once the desk is there", () =>
    Effect.gen(function* () {
      const { asked, services } = yield* early
      yield* HttpServer.serveEffect(Effect.succeed(HttpServerResponse.text("here"))).pipe(Effect.provide(services))
      assert.strictEqual(yield* Fiber.join(asked), "here")
    }).pipe(Effect.scoped)
  )

  it.live("does not keep a desk that cannot start from ending", () =>
    Effect.gen(function* () {
      const { asked, listening } = yield* early
      yield* Scope.close(listening, yield* Effect.exit(Effect.void))
      assert.strictEqual((yield* Fiber.await(asked))._tag, "Failure")
    }).pipe(Effect.scoped)
  )
})
