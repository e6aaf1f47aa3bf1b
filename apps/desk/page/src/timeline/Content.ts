/**
 * The texts of encoded messages.
 */
import type * as Payload from "@colloquy/session/Payload"

/** The parts of a model response. */
export type Content = Payload.ModelResponded["content"]
/** The content of a user message: a text or parts. */
export type UserContent = Payload.InputRecorded["message"]["content"]

/** All text of a message, paragraphs apart. */
export const textOf = (content: Content | UserContent): string =>
  typeof content === "string" ? content : join(content, "text")

/** All reasoning of a response. */
export const reasoningOf = (content: Content): string => join(content, "reasoning")

// --- internal ---

const join = (parts: ReadonlyArray<{ readonly type: string }>, type: "text" | "reasoning"): string =>
  parts
    .flatMap((part) => (part.type === type && "text" in part && typeof part.text === "string" ? [part.text] : []))
    .join("\n\n")
