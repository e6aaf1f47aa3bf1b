/**
 * Who may use the API, and how much of it: every endpoint stands behind both, and none can be mounted without them.
 */
import { TenantId } from "@colloquy/session/Ids"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { BadRequest, TooLarge, TooMany, Unauthorized } from "./ApiError.ts"

/** Who asks: `tenant` is whose conversations they see, `author` the name under which what they say is recorded. */
export const Identity = Schema.Struct({ tenant: TenantId, author: Schema.String })
export interface Identity extends Schema.Schema.Type<typeof Identity> {}

/** Whoever the {@link Authorizer} let in. */
export class Caller extends Context.Service<Caller, Identity>()("@colloquy/desk/Caller") {}

/** Lets callers in and says who they are, or refuses them. The server's `Authorization` makes one. */
export class Authorizer extends HttpApiMiddleware.Service<Authorizer, { provides: Caller }>()(
  "@colloquy/desk/Authorizer",
  { error: Unauthorized }
) {}

/** How much a caller may ask for, and what a request that is none is answered with. */
export class Limits extends HttpApiMiddleware.Service<Limits, { requires: Caller }>()("@colloquy/desk/Limits", {
  error: [BadRequest, TooLarge, TooMany]
}) {}
