/**
 * A request of Effect as the AI SDK's call.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderOptions } from "@ai-sdk/provider"
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Result from "effect/Result"
import * as SchemaAST from "effect/SchemaAST"
import type { CallSettings } from "../CallSettings.ts"
import { compact } from "./compact.ts"
import { toPrompt } from "./prompt.ts"
import { takesText, toTools } from "./tools.ts"

export interface Options extends CallSettings {
  readonly codecTransformer: LanguageModel.CodecTransformer
  readonly toolResultFiles: "result" | "message"
}

/**
 * The whole prompt is sent, always: what Effect knows of a response that the provider keeps (`previousResponseId`) is
 * not used.
 */
export const toCall = (
  model: LanguageModelV4,
  request: LanguageModel.ProviderOptions,
  options: Options
): Result.Result<LanguageModelV4CallOptions, AiError.AiErrorReason> =>
  Result.try({
    try: () => ({
      prompt: toPrompt(request.prompt, {
        takesText: takesText(request.tools),
        toolResultFiles: options.toolResultFiles
      }),
      ...toTools(request.tools, request.toolChoice, options.codecTransformer),
      ...toResponseFormat(request.responseFormat, options.codecTransformer),
      ...compact({
        maxOutputTokens: options.maxOutputTokens,
        temperature: options.temperature,
        topP: options.topP,
        topK: options.topK,
        presencePenalty: options.presencePenalty,
        frequencyPenalty: options.frequencyPenalty,
        seed: options.seed,
        reasoning: options.reasoning,
        stopSequences: options.stopSequences === undefined ? undefined : [...options.stopSequences],
        headers: options.headers === undefined ? undefined : { ...options.headers },
        providerOptions: withOwnHistory(model, options.providerOptions)
      })
    }),
    catch: (error) =>
      new AiError.UnsupportedSchemaError({ description: error instanceof Error ? error.message : String(error) })
  })

// --- internal ---

const toResponseFormat = (
  format: LanguageModel.ProviderOptions["responseFormat"],
  transform: LanguageModel.CodecTransformer
): Pick<LanguageModelV4CallOptions, "responseFormat"> => {
  if (format.type === "text") return {}
  const { jsonSchema } = transform(format.schema)
  const description = SchemaAST.resolveDescription(format.schema.ast)
  return { responseFormat: { type: "json", name: format.objectName, schema: jsonSchema, ...compact({ description }) } }
}

/**
 * History is what we send, not what a provider keeps: by default its package sends references to items that OpenAI
 * forgets after a while. https://platform.openai.com/docs/guides/conversation-state
 */
const withOwnHistory = (
  { provider }: LanguageModelV4,
  options: SharedV4ProviderOptions | undefined
): SharedV4ProviderOptions | undefined => {
  if (!provider.endsWith(".responses")) return options
  // Azure's package takes options of either name, and the first it finds as a whole.
  const isOfAzure = provider.includes("azure") && (options?.["azure"] ?? options?.["openai"]) === options?.["azure"]
  const key = isOfAzure ? "azure" : "openai"
  return { ...options, [key]: { store: false, ...options?.[key] } }
}
