/**
 * What the desk did not foresee: the caller is told only that there is a fault, and the log what it is.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServerRequest } from "effect/http/HttpServerRequest"

export const layer = HttpRouter.middleware(
  (answer) =>
    Effect.tapCause(answer, (cause) =>
      Cause.hasDies(cause)
        ? Effect.flatMap(HttpServerRequest, ({ method, url }) => Effect.logError(`${method} ${url} is a fault`, cause))
        : Effect.void
    ),
  { global: true }
)
