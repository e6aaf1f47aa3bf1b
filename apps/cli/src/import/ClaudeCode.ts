/**
 * Reads a session of Claude Code: a JSON object on each line, which name the line before them.
 *
 * A response that stands on several lines, a block each, becomes one. What a line says beside its message (ids, folder,
 * version, the app's own record of a tool's result) becomes a note `claude-code.line`, which is no repair; lines that say
 * nothing to the model, and those of a sub-agent, become notes too. The format has no published description; known is what
 * the tool has written until 2026.
 */
import * as Usage from "@colloquy/session/Usage"
import type * as Prompt from "effect/ai/Prompt"
import type { FinishReason } from "effect/ai/Response"
import * as Anthropic from "./AnthropicBlocks.ts"
import * as Content from "./Content.ts"
import { FieldReader } from "./FieldReader.ts"
import { asIs, asMillis, asText, fieldNames, type Fields, isFields, present } from "./Fields.ts"
import type { Line } from "./PiSession.ts"
import { type Item, type Place, repairNote, type Response, type Transcript } from "./Transcript.ts"

/** Whether a parsed line is one of a session. */
export const isEntry = (u: unknown): u is Fields =>
  isFields(u) &&
  ((isSpoken(u) && isFields(u["message"]) && ("uuid" in u || "sessionId" in u)) ||
    (others.has(u["type"]) && ("uuid" in u || "sessionId" in u || "leafUuid" in u || "messageId" in u)))

/** Whether a line belongs to another session than the one before it. */
export const isOther = (session: unknown, line: unknown): boolean =>
  isFields(line) &&
  typeof line["sessionId"] === "string" &&
  session !== undefined &&
  line["sessionId"] !== session &&
  line["parentUuid"] === null

/** The session of a line, where it says so. */
export const sessionOf = (line: unknown): string | undefined => (isFields(line) ? asText(line["sessionId"]) : undefined)

/** Reads the lines of one session. Total: a line of an unknown type becomes a note. */
export const parse = (lines: ReadonlyArray<Line>): Transcript => {
  const items: Array<Item> = []
  let last: unknown
  let open: { readonly id: unknown; readonly response: Response; readonly notes: Array<Item> } | undefined
  const close = () => {
    if (open !== undefined) items.push(open.response, ...open.notes)
    open = undefined
  }
  for (const { line, value } of lines) {
    const read = readLine(value, { line })
    const [first, ...rest] = read
    const id = isFields(value) && isFields(value["message"]) ? value["message"]["id"] : undefined
    if (first?._tag === "Response" && open !== undefined && id !== undefined && open.id === id) {
      open = { id, response: joined(open.response, first), notes: [...open.notes, ...rest] }
    } else {
      close()
      const jumps = first !== undefined && first._tag !== "Result" && isJump(value, last)
      const all = jumps ? read.map((item, i) => (i === 0 ? branched(item) : item)) : read
      const [head, ...notes] = all
      if (head?._tag === "Response") open = { id, response: head, notes }
      else items.push(...all)
    }
    if (isFields(value) && value["uuid"] !== undefined && !isSidechain(value)) last = value["uuid"]
  }
  close()
  const title = lines.map(({ value }) =>
    isFields(value) && value["type"] === "summary" ? asText(value["summary"]) : undefined
  )
  const times = lines.map(({ value }) => (isFields(value) ? asMillis(value["timestamp"]) : undefined))
  return {
    id: lines.map(({ value }) => sessionOf(value)).find((id) => id !== undefined),
    title: title.find((text) => text !== undefined),
    at: times.find((at) => at !== undefined),
    place: { line: lines[0]?.line ?? 1 },
    items
  }
}

// --- internal ---

/** Lines that are kept, and that no model was shown. */
const others: ReadonlySet<unknown> = fieldNames(
  "summary system file-history-snapshot queue-operation attachment progress custom-title ai-title last-prompt " +
    "permission-mode agent-name agent-color tag pr-link mode"
)

const isSpoken = ({ type }: Fields): boolean => type === "user" || type === "assistant"

/** A line behind parallel results, or behind a compaction (which names none), is where it belongs. */
const isJump = (value: unknown, last: unknown): boolean =>
  isFields(value) &&
  !isSidechain(value) &&
  last !== undefined &&
  typeof value["parentUuid"] === "string" &&
  value["parentUuid"] !== last

/** What a sub-agent said, beside the conversation. */
const isSidechain = (value: Fields): boolean => value["isSidechain"] === true

const branched = (item: Item): Item => ({ ...item, repairs: [...(item.repairs ?? []), "branched-history"] })

/** Lines of one response repeat what is known of it; the last one knows most. */
const joined = (before: Response, next: Response): Response => ({
  ...before,
  ...present({ usage: next.usage ?? before.usage }),
  content: [...before.content, ...next.content],
  finishReason: next.finishReason === "unknown" ? before.finishReason : next.finishReason,
  end: next.end === "complete" ? before.end : next.end,
  repairs: [...(before.repairs ?? []), ...(next.repairs ?? [])]
})

const readLine = (value: unknown, place: Place): ReadonlyArray<Item> => {
  if (!isFields(value)) return [repairNote("unknown-line", value, place)]
  const at = asMillis(value["timestamp"])
  const note = (name: string, data: unknown): Item => ({ _tag: "Note", name: `claude-code.${name}`, data, place, at })
  if (isSidechain(value)) return [note("sidechain", value)]
  if (others.has(value["type"])) return [note(String(value["type"]), value)]
  const line = new FieldReader(value)
  line.millis("timestamp")
  const type = line.text("type")
  const message = line.take("message", (u) => (isFields(u) ? u : undefined))
  if ((type !== "user" && type !== "assistant") || message === undefined) {
    return [repairNote("unknown-line", value, place, at)]
  }
  const fields = new FieldReader(message)
  fields.text("role")
  fields.take("type", (u) => (u === "message" ? u : undefined))
  const isError = value["isApiErrorMessage"] === true
  const said = type === "user" ? readUser(fields, place, at) : readResponse(fields, isError, place, at)
  const more = present({ ...line.rest(), message: fields.rest() })
  return [...said, ...(Object.keys(more).length === 0 ? [] : [note("line", more)])]
}

const readUser = (fields: FieldReader, place: Place, at: number | undefined): ReadonlyArray<Item> => {
  const content = fields.take("content", asIs)
  const blocks: ReadonlyArray<unknown> = Array.isArray(content) ? content : [content]
  const results = blocks.filter((block): block is Fields => isFields(block) && block["type"] === "tool_result")
  const spoken = blocks.filter((block) => !isFields(block) || block["type"] !== "tool_result")
  const items: Array<Item> = results.map((block) => readResult(block, place, at))
  if (results.length > 0 && spoken.length === 0) return items
  const { parts, unknown } = Content.read(Array.isArray(content) ? spoken : content, "claude-code")
  return [
    ...items,
    { _tag: "Input", content: parts, place, at },
    ...unknown.map((part) => repairNote("unknown-part", part, place, at))
  ]
}

const readResult = (block: Fields, place: Place, at: number | undefined): Item => {
  const fields = new FieldReader(block)
  const callId = fields.text("tool_use_id") ?? ""
  const isFailure = fields.take("is_error", (u) => (typeof u === "boolean" ? u : undefined)) === true
  const { modelOutput, result } = Content.readResult(fields.take("content", asIs), "claude-code")
  return { _tag: "Result", callId, isFailure, result, modelOutput, place, at }
}

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["tool_use", "tool-calls"],
  ["refusal", "content-filter"],
  ["pause_turn", "pause"]
])

const readResponse = (
  fields: FieldReader,
  isError: boolean,
  place: Place,
  at: number | undefined
): ReadonlyArray<Item> => {
  const content: Array<Prompt.AssistantMessagePartEncoded> = []
  const odd: Array<unknown> = []
  const blocks = fields.take("content", asIs)
  for (const block of Array.isArray(blocks) ? blocks : [blocks]) {
    const read = isFields(block) ? Anthropic.readBlock(block) : undefined
    if (read !== undefined) content.push(read)
    else {
      const known = Content.read(Array.isArray(blocks) ? [block] : block, "claude-code")
      content.push(...known.parts)
      odd.push(...known.unknown)
    }
  }
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
  return [
    {
      _tag: "Response",
      // What the tool says of an error are no words of the model.
      content: isError ? [] : content,
      ...(isError
        ? { end: "failed" as const, failure: { tag: "ResponseFailed", message: text } }
        : { end: "complete" as const }),
      finishReason: fields.take("stop_reason", (u) => finishReasons.get(u)) ?? "unknown",
      provider: "anthropic",
      model: fields.text("model"),
      responseId: fields.text("id"),
      usage: fields.within("usage", readUsage),
      place,
      at
    },
    ...odd.map((part) => repairNote("unknown-part", part, place, at))
  ]
}

const readUsage = (usage: FieldReader): Usage.Usage => {
  const uncached = usage.count("input_tokens")
  const cacheRead = usage.count("cache_read_input_tokens")
  const cacheWrite = usage.count("cache_creation_input_tokens")
  return Usage.fromResponse({
    inputTokens: {
      uncached,
      cacheRead,
      cacheWrite,
      total: uncached === undefined ? undefined : uncached + (cacheRead ?? 0) + (cacheWrite ?? 0)
    },
    outputTokens: { total: usage.count("output_tokens"), text: undefined, reasoning: undefined }
  })
}
