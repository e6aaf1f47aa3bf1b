/**
 * What every answer says to the browser: that it may run nothing but the page's own files, and tell nobody where it is.
 */
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** Scripts, styles, pictures and connections of the desk itself, and of nobody else: https://www.w3.org/TR/CSP3/ */
const page = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** The viewer of the API is one file of scripts and styles; it is shown nothing that a model or a person wrote. */
const docs = page
  .replace("script-src 'self'", "script-src 'unsafe-inline'")
  .replace("style-src 'self'", "style-src 'unsafe-inline'")
  .replace("font-src 'self'", "font-src data:")

// Set when the answer is about to be sent, so that a route that there is none for has them too.
export const layer = HttpRouter.middleware(
  (answer) =>
    HttpEffect.withPreResponseHandler(answer, ({ url }, response) =>
      Effect.succeed(
        HttpServerResponse.setHeaders(response, {
          "content-security-policy": isDocs(url) ? docs : page,
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
          "cross-origin-opener-policy": "same-origin",
          "cross-origin-resource-policy": "same-origin",
          // What a conversation says is kept in no cache. Of the address one cannot tell: routes have many spellings.
          ...(isFile(response) ? {} : { "cache-control": "no-store" })
        })
      )
    ),
  { global: true }
)

// --- internal ---

const isDocs = (url: string): boolean => /^\/docs\/?(\?|$)/.test(url)

/** The page's files alone have a mark of what is in them. */
const isFile = ({ headers }: HttpServerResponse.HttpServerResponse): boolean => headers["etag"] !== undefined
