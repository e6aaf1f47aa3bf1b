/**
 * What a run, and a conversation, may use: tokens, money, tool calls, time. A pure tally over records, and a check of it
 * at the places between two model calls.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type * as Usage from "@colloquy/session/Usage"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { factsOf } from "./Exchanges.ts"

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
 * What a million tokens cost. Tokens read from and written to a cache cost as input unless they have prices of their own.
 *
 * @category models
 * @since 0.1.0
 */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
}

/**
 * Prices by the model's recorded name; `otherwise` is for every other model, so that none is free by mistake.
 *
 * @category models
 * @since 0.1.0
 */
export interface Prices {
  readonly models: { readonly [model: string]: Price }
  readonly otherwise: Price
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
export interface Spent {
  readonly tokens: number
  readonly cost: number
  readonly toolCalls: number
  /** Milliseconds. */
  readonly wallTime: number
}

/**
 * What a conversation has used so far, and each of its runs that is not over. Does not grow with the log.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tally {
  readonly conversation: Spent
  readonly runs: ReadonlyMap<string, RunTally>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface RunTally {
  readonly spent: Spent
  /** What the conversation had used before this run. */
  readonly before: Spent
  /** Since when it goes on, in milliseconds since 1970; undefined while it waits for people. */
  readonly activeSince: number | undefined
  /** The time of its last record. */
  readonly lastAt: number
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
 * Nothing used.
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty: Tally = {
  conversation: { tokens: 0, cost: 0, toolCalls: 0, wallTime: 0 },
  runs: new Map()
}

/**
 * The tally behind more records, in order.
 *
 * **Gotchas**
 *
 * A limit of a conversation is checked against what the tally has seen. The records that a run has at hand begin at the
 * last summary; whoever limits whole conversations counts their whole logs once, when a run starts.
 *
 * @category counting
 * @since 0.1.0
 */
export const advance = (tally: Tally, records: Iterable<CanonicalRecord>, prices?: Prices): Tally => {
  let next = tally
  for (const record of records) next = one(next, record, prices)
  return next
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

/**
 * What the tokens of a model call cost.
 *
 * @category counting
 * @since 0.1.0
 */
export const costOf = (
  { inputTokens, outputTokens }: Usage.Usage,
  model: string | undefined,
  prices: Prices
): number => {
  const price = (model === undefined ? undefined : prices.models[model]) ?? prices.otherwise
  const { cacheRead = 0, cacheWrite = 0, uncached } = inputTokens
  const total = inputTokens.total ?? (uncached ?? 0) + cacheRead + cacheWrite
  const plain = uncached ?? Math.max(0, total - cacheRead - cacheWrite)
  const millionths =
    plain * price.input +
    cacheRead * (price.cacheRead ?? price.input) +
    cacheWrite * (price.cacheWrite ?? price.input) +
    (outputTokens.total ?? 0) * price.output
  return millionths / 1_000_000
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

const add = (spent: Spent, more: Partial<Spent>): Spent => ({
  tokens: spent.tokens + (more.tokens ?? 0),
  cost: spent.cost + (more.cost ?? 0),
  toolCalls: spent.toolCalls + (more.toolCalls ?? 0),
  wallTime: spent.wallTime + (more.wallTime ?? 0)
})

const used = (usage: Usage.Usage | undefined, model: string | undefined, prices: Prices | undefined): Partial<Spent> =>
  usage === undefined
    ? {}
    : {
        tokens: (usage.inputTokens.total ?? 0) + (usage.outputTokens.total ?? 0),
        cost: prices === undefined ? 0 : costOf(usage, model, prices)
      }

const one = (tally: Tally, record: CanonicalRecord, prices: Prices | undefined): Tally => {
  const facts = factsOf(record)
  const { at } = record
  switch (facts._tag) {
    case "RunStarted":
      return withRun(tally, facts.runId, {
        spent: empty.conversation,
        before: tally.conversation,
        activeSince: at,
        lastAt: at
      })
    case "RunResumed": {
      // After a crash nobody has said when it stopped: its last record is the last that is known of it.
      const stopped = rest(tally, facts.runId, tally.runs.get(facts.runId)?.lastAt ?? at)
      const run = stopped.runs.get(facts.runId)
      return run === undefined ? stopped : withRun(stopped, facts.runId, { ...run, activeSince: at, lastAt: at })
    }
    case "RunSuspended":
      return rest(tally, facts.runId, at)
    case "RunEnded": {
      const { conversation, runs } = rest(tally, facts.runId, at)
      return { conversation, runs: new Map([...runs].filter(([runId]) => runId !== facts.runId)) }
    }
    case "ModelResponded": {
      const calls = "content" in facts ? Payload.declaredCalls(facts.content) : facts.calls
      const toolCalls = calls.filter(({ providerExecuted }) => !providerExecuted).length
      return spend(tally, facts.runId, at, { ...used(facts.usage, facts.model, prices), toolCalls })
    }
    case "Compacted":
      return spend(tally, [...tally.runs.keys()].at(-1), at, used(facts.usage, facts.model, prices))
    case "BackgroundSettled":
      return spend(tally, undefined, at, used(facts.usage, undefined, prices))
    default:
      return "runId" in facts ? spend(tally, facts.runId, at, {}) : tally
  }
}

const withRun = (tally: Tally, runId: string, run: RunTally): Tally => ({
  ...tally,
  runs: new Map(tally.runs).set(runId, run)
})

const spend = (tally: Tally, runId: string | undefined, at: number, more: Partial<Spent>): Tally => {
  const run = runId === undefined ? undefined : tally.runs.get(runId)
  const counted = { ...tally, conversation: add(tally.conversation, more) }
  if (run === undefined || runId === undefined) return counted
  return withRun(counted, runId, { ...run, spent: add(run.spent, more), lastAt: at })
}

/** The run stands still from this time on. */
const rest = (tally: Tally, runId: string, at: number): Tally => {
  const run = tally.runs.get(runId)
  if (run?.activeSince === undefined) return tally
  const wallTime = Math.max(0, at - run.activeSince)
  const counted = spend(tally, runId, at, { wallTime })
  return withRun(counted, runId, { ...run, spent: add(run.spent, { wallTime }), activeSince: undefined, lastAt: at })
}
