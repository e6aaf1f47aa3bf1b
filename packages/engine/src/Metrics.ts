/**
 * What runs count: by outcome, steps, tool calls, tokens.
 *
 * @since 0.1.0
 */
import type * as Payload from "@colloquy/session/Payload"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

/**
 * Runs that stopped, by `outcome`: those of records, and `awaiting-approval`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const runs = Metric.counter("colloquy_runs", { description: "runs by outcome", incremental: true })

/**
 * Model responses that were stored, by `model`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const steps = Metric.counter("colloquy_steps", { description: "model responses stored", incremental: true })

/**
 * Tool calls that were settled, by `outcome`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const toolCalls = Metric.counter("colloquy_tool_calls", {
  description: "tool calls by outcome",
  incremental: true
})

/**
 * Tokens that providers reported, by `direction` (`input`, `output`).
 *
 * @category metrics
 * @since 0.1.0
 */
export const tokens = Metric.counter("colloquy_tokens", { description: "tokens by direction", incremental: true })

/**
 * Writes of runs that their store did not take at once.
 *
 * @category metrics
 * @since 0.1.0
 */
export const unstored = Metric.counter("colloquy_unstored_writes", {
  description: "writes kept for later, since the store failed",
  incremental: true
})

/**
 * Counts what a record says.
 *
 * @category counting
 * @since 0.1.0
 */
export const count = (payload: Payload.Payload): Effect.Effect<void> => {
  switch (payload._tag) {
    case "ModelResponded": {
      const { inputTokens, outputTokens } = payload.usage ?? { inputTokens: {}, outputTokens: {} }
      return Effect.all(
        [
          Metric.update(Metric.withAttributes(steps, { model: payload.model ?? "unknown" }), 1),
          Metric.update(Metric.withAttributes(tokens, { direction: "input" }), inputTokens.total ?? 0),
          Metric.update(Metric.withAttributes(tokens, { direction: "output" }), outputTokens.total ?? 0)
        ],
        { discard: true }
      )
    }
    case "ToolCallSettled":
      return Metric.update(Metric.withAttributes(toolCalls, { outcome: payload.outcome }), 1)
    case "RunEnded":
      return Metric.update(Metric.withAttributes(runs, { outcome: payload.outcome }), 1)
    case "RunSuspended":
      return Metric.update(Metric.withAttributes(runs, { outcome: "awaiting-approval" }), 1)
    default:
      return Effect.void
  }
}
