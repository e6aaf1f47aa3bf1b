/**
 * Some records as messages.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { ConversationState } from "@colloquy/session/ConversationState"
import { RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type * as Prompt from "effect/ai/Prompt"

/**
 * What a model is shown of some records alone, with every result, and without instructions and recap.
 */
export const messagesOf = (
  state: ConversationState,
  records: ReadonlyArray<CanonicalRecord>,
  options: ConversationPrompt.Options
): ReadonlyArray<Prompt.Message> => {
  const last = records.at(-1)
  if (last === undefined) return []
  const tail = state.sequence + 1
  // Behind a last message that lost its calls the projection stops short: something must follow, as it does in the log.
  const sentinel: CanonicalRecord = { ...last, sequence: tail, payload: something }
  const only: ConversationState = {
    ...state,
    sequence: tail,
    approvals: state.approvals.filter(({ callId }) => mentions(records, callId))
  }
  const { prompt } = ConversationPrompt.projectWhole(only, [...records, sentinel], { ...options, instructions: " " })
  return prompt.content.slice(0, -1)
}

// --- internal ---

const something: CanonicalRecord["payload"] = {
  _tag: "InputRecorded",
  runId: RunId.make("sentinel"),
  kind: "user",
  message: { role: "user", content: "." }
}

const mentions = (records: ReadonlyArray<CanonicalRecord>, callId: string): boolean =>
  records.some(({ payload }) => {
    const facts = Payload.legible(payload)
    if (facts._tag !== "ModelResponded") return false
    return "content" in facts
      ? facts.content.some((part) => part.type === "tool-call" && part.id === callId)
      : facts.calls.some((call) => call.callId === callId)
  })
