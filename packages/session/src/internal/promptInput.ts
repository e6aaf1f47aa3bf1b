/** How an input is shown to a model. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Payload from "../Payload.ts"
import type { UserBlock } from "./promptBlocks.ts"
import type { Context } from "./promptContext.ts"
import * as Parts from "./promptParts.ts"
import { isBlank, isFilled, readUserPart } from "./promptReading.ts"

export const projectInput = (
  payload: Payload.InputRecorded,
  sequence: number,
  context: Context
): UserBlock | undefined => {
  const parts =
    typeof payload.message.content === "string"
      ? [{ type: "text" as const, text: payload.message.content }]
      : payload.message.content
  const content: Array<Prompt.UserMessagePart> = []
  if (payload.context !== undefined && context.openRuns.has(payload.runId) && !isBlank(payload.context)) {
    content.push(Parts.text({ text: payload.context }))
  }
  for (const part of parts) {
    const read = readUserPart(part)
    if (read === undefined) context.repairs.push({ kind: "unreadable-part", sequence })
    else if (isFilled(read)) content.push(read)
  }
  if (content.length > 0) return { role: "user", content, options: payload.message.options }
  context.repairs.push({ kind: "empty-message", sequence })
  return undefined
}
