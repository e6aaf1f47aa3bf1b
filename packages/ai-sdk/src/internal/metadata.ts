/**
 * What providers say about parts, there and back: `providerMetadata` and `providerOptions` of the AI SDK are `metadata`
 * and `options` of Effect. What Effect's parts have no field for stands beside them under a key of our own, which no
 * provider is ever sent.
 */
import type { JSONValue, SharedV4ProviderMetadata, SharedV4ProviderOptions } from "@ai-sdk/provider"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

export const ownKey = "ai-sdk"

/** JSON of a value that should be it already: what is undefined is left out, so that Effect's codecs take it. */
export const toJson = (value: unknown): Schema.Json => {
  try {
    const text = JSON.stringify(value)
    return text === undefined ? null : JSON.parse(text)
  } catch {
    // A cycle or a bigint: better a description than a response that cannot be read.
    return String(value)
  }
}

export const isJsonObject = (value: unknown): value is { readonly [key: string]: JSONValue } =>
  Predicate.isObject(value) && !Array.isArray(value)

/** The fields of a part that tell its metadata; none if there is nothing to tell. */
export const metadata = (
  providerMetadata: SharedV4ProviderMetadata | undefined,
  own: { readonly [key: string]: unknown } = {}
): { readonly metadata?: Response.ProviderMetadata } => {
  const said = Object.entries(own).some(([, value]) => value !== undefined)
  if (providerMetadata === undefined && !said) return {}
  const json = toJson({ ...providerMetadata, ...(said ? { [ownKey]: own } : {}) })
  return isJsonObject(json) && Object.keys(json).length > 0 ? { metadata: json as Response.ProviderMetadata } : {}
}

/** The fields of a part or a message that carry its options; none if there are none for a provider. */
export const providerOptions = (
  options: Prompt.ProviderOptions
): { readonly providerOptions?: SharedV4ProviderOptions } => {
  const found = Object.entries(options).filter(([key, value]) => key !== ownKey && isJsonObject(value))
  return found.length === 0 ? {} : { providerOptions: Object.fromEntries(found) as SharedV4ProviderOptions }
}

/** What we noted ourselves. */
export const own = (options: Prompt.ProviderOptions): { readonly [key: string]: Schema.Json | undefined } => {
  const value = options[ownKey]
  return isJsonObject(value) ? value : {}
}
