/**
 * What an answer with an error means: retry, wait, pay, change the key, change the request.
 */
import * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import { compact } from "./compact.ts"
import type { Said } from "./errorBody.ts"
import { ownKey } from "./metadata.ts"
import { saysOverflow } from "./overflow.ts"
import { retryAfterMillis } from "./retryAfter.ts"
import { redact, tellingHeaders } from "./secrets.ts"

export interface Answer extends Omit<Said, "message" | "status"> {
  readonly message: string
  /** Undefined in a stream that began with a good one. */
  readonly status?: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export const toReasonOfAnswer = (answer: Answer, nowMillis: number): AiError.AiErrorReason => {
  const status = answer.status ?? statusOfWords(answer)
  const description = redact(answer.message)
  const common = { metadata: metadataOf(answer), http: httpOf(answer), description }
  const words = `${answer.code ?? ""} ${answer.type ?? ""}`
  if (quota.test(words) || unpaid.test(answer.message) || status === 402) {
    return new AiError.QuotaExhaustedError(common)
  }
  if (status === 429) {
    return new AiError.RateLimitError({ ...common, ...compact({ retryAfter: delayOf(answer, nowMillis) }) })
  }
  if (policy.test(words) || flagged.test(answer.message)) return new AiError.ContentPolicyError(common)
  if (status === 401) return new AiError.AuthenticationError({ ...common, kind: kindOfKey(answer.message) })
  if (status === 403) return new AiError.AuthenticationError({ ...common, kind: "InsufficientPermissions" })
  // Some servers refuse a long prompt with a 5xx; to send it again is of no use.
  if (saysOverflow(`${words}\n${answer.message}`) || isRefusal(status)) {
    return new AiError.InvalidRequestError({ ...common, ...compact({ parameter: answer.parameter }) })
  }
  const reason = new AiError.InternalProviderError(common)
  const retryAfter = delayOf(answer, nowMillis)
  // Only rate limits have a field for it; `AiError.retryAfter` reads it from any reason that has one.
  return retryAfter === undefined ? reason : Object.assign(reason, { retryAfter })
}

// --- internal ---

const quota = /insufficient_quota|billing|insufficient_(?:balance|funds|credits)|credits?_exhausted|quota_exhausted/i
const unpaid = /credit balance is too low|insufficient (?:balance|credits?|funds|quota)/i
const policy = /content_policy|content_filter|moderation_blocked|responsibleaipolicyviolation|safety_violation/i
const flagged = /flagged as potentially violating|content management policy|violat\w+ .{0,30}usage polic/i

/** Requests that are refused whenever they are sent. A conflict, a timeout and "too early" are not among them. */
const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 409 && status !== 425

/** A stream says it in words. One that says nothing broke on the provider's side. */
const statusOfWords = ({ code = "", type = "" }: Answer): number => {
  const words = `${code} ${type}`.toLowerCase()
  if (/rate_limit|resource_exhausted/.test(words)) return 429
  if (/authentication|unauthenticated|invalid_api_key/.test(words)) return 401
  if (/permission/.test(words)) return 403
  if (/invalid|not_found|bad_?request|too_large/.test(words)) return 400
  return 500
}

const kindOfKey = (message: string): AiError.AuthenticationError["kind"] => {
  if (/expired/i.test(message)) return "ExpiredKey"
  return /(?:no|missing|provide an?|need to provide) (?:your )?api.?key|x-api-key header is required/i.test(message)
    ? "MissingKey"
    : "InvalidKey"
}

const delayOf = (answer: Answer, nowMillis: number): Duration.Duration | undefined => {
  const millis = retryAfterMillis(answer.headers, nowMillis)
  return millis === undefined ? undefined : Duration.millis(millis)
}

const metadataOf = ({ code, type }: Answer): AiError.ProviderMetadata =>
  code === undefined && type === undefined ? {} : { [ownKey]: { ...compact({ code, type }) } }

const httpOf = ({ body, headers, status }: Answer): typeof AiError.HttpContext.Type => ({
  ...(status === undefined ? {} : { response: { status, headers: tellingHeaders(headers) } }),
  ...(body === undefined || body === "" ? {} : { body: redact(body) })
})
