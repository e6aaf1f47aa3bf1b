/**
 * What a conversation is called that nobody has named: the first words that were said in it.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type * as Payload from "@colloquy/session/Payload"

/** The first words of a text. */
export const titleOf = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length <= titleLength ? line : `${line.slice(0, titleLength).toWellFormed()}…`
}

/** Whether a record gives the conversation a title that was made of these words. */
export const isTitled = ({ payload }: CanonicalRecord, words: string): boolean =>
  payload._tag === "ConversationCreated" && payload.title === titleOf(words)

/** What an input says, without its files. */
export const wordsOf = ({ message: { content } }: Payload.InputRecorded): string =>
  typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("")

// --- internal ---

const titleLength = 60
