/**
 * What writers count: how long an append takes, and how often one is recognised, fenced or refused.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"

/**
 * From a writer's append to its acknowledgement, retries included.
 *
 * @category metrics
 * @since 0.1.0
 */
export const appends = Metric.timer("colloquy_append_duration", {
  description: "From an append of a writer to its acknowledgement, retries included"
})

/**
 * Batches that were in the log already, and were confirmed.
 *
 * @category metrics
 * @since 0.1.0
 */
export const replays = Metric.counter("colloquy_replays", {
  description: "Batches that were in the log already and were confirmed",
  incremental: true
})

/**
 * Writers that were stopped, since somebody else had taken their conversation over.
 *
 * @category metrics
 * @since 0.1.0
 */
export const fences = Metric.counter("colloquy_fences", {
  description: "Appends that were refused since another producer has taken the conversation over",
  incremental: true
})

/**
 * Appends to another tail than the log's, or with the batch id of another content.
 *
 * @category metrics
 * @since 0.1.0
 */
export const conflicts = Metric.counter("colloquy_conflicts", {
  description: "Appends that were refused since the log is not what their producer thought",
  incremental: true
})
