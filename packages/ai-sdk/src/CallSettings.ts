/**
 * How a model is to answer, whatever is asked of it: the settings that every call of a layer shares.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from "@ai-sdk/provider"

/**
 * **Details**
 *
 * A setting that is left out is not sent, and the provider's default holds. A setting that a model does not know is
 * dropped by its provider package, which says so among the warnings of the finish part.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallSettings {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly topK?: number | undefined
  readonly presencePenalty?: number | undefined
  readonly frequencyPenalty?: number | undefined
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly seed?: number | undefined
  /** How much the model thinks before it answers; providers translate it to their own levels or budgets. */
  readonly reasoning?: LanguageModelV4CallOptions["reasoning"]
  /** Sent with each request, behind the headers of the provider itself. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * By provider, as its package documents them: `{ anthropic: { thinking: { type: "enabled", budgetTokens: 4096 } } }`.
   *
   * **Gotchas**
   *
   * For models of OpenAI's Responses API `openai.store` is `false` unless it is set here: the whole history is sent each
   * time, reasoning as encrypted content. With `true` the package sends references to what OpenAI has kept instead, and
   * OpenAI keeps it for a limited time only.
   */
  readonly providerOptions?: SharedV4ProviderOptions | undefined
}
