/** Stored parts of messages as parts of a prompt, and whether they say anything. */
import * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Parts from "./promptParts.ts"

/** Nothing where it cannot be read. */
export const readUserPart = (part: Prompt.UserMessagePartEncoded): Prompt.UserMessagePart | undefined =>
  part.type === "text" ? Parts.text(part) : readFile(part)

export const readFile = (part: Prompt.FilePartEncoded): Prompt.FilePart | undefined => {
  const file = decodeFile(part)
  return Result.isSuccess(file) ? file.success : undefined
}

export const isBlank = (text: string): boolean => text.trim().length === 0

export const isFilled = (part: Prompt.UserMessagePart): boolean => part.type !== "text" || !isBlank(part.text)

// --- internal ---

const decodeFile = Schema.decodeUnknownResult(Prompt.FilePart)
