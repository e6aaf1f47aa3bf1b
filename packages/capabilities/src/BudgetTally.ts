/**
 * What a conversation and its runs have used: a pure fold over records.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Payload from "@colloquy/session/Payload"
import type * as Usage from "@colloquy/session/Usage"

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
  const facts = Payload.legible(record.payload)
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
