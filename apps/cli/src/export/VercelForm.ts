/**
 * Writes conversations as UI messages of Vercel's AI SDK (version 5 and later), as import reads them:
 * https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message
 *
 * What an assistant said and did between two inputs is one message, with a mark before each step.
 */
import type * as Prompt from "effect/ai/Prompt"
import { urlOf } from "./OpenAiForm.ts"
import type { WholePrompt } from "./WholePrompt.ts"

/** The conversation as one JSON value. */
export const write = ({ conversationId, messages, title }: WholePrompt) => {
  const written: Array<UiMessage> = []
  const id = () => `message-${written.length + 1}`
  for (const message of messages) {
    if (message.role === "tool") {
      for (const part of message.content) if (part.type === "tool-result") settle(written.at(-1), part)
    } else if (message.role === "assistant") {
      const last = written.at(-1)
      const parts = [{ type: "step-start" }, ...partsOf(message.content).flatMap(writePart)]
      if (last?.role === "assistant") last.parts.push(...parts)
      else written.push({ id: id(), role: "assistant", parts })
    } else written.push({ id: id(), role: message.role, parts: partsOf(message.content).flatMap(writePart) })
  }
  return { id: conversationId, ...(title === undefined ? {} : { title }), messages: written }
}

// --- internal ---

interface UiMessage {
  readonly id: string
  readonly role: "system" | "user" | "assistant"
  readonly parts: Array<UiPart>
}

interface UiPart {
  readonly type: string
  toolCallId?: string
  state?: string
  output?: unknown
  errorText?: string
  readonly [field: string]: unknown
}

type Part = Exclude<Prompt.MessageEncoded["content"], string>[number]

const partsOf = (content: Prompt.MessageEncoded["content"]): ReadonlyArray<Part> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

const writePart = (part: Part): ReadonlyArray<UiPart> => {
  const metadata = part.options === undefined ? {} : { providerMetadata: part.options }
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text, ...metadata }]
    case "reasoning":
      return [{ type: "reasoning", text: part.text, state: "done", ...metadata }]
    case "file": {
      const name = part.fileName === undefined ? {} : { filename: part.fileName }
      return [{ type: "file", mediaType: part.mediaType, url: urlOf(part), ...name, ...metadata }]
    }
    case "tool-call":
      return [
        {
          type: "dynamic-tool",
          toolName: part.name,
          toolCallId: part.id,
          state: "input-available",
          input: part.params,
          ...(part.providerExecuted === true ? { providerExecuted: true } : {}),
          ...(part.options === undefined ? {} : { callProviderMetadata: part.options })
        }
      ]
    default:
      return []
  }
}

/** The result of a call belongs to the call's part. */
const settle = (message: UiMessage | undefined, { id, isFailure, result }: Prompt.ToolResultPartEncoded): void => {
  const call = message?.parts.find((part) => part.toolCallId === id)
  if (call === undefined) return
  call.state = isFailure ? "output-error" : "output-available"
  if (isFailure) call.errorText = typeof result === "string" ? result : JSON.stringify(result ?? null)
  else call.output = result ?? null
}
