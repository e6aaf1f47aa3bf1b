/**
 * Tokens that model calls used, as providers report them.
 *
 * @since 0.1.0
 */
import type * as Response from "effect/ai/Response"
import * as Schema from "effect/Schema"

const Tokens = Schema.optionalKey(Schema.Natural)

/**
 * Token counts of one or more model calls, in the form of Effect AI. What a provider did not report is absent.
 *
 * @category models
 * @since 0.1.0
 */
export const Usage = Schema.Struct({
  inputTokens: Schema.Struct({ uncached: Tokens, total: Tokens, cacheRead: Tokens, cacheWrite: Tokens }),
  outputTokens: Schema.Struct({ total: Tokens, text: Tokens, reasoning: Tokens })
})
/** @since 0.1.0 */
export interface Usage extends Schema.Schema.Type<typeof Usage> {}

/**
 * Nothing used, nothing reported.
 *
 * @category constants
 * @since 0.1.0
 */
export const empty: Usage = { inputTokens: {}, outputTokens: {} }

/**
 * The sum of two usages; a count is absent only when both lack it.
 *
 * @category combining
 * @since 0.1.0
 */
export const add = (self: Usage, that: Usage): Usage => ({
  inputTokens: addCounts(self.inputTokens, that.inputTokens),
  outputTokens: addCounts(self.outputTokens, that.outputTokens)
})

/**
 * From the usage of an Effect AI response; counts that are not natural numbers are left out.
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromResponse = (usage: typeof Response.Usage.Encoded): Usage => ({
  inputTokens: addCounts({}, usage.inputTokens),
  outputTokens: addCounts({}, usage.outputTokens)
})

// --- internal ---

type Counts<K extends string> = { readonly [P in K]?: number | undefined }

const addCounts = <K extends string>(self: Counts<K>, that: Counts<K>): { readonly [P in K]?: number } => {
  const sum: { [P in K]?: number } = {}
  for (const counts of [self, that]) {
    for (const key in counts) {
      const count = counts[key]
      if (isNatural(count)) sum[key] = (sum[key] ?? 0) + count
    }
  }
  return sum
}

const isNatural = (count: unknown): count is number => Number.isSafeInteger(count) && (count as number) >= 0
