/**
 * Responses of the AI SDK as Effect's: the parts that a whole response and a stream have in common, and whole responses.
 */
import type {
  LanguageModelV4Citation,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4ResponseMetadata,
  LanguageModelV4Source
} from "@ai-sdk/provider"
import type * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import * as Result from "effect/Result"
import { compact } from "./compact.ts"
import * as Foreign from "./foreign.ts"
import { metadata, toJson } from "./metadata.ts"
import { type Declared, toToolCall, toToolResult } from "./tools.ts"
import { toFinish } from "./usage.ts"

/** A whole response, or why it cannot be read. `isJson` says that an object was asked for. */
export const toResponse = (
  result: LanguageModelV4GenerateResult,
  declared: Declared,
  isJson: boolean
): Result.Result<Array<Response.PartEncoded>, AiError.AiErrorReason> => {
  const parts: Array<Response.PartEncoded> = []
  if (result.response !== undefined) parts.push(toResponseMetadata(result.response))
  for (const part of isJson ? withObjectText(result) : result.content) {
    const mapped = toPart(part, declared)
    if (Result.isFailure(mapped)) return Result.fail(mapped.failure)
    parts.push(mapped.success)
  }
  parts.push(toFinish(result))
  return Result.succeed(parts)
}

export const toResponseMetadata = (
  response: LanguageModelV4ResponseMetadata
): Response.ResponseMetadataPartEncoded => ({
  type: "response-metadata",
  ...compact({ id: response.id, modelId: response.modelId, timestamp: toTimestamp(response.timestamp) })
})

/** Titles are optional in the AI SDK, and the one of a URL that has none is the URL. */
export const toSource = (
  source: LanguageModelV4Source
): Response.DocumentSourcePartEncoded | Response.UrlSourcePartEncoded => {
  const rest = metadata(source.providerMetadata)
  if (source.sourceType === "document") {
    const { filename, id, mediaType, title } = source
    return { type: "source", sourceType: "document", id, mediaType, title, ...compact({ fileName: filename }), ...rest }
  }
  const { id, title, url } = source
  if (URL.canParse(url)) return { type: "source", sourceType: "url", id, url, title: title ?? url, ...rest }
  const fields = { sourceType: "document", id, mediaType: "text/plain", title: title ?? url, fileName: url } as const
  return { type: "source", ...fields, ...rest }
}

/** Citations have no field of their own. */
export const citationsOf = (citations: ReadonlyArray<LanguageModelV4Citation> | undefined) => ({
  citations: citations === undefined || citations.length === 0 ? undefined : toJson(citations)
})

// --- internal ---

const toPart = (
  part: LanguageModelV4Content | Carried,
  declared: Declared
): Result.Result<Response.PartEncoded, AiError.AiErrorReason> => {
  switch (part.type) {
    case "text":
      return Result.succeed({
        type: "text",
        text: part.text,
        ...metadata(part.providerMetadata, citationsOf(part.citations))
      })
    case "draft":
      return Result.succeed(Foreign.carry({ type: "text" }, part.providerMetadata, part.text))
    case "reasoning":
      return Result.succeed({ type: "reasoning", text: part.text, ...metadata(part.providerMetadata) })
    case "file":
    case "reasoning-file":
      return Result.succeed(Foreign.fromFile(part))
    case "source":
      return Result.succeed(toSource(part))
    case "custom":
      return Result.succeed(Foreign.carry({ type: "custom", kind: part.kind }, part.providerMetadata))
    case "tool-call":
      return toToolCall(part, declared)
    case "tool-result":
      return Result.succeed(toToolResult(part, declared))
    case "tool-approval-request":
      return Result.succeed({
        type: "tool-approval-request",
        approvalId: part.approvalId,
        toolCallId: part.toolCallId,
        ...metadata(part.providerMetadata)
      })
  }
}

interface Carried extends Omit<Extract<LanguageModelV4Content, { type: "text" }>, "type"> {
  readonly type: "draft"
}

/**
 * Effect reads an object from all text of a response. Where the provider says that only a part of it is the object, the
 * rest (drafts, comments on the way) is carried as reasoning.
 */
const withObjectText = (result: LanguageModelV4GenerateResult): ReadonlyArray<LanguageModelV4Content | Carried> => {
  const { content, structuredOutputText: wanted } = result
  if (wanted === undefined) return content
  let rest = wanted
  const chosen = content.toReversed().map((part): LanguageModelV4Content | Carried => {
    if (part.type !== "text") return part
    if (rest !== "" && part.text !== "" && rest.endsWith(part.text)) {
      rest = rest.slice(0, -part.text.length)
      return part
    }
    return { ...part, type: "draft" }
  })
  if (rest === "") return chosen.toReversed()
  const drafts = content.map((part) => (part.type === "text" ? { ...part, type: "draft" as const } : part))
  return [...drafts, { type: "text", text: wanted }]
}

const toTimestamp = (date: Date | undefined): string | undefined =>
  date === undefined || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
