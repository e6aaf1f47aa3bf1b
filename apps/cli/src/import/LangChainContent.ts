/**
 * Reads the content of LangChain's messages: text, or blocks, of which some are those of a provider.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Anthropic from "./AnthropicBlocks.ts"
import * as Content from "./Content.ts"
import type { FieldReader } from "./FieldReader.ts"
import { asIs, isFields } from "./Fields.ts"

type Part = Prompt.AssistantMessagePartEncoded

/** The parts that are known, in order, and those that are not; calls that are `declared` elsewhere are not read again. */
export const readContent = (fields: FieldReader, declared: ReadonlySet<string>) => {
  const content = fields.take("content", asIs)
  const parts: Array<Part> = []
  const unknown: Array<unknown> = []
  for (const block of Array.isArray(content) ? content : [content]) {
    if (
      isFields(block) &&
      (block["type"] === "tool_use" || block["type"] === "tool_call") &&
      declared.has(String(block["id"]))
    ) {
      continue
    }
    const read = isFields(block) ? (Anthropic.readBlock(block) ?? readReasoning(block)) : undefined
    if (read !== undefined) {
      parts.push(read)
      continue
    }
    const known = Content.read(Array.isArray(content) ? [block] : block, "langchain")
    parts.push(...known.parts)
    unknown.push(...known.unknown)
  }
  return { content: parts, unknown }
}

// --- internal ---

const readReasoning = (block: { readonly [name: string]: unknown }): Part | undefined =>
  block["type"] === "reasoning" && typeof block["reasoning"] === "string"
    ? { type: "reasoning", text: block["reasoning"] }
    : undefined
