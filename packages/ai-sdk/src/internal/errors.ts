/**
 * Errors of the AI SDK, of its providers and of the network as reasons of Effect's `AiError`.
 */
import {
  APICallError,
  EmptyResponseBodyError,
  InvalidArgumentError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  LoadAPIKeyError,
  LoadSettingError,
  NoContentGeneratedError,
  NoSuchModelError,
  NoSuchProviderReferenceError,
  TypeValidationError,
  UnsupportedFunctionalityError
} from "@ai-sdk/provider"
import * as AiError from "effect/ai/AiError"
import * as Predicate from "effect/Predicate"
import { read, readBody } from "./errorBody.ts"
import { toReasonOfAnswer } from "./reasons.ts"
import { redact, redactUrl } from "./secrets.ts"

/** The reason, at this time of the wall clock (which a date in `retry-after` is held against). */
export const toReason = (error: unknown, nowMillis: number): AiError.AiErrorReason => {
  if (AiError.isAiErrorReason(error)) return error
  if (AiError.isAiError(error)) return error.reason
  if (APICallError.isInstance(error)) return ofCall(error, nowMillis)
  if (error instanceof Error) return ofError(error)
  return ofStream(error, nowMillis)
}

/** The response ended before it was finished: asking again may help. */
export const connectionCut = (): AiError.NetworkError =>
  transport("the connection was closed before the response was complete", undefined, undefined)

// --- internal ---

const transport = (description: string, url: string | undefined, cause: unknown): AiError.NetworkError =>
  new AiError.NetworkError({
    reason: "TransportError",
    method: "POST",
    url: url === undefined ? "unknown" : redactUrl(url),
    description: redact(description),
    // Of the causes only those of the network: the AI SDK's own hold the whole request.
    ...(cause === undefined ? {} : { cause })
  })

const invalidResponse = (error: Error): AiError.InvalidResponseError =>
  new AiError.InvalidResponseError({ description: redact(error.message) })

const ofCall = (error: APICallError, nowMillis: number): AiError.AiErrorReason => {
  const { cause, isRetryable, message, responseBody, responseHeaders = {}, statusCode, url } = error
  if (statusCode === undefined || statusCode < 300) {
    const network = findNetworkError(cause)
    // An answer that began well: it was cut, or it is none of the provider's.
    if (network !== undefined || isAborted(cause)) return transport(network?.message ?? message, url, network)
    if (isUnreadable(cause)) return invalidResponse(cause)
    if (statusCode === undefined && isRetryable) return transport(message, url, undefined)
    if (statusCode !== undefined) return invalidResponse(cause instanceof Error ? cause : error)
  }
  const said = readBody(error.data, responseBody)
  return toReasonOfAnswer(
    { ...said, message: said.message ?? message, status: statusCode, headers: responseHeaders, body: responseBody },
    nowMillis
  )
}

const ofError = (error: Error): AiError.AiErrorReason => {
  // A provider package that comes to the end without a reason to finish.
  if (InvalidResponseDataError.isInstance(error) && error.data === undefined) return connectionCut()
  // Anthropic's package has a plain error for a first event that is no JSON.
  if (isUnreadable(error) || error.message === "Expected a normalized Anthropic stream error") {
    return invalidResponse(error)
  }
  if (NoContentGeneratedError.isInstance(error)) return new AiError.InvalidOutputError({ description: error.message })
  if (LoadAPIKeyError.isInstance(error)) {
    return new AiError.AuthenticationError({ kind: "MissingKey", description: redact(error.message) })
  }
  if (LoadSettingError.isInstance(error) || NoSuchModelError.isInstance(error)) {
    return new AiError.InvalidRequestError({ description: redact(error.message) })
  }
  if (isOfPrompt(error)) return new AiError.InvalidUserInputError({ description: redact(error.message) })
  const network = findNetworkError(error)
  if (network !== undefined || isAborted(error)) return transport(network?.message ?? error.message, undefined, network)
  return new AiError.UnknownError({ description: redact(error.message) })
}

/** An `error` part of a stream: what the provider sent, or what its package made of it. */
const ofStream = (error: unknown, nowMillis: number): AiError.AiErrorReason => {
  const said = read(error)
  const inner = Predicate.isObject(error) ? read(error["data"]) : {}
  return toReasonOfAnswer(
    {
      ...inner,
      ...said,
      message: said.message ?? inner.message ?? "the provider reported an error",
      headers: {},
      body: undefined
    },
    nowMillis
  )
}

const isUnreadable = (
  error: unknown
): error is EmptyResponseBodyError | InvalidResponseDataError | JSONParseError | TypeValidationError =>
  JSONParseError.isInstance(error) ||
  TypeValidationError.isInstance(error) ||
  InvalidResponseDataError.isInstance(error) ||
  EmptyResponseBodyError.isInstance(error)

const isOfPrompt = (error: Error): boolean =>
  UnsupportedFunctionalityError.isInstance(error) ||
  InvalidPromptError.isInstance(error) ||
  InvalidArgumentError.isInstance(error) ||
  NoSuchProviderReferenceError.isInstance(error)

/** Not our own abort: nobody is left to hear of that one. */
const isAborted = (error: unknown): boolean =>
  error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError")

const networkCode = /^(?:E[A-Z]{3,}|UND_ERR_[A-Z_]+|ERR_(?:SSL|TLS|HTTP2)_[A-Z_]+|Connection[A-Za-z]+)$/

/** The error of a socket or of the fetch, somewhere among the causes. */
const findNetworkError = (error: unknown): Error | undefined => {
  const seen = new Set<unknown>()
  for (let current = error; current instanceof Error && !seen.has(current); current = current.cause) {
    seen.add(current)
    if ("code" in current && typeof current.code === "string" && networkCode.test(current.code)) return current
  }
  return undefined
}
