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
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { compact } from "./compact.ts"
import * as Foreign from "./foreign.ts"
import { isJsonObject, metadata, toJson } from "./metadata.ts"

export interface Declared {
  readonly tools: ReadonlyMap<string, Tool.Any>
  /** Whether calls of tools that are not among them are the caller's business. */
  readonly isDeferred: boolean
  readonly codecTransformer: LanguageModel.CodecTransformer
}

/** Throws where a schema has no JSON Schema. */
export const toTools = (
  tools: ReadonlyArray<Tool.Any>,
  choice: LanguageModel.ProviderOptions["toolChoice"],
  codecTransformer: LanguageModel.CodecTransformer
): Pick<LanguageModelV4CallOptions, "toolChoice" | "tools"> =>
  tools.length === 0
    ? {}
    : { tools: tools.map((tool) => toTool(tool, codecTransformer)), toolChoice: toToolChoice(choice) }

/** Whether a call's arguments are a text of the provider's own kind rather than an object. */
export const takesText = (tools: ReadonlyArray<Tool.Any>) => {
  const names = new Set(tools.filter(Tool.isProviderDefined).map(({ name }) => name))
  return (name: string): boolean => names.has(name)
}

/** Whether a call was surely written to its end, in a response that was cut off. */
export const isComplete = (call: LanguageModelV4ToolCall): boolean =>
  call.input.trim() !== "" && isJsonObject(parseArguments(call.input))

export const toToolCall = (
  call: LanguageModelV4ToolCall,
  { codecTransformer, isDeferred, tools }: Declared
): Result.Result<Response.ToolCallPartEncoded | Response.ReasoningPartEncoded, AiError.AiErrorReason> => {
  const { input, providerExecuted = false, providerMetadata, toolCallId, toolName } = call
  const tool = tools.get(toolName)
  const params = parseArguments(input)
  if (tool === undefined) {
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
    params: tool !== undefined && isStrict(tool) ? fromStrict(params, tool, codecTransformer) : params,
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

/** Arguments as the model wrote them; a text that is not JSON is given as it stands. */
const parseArguments = (input: string): unknown => {
  if (input.trim() === "") return {}
  try {
    return Tool.unsafeSecureJsonParse(input)
  } catch {
    return input
  }
}

const toTool = (
  tool: Tool.Any,
  codecTransformer: LanguageModel.CodecTransformer
): LanguageModelV4FunctionTool | LanguageModelV4ProviderTool =>
  Tool.isProviderDefined(tool)
    ? { type: "provider", id: tool.id, name: tool.name, args: toArgs(tool.args) }
    : {
        type: "function",
        name: tool.name,
        inputSchema: toInputSchema(tool, isStrict(tool) ? codecTransformer : LanguageModel.defaultCodecTransformer),
        ...compact({ description: Tool.getDescription(tool), strict: Tool.getStrictMode(tool) })
      }

/** Providers want an object with properties at the root, and no reference there. */
const toInputSchema = (
  tool: Tool.Any,
  transformer: LanguageModel.CodecTransformer
): LanguageModelV4FunctionTool["inputSchema"] => {
  const schema: LanguageModelV4FunctionTool["inputSchema"] = Tool.getJsonSchema(tool, { transformer })
  return { type: "object", ...(schema.anyOf === undefined ? { properties: {} } : {}), ...schema }
}

const isStrict = (tool: Tool.Any): boolean => Tool.getStrictMode(tool) === true && !Tool.isProviderDefined(tool)

/** A strict schema is the provider's variant of the tool's own (optional is nullable): arguments by it are turned back. */
const fromStrict = (params: unknown, tool: Tool.Any, codecTransformer: LanguageModel.CodecTransformer): unknown => {
  const { codec } = codecTransformer(tool.parametersSchema)
  const turned = Effect.flatMap(
    Schema.decodeUnknownEffect(codec)(params),
    Schema.encodeUnknownEffect(tool.parametersSchema)
  )
  // The type of any tool does not say which services its schema needs; one that needs some fails here.
  const exit = Effect.runSyncExit(turned as Effect.Effect<unknown, Schema.SchemaError>)
  // What does not fit stays as it is: whoever runs the tool says what is wrong with it.
  return Exit.isSuccess(exit) ? exit.value : params
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
