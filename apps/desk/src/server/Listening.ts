/**
 * The port that the desk listens at, on this machine alone.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as EarlyRequests from "./EarlyRequests.ts"

/**
 * No port could be had.
 *
 * @public
 */
export class PortTaken extends Schema.TaggedError<PortTaken>("@colloquy/desk/PortTaken")("PortTaken", {
  first: Schema.Natural,
  last: Schema.Natural,
  cause: Schema.Defect()
}) {
  override get message() {
    return this.first === this.last
      ? `port ${this.first} cannot be had (${reasonOf(this.cause)}): name another one with --port, or 0 for any`
      : `none of the ports ${this.first} to ${this.last} can be had (${reasonOf(this.cause)}): name one with --port`
  }
}

/** Where people expect the desk. */
const usualPort = 4310

/** How many ports are tried, where none was named. */
const tries = 20

/** A port that was named is that one or none; without one it is the first free one from {@link usualPort} on. */
export const layer = (named: number | undefined) =>
  Layer.merge(Layer.effect(HttpServer.HttpServer, listen(named)), NodeHttpServer.layerHttpServices)

// --- internal ---

// Streams of events do not end by themselves.
const gracefulShutdownTimeout = "1 second"

const listen = Effect.fnUntraced(function* (named: number | undefined) {
  const first = named ?? usualPort
  const last = named ?? usualPort + tries - 1
  for (let port = first; ; port++) {
    const server = EarlyRequests.makeServer()
    const listening = yield* Effect.result(
      NodeHttpServer.make(() => server, { host: "127.0.0.1", port, gracefulShutdownTimeout })
    )
    if (listening._tag === "Success") {
      // Where the desk fails to start, nobody answers any more, and closing waits for whoever is connected.
      yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
      return listening.success
    }
    const { cause } = listening.failure satisfies ServeError
    if (port === last || codeOf(cause) !== "EADDRINUSE") return yield* new PortTaken({ first, last, cause })
  }
})

const codeOf = (cause: unknown): unknown =>
  typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined

const reasonOf = (cause: unknown): string => {
  switch (codeOf(cause)) {
    case "EADDRINUSE":
      return "something else listens there"
    case "EACCES":
      return "this user may not listen there"
    default:
      return cause instanceof Error ? cause.message : String(cause)
  }
}
