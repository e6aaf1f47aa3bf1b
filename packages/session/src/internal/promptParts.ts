/**
 * The parts and messages of a prompt, as `Prompt.makePart` and `Prompt.makeMessage` make them.
 *
 * Effect's own set a computed key behind a spread, which measured 0.5 to 3 µs a piece and was most of a projection; a key
 * that is written out costs a fifth of that. The types of Effect hold the key to what it is.
 */
import type * as Prompt from "effect/ai/Prompt"

export const text = (part: Made<Prompt.TextPart>): Prompt.TextPart => ({
  ...part,
  "~effect/ai/Prompt/Part": "~effect/ai/Prompt/Part",
  type: "text",
  options: part.options ?? {}
})

export const reasoning = (part: Made<Prompt.ReasoningPart>): Prompt.ReasoningPart => ({
  ...part,
  "~effect/ai/Prompt/Part": "~effect/ai/Prompt/Part",
  type: "reasoning",
  options: part.options ?? {}
})

export const toolCall = (part: Made<Prompt.ToolCallPart>): Prompt.ToolCallPart => ({
  ...part,
  "~effect/ai/Prompt/Part": "~effect/ai/Prompt/Part",
  type: "tool-call",
  options: part.options ?? {}
})

export const toolResult = (part: Made<Prompt.ToolResultPart>): Prompt.ToolResultPart => ({
  ...part,
  "~effect/ai/Prompt/Part": "~effect/ai/Prompt/Part",
  type: "tool-result",
  options: part.options ?? {}
})

export const system = (content: string): Prompt.SystemMessage => ({
  "~effect/ai/Prompt/Message": "~effect/ai/Prompt/Message",
  role: "system",
  content,
  options: {}
})

export const user = (
  content: Prompt.UserMessage["content"],
  options: Prompt.UserMessage["options"] = {}
): Prompt.UserMessage => ({
  "~effect/ai/Prompt/Message": "~effect/ai/Prompt/Message",
  role: "user",
  content,
  options
})

export const assistant = (content: Prompt.AssistantMessage["content"]): Prompt.AssistantMessage => ({
  "~effect/ai/Prompt/Message": "~effect/ai/Prompt/Message",
  role: "assistant",
  content,
  options: {}
})

export const tool = (content: Prompt.ToolMessage["content"]): Prompt.ToolMessage => ({
  "~effect/ai/Prompt/Message": "~effect/ai/Prompt/Message",
  role: "tool",
  content,
  options: {}
})

// --- internal ---

type Made<P extends Prompt.Part> = Omit<P, "~effect/ai/Prompt/Part" | "type" | "options"> & {
  readonly options?: P["options"] | undefined
}
