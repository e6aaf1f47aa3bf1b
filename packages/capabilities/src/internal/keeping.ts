/**
 * What a plan must keep, and what it may clear.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import type { ConversationState } from "@colloquy/session/ConversationState"
import type { ToolCallId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import { type Exchange, type ShownResult, type View, visible } from "../Exchanges.ts"

/** What it is decided by. */
interface Subject {
  readonly state: ConversationState
  readonly records: ReadonlyArray<CanonicalRecord>
  readonly options: { readonly pinLatest: ReadonlyArray<string> }
}

/** A result that may be hidden. */
export interface Clearable {
  readonly exchange: Exchange
  readonly callId: ToolCallId
  readonly sequence: number
  readonly saving: number
}

/** Records that a summary leaves standing; `exchange` is what a model sees of them. */
export interface Pin {
  readonly sequences: ReadonlyArray<number>
  readonly exchange?: Exchange | undefined
}

/** Results that the model has read, oldest first, and that are larger than the mark in their place. */
export const clearable = (view: View, { options }: Pick<Subject, "options">): ReadonlyArray<Clearable> => {
  const latest = new Set(latestOf(view, options.pinLatest).map(({ result }) => result))
  const found: Array<Clearable> = []
  for (const exchange of view.exchanges) {
    for (const result of exchange.results) {
      const { callId, isCleared, saving, sequence } = result
      if (isCleared || saving <= 0 || latest.has(result)) continue
      // A response behind it has read it; and a compaction reaches no further than the oldest open call.
      if (sequence < view.lastResponseAt && sequence < view.openSince) {
        found.push({ exchange, callId, sequence, saving })
      }
    }
  }
  return found
}

/**
 * The first exchange that stays in any case: the last response of the run that goes on, or its first input when it has
 * none; between runs, the last response of all.
 */
export const keepFrom = (view: View, state: ConversationState): number => {
  const { exchanges } = view
  const live = Conversation.openRun(state)
  const isLast = (exchange: Exchange) =>
    exchange.kind === "response" && (live === undefined || exchange.runId === live.runId)
  const last = exchanges.findLastIndex(isLast)
  if (last !== -1) return last
  const first = exchanges.findIndex(({ runId }) => runId === live?.runId)
  return first === -1 ? exchanges.length - 1 : first
}

/** What stays when it stands before the cut. */
export const pins = (view: View, { options, records, state }: Subject): ReadonlyArray<Pin> => {
  const found: Array<Pin> = []
  for (const { exchange } of latestOf(view, options.pinLatest)) found.push(pinOf(exchange))
  const openRuns = new Set<string>(state.runs.map(({ runId }) => runId))
  const unread = new Set(state.undelivered.map(({ settledAt }) => settledAt))
  const begun = new Set<string>()
  for (const exchange of view.exchanges) {
    if (exchange.kind !== "input" || !openRuns.has(exchange.runId) || begun.has(exchange.runId)) continue
    begun.add(exchange.runId)
    found.push(pinOf(exchange))
  }
  for (const record of visible(state, records)) {
    const facts = Payload.legible(record.payload)
    // None of these is a message; whoever carries a run on looks for them.
    const isNeeded =
      (facts._tag === "RunStarted" && openRuns.has(facts.runId)) ||
      (facts._tag === "ConversationCreated" && "instructions" in facts) ||
      unread.has(record.sequence)
    if (isNeeded) found.push({ sequences: [record.sequence] })
  }
  return found
}

/** Pins that a cut here must name. */
export const pinnedThrough = (kept: ReadonlyArray<Pin>, coversThrough: number): ReadonlyArray<Pin> =>
  kept.filter(({ sequences }) => (sequences[0] ?? 0) <= coversThrough)

/** What the exchanges that stay before the cut count. */
export const pinnedTokens = (
  kept: ReadonlyArray<Pin>,
  coversThrough: number,
  tokensOf: (exchange: Exchange) => number
): number => {
  const exchanges = new Set(pinnedThrough(kept, coversThrough).flatMap(({ exchange }) => exchange ?? []))
  let tokens = 0
  for (const exchange of exchanges) tokens += tokensOf(exchange)
  return tokens
}

// --- internal ---

const pinOf = (exchange: Exchange): Pin => ({
  exchange,
  sequences: exchange.members.map(({ sequence }) => sequence)
})

/** The latest result of each of these tools. */
const latestOf = (
  { exchanges }: View,
  tools: ReadonlyArray<string>
): ReadonlyArray<{ readonly exchange: Exchange; readonly result: ShownResult }> =>
  tools.flatMap((tool) => {
    const exchange = exchanges.findLast(({ results }) => results.some(({ name }) => name === tool))
    const result = exchange?.results.findLast(({ name }) => name === tool)
    return exchange === undefined || result === undefined ? [] : [{ exchange, result }]
  })
