/**
 * What a provider would refuse in a prompt.
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/ai/Prompt"

/**
 * One reason for which providers reject a prompt; `message` is the 0-based place of the message at fault.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromptFault {
  readonly reason:
    | "empty-message"
    | "result-without-call"
    | "call-without-result"
    | "repeated-call-id"
    | "approval-part"
    | "ends-with-reasoning"
  readonly message: number
  readonly callId?: string
}

/**
 * Everything that a provider would refuse in this prompt; nothing when it is valid.
 *
 * **Details**
 *
 * The rules that the providers share: a message has content that is not blank; a call's result follows directly, in the
 * next message, or within its own message when the provider ran it; ids are unique; nothing asks for an approval.
 *
 * @category checking
 * @since 0.1.0
 */
export const check = (prompt: Prompt.Prompt): Array<PromptFault> => {
  const faults: Array<PromptFault> = []
  const used = new Set<string>()
  let open = new Set<string>()
  prompt.content.forEach((message, place) => {
    if (message.role === "tool") {
      if (message.content.length === 0) faults.push({ reason: "empty-message", message: place })
      for (const part of message.content) {
        if (part.type !== "tool-result") faults.push({ reason: "approval-part", message: place })
        else if (!open.delete(part.id)) faults.push({ reason: "result-without-call", message: place, callId: part.id })
      }
      return
    }
    for (const callId of open) faults.push({ reason: "call-without-result", message: place - 1, callId })
    open = new Set()
    if (isEmpty(message)) faults.push({ reason: "empty-message", message: place })
    if (message.role === "assistant") open = checkAssistant(message, place, used, faults)
  })
  for (const callId of open) faults.push({ reason: "call-without-result", message: prompt.content.length - 1, callId })
  return faults
}

// --- internal ---

const isBlank = (text: string): boolean => text.trim().length === 0

const isEmpty = (message: Exclude<Prompt.Message, Prompt.ToolMessage>): boolean => {
  if (message.role === "system") return isBlank(message.content)
  if (message.content.length === 0) return true
  return message.content.some((part) => part.type === "text" && isBlank(part.text))
}

/** Returns the calls whose results must follow. */
const checkAssistant = (
  message: Prompt.AssistantMessage,
  place: number,
  used: Set<string>,
  faults: Array<PromptFault>
): Set<string> => {
  const open = new Set<string>()
  const executing = new Set<string>()
  for (const part of message.content) {
    if (part.type === "tool-call") {
      if (used.has(part.id)) faults.push({ reason: "repeated-call-id", message: place, callId: part.id })
      used.add(part.id)
      ;(part.providerExecuted ? executing : open).add(part.id)
    } else if (part.type === "tool-result") {
      if (!executing.delete(part.id)) faults.push({ reason: "result-without-call", message: place, callId: part.id })
    } else if (part.type === "tool-approval-request") {
      faults.push({ reason: "approval-part", message: place })
    }
  }
  for (const callId of executing) faults.push({ reason: "call-without-result", message: place, callId })
  if (message.content.length > 0 && message.content.every(({ type }) => type === "reasoning")) {
    faults.push({ reason: "ends-with-reasoning", message: place })
  }
  return open
}
