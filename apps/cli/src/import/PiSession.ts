/**
 * Reads a session of the coding agent pi: a `session` line, then `message` lines and lines of settings.
 *
 * A response keeps provider, model, usage and why it stopped, its thinking the signature that a provider asks back for.
 * Not kept are the name of the API and the cost of a response, which follow from model and usage.
 * See https://github.com/badlogic/pi-mono (packages/coding-agent, the session format).
 */
import * as Usage from "@colloquy/session/Usage"
import type { FinishReason } from "effect/ai/Response"
import * as Content from "./Content.ts"
import { asMillis, asText, fieldNames, type Fields, isFields, others } from "./Fields.ts"
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
  const { id, type: _, ...metadata } = session ?? {}
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

const known = {
  user: fieldNames("role content timestamp"),
  assistant: fieldNames("role content timestamp api provider model usage stopReason errorMessage responseId"),
  toolResult: fieldNames("role content timestamp toolCallId toolName isError")
}

const branched = (item: Item): Item => ({ ...item, repairs: [...(item.repairs ?? []), "branched-history"] })

const readLine = (value: unknown, place: Place): ReadonlyArray<Item> => {
  if (!isFields(value)) return [repairNote("unknown-line", value, place)]
  const at = asMillis(value["timestamp"])
  const { type } = value
  if (settings.has(type)) return [{ _tag: "Note", name: `pi.${String(type)}`, data: value, place, at }]
  if (type !== "message") return [repairNote("unknown-line", value, place, at)]
  const { message } = value
  return isFields(message)
    ? readMessage(message, place, at ?? asMillis(message["timestamp"]))
    : [repairNote("unknown-message", value, place, at)]
}

const readMessage = (message: Fields, place: Place, at: number | undefined): ReadonlyArray<Item> => {
  const odd = (parts: ReadonlyArray<unknown>) => parts.map((part) => repairNote("unknown-part", part, place, at))
  switch (message["role"]) {
    case "user": {
      const { parts, unknown } = Content.read(message["content"], "pi")
      return [
        { _tag: "Input", content: parts, place, at },
        ...odd(unknown),
        ...fieldsNote(message, known.user, place, at)
      ]
    }
    case "assistant": {
      const { content, repairs, unknown } = readResponse(message)
      return [
        {
          _tag: "Response",
          content,
          ...readEnd(message),
          provider: asText(message["provider"]),
          model: asText(message["model"]),
          responseId: asText(message["responseId"]),
          usage: readUsage(message["usage"]),
          place,
          at,
          repairs
        },
        ...odd(unknown),
        ...fieldsNote(message, known.assistant, place, at)
      ]
    }
    case "toolResult":
      return [
        {
          _tag: "Result",
          callId: asText(message["toolCallId"]) ?? "",
          name: asText(message["toolName"]),
          isFailure: message["isError"] === true,
          result: { content: message["content"] ?? null, ...others(message, known.toolResult) },
          modelOutput: Content.shown(Content.read(message["content"], "pi").parts),
          place,
          at
        }
      ]
    default:
      return [repairNote("unknown-message", message, place, at)]
  }
}

const finishReasons: { readonly [reason: string]: FinishReason | undefined } = {
  stop: "stop",
  length: "length",
  toolUse: "tool-calls",
  error: "error",
  aborted: "other"
}

const readEnd = (message: Fields) => {
  const reason = asText(message["stopReason"]) ?? ""
  const detail = asText(message["errorMessage"])
  const finishReason = finishReasons[reason] ?? "unknown"
  if (reason === "aborted") {
    return { end: "aborted" as const, failure: { tag: "Aborted", message: detail ?? "aborted" }, finishReason }
  }
  if (reason === "error") {
    return { end: "failed" as const, failure: { tag: "ResponseFailed", message: detail ?? "failed" }, finishReason }
  }
  return { end: "complete" as const, finishReason }
}

const readUsage = (usage: unknown): Usage.Usage | undefined => {
  if (!isFields(usage)) return undefined
  const count = (name: string) => (typeof usage[name] === "number" ? usage[name] : undefined)
  const uncached = count("input")
  const cacheRead = count("cacheRead")
  const cacheWrite = count("cacheWrite")
  return Usage.fromResponse({
    inputTokens: {
      uncached,
      cacheRead,
      cacheWrite,
      total: uncached === undefined ? undefined : uncached + (cacheRead ?? 0) + (cacheWrite ?? 0)
    },
    outputTokens: { total: count("output"), text: undefined, reasoning: count("reasoning") }
  })
}
