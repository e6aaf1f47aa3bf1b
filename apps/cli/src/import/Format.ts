/**
 * Tells by its shape what a file holds: our archive, OpenAI's chat form, or a session of pi.
 */
import { format as archiveFormat } from "@colloquy/store/Archive"
import { isFields } from "./Fields.ts"
import * as OpenAiChat from "./OpenAiChat.ts"
import * as PiSession from "./PiSession.ts"

export const formats = ["archive", "openai", "pi"] as const
export type Format = (typeof formats)[number]

/** What a file holds, and whether a value stands on each line or the file is one JSON document. */
export interface Shape {
  readonly format: Format
  readonly layout: "lines" | "document"
}

/**
 * Judges by the first line that is not blank, parsed, or `undefined` where it is no JSON by itself (a document spread
 * over lines). Gives nothing for a shape that is not known.
 */
export const detect = (first: unknown): Shape | undefined => {
  if (isArchiveHeader(first)) return { format: "archive", layout: "lines" }
  if (PiSession.isSession(first) || PiSession.isEntry(first)) return { format: "pi", layout: "lines" }
  if (OpenAiChat.isConversation(first)) return { format: "openai", layout: "lines" }
  return first === undefined || isChatArray(first) ? { format: "openai", layout: "document" } : undefined
}

/** The layout of a file whose format was named. Gives nothing where its first value is plainly of another shape. */
export const layoutOf = (format: Format, first: unknown): Shape | undefined => {
  if (format === "archive") return { format, layout: "lines" }
  if (format === "pi") {
    const isEntry = first === undefined || (isFields(first) && typeof first["type"] === "string")
    return isEntry ? { format, layout: "lines" } : undefined
  }
  if (OpenAiChat.isConversation(first)) return { format, layout: "lines" }
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
  "known are an archive of ours, OpenAI chats (an object with messages, an array, or JSONL) and a session of pi; " +
  `name one with --format ${formats.join("|")}`

// --- internal ---

const isArchiveHeader = (u: unknown): boolean =>
  isFields(u) && isFields(u["header"]) && u["header"]["format"] === archiveFormat

const isChatArray = (u: unknown): boolean =>
  Array.isArray(u) && (OpenAiChat.isConversation(u[0]) || OpenAiChat.isMessage(u[0]))
