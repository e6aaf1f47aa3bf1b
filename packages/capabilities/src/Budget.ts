/**
 * What a run, and a conversation, may use: tokens, money, tool calls, time. A pure tally over records, and a check of it
 * at the places between two model calls.
 *
 * @since 0.1.0
 */
import type { RunId } from "@colloquy/session/Ids"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { empty, type Prices, type Spent, type Tally } from "./BudgetTally.ts"

export * from "./BudgetTally.ts"

/**
 * How much may be used. What is absent is not limited.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** Input and output tokens of all model calls, as the providers report them. */
  readonly tokens?: number | undefined
  /** In the currency of the prices. */
  readonly cost?: number | undefined
  /** Calls that models have made of tools which are not the provider's own. */
  readonly toolCalls?: number | undefined
  /** While runs go on; the time in which they wait for people, or lie unfinished after a crash, does not count. */
  readonly wallTime?: Duration.Input | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Budget {
  readonly perRun?: Limits | undefined
  readonly perConversation?: Limits | undefined
  /** Needed by a limit of cost. */
  readonly prices?: Prices | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Reason {
  readonly scope: "run" | "conversation"
  readonly limit: keyof Spent
  /** Milliseconds where the limit is one of time. */
  readonly used: number
  readonly maximum: number
}

/**
 * - `Within`: go on.
 * - `SoftLanding`: a limit was reached in this run. The model is called once more, for a last answer without tools.
 * - `Exhausted`: the last answer was given, or the conversation had reached its limit before this run: call no model.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = Data.TaggedEnum<{
  Within: {}
  SoftLanding: { readonly reason: Reason }
  Exhausted: { readonly reason: Reason }
}>

/**
 * Constructors and matchers of {@link Verdict}.
 *
 * @category models
 * @since 0.1.0
 */
export const Verdict = Data.taggedEnum<Verdict>()

/**
 * A limit or a price is out of bounds. Mend the budget.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidBudget extends Schema.TaggedError<InvalidBudget>("@colloquy/capabilities/InvalidBudget")(
  "InvalidBudget",
  { option: Schema.String, reason: Schema.String }
) {
  override get message() {
    return `${this.option}: ${this.reason}`
  }
}

/**
 * The budget, if its limits are more than zero, its prices are no less, and a limit of cost has prices.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (budget: Budget): Result.Result<Budget, InvalidBudget> => {
  for (const scope of ["perRun", "perConversation"] as const) {
    const limits = budget[scope] ?? {}
    for (const limit of ["tokens", "cost", "toolCalls", "wallTime"] as const) {
      const maximum = maximumOf(limits, limit)
      if (maximum !== undefined && !(maximum > 0)) return invalid(`${scope}.${limit}`, "it must be more than 0")
    }
    if (limits.cost !== undefined && budget.prices === undefined) return invalid(`${scope}.cost`, "it needs prices")
  }
  const { models = {}, otherwise } = budget.prices ?? {}
  for (const [model, price] of Object.entries({ ...models, ...(otherwise === undefined ? {} : { otherwise }) })) {
    for (const [kind, value] of Object.entries(price)) {
      if (typeof value === "number" && !(value >= 0))
        return invalid(`prices.${model}.${kind}`, "it must not be below 0")
    }
  }
  return Result.succeed(budget)
}

/**
 * Whether a run may go on, at this time (milliseconds since 1970). `landed`: it has been told to land, and has.
 *
 * @category checking
 * @since 0.1.0
 */
export const check = (
  budget: Budget,
  tally: Tally,
  run: { readonly runId: RunId; readonly now: number; readonly landed?: boolean | undefined }
): Verdict => {
  const own = tally.runs.get(run.runId)
  const active = own?.activeSince === undefined ? 0 : Math.max(0, run.now - own.activeSince)
  const scopes = [
    ["run", budget.perRun, own?.spent ?? empty.conversation],
    ["conversation", budget.perConversation, tally.conversation]
  ] as const
  for (const [scope, limits, spent] of scopes) {
    const reached = reachedBy(limits, { ...spent, wallTime: spent.wallTime + active })
    if (reached === undefined) continue
    const reason: Reason = { scope, ...reached }
    const wasOver = scope === "conversation" && own !== undefined && reachedBy(limits, own.before) !== undefined
    return run.landed === true || wasOver ? Verdict.Exhausted({ reason }) : Verdict.SoftLanding({ reason })
  }
  return Verdict.Within()
}

// --- internal ---

const invalid = (option: string, reason: string) => Result.fail(new InvalidBudget({ option, reason }))

const maximumOf = (limits: Limits, limit: keyof Spent): number | undefined => {
  if (limit !== "wallTime") return limits[limit]
  return limits.wallTime === undefined ? undefined : Duration.toMillis(limits.wallTime)
}

const reachedBy = (limits: Limits | undefined, spent: Spent): Omit<Reason, "scope"> | undefined => {
  for (const limit of ["tokens", "cost", "toolCalls", "wallTime"] as const) {
    const maximum = maximumOf(limits ?? {}, limit)
    if (maximum !== undefined && spent[limit] >= maximum) return { limit, used: spent[limit], maximum }
  }
  return undefined
}
