/**
 * Reads a session of the coding agent pi: a `session` line, then `message` lines and lines of settings.
 *
 * A response keeps provider, model, usage and why it stopped, its thinking the signature that a provider asks back for.
 * The `id` and `parentId` of a message's line stand in a note `pi.line` behind its records, which is no repair: branches
 * can be told from them. What else a line or a message has, and what of it cannot be read, becomes a note too; unknown
 * fields of a tool's result stand in the result.
 *
 * Not kept are the name of the API, the cost of a response and a sum of tokens that is right, which follow from model and
 * usage, and the time inside a message whose line has one.
 * See https://github.com/badlogic/pi-mono (packages/coding-agent, the session format).
 */
import * as Usage from "@colloquy/session/Usage"
import type { FinishReason } from "effect/ai/Response"
import * as Content from "./Content.ts"
import { FieldReader } from "./FieldReader.ts"
import { asIs, asMillis, asText, fieldNames, type Fields, isFields, present } from "./Fields.ts"
import { readResponse } from "./PiParts.ts"
import { fieldsNote, type Item, type Place, repairNote, type Transcript } from "./Transcript.ts"

/** A parsed line of a session file. */
export interface Line {
  readonly line: number
  readonly value: unknown
}

/** Whether a parsed line begins a session. */
export const isSession = (u: unknown): u is Fields => isFields(u) && u["type"] === "session"

/** Whether a parsed line is one of a session. */
export const isEntry = (u: unknown): boolean => isFields(u) && (u["type"] === "message" || settings.has(u["type"]))

/** Reads the lines of one session. Total: a line of an unknown type becomes a note. */
export const parse = (lines: ReadonlyArray<Line>): Transcript => {
  const [first] = lines
  const session = isSession(first?.value) ? first.value : undefined
  const { id, type: _, ...rest } = session ?? {}
  // An id that is no text names nothing, and is kept beside the other fields.
  const metadata = { ...(asText(id) === undefined && "id" in (session ?? {}) ? { id } : {}), ...rest }
  const entries = session === undefined ? lines : lines.slice(1)
  const items: Array<Item> = []
  let last: unknown
  for (const { line, value } of entries) {
    const read = readLine(value, { line })
    // Lines with ids form a tree; in a session without branches each continues the one before it.
    const entryId = isFields(value) ? value["id"] : undefined
    const jumps = isFields(value) && last !== undefined && "parentId" in value && value["parentId"] !== last
    items.push(...(jumps ? read.map((item, i) => (i === 0 ? branched(item) : item)) : read))
    if (entryId !== undefined) last = entryId
  }
  return {
    id: asText(id),
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    at: asMillis(session?.["timestamp"]),
    place: { line: first?.line ?? 1 },
    items
  }
}

// --- internal ---

/** Lines that say how the session goes on, and nothing that was said. */
const settings: ReadonlySet<unknown> = fieldNames("model_change thinking_level_change session_info label")

const branched = (item: Item): Item => ({ ...item, repairs: [...(item.repairs ?? []), "branched-history"] })

const readLine = (value: unknown, place: Place): ReadonlyArray<Item> => {
  if (!isFields(value)) return [repairNote("unknown-line", value, place)]
  const line = new FieldReader(value)
  const at = line.millis("timestamp")
  const type = line.text("type")
  if (settings.has(type)) return [{ _tag: "Note", name: `pi.${String(type)}`, data: value, place, at }]
  if (type !== "message") return [repairNote("unknown-line", value, place, at)]
  const message = line.take("message", (u) => (isFields(u) ? u : undefined))
  if (message === undefined) return [repairNote("unknown-message", value, place, at)]
  const items = readMessage(message, place, at)
  const ids = present({
    id: line.text("id"),
    // The first line has none, which is said too.
    parentId: line.take("parentId", (u) => (typeof u === "string" || u === null ? u : undefined))
  })
  const note: Item = { _tag: "Note", name: "pi.line", data: ids, place, at }
  return [...items, ...(Object.keys(ids).length === 0 ? [] : [note]), ...fieldsNote(line.rest(), place, at)]
}

const readMessage = (message: Fields, place: Place, lineAt: number | undefined): ReadonlyArray<Item> => {
  const fields = new FieldReader(message)
  const messageAt = fields.millis("timestamp")
  const at = lineAt ?? messageAt
  const odd = (parts: ReadonlyArray<unknown>) => parts.map((part) => repairNote("unknown-part", part, place, at))
  const content = fields.take("content", asIs)
  switch (fields.text("role")) {
    case "user": {
      const { parts, unknown } = Content.read(content, "pi")
      return [{ _tag: "Input", content: parts, place, at }, ...odd(unknown), ...fieldsNote(fields.rest(), place, at)]
    }
    case "assistant": {
      const { content, repairs, unknown } = readResponse(message)
      // It is the name of a format of messages, which ours takes the place of.
      fields.text("api")
      const response: Item = {
        _tag: "Response",
        content,
        ...readEnd(fields),
        provider: fields.text("provider"),
        model: fields.text("model"),
        responseId: fields.text("responseId"),
        usage: fields.within("usage", readUsage),
        place,
        at,
        repairs
      }
      return [response, ...odd(unknown), ...fieldsNote(fields.rest(), place, at)]
    }
    case "toolResult": {
      const callId = fields.text("toolCallId") ?? ""
      const name = fields.text("toolName")
      const isFailure = fields.take("isError", (u) => (typeof u === "boolean" ? u : undefined)) ?? false
      const result = { content: content ?? null, ...fields.rest() }
      const modelOutput = Content.shown(Content.read(content, "pi").parts)
      return [{ _tag: "Result", callId, name, isFailure, result, modelOutput, place, at }]
    }
    default:
      return [repairNote("unknown-message", message, place, at)]
  }
}

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["toolUse", "tool-calls"],
  ["error", "error"],
  ["aborted", "other"]
])

const readEnd = (message: FieldReader) => {
  const finishReason = message.take("stopReason", (u) => finishReasons.get(u)) ?? "unknown"
  if (finishReason === "other") {
    const detail = message.text("errorMessage") ?? "aborted"
    return { end: "aborted" as const, failure: { tag: "Aborted", message: detail }, finishReason }
  }
  if (finishReason === "error") {
    const detail = message.text("errorMessage") ?? "failed"
    return { end: "failed" as const, failure: { tag: "ResponseFailed", message: detail }, finishReason }
  }
  return { end: "complete" as const, finishReason }
}

const readUsage = (usage: FieldReader): Usage.Usage => {
  const uncached = usage.count("input")
  const output = usage.count("output")
  const cacheRead = usage.count("cacheRead")
  const cacheWrite = usage.count("cacheWrite")
  const input = (uncached ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0)
  usage.take("totalTokens", (u) => (u === input + (output ?? 0) ? u : undefined))
  usage.take("cost", asIs)
  return Usage.fromResponse({
    inputTokens: { uncached, cacheRead, cacheWrite, total: uncached === undefined ? undefined : input },
    outputTokens: { total: output, text: undefined, reasoning: usage.count("reasoning") }
  })
}
