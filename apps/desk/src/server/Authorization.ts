/**
 * Who is let in. The API cannot be mounted without one of these.
 */
import { TenantId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Request from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Authorizer, Caller, type Identity } from "../api/Access.ts"
import { Unauthorized } from "../api/ApiError.ts"

/** Says who asks, or refuses them. */
export type Decide = (request: HttpServerRequest) => Effect.Effect<Identity, Unauthorized>

/** An authorizer that decides so. */
export const layer = (decide: Decide): Layer.Layer<Authorizer> =>
  Layer.succeed(Authorizer, (endpoint) =>
    Effect.gen(function* () {
      const request = yield* Request.HttpServerRequest
      return yield* Effect.provideService(endpoint, Caller, yield* decide(request))
    })
  )

/**
 * The demo's: whoever sits at this machine, as one tenant. Pages of other origins are refused, and so are names that
 * only point here: a page that lets its own name point to this machine would be of this origin otherwise.
 */
export const loopbackOnly: Decide = (request) =>
  Effect.suspend(() => {
    const fault = faultOf(request)
    return fault === undefined
      ? Effect.succeed({ tenant, author: "you" })
      : Effect.fail(new Unauthorized({ message: fault }))
  })

// --- internal ---

const tenant = TenantId.make("desk")

const faultOf = ({ headers, remoteAddress }: HttpServerRequest): string | undefined => {
  if (!Option.exists(remoteAddress, isLoopback)) return "this desk serves its own machine only"
  const { host } = headers
  if (host === undefined || !isOwnName(host)) return "this desk is called 127.0.0.1 or localhost, and by no other name"
  const { origin } = headers
  if (origin !== undefined && origin !== `http://${host}`) return "this desk serves its own page only"
  // Browsers say it of every request, also of those that have no origin: https://www.w3.org/TR/fetch-metadata/
  const site = headers["sec-fetch-site"]
  if (site !== undefined && site !== "same-origin" && site !== "none") return "this desk serves its own page only"
  return undefined
}

const isLoopback = (address: string): boolean => /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address)

const isOwnName = (host: string): boolean => /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host)
