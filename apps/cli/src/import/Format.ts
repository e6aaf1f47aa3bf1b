/**
 * Tells by its shape what a file holds: our archive, chats in one of several forms, or a session of a coding agent.
 */
import { format as archiveFormat } from "@colloquy/store/Archive"
import * as ChatForm from "./ChatForm.ts"
import * as ClaudeCode from "./ClaudeCode.ts"
import { isFields } from "./Fields.ts"
import * as PiSession from "./PiSession.ts"

export const formats = ["archive", "openai", "vercel", "langchain", "pi", "claude-code"] as const
export type Format = (typeof formats)[number]

/**
 * What a file holds, and how: on each line a conversation or an entry of a session (`lines`), on each line a message of
 * one conversation (`messages`), or all in one JSON document.
 */
export interface Shape {
  readonly format: Format
  readonly layout: "lines" | "messages" | "document"
}

/**
 * Judges by the first line that is not blank, parsed, or `undefined` where it is no JSON by itself (a document spread
 * over lines, whose form is told by {@link ofDocument}). Gives nothing for a shape that is not known.
 */
export const detect = (first: unknown): Shape | undefined => {
  if (isArchiveHeader(first)) return { format: "archive", layout: "lines" }
  if (PiSession.isSession(first) || PiSession.isEntry(first)) return { format: "pi", layout: "lines" }
  if (ClaudeCode.isEntry(first)) return { format: "claude-code", layout: "lines" }
  if (first === undefined) return { format: "openai", layout: "document" }
  if (ChatForm.conversationOf(first) !== undefined) {
    return { format: ChatForm.formOf(first) ?? "openai", layout: "lines" }
  }
  const message = isWholeMessage(first) ? ChatForm.formOfMessage(first) : undefined
  if (message !== undefined) return { format: message, layout: "messages" }
  const format = ofDocument(first)
  return format === undefined ? undefined : { format, layout: "document" }
}

/** The form of a whole document: of its messages, or of its first conversation. */
export const ofDocument = (document: unknown): ChatForm.Name | undefined =>
  ChatForm.formOf(document) ?? (Array.isArray(document) ? ChatForm.formOf(document[0]) : undefined)

/** The layout of a file whose format was named. Gives nothing where its first value is plainly of another shape. */
export const layoutOf = (format: Format, first: unknown): Shape | undefined => {
  if (format === "archive") return { format, layout: "lines" }
  if (format === "pi" || format === "claude-code") {
    const isEntry = first === undefined || (isFields(first) && typeof first["type"] === "string")
    return isEntry ? { format, layout: "lines" } : undefined
  }
  if (ChatForm.conversationOf(first) !== undefined) return { format, layout: "lines" }
  if (ChatForm.forms[format].isMessage(first)) return { format, layout: "messages" }
  return first === undefined || Array.isArray(first) ? { format, layout: "document" } : undefined
}

/** What was found in place of a known shape, for a person to read. */
export const describe = (value: unknown): string => {
  if (Array.isArray(value)) return "an array of something else"
  if (!isFields(value)) return value === null ? "null" : `a ${typeof value}`
  const names = Object.keys(value)
  return names.length === 0 ? "an empty object" : `an object with ${names.slice(0, 8).join(", ")}`
}

/** What the formats look like, for a person to read. */
export const known =
  "known are an archive of ours, chats of OpenAI, Vercel's AI SDK and LangChain (an object with messages, an array, or " +
  `JSONL of conversations or messages), and sessions of pi and Claude Code; name one with --format ${formats.join("|")}`

// --- internal ---

/** Not only named like one: a message says something, or calls something. */
const isWholeMessage = (u: unknown): boolean =>
  isFields(u) && ["content", "parts", "tool_calls", "function_call", "data", "kwargs"].some((name) => name in u)

const isArchiveHeader = (u: unknown): boolean =>
  isFields(u) && isFields(u["header"]) && u["header"]["format"] === archiveFormat
