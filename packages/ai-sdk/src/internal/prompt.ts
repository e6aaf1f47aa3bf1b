/**
 * Effect's prompt as the AI SDK's.
 */
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningFilePart,
  LanguageModelV4ToolApprovalResponsePart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart
} from "@ai-sdk/provider"
import * as Prompt from "effect/ai/Prompt"
import { compact } from "./compact.ts"
import { toBase64, toFileData } from "./files.ts"
import * as Foreign from "./foreign.ts"
import { isJsonObject, own, providerOptions, toJson } from "./metadata.ts"

export interface Options {
  /** Tools whose arguments may be something else than an object. */
  readonly takesText: (toolName: string) => boolean
  /** Where files of tool results go: into the result, or into a user message behind the results. */
  readonly toolResultFiles: "result" | "message"
}

/** Total: what no provider could take (an empty message, a request for approval) is left out. */
export const toPrompt = (prompt: Prompt.Prompt, options: Options): LanguageModelV4Prompt => {
  const messages: LanguageModelV4Prompt = []
  let files: Array<UserPart> = []
  const flushFiles = () => {
    if (files.length > 0) messages.push({ role: "user", content: files })
    files = []
  }
  for (const message of prompt.content) {
    // Results of one response stand together; their files come behind the last of them.
    if (message.role !== "tool") flushFiles()
    messages.push(...toMessages(message, options))
    if (options.toolResultFiles === "message") files.push(...filesOf(message))
  }
  flushFiles()
  return messages
}

// --- internal ---

type PartOf<Role extends LanguageModelV4Message["role"]> = Exclude<
  Extract<LanguageModelV4Message, { role: Role }>["content"],
  string
>[number]
type UserPart = PartOf<"user">
type AssistantPart = PartOf<"assistant">
type ToolPart = LanguageModelV4ToolResultPart | LanguageModelV4ToolApprovalResponsePart

const toMessages = (message: Prompt.Message, options: Options): Array<LanguageModelV4Message> => {
  const rest = providerOptions(message.options)
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content, ...rest }]
    case "user": {
      const content = message.content.map(toUserPart)
      return content.length === 0 ? [] : [{ role: "user", content, ...rest }]
    }
    case "assistant": {
      const content = message.content.flatMap((part) => toAssistantPart(part, options))
      // A result of our own tools among them belongs to a message of its own.
      const results = message.content.filter(isOwnResult).map((part) => toToolPart(part, options))
      return [
        ...(content.length === 0 ? [] : [{ role: "assistant" as const, content, ...rest }]),
        ...(results.length === 0 ? [] : [{ role: "tool" as const, content: results }])
      ]
    }
    case "tool": {
      const content = message.content.map((part) => toToolPart(part, options))
      return content.length === 0 ? [] : [{ role: "tool", content, ...rest }]
    }
  }
}

const toUserPart = (part: Prompt.UserMessagePart): UserPart =>
  part.type === "text" ? { type: "text", text: part.text, ...providerOptions(part.options) } : toFile(part)

const toAssistantPart = (part: Prompt.AssistantMessagePart, options: Options): Array<AssistantPart> => {
  const rest = providerOptions(part.options)
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text, ...rest }]
    case "reasoning":
      return [{ ...(Foreign.carried(part) ?? { type: "reasoning", text: part.text }), ...rest }]
    case "file":
      return [toModelFile(part)]
    case "tool-call": {
      const { id: toolCallId, name: toolName, params, providerExecuted } = part
      if (providerExecuted)
        return [{ type: "tool-call", toolCallId, toolName, input: params, providerExecuted, ...rest }]
      const input = options.takesText(toolName) ? params : toArguments(params)
      return [{ type: "tool-call", toolCallId, toolName, input, ...rest }]
    }
    case "tool-result": {
      if (!part.providerExecuted) return []
      const type = part.isFailure ? "error-json" : "json"
      const output = { type, value: own(part.options)["result"] ?? toJson(part.result) } as const
      return [{ type: "tool-result", toolCallId: part.id, toolName: part.name, output, ...rest }]
    }
    case "tool-approval-request":
      // Providers know the requests that they made; the answer names one.
      return []
  }
}

/** What the model wrote in place of arguments is shown to it again; providers take objects only. */
const toArguments = (params: unknown): unknown => {
  if (params === undefined || params === null) return {}
  return isJsonObject(params) ? params : { invalidArguments: params }
}

const isOwnResult = (part: Prompt.AssistantMessagePart | Prompt.ToolMessagePart): part is Prompt.ToolResultPart =>
  part.type === "tool-result" && !part.providerExecuted

const toToolPart = (part: Prompt.ToolMessagePart, options: Options): ToolPart => {
  const rest = providerOptions(part.options)
  if (part.type === "tool-approval-response") {
    const { approvalId, approved, reason } = part
    return { type: "tool-approval-response", approvalId, approved, ...compact({ reason }), ...rest }
  }
  return { type: "tool-result", toolCallId: part.id, toolName: part.name, output: toOutput(part, options), ...rest }
}

const toOutput = (part: Prompt.ToolResultPart, options: Options): LanguageModelV4ToolResultOutput => {
  if (part.modelOutput !== undefined) return toContent(part.modelOutput, part.isFailure, options)
  const value = toJson(part.result)
  // Effect's own result of a call that somebody refused.
  if (part.isFailure && isJsonObject(value) && value["type"] === "execution-denied") {
    const { reason } = value
    return { type: "execution-denied", ...(typeof reason === "string" ? { reason } : {}) }
  }
  if (typeof value === "string") return { type: part.isFailure ? "error-text" : "text", value }
  return { type: part.isFailure ? "error-json" : "json", value }
}

const toContent = (
  parts: ReadonlyArray<Prompt.ToolModelOutputPart>,
  isFailure: boolean,
  options: Options
): LanguageModelV4ToolResultOutput => {
  // Some providers put a list of parts into the result as JSON: what is text only goes as text.
  const isText = parts.every((part) => part.type === "text" && Object.keys(part.options).length === 0)
  if (isFailure) return { type: "error-text", value: Prompt.toolModelOutputToText(parts) }
  if (isText || options.toolResultFiles === "message") {
    return { type: "text", value: Prompt.toolModelOutputToText(parts) }
  }
  return {
    type: "content",
    value: parts.map((part) => {
      if (part.type === "text") return { type: "text", text: part.text, ...providerOptions(part.options) }
      return { ...toFile(part), data: toBase64(toFileData(part.data)) }
    })
  }
}

const filesOf = (message: Prompt.Message): Array<UserPart> => {
  if (message.role !== "tool" && message.role !== "assistant") return []
  return [...message.content].filter(isOwnResult).flatMap(({ id, modelOutput = [], name }) => {
    const files = modelOutput.filter((piece) => piece.type === "file")
    return files.length === 0
      ? []
      : [{ type: "text" as const, text: `Files of the result of ${name} (${id}):` }, ...files.map(toFile)]
  })
}

const toFile = (part: Prompt.FilePart): LanguageModelV4FilePart => ({
  type: "file",
  mediaType: part.mediaType,
  data: toFileData(part.data),
  ...compact({ filename: part.fileName }),
  ...providerOptions(part.options)
})

const toModelFile = (part: Prompt.FilePart): LanguageModelV4FilePart | LanguageModelV4ReasoningFilePart => {
  const { data, isReasoning, mediaType } = Foreign.originOfFile(part)
  const file = { mediaType, data: toFileData(data), ...providerOptions(part.options) }
  return isReasoning
    ? { type: "reasoning-file", ...file }
    : { type: "file", ...file, ...compact({ filename: part.fileName }) }
}
