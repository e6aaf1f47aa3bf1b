/**
 * How far a run may go, and what it does about a store that fails.
 *
 * @since 0.1.0
 */

/**
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** How many responses with tool calls a run may have before it must answer. */
  readonly maxToolRounds: number
  /** How many handlers of a response run at once. */
  readonly toolConcurrency: number
  /** How often a model call is repeated after an error that says it may be. */
  readonly modelRetries: number
}

/**
 * Some of the limits, where the others stay as they are.
 *
 * @category models
 * @since 0.1.0
 */
export type LimitOptions = { readonly [K in keyof Limits]?: Limits[K] | undefined }

/**
 * What a run does when the store fails.
 *
 * - `buffer`: it goes on, keeps what could not be written in order, and tries again under the same batch ids; a handler
 *   that is not read-only waits until its start is stored. What the run returns says whether everything was stored.
 * - `strict`: it stops, and can be resumed.
 *
 * @category models
 * @since 0.1.0
 */
export type Persistence = "buffer" | "strict"

/**
 * @category constants
 * @since 0.1.0
 */
export const defaults: Limits = { maxToolRounds: 50, toolConcurrency: 4, modelRetries: 3 }

/**
 * How many handlers may run at once: the starts of all are stored in the batch of the response that asks for them.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxToolConcurrency = 64

/**
 * What is wrong with the first limit that is out of bounds; undefined when all are within.
 *
 * @category reading
 * @since 0.1.0
 */
export const fault = (
  limits: LimitOptions
): { readonly option: string; readonly value: number; readonly reason: string } | undefined => {
  for (const [option, least, most] of bounds) {
    const value = limits[option]
    if (value === undefined) continue
    if (!Number.isSafeInteger(value) || value < least) {
      return { option, value, reason: `it must be a whole number of at least ${least}` }
    }
    if (value > most) return { option, value, reason: `it may be at most ${most}` }
  }
  return undefined
}

// --- internal ---

const bounds = [
  ["maxToolRounds", 1, Number.MAX_SAFE_INTEGER],
  ["toolConcurrency", 1, maxToolConcurrency],
  ["modelRetries", 0, 100]
] as const
