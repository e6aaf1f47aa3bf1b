/**
 * How many tokens a request has: an estimate that knows scripts, times what the provider's own counts have taught.
 *
 * The estimate is about four characters per token for Latin text and denser for other scripts. Against the tokenizers
 * cl100k_base and o200k_base it is off by at most a factor of 1.5 for prose, code and JSON in Latin, Cyrillic, Han, kana
 * and Hangul and for emoji, 2 for Greek, Hebrew, Arabic and Thai and for strings of identifiers, 2.5 for every other
 * script. The correction takes care of the rest after the first response.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import { unitsPerToken, weigh } from "./internal/scripts.ts"

/**
 * What a text and a file count.
 *
 * @category models
 * @since 0.1.0
 */
export interface Counter {
  /** Tokens of a text: not negative, and 0 for the empty one. */
  readonly text: (text: string) => number
  /** Tokens of a file or an image. */
  readonly file: (part: Prompt.FilePart) => number
}

/**
 * What an image counts, whatever its size: providers charge 765 to 1,600 tokens for one that fills their largest tile
 * (see https://docs.anthropic.com/en/docs/build-with-claude/vision). So does any other file that is no text.
 *
 * @category constants
 * @since 0.1.0
 */
export const imageTokens = 1600

/**
 * The estimate that is used unless a {@link Tokenizer} is given.
 *
 * @category constants
 * @since 0.1.0
 */
export const estimating: Counter = {
  text: (text) => Math.ceil(weigh(text) / unitsPerToken),
  file: ({ data, mediaType }) => {
    if (!mediaType.startsWith("text/") || data instanceof URL) return imageTokens
    // Inline text: base64 has four characters for three bytes.
    const bytes = typeof data === "string" ? Math.ceil((data.length * 3) / 4) : data.byteLength
    return Math.ceil(bytes / 4)
  }
}

/**
 * Counts tokens in place of the estimate, for example with the provider's own tokenizer. The learnt correction still
 * applies: it then covers what the provider puts around messages.
 *
 * @category services
 * @since 0.1.0
 */
export const Tokenizer = Context.Reference<Counter>("@colloquy/capabilities/Tokens/Tokenizer", {
  defaultValue: () => estimating
})

/**
 * What a message costs beyond its content: its role and the marks around it.
 *
 * @category constants
 * @since 0.1.0
 */
export const messageTokens = 4

/**
 * What a call or a result costs beyond its name and content: its id and the marks around it.
 *
 * @category constants
 * @since 0.1.0
 */
export const callTokens = 8

/**
 * Tokens of a message. Costs its length.
 *
 * @category counting
 * @since 0.1.0
 */
export const ofMessage = (message: Prompt.Message, counter: Counter = estimating): number => {
  if (message.role === "system") return messageTokens + counter.text(message.content)
  let tokens = messageTokens
  for (const part of message.content) tokens += ofPart(part, counter)
  return tokens
}

/**
 * Tokens of a prompt.
 *
 * @category counting
 * @since 0.1.0
 */
export const ofPrompt = (prompt: Prompt.Prompt, counter: Counter = estimating): number =>
  prompt.content.reduce((sum, message) => sum + ofMessage(message, counter), 0)

/**
 * Tokens of the tools that stand in a request: names, descriptions and parameter schemas.
 *
 * @category counting
 * @since 0.1.0
 */
export const ofTools = (tools: Iterable<Tool.Any>, counter: Counter = estimating): number => {
  let tokens = 0
  for (const tool of tools) {
    const described = `${tool.name}\n${Tool.getDescription(tool) ?? ""}\n${JSON.stringify(Tool.getJsonSchema(tool))}`
    tokens += callTokens + counter.text(described)
  }
  return tokens
}

/**
 * The content of a result as a model is shown it, in tokens; {@link callTokens} and the name come on top.
 *
 * @category counting
 * @since 0.1.0
 */
export const ofResult = (part: Prompt.ToolResultPart, counter: Counter = estimating): number => {
  const { modelOutput, result } = part
  if (modelOutput === undefined) return counter.text(textOf(result))
  let tokens = 0
  for (const piece of modelOutput) tokens += piece.type === "text" ? counter.text(piece.text) : counter.file(piece)
  return tokens
}

/**
 * An estimate of a request's input. `raw` is what stands in the record of the response (`estimatedInputTokens`), so that
 * the next correction can be learnt from it; `tokens` is `raw` times the correction, rounded up.
 *
 * @category models
 * @since 0.1.0
 */
export interface Estimate {
  readonly raw: number
  readonly correction: number
  readonly tokens: number
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const estimate = (raw: number, correction = 1): Estimate => ({
  raw,
  correction,
  tokens: Math.ceil(raw * correction)
})

/**
 * How far the provider's count of the last request was from the estimate of the same request: a factor from 0.5 to 3.
 *
 * **Details**
 *
 * The last response that has both counts says it, of this run or of the conversation before it. It is 1 when there is
 * none, and when that response is of another model (or provider) than the one that is asked now.
 *
 * @category counting
 * @since 0.1.0
 */
export const correction = (
  records: ReadonlyArray<CanonicalRecord>,
  now: { readonly provider?: string | undefined; readonly model?: string | undefined } = {}
): number => {
  for (let i = records.length - 1; i >= 0; i--) {
    const payload = records[i]?.payload
    const facts = payload?._tag === "Redacted" ? payload.facts : payload
    if (facts?._tag !== "ModelResponded") continue
    const reported = facts.usage?.inputTokens.total
    const estimated = facts.estimatedInputTokens
    if (reported === undefined || estimated === undefined || reported === 0 || estimated === 0) continue
    if (differs(facts.model, now.model) || differs(facts.provider, now.provider)) return 1
    return Math.min(maxCorrection, Math.max(minCorrection, reported / estimated))
  }
  return 1
}

/**
 * The bounds of a correction: beyond them a count is wrong rather than an estimate.
 *
 * @category constants
 * @since 0.1.0
 */
export const minCorrection = 0.5
/** @since 0.1.0 */
export const maxCorrection = 3

// --- internal ---

type Part = Exclude<Prompt.Message, Prompt.SystemMessage>["content"][number]

const ofPart = (part: Part, counter: Counter): number => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return counter.text(part.text)
    case "file":
      return counter.file(part)
    case "tool-call":
      return callTokens + counter.text(part.name) + counter.text(textOf(part.params))
    case "tool-result":
      return callTokens + counter.text(part.name) + ofResult(part, counter)
    default:
      return 0
  }
}

const textOf = (json: unknown): string => (typeof json === "string" ? json : (JSON.stringify(json) ?? ""))

const differs = (recorded: string | undefined, now: string | undefined): boolean =>
  recorded !== undefined && now !== undefined && recorded !== now
