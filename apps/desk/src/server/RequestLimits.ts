/**
 * How much a caller may ask for, and what a request that is none is answered with.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { HttpApiSchemaError } from "effect/http-api/HttpApiError"
import * as HttpEffect from "effect/http/HttpEffect"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import { HttpServerError } from "effect/http/HttpServerError"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as ByteSize from "effect/ByteSize"
import { Caller, Limits } from "../api/Access.ts"
import { BadRequest, TooLarge, TooMany } from "../api/ApiError.ts"

export interface Options {
  /** Of a request's body (default 512 KiB). */
  readonly maxBodyBytes?: number | undefined
  /** How many requests a caller may make in {@link window} (default 600); they come back evenly. */
  readonly requests?: number | undefined
  /** Default 1 minute. */
  readonly window?: Duration.Input | undefined
}

export const layer = (options: Options = {}): Layer.Layer<Limits> => {
  const { maxBodyBytes = 512 * 1024, requests = 600, window = "1 minute" } = options
  const tooLarge = new TooLarge({
    maximumBytes: maxBodyBytes,
    message: `a request may have ${maxBodyBytes} bytes: send less`
  })
  return Layer.effect(
    Limits,
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter

      const admit = Effect.gen(function* () {
        const { author, tenant } = yield* Caller
        const key = JSON.stringify([tenant, author])
        yield* limiter.consume({ algorithm: "token-bucket", onExceeded: "fail", key, limit: requests, window }).pipe(
          Effect.catchReasons(
            "RateLimiterError",
            { RateLimitExceeded: ({ retryAfter }) => refuse(Math.max(1, Math.ceil(Duration.toSeconds(retryAfter)))) },
            // The limiter is memory: it cannot fail otherwise.
            Effect.die
          )
        )
      })

      return (endpoint) =>
        Effect.gen(function* () {
          yield* admit
          const { headers } = yield* HttpServerRequest
          // Known before anything is read. What has no length is counted while it is.
          if (Number(headers["content-length"] ?? 0) > maxBodyBytes) return yield* tooLarge
          return yield* Effect.provideService(explained(endpoint), MaxBodySize, ByteSize.fromInputUnsafe(maxBodyBytes))
        }).pipe(Effect.catchDefect((defect) => (isTooLarge(defect) ? Effect.fail(tooLarge) : Effect.die(defect))))
    })
  ).pipe(Layer.provide(RateLimiter.layer), Layer.provide(RateLimiter.layerStoreMemory))
}

// --- internal ---

const refuse = (retryAfter: number) =>
  Effect.andThen(
    HttpEffect.appendPreResponseHandler((_, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(retryAfter)))
    ),
    Effect.fail(new TooMany({ retryAfter, message: `too many requests: ask again in ${retryAfter} seconds` }))
  )

const isTooLarge = (defect: unknown): boolean =>
  defect instanceof HttpServerError &&
  defect.reason._tag === "RequestParseError" &&
  defect.reason.reason === "BodyTooLarge"

/** What came in is not what the endpoint declares; what goes out and is not, is a fault of ours, and stays one. */
const explained = <A, E, R>(endpoint: Effect.Effect<A, E, R>): Effect.Effect<A, E | BadRequest, R> =>
  Effect.mapError(endpoint, (error) =>
    HttpApiSchemaError.is(error) && error.kind !== "Body" && error.kind !== "ResponseHeaders"
      ? new BadRequest({ message: messageOf(error) })
      : error
  )

const messageOf = ({ cause, kind }: HttpApiSchemaError): string =>
  `the ${kind.toLowerCase()} of the request: ${cause.message.replace(/\s*\n\s*/g, "; ").slice(0, 500)}`
