/**
 * How a response ended, and what it cost.
 */
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning
} from "@ai-sdk/provider"
import type * as Response from "effect/ai/Response"
import { metadata } from "./metadata.ts"

export interface Finish {
  readonly finishReason: LanguageModelV4FinishReason
  readonly usage: LanguageModelV4Usage
  readonly providerMetadata?: SharedV4ProviderMetadata
  readonly warnings: ReadonlyArray<SharedV4Warning>
}

/** The provider's own words for the reason and the usage stay beside ours. */
export const toFinish = (finish: Finish): Response.FinishPartEncoded => ({
  type: "finish",
  reason: toFinishReason(finish.finishReason),
  usage: toUsage(finish.usage),
  ...metadata(finish.providerMetadata, {
    finishReason: finish.finishReason.raw,
    usage: finish.usage.raw,
    warnings: finish.warnings.length === 0 ? undefined : finish.warnings
  })
})

// --- internal ---

const toFinishReason = ({ raw, unified }: LanguageModelV4FinishReason): Response.FinishReason => {
  // Anthropic waits to be called again; its package says `stop` or `other`.
  // https://docs.anthropic.com/en/api/handling-stop-reasons
  if (raw === "pause_turn" || raw === "compaction") return "pause"
  if (unified === "interrupted") return "unknown"
  return unified === "other" && raw === undefined ? "unknown" : unified
}

const toUsage = ({ inputTokens, outputTokens }: LanguageModelV4Usage): Response.FinishPartEncoded["usage"] => ({
  inputTokens: {
    total: count(inputTokens.total),
    uncached: count(inputTokens.noCache),
    cacheRead: count(inputTokens.cacheRead),
    cacheWrite: count(inputTokens.cacheWrite)
  },
  outputTokens: {
    total: count(outputTokens.total),
    text: count(outputTokens.text),
    reasoning: count(outputTokens.reasoning)
  }
})

/** Compatible servers report null and NaN; one such figure must not cost the response. */
const count = (value: number | null | undefined): number | undefined =>
  Number.isSafeInteger(value) ? (value ?? undefined) : undefined
