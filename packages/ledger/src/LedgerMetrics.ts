/**
 * What a ledger counts.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"

/**
 * Turns by what became of them, as `outcome`: `inserted`, `replaced`, `duplicate`, `revised`, `refused`, `failed`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const turns = Metric.counter("colloquy_ledger_turns", {
  description: "turns by what became of them in the ledger",
  incremental: true
})

/**
 * Entries that were removed, by `cause`: `trimmed`, `swept`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const removed = Metric.counter("colloquy_ledger_removed", {
  description: "ledger entries removed, by cause",
  incremental: true
})

/**
 * Reads and writes of a ledger that failed, by `operation`: `read`, `write`, `sweep`, `catch-up`, `condense`.
 *
 * @category metrics
 * @since 0.1.0
 */
export const failures = Metric.counter("colloquy_ledger_failures", {
  description: "ledger reads and writes that failed",
  incremental: true
})

/**
 * Rewrites by `what` (`value`, `account`) and `outcome`: `made`, `rejected` (too long, empty, or without an identifier),
 * `unavailable` (no model, no budget, failed, or too slow).
 *
 * @category metrics
 * @since 0.1.0
 */
export const rewrites = Metric.counter("colloquy_ledger_rewrites", {
  description: "rewrites by the auxiliary model, by what and outcome",
  incremental: true
})

/**
 * Bytes of a model call's prompt, by `part`: `system`, `user`, `tools`, `ledger`. The ledger's share lies in the user's.
 *
 * @category metrics
 * @since 0.1.0
 */
export const promptBytes = Metric.histogram("colloquy_prompt_bytes", {
  description: "bytes of prompts, by part",
  boundaries: [0, 1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000]
})

/**
 * Counts one, or more, with these attributes.
 *
 * @category counting
 * @since 0.1.0
 */
export const count = (metric: Metric.Counter<number>, attributes: { readonly [name: string]: string }, amount = 1) =>
  Metric.update(Metric.withAttributes(metric, attributes), amount)

/**
 * Notes the bytes of a part of a prompt.
 *
 * @category counting
 * @since 0.1.0
 */
export const bytes = (part: "system" | "user" | "tools" | "ledger", amount: number) =>
  Metric.update(Metric.withAttributes(promptBytes, { part }), amount)
