/**
 * A model as summaries need one.
 *
 * @since 0.1.0
 */
import * as Usage from "@colloquy/session/Usage"
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/**
 * What is known of a model beside how to call it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Description {
  /** Recorded with the summaries that it makes. */
  readonly name?: string | undefined
  /** The most tokens of one request (default: the maximum of the compaction options). */
  readonly maxInputTokens?: number | undefined
  /** Its error says that the request is larger than its window: then the history is split into smaller parts. */
  readonly isContextOverflow?: ((error: AiError.AiError) => boolean) | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface SummaryModel extends Description {
  readonly generate: (
    prompt: Prompt.Prompt
  ) => Effect.Effect<{ readonly text: string; readonly usage: Usage.Usage }, AiError.AiError>
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const fromService = (model: LanguageModel.LanguageModel, description: Description = {}): SummaryModel => ({
  ...description,
  generate: (prompt) =>
    Effect.map(model.generateText({ prompt }), ({ text, usage }) => ({
      text,
      usage: Usage.fromResponse(encodeUsage(usage))
    }))
})

/**
 * From a layer, which is built for each call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromLayer = (
  layer: Layer.Layer<LanguageModel.LanguageModel>,
  description: Description = {}
): SummaryModel => ({
  ...description,
  generate: (prompt) =>
    Effect.provide(
      Effect.flatMap(LanguageModel.LanguageModel, (model) => fromService(model).generate(prompt)),
      layer
    )
})

// --- internal ---

const encodeUsage = Schema.encodeSync(Response.Usage)
