/**
 * Masks secrets in texts, JSON and payloads, before they are stored or shown.
 *
 * The same input always gives the same output, masking twice changes nothing more, and no code point is cut. Costs the
 * length of the text, times the number of patterns.
 *
 * @since 0.1.0
 */
import type * as Payload from "@colloquy/session/Payload"
import type * as Prompt from "effect/ai/Prompt"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { maskText, type Matcher, secretPatterns } from "./internal/masking.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Secrets themselves, of at least 6 characters. They are found as they stand, and escaped as in JSON or in a URL. */
  readonly literals?: ReadonlyArray<string | Redacted.Redacted<string>> | undefined
  /** What secrets look like. A pattern that can take long on some text takes long here too. */
  readonly patterns?: ReadonlyArray<RegExp> | undefined
  /** Whether common formats of keys, tokens and passwords are found too (default true). */
  readonly builtIn?: boolean | undefined
  /** What stands in place of a secret (default `[masked]`). */
  readonly mark?: string | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface SecretMask {
  readonly text: (text: string) => string
  /** Strings and names of properties within any JSON; everything else stays as it is. */
  readonly json: (value: unknown) => unknown
  /**
   * Whatever people, models and tools have said in a payload. Ids, digests, data of files and options of providers stay.
   *
   * **Gotchas**
   *
   * A call's masked parameters are what its handler is run with, when they are masked before they are stored. Reasoning
   * that is masked loses its signature, which is void then.
   */
  readonly payload: (payload: Payload.Written) => Payload.Written
}

/**
 * A literal is too short to be told from other text, or the mark is empty. `index` is that of the literal; its text is not
 * said.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidSecretMask extends Schema.TaggedError<InvalidSecretMask>(
  "@colloquy/capabilities/InvalidSecretMask"
)("InvalidSecretMask", {
  reason: Schema.Literals(["short-literal", "empty-mark"]),
  index: Schema.optionalKey(Schema.Natural)
}) {
  override get message() {
    return this.reason === "empty-mark"
      ? "the mark is empty: give it a text that stands for a secret"
      : `literal ${this.index} has fewer than ${minLiteral} characters: it would be found in other text`
  }
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Result.Result<SecretMask, InvalidSecretMask> => {
  const { builtIn = true, literals = [], mark = "[masked]", patterns = [] } = options
  if (mark === "") return Result.fail(new InvalidSecretMask({ reason: "empty-mark" }))
  const values = literals.map((literal) => (Redacted.isRedacted(literal) ? Redacted.value(literal) : literal))
  const short = values.findIndex((value) => value.length < minLiteral)
  if (short !== -1) return Result.fail(new InvalidSecretMask({ reason: "short-literal", index: short }))
  const matchers: ReadonlyArray<Matcher> = [
    ...new Set(values.flatMap(formsOf)),
    ...patterns.map((pattern) => new RegExp(pattern.source, `${pattern.flags.replaceAll(/[gy]/g, "")}g`)),
    ...(builtIn ? secretPatterns : [])
  ]
  const text = (value: string) => maskText(value, matchers, mark)
  return Result.succeed({
    text,
    json: (value) => maskJson(value, text),
    payload: (payload) => maskPayload(payload, text)
  })
}

// --- internal ---

const minLiteral = 6

type Mask = (text: string) => string

/** As it stands, and as it stands within JSON and within a URL. */
const formsOf = (value: string): ReadonlyArray<string> => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value.toWellFormed())
]

const maskJson = (value: unknown, mask: Mask): unknown => {
  if (typeof value === "string") return mask(value)
  if (Array.isArray(value)) return value.map((item) => maskJson(item, mask))
  if (typeof value !== "object" || value === null) return value
  const entries: Array<readonly [string, unknown]> = []
  const used = new Set<string>()
  for (const [key, item] of Object.entries(value)) {
    const masked = mask(key)
    let name = masked
    // Two secrets that were names stay two properties.
    for (let n = 2; used.has(name); n++) name = `${masked} ${n}`
    used.add(name)
    entries.push([name, maskJson(item, mask)])
  }
  return Object.fromEntries(entries)
}

/** The fields that are there, masked. */
const texts = <P extends object, K extends keyof P & string>(payload: P, mask: Mask, ...keys: ReadonlyArray<K>): P => {
  const masked: { [key: string]: unknown } = {}
  for (const key of keys) if (payload[key] !== undefined) masked[key] = maskJson(payload[key], mask)
  return { ...payload, ...masked }
}

const maskPayload = (payload: Payload.Written, mask: Mask): Payload.Written => {
  switch (payload._tag) {
    case "ConversationCreated":
      return texts(payload, mask, "title", "instructions", "metadata")
    case "MetadataChanged":
      return texts(payload, mask, "title", "metadata")
    case "InputRecorded": {
      const { content } = payload.message
      const masked = typeof content === "string" ? mask(content) : content.map((part) => maskPiece(part, mask))
      return texts({ ...payload, message: { ...payload.message, content: masked } }, mask, "context")
    }
    case "ModelResponded":
      return texts({ ...payload, content: payload.content.map((part) => maskPart(part, mask)) }, mask, "sources")
    case "ToolCallSettled": {
      const { modelOutput, ...rest } = texts(payload, mask, "result")
      return modelOutput === undefined
        ? rest
        : { ...rest, modelOutput: modelOutput.map((part) => maskPiece(part, mask)) }
    }
    case "ApprovalResolved":
      return texts(payload, mask, "result", "reason")
    case "BackgroundSettled":
    case "Compacted":
      return texts(payload, mask, "summary")
    case "RunEnded":
    case "SubmissionSettled":
      return payload.error === undefined
        ? payload
        : { ...payload, error: { ...payload.error, message: mask(payload.error.message) } }
    case "SubmissionAccepted":
      return texts(payload, mask, "input", "options")
    case "HandedOff":
    case "CancelRequested":
    case "ContentRedacted":
    case "RepairAnnotated":
      return texts(payload, mask, "reason")
    case "Custom":
      return texts(payload, mask, "data")
    default:
      return payload
  }
}

const maskPiece = (part: Prompt.UserMessagePartEncoded, mask: Mask): Prompt.UserMessagePartEncoded =>
  part.type === "text" ? { ...part, text: mask(part.text) } : part

const maskPart = (part: Prompt.AssistantMessagePartEncoded, mask: Mask): Prompt.AssistantMessagePartEncoded => {
  switch (part.type) {
    case "text":
      return { ...part, text: mask(part.text) }
    case "reasoning": {
      const text = mask(part.text)
      return text === part.text ? part : { type: "reasoning", text }
    }
    case "tool-call":
      return { ...part, params: maskJson(part.params, mask) }
    case "tool-result": {
      const masked = { ...part, result: maskJson(part.result, mask) }
      const { modelOutput } = part
      return modelOutput === undefined
        ? masked
        : { ...masked, modelOutput: modelOutput.map((piece) => maskPiece(piece, mask)) }
    }
    default:
      return part
  }
}
