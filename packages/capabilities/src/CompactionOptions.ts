/**
 * How far a conversation may grow before it is compacted, and how far it is shrunk then.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** At this many input tokens or more a conversation is compacted before the next model call. */
  readonly maxInputTokens: number
  /** What it is shrunk to, in tokens (default: half the maximum). */
  readonly targetInputTokens?: number | undefined
  /** Tools whose latest call stays with its result, whatever else goes (default: `write_todos`). */
  readonly pinLatest?: ReadonlyArray<string> | undefined
  /**
   * What a compaction must save to be worth it, in tokens; and how far a conversation that could not be shrunk must grow
   * before it is tried again (default: an eighth of the maximum).
   */
  readonly stepTokens?: number | undefined
  /** How long a summary may be, in tokens (default: a quarter of the target, at most 2,048). */
  readonly maxSummaryTokens?: number | undefined
  /** How often a summary model is asked again after an error that says that this may help (default 2). */
  readonly summaryRetries?: number | undefined
  /** How many calls one compaction may make of one model (default 16); a longer history is left out instead. */
  readonly maxSummaryCalls?: number | undefined
  /** How long no summary model is asked after one that failed (default 1 minute). Meanwhile turns are left out. */
  readonly cooldown?: Duration.Input | undefined
}

/**
 * Options with every default in place.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settled {
  readonly maxInputTokens: number
  readonly targetInputTokens: number
  readonly pinLatest: ReadonlyArray<string>
  readonly stepTokens: number
  readonly maxSummaryTokens: number
  readonly summaryRetries: number
  readonly maxSummaryCalls: number
  readonly cooldown: Duration.Duration
}

/**
 * An option is out of bounds. Nothing was done: mend the option.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidCompactionOption extends Schema.TaggedError<InvalidCompactionOption>(
  "@colloquy/capabilities/InvalidCompactionOption"
)("InvalidCompactionOption", { option: Schema.String, value: Schema.String, reason: Schema.String }) {
  override get message() {
    return `${this.option} is ${this.value}: ${this.reason}`
  }
}

/**
 * The tool whose latest list of things to do stays, unless the options say otherwise.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultPinLatest: ReadonlyArray<string> = ["write_todos"]

/**
 * Checks options and puts the defaults in.
 *
 * **Details**
 *
 * Token counts are whole numbers of at least 1, and the target is below the maximum. `summaryRetries` may be 0.
 *
 * @category constructors
 * @since 0.1.0
 */
export const settle = (options: Options): Result.Result<Settled, InvalidCompactionOption> => {
  for (const [option, least] of bounds) {
    const value = options[option]
    if (value !== undefined && (!Number.isSafeInteger(value) || value < least)) {
      return fault(option, value, `it must be a whole number of at least ${least}`)
    }
  }
  const { maxInputTokens } = options
  const targetInputTokens = options.targetInputTokens ?? Math.max(1, Math.floor(maxInputTokens / 2))
  if (options.targetInputTokens !== undefined && targetInputTokens >= maxInputTokens) {
    return fault("targetInputTokens", targetInputTokens, `it must be below maxInputTokens, which is ${maxInputTokens}`)
  }
  const cooldown = Duration.fromInput(options.cooldown ?? "1 minute")
  if (cooldown._tag === "None") return fault("cooldown", String(options.cooldown), "it must be a duration")
  return Result.succeed({
    maxInputTokens,
    targetInputTokens,
    pinLatest: options.pinLatest ?? defaultPinLatest,
    stepTokens: options.stepTokens ?? Math.max(1, Math.floor(maxInputTokens / 8)),
    maxSummaryTokens: options.maxSummaryTokens ?? Math.max(1, Math.min(2048, Math.floor(targetInputTokens / 4))),
    summaryRetries: options.summaryRetries ?? 2,
    maxSummaryCalls: options.maxSummaryCalls ?? 16,
    cooldown: cooldown.value
  })
}

// --- internal ---

const bounds = [
  ["maxInputTokens", 1],
  ["targetInputTokens", 1],
  ["stepTokens", 1],
  ["maxSummaryTokens", 1],
  ["summaryRetries", 0],
  ["maxSummaryCalls", 1]
] as const

const fault = (option: string, value: number | string, reason: string) =>
  Result.fail(new InvalidCompactionOption({ option, value: String(value), reason }))
