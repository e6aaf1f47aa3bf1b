/**
 * Tools as providers are told of them, and their calls and results as Effect reads them.
 */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolChoice,
  LanguageModelV4ToolResult
} from "@ai-sdk/provider"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { compact } from "./compact.ts"
import * as Foreign from "./foreign.ts"
import { isJsonObject, metadata, toJson } from "./metadata.ts"

/**
 * The tools of a call by name, and whether calls of others are the caller's business.
 */
export interface Declared {
  readonly tools: ReadonlyMap<string, Tool.Any>
  readonly isDeferred: boolean
}

/** Throws where a schema has no JSON Schema. */
export const toTools = (
  tools: ReadonlyArray<Tool.Any>,
  choice: LanguageModel.ProviderOptions["toolChoice"]
): Pick<LanguageModelV4CallOptions, "toolChoice" | "tools"> =>
  tools.length === 0 ? {} : { tools: tools.map(toTool), toolChoice: toToolChoice(choice) }

/** Whether a call's arguments are a text of the provider's own kind rather than an object. */
export const takesText = (tools: ReadonlyArray<Tool.Any>) => {
  const names = new Set(tools.filter(Tool.isProviderDefined).map(({ name }) => name))
  return (name: string): boolean => names.has(name)
}

/** Arguments as the model wrote them; a text that is not JSON is given as it stands. */
export const parseArguments = (input: string): unknown => {
  if (input.trim() === "") return {}
  try {
    return Tool.unsafeSecureJsonParse(input)
  } catch {
    return input
  }
}

/** Whether a call was surely written to its end, in a response that was cut off. */
export const isComplete = (call: LanguageModelV4ToolCall): boolean =>
  call.input.trim() !== "" && isJsonObject(parseArguments(call.input))

export const toToolCall = (
  call: LanguageModelV4ToolCall,
  { isDeferred, tools }: Declared
): Result.Result<Response.ToolCallPartEncoded | Response.ReasoningPartEncoded, AiError.AiErrorReason> => {
  const { input, providerExecuted = false, providerMetadata, toolCallId, toolName } = call
  const params = parseArguments(input)
  if (!tools.has(toolName)) {
    // Effect takes results of declared tools only, and a call without its result is no use to anybody.
    if (providerExecuted) {
      const part = { type: "tool-call", toolCallId, toolName, input: toJson(params), providerExecuted } as const
      return Result.succeed(Foreign.carry(part, providerMetadata))
    }
    if (!isDeferred) {
      return Result.fail(new AiError.ToolNotFoundError({ toolName, availableTools: [...tools.keys()] }))
    }
  }
  return Result.succeed({
    type: "tool-call",
    id: toolCallId,
    name: toolName,
    params,
    providerExecuted,
    ...metadata(providerMetadata, { isDynamic: call.dynamic === true ? true : undefined })
  })
}

/** All results that come from a provider are of tools that it ran itself. */
export const toToolResult = (
  result: LanguageModelV4ToolResult,
  { tools }: Declared
): Response.ToolResultPartEncoded | Response.ReasoningPartEncoded => {
  const { isError = false, preliminary = false, providerMetadata, toolCallId, toolName } = result
  const value = toJson(result.result)
  const tool = tools.get(toolName)
  if (tool === undefined) {
    const output = { type: isError ? "error-json" : "json", value } as const
    return Foreign.carry({ type: "tool-result", toolCallId, toolName, output }, providerMetadata)
  }
  // A failure that the tool does not declare must not cost the response: it becomes one that every tool has.
  const isUnknownFailure = isError && !Schema.is(Schema.toEncoded(tool.failureSchema))(value)
  return {
    type: "tool-result",
    id: toolCallId,
    name: toolName,
    isFailure: isError,
    result: isUnknownFailure ? { type: "execution-interrupted", reason: JSON.stringify(value) } : value,
    providerExecuted: true,
    preliminary,
    ...metadata(providerMetadata, { result: isUnknownFailure ? value : undefined })
  }
}

// --- internal ---

const toTool = (tool: Tool.Any): LanguageModelV4FunctionTool | LanguageModelV4ProviderTool =>
  Tool.isProviderDefined(tool)
    ? { type: "provider", id: tool.id, name: tool.name, args: toArgs(tool.args) }
    : {
        type: "function",
        name: tool.name,
        inputSchema: toInputSchema(tool),
        ...compact({ description: Tool.getDescription(tool), strict: Tool.getStrictMode(tool) })
      }

/** Providers want an object at the root, and say so with an error; a reference there is followed. */
const toInputSchema = (tool: Tool.Any): LanguageModelV4FunctionTool["inputSchema"] => {
  const schema = Tool.getJsonSchema(tool, { transformer: LanguageModel.defaultCodecTransformer })
  return "type" in schema ? schema : { type: "object", ...schema }
}

/** The failure mode is Effect's and stands among the arguments. */
const toArgs = (args: unknown): Record<string, unknown> => {
  if (!isJsonObject(args)) return {}
  const { failureMode: _, ...rest } = args
  return rest
}

/** With `oneOf` Effect has left the other tools out already. */
const toToolChoice = (choice: LanguageModel.ProviderOptions["toolChoice"]): LanguageModelV4ToolChoice => {
  if (typeof choice === "string") return { type: choice }
  if ("tool" in choice) return { type: "tool", toolName: choice.tool }
  return { type: choice.mode ?? "auto" }
}
