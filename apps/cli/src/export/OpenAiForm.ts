/**
 * Writes conversations in OpenAI's chat form, as import reads it: https://platform.openai.com/docs/api-reference/chat
 *
 * Reasoning stands in `reasoning_content`, as compatible servers have it. Left out, and counted, are what providers add to
 * parts (signatures, item ids) and calls that a provider ran by itself.
 */
import type * as Prompt from "effect/ai/Prompt"
import type { Counts, WholePrompt } from "./WholePrompt.ts"

/** The conversation as one JSON value; what it has no place for is counted. */
export const write = ({ conversationId, leftOut, messages, title }: WholePrompt) => ({
  id: conversationId,
  ...(title === undefined ? {} : { title }),
  messages: messages.flatMap((message) => writeMessage(message, leftOut))
})

// --- internal ---

type Part = Exclude<Prompt.MessageEncoded["content"], string>[number]

const partsOf = (content: Prompt.MessageEncoded["content"]): ReadonlyArray<Part> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

const writeMessage = (message: Prompt.MessageEncoded, leftOut: Counts): ReadonlyArray<object> => {
  const parts = partsOf(message.content)
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }]
    case "user":
      return [{ role: "user", content: writeContent(parts, leftOut) }]
    case "assistant":
      return [writeAssistant(parts, leftOut)]
    case "tool":
      return parts.flatMap((part) =>
        part.type === "tool-result"
          ? [{ role: "tool", tool_call_id: part.id, name: part.name, content: writeResult(part, leftOut) }]
          : []
      )
  }
}

const writeAssistant = (parts: ReadonlyArray<Part>, leftOut: Counts): object => {
  const spoken = parts.filter((part) => part.type === "text" || part.type === "file")
  const reasoning = parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : []))
  const calls = parts.flatMap((part) => {
    if (part.type !== "tool-call") return []
    if (part.providerExecuted === true) {
      leftOut.add("calls of the provider's own")
      return []
    }
    countOptions(part, leftOut)
    return [{ id: part.id, type: "function", function: { name: part.name, arguments: argumentsOf(part.params) } }]
  })
  for (const part of parts) if (part.type === "reasoning") countOptions(part, leftOut)
  return {
    role: "assistant",
    content: spoken.length === 0 ? null : writeContent(spoken, leftOut),
    ...(reasoning.length === 0 ? {} : { reasoning_content: reasoning.join("\n") }),
    ...(calls.length === 0 ? {} : { tool_calls: calls })
  }
}

const argumentsOf = (params: unknown): string => (typeof params === "string" ? params : JSON.stringify(params))

/** A text stands alone where it is all there is. */
const writeContent = (parts: ReadonlyArray<Part>, leftOut: Counts): string | ReadonlyArray<object> => {
  for (const part of parts) countOptions(part, leftOut)
  const [first] = parts
  if (parts.length === 1 && first?.type === "text") return first.text
  return parts.flatMap((part) => {
    if (part.type === "text") return [{ type: "text", text: part.text }]
    return part.type === "file" ? [writeFile(part)] : []
  })
}

const writeFile = (file: Prompt.FilePartEncoded): object => {
  const url = urlOf(file)
  if (file.mediaType.startsWith("image/")) return { type: "image_url", image_url: { url } }
  const name = file.fileName === undefined ? {} : { filename: file.fileName }
  return { type: "file", file: { file_data: url, ...name } }
}

/** A file as a URL: where it is, or with its bytes in it. */
export const urlOf = ({ data, mediaType }: Prompt.FilePartEncoded): string => {
  if (data instanceof URL) return data.href
  if (typeof data === "object" && "_tag" in data && data._tag === "URL") return data.href
  const base64 =
    typeof data === "string" ? data : data instanceof Uint8Array ? Buffer.from(data).toString("base64") : data.base64
  return /^(data|https?):/.test(base64) ? base64 : `data:${mediaType};base64,${base64}`
}

const writeResult = (part: Prompt.ToolResultPartEncoded, leftOut: Counts): string => {
  countOptions(part, leftOut)
  // The form has no place for the failure of a call: the text says it.
  if (part.isFailure) leftOut.add("marks of failure")
  return typeof part.result === "string" ? part.result : JSON.stringify(part.result ?? null)
}

const countOptions = (part: Part, leftOut: Counts): void => {
  if ("options" in part && part.options !== undefined && Object.keys(part.options).length > 0) {
    leftOut.add("providers' options of parts")
  }
}
