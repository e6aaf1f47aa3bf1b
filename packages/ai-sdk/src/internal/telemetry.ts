/**
 * What a span tells of a call, by OpenTelemetry's conventions for generative AI:
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
 */
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type * as Response from "effect/ai/Response"
import { addGenAIAnnotations } from "effect/ai/Telemetry"
import type { Span } from "effect/Tracer"
import type { CallSettings } from "../CallSettings.ts"

export const annotateRequest = (span: Span, model: LanguageModelV4, settings: CallSettings): void =>
  addGenAIAnnotations(span, {
    provider: { name: model.provider.split(".")[0] },
    operation: { name: "chat" },
    request: {
      model: model.modelId,
      temperature: settings.temperature,
      topP: settings.topP,
      topK: settings.topK,
      maxTokens: settings.maxOutputTokens,
      frequencyPenalty: settings.frequencyPenalty,
      presencePenalty: settings.presencePenalty,
      seed: settings.seed,
      stopSequences: settings.stopSequences
    }
  })

export const annotateResponse = (
  span: Span,
  parts: ReadonlyArray<Response.PartEncoded | Response.StreamPartEncoded>
): void => {
  for (const part of parts) {
    if (part.type === "response-metadata") {
      addGenAIAnnotations(span, { response: { id: part.id, model: part.modelId } })
    }
    if (part.type === "finish") {
      const { inputTokens, outputTokens } = part.usage
      addGenAIAnnotations(span, {
        response: { finishReasons: [part.reason] },
        usage: { inputTokens: inputTokens.total, outputTokens: outputTokens.total }
      })
    }
  }
}
