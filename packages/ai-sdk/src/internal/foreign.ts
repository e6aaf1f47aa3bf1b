/**
 * Content of a provider that Effect has no part for. It is carried in parts that Effect keeps and gives back, and
 * becomes what it was when the conversation is sent again: nothing is lost, and nobody else need know.
 *
 * Parts without a counterpart (a compaction, a fallback marker, calls and results of tools that the provider ran and the
 * toolkit does not declare) travel as reasoning without text. A file at a URL travels as a `text/uri-list` of it.
 */
import type {
  LanguageModelV4CustomPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4FileDataData,
  SharedV4FileDataUrl,
  SharedV4ProviderMetadata
} from "@ai-sdk/provider"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Base64 from "effect/encoding/Base64"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { metadata, own } from "./metadata.ts"

export type Foreign = typeof Foreign.Type

const Foreign = Schema.Union([
  Schema.Struct({ type: Schema.Literal("custom"), kind: Schema.TemplateLiteral([Schema.String, ".", Schema.String]) }),
  Schema.Struct({
    type: Schema.Literal("tool-call"),
    toolCallId: Schema.String,
    toolName: Schema.String,
    input: Schema.Json,
    providerExecuted: Schema.Literal(true)
  }),
  Schema.Struct({
    type: Schema.Literal("tool-result"),
    toolCallId: Schema.String,
    toolName: Schema.String,
    output: Schema.Struct({ type: Schema.Literals(["json", "error-json"]), value: Schema.Json })
  }),
  Schema.Struct({ type: Schema.Literal("text") })
])

/** Reasoning that carries a part; its text is what there is to read of it. */
export const carry = (
  part: Foreign,
  providerMetadata: SharedV4ProviderMetadata | undefined,
  text = ""
): Response.ReasoningPartEncoded => ({ type: "reasoning", text, ...metadata(providerMetadata, { part }) })

/** The part that reasoning carries, if it carries one. */
export const carried = (
  part: Prompt.ReasoningPart
):
  | LanguageModelV4CustomPart
  | LanguageModelV4TextPart
  | LanguageModelV4ToolCallPart
  | LanguageModelV4ToolResultPart
  | undefined => {
  const found = Option.getOrUndefined(decode(own(part.options)["part"]))
  return found?.type === "text" ? { type: "text", text: part.text } : found
}

/** A file that the model made; Effect keeps bytes only. */
export const fromFile = (file: {
  readonly type: "file" | "reasoning-file"
  readonly mediaType: string
  readonly data: SharedV4FileDataData | SharedV4FileDataUrl
  readonly providerMetadata?: SharedV4ProviderMetadata
}): Response.FilePartEncoded => {
  const isReasoning = file.type === "reasoning-file" ? true : undefined
  if (file.data.type === "data") {
    const { data } = file.data
    return {
      type: "file",
      mediaType: file.mediaType,
      data: typeof data === "string" ? data : Base64.encode(data),
      ...metadata(file.providerMetadata, { isReasoning })
    }
  }
  const url = file.data.originalUrl ?? file.data.url.href
  return {
    type: "file",
    mediaType: "text/uri-list",
    data: Base64.encode(url),
    ...metadata(file.providerMetadata, { isReasoning, url, mediaType: file.mediaType })
  }
}

/** What a file was before it became one of Effect's. */
export const originOfFile = (part: Prompt.FilePart) => {
  const { isReasoning, mediaType, url } = own(part.options)
  return {
    isReasoning: isReasoning === true,
    ...(typeof url === "string" && typeof mediaType === "string" ? { data: url, mediaType } : part)
  }
}

// --- internal ---

const decode = Schema.decodeUnknownOption(Foreign)
