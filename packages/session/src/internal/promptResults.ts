/** How the results of calls are shown to a model. */
import type * as Prompt from "effect/ai/Prompt"
import * as Text from "../Text.ts"
import type { StoredResult } from "./promptCalls.ts"
import * as Parts from "./promptParts.ts"
import { isBlank, isFilled, readUserPart } from "./promptReading.ts"

/**
 * The result of a call of which nobody knows whether it took effect.
 *
 * @category constants
 * @since 0.1.0
 */
export const unknownResult = "The call was interrupted. It is not known whether it took effect."

/**
 * The result of a call whose own was cleared to make room.
 *
 * @category constants
 * @since 0.1.0
 */
export const clearedResult = "The result was cleared to save room. Call the tool again if it is needed."

/**
 * The result of a call that gave nothing to show; providers refuse an empty one.
 *
 * @category constants
 * @since 0.1.0
 */
export const emptyResult = "(empty)"

/** The result of a call; of one that has none, what stands for it. */
export const showResult = (
  id: string,
  name: string,
  stored: StoredResult | undefined,
  cleared: boolean
): Prompt.ToolResultPart => {
  const part = (isFailure: boolean, result: unknown, modelOutput?: Prompt.ToolResultPart["modelOutput"]) =>
    Parts.toolResult({ id, name, isFailure, result, modelOutput, providerExecuted: false })
  if (stored === undefined) return part(true, unknownResult)
  const { payload } = stored
  if (payload._tag === "Redacted") return part(false, "The result was removed.")
  if (cleared) return part(payload.isFailure, clearedResult)
  if (payload.shownBytes !== undefined) return part(payload.isFailure, shorten(payload.result, payload.shownBytes))
  if (payload.modelOutput !== undefined && payload.modelOutput.length > 0) {
    const output = payload.modelOutput.flatMap((piece) => readUserPart(piece) ?? []).filter(isFilled)
    return output.length > 0 ? part(payload.isFailure, payload.result, output) : part(payload.isFailure, emptyResult)
  }
  const isEmpty = typeof payload.result === "string" && isBlank(payload.result)
  return part(payload.isFailure, isEmpty ? emptyResult : payload.result)
}

/** The result of a call that the provider executed itself. */
export const readExecutedResult = (part: Prompt.ToolResultPartEncoded): Prompt.ToolResultPart =>
  Parts.toolResult({
    ...part,
    modelOutput: part.modelOutput?.flatMap((piece) => readUserPart(piece) ?? []),
    providerExecuted: true
  })

// --- internal ---

/** The first bytes of a result's text, and how much is missing. */
const shorten = (result: unknown, shownBytes: number): string => {
  const text = typeof result === "string" ? result : JSON.stringify(result)
  const shown = Text.cut(text, shownBytes)
  const missing = Text.byteLength(text) - Text.byteLength(shown)
  return missing === 0 ? text : `${shown}\n[${missing} more bytes are not shown]`
}
