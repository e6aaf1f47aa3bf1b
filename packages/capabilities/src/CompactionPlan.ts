/**
 * What of a conversation goes to make room, and in which order: first the results of old calls, then old turns.
 *
 * Pure: a plan is a function of the reducer's state, the visible records and the options. It keeps the instructions, the
 * latest call of pinned tools with its result, open calls and what belongs to them, the first input of every run that is
 * not over, and the last exchange. It never parts a call from its result. Costs what is visible.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import type * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { ConversationState } from "@colloquy/session/ConversationState"
import * as Digest from "@colloquy/session/Digest"
import { BatchId, ProducerId, RecordId, type ToolCallId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { Settled } from "./CompactionOptions.ts"
import { type Exchange, type Meter, type View, visible } from "./Exchanges.ts"
import { type Clearable, clearable, keepFrom, pinnedThrough, pinnedTokens, pins } from "./internal/keeping.ts"
import * as Summary from "./Summary.ts"

/**
 * - `maximum`: before a model call. At or over the maximum it is shrunk to the target.
 * - `demand`: somebody asks for it. Over the target it is shrunk to it.
 * - `overflow`: the provider has said that the request is too large, whatever the estimate says. It is shrunk to the
 *   target, or by half if that is less.
 *
 * @category models
 * @since 0.1.0
 */
export type Occasion = "maximum" | "demand" | "overflow"

/**
 * @category models
 * @since 0.1.0
 */
export interface Subject {
  readonly state: ConversationState
  /** Those that are visible, in order; more do no harm. */
  readonly records: ReadonlyArray<CanonicalRecord>
  /** What the prompt is projected with. */
  readonly prompt: ConversationPrompt.Options
  /** Tokens of what stands in the request beside the prompt: tools, and history that is not in the records. */
  readonly fixedTokens: number
  /** What the estimate is multiplied with; see `Tokens.correction`. */
  readonly correction: number
  readonly meter: Meter
  readonly options: Settled
  /** Why a plan is asked for (default `maximum`). */
  readonly occasion?: Occasion | undefined
  /** The estimate at which it could not be shrunk: it is not tried again until it has grown by a step. */
  readonly stuckAt?: number | undefined
}

/**
 * What a summary stands for, and what stays. Token counts are corrected, unless they say otherwise.
 *
 * @category models
 * @since 0.1.0
 */
export interface Cut {
  readonly estimate: number
  /** The estimate behind it, for a summary of the most tokens that one may have. */
  readonly after: number
  readonly coversThrough: number
  readonly pinned: ReadonlyArray<number>
  /** Calls behind the cut whose results are hidden: those that were already, and more if they must. */
  readonly clearedCallIds: ReadonlyArray<ToolCallId>
  /** How many of them are new. */
  readonly newlyCleared: number
  /** What goes, in order: also what an earlier summary had kept and this one does not. */
  readonly covered: ReadonlyArray<Exchange>
  /** The summary before, which the new one takes in. */
  readonly recap: string | undefined
  /** It is short enough to stay in front of a line that counts. */
  readonly keepsRecap: boolean
  /** What goes counts so much, with the summary before. Before any correction. */
  readonly coveredTokens: number
  /** Inputs among what goes. */
  readonly turns: number
}

/**
 * - `Fits`: there is nothing to do.
 * - `Clear`: the results of these calls are hidden; the calls stay.
 * - `Summarise`: the oldest turns are replaced by a summary, which is still to be made.
 * - `LeaveOut`: the oldest turns are replaced by a line that counts them.
 * - `CannotShrink`: too little can go. `not-grown`: it could not be shrunk before, and has not grown by a step since;
 *   `open-call`: a call without a result is in the way; `fixed-part`: what is always kept is over the target.
 *
 * @category models
 * @since 0.1.0
 */
export type Plan = Data.TaggedEnum<{
  Fits: { readonly estimate: number }
  Clear: {
    readonly estimate: number
    readonly after: number
    readonly coversThrough: number
    readonly callIds: ReadonlyArray<ToolCallId>
  }
  Summarise: Cut
  LeaveOut: Cut
  CannotShrink: { readonly estimate: number; readonly reason: "not-grown" | "open-call" | "fixed-part" }
}>

/**
 * Constructors and matchers of {@link Plan}.
 *
 * @category models
 * @since 0.1.0
 */
export const Plan = Data.taggedEnum<Plan>()

/**
 * What is to go. With `summarise: false` turns are left out instead of being summarised.
 *
 * **Details**
 *
 * At or over the maximum the target is what it aims at; where that is out of reach it takes what it can get, if that is at
 * least a step. So once a plan is carried out the estimate is below the maximum, or the next plan is `CannotShrink`.
 *
 * @category planning
 * @since 0.1.0
 */
export const plan = (subject: Subject, how: { readonly summarise: boolean } = { summarise: true }): Plan => {
  const { correction, fixedTokens, meter, occasion = "maximum", options, prompt, records, state, stuckAt } = subject
  const view = meter.view(state, records, prompt)
  const total = fixedTokens + view.tokens
  const corrected = (tokens: number) => Math.ceil(tokens * correction)
  const estimate = corrected(total)
  if (occasion === "maximum" && estimate < options.maxInputTokens) return Plan.Fits({ estimate })
  if (occasion === "demand" && estimate <= options.targetInputTokens) return Plan.Fits({ estimate })
  if (occasion === "maximum" && stuckAt !== undefined && estimate < stuckAt + options.stepTokens) {
    return Plan.CannotShrink({ estimate, reason: "not-grown" })
  }
  const target = options.targetInputTokens / correction
  const goal = occasion === "overflow" ? Math.min(target, total / 2) : target
  const least = occasion === "maximum" ? options.stepTokens / correction : 1

  const clearing = clearable(view, subject)
  const clear = (gone: ReadonlyArray<Clearable>, saved: number) =>
    Plan.Clear({
      estimate,
      after: corrected(total - saved),
      coversThrough: Math.max(...gone.map(({ sequence }) => sequence)),
      callIds: gone.map(({ callId }) => callId)
    })
  let saved = 0
  for (const [i, { saving }] of clearing.entries()) {
    saved += saving
    if (total - saved <= goal) return clear(clearing.slice(0, i + 1), saved)
  }

  const keepsRecap = view.recap !== undefined && view.recap.tokens * correction <= 2 * options.maxSummaryTokens
  const recapTokens = keepsRecap ? (view.recap?.tokens ?? 0) : 0
  const summaryTokens = how.summarise ? options.maxSummaryTokens / correction : recapTokens
  const place = placeOf(subject, view, { clearing, goal, front: fixedTokens + summaryTokens + Summary.frameTokens })
  const clearGain = saved >= least ? saved : 0
  const gain = place === undefined ? 0 : total - place.tokens
  if (place !== undefined && (place.tokens <= goal || gain >= clearGain + least)) {
    const { after, ...cut } = cutAt(subject, view, { clearing, goal, place })
    const whole: Cut = { ...cut, estimate, after: corrected(after), recap: view.recap?.text, keepsRecap }
    return how.summarise ? Plan.Summarise(whole) : Plan.LeaveOut(whole)
  }
  if (clearGain > 0) return clear(clearing, saved)
  const isBlocked = view.openSince < (view.exchanges[keepFrom(view, state)]?.head.sequence ?? 0)
  return Plan.CannotShrink({ estimate, reason: isBlocked ? "open-call" : "fixed-part" })
}

/**
 * The record that carries a plan out. A summary's text is made elsewhere; a line that counts is made here.
 *
 * @category planning
 * @since 0.1.0
 */
export const toPayload = (
  plan: Extract<Plan, { readonly _tag: "Clear" | "Summarise" | "LeaveOut" }>,
  made: Pick<Payload.Compacted, "summary" | "model" | "usage"> = {}
): Payload.Compacted => {
  if (plan._tag === "Clear") {
    const { callIds, coversThrough } = plan
    return { _tag: "Compacted", kind: "cleared-results", coversThrough, clearedCallIds: callIds, pinned: [] }
  }
  const { clearedCallIds, coversThrough, pinned } = plan
  const text = plan._tag === "LeaveOut" ? { summary: Summary.leftOut(plan) } : {}
  return { _tag: "Compacted", kind: "summary", coversThrough, clearedCallIds, pinned, ...made, ...text }
}

/**
 * The conversation as it would stand behind one more record; the rule that the record breaks, if it breaks one. Nothing
 * is written.
 *
 * @category planning
 * @since 0.1.0
 */
export const simulate = (
  { records, state }: Pick<Subject, "records" | "state">,
  payload: Payload.Compacted
): Result.Result<Pick<Subject, "records" | "state">, Conversation.IllegalRecord> => {
  const candidate: CanonicalRecord = {
    conversationId: state.conversationId,
    sequence: state.sequence + 1,
    recordId: RecordId.make("candidate"),
    batchId: BatchId.make("candidate"),
    producerId: ProducerId.make("candidate"),
    at: 0,
    epoch: state.epoch,
    schemaVersion: 1,
    digest: Digest.empty,
    payload
  }
  return Result.map(Conversation.evolve(state, candidate), (next) => ({
    state: next,
    records: visible(next, [...records, candidate])
  }))
}

// --- internal ---

/** Where the cut is: before the exchange with this index. `tokens` are left when every result that may be is cleared. */
interface Place {
  readonly index: number
  readonly coversThrough: number
  readonly tokens: number
}

/** The first place that meets the goal, else the last one that is allowed. */
const placeOf = (
  subject: Subject,
  view: View,
  how: { readonly clearing: ReadonlyArray<Clearable>; readonly goal: number; readonly front: number }
): Place | undefined => {
  const { exchanges, instructionsTokens, openSince } = view
  const { visibleFrom } = subject.state.window
  const savings = new Map<Exchange, number>()
  for (const { exchange, saving } of how.clearing) savings.set(exchange, (savings.get(exchange) ?? 0) + saving)
  const smallest = (exchange: Exchange) => exchange.tokens - (savings.get(exchange) ?? 0)
  const kept = pins(view, subject)
  const keeping = keepFrom(view, subject.state)
  let rest = how.front + instructionsTokens
  for (const exchange of exchanges) rest += smallest(exchange)
  let place: Place | undefined
  for (const [index, exchange] of exchanges.entries()) {
    if (index > keeping) break
    const { cutBefore } = exchange
    if (cutBefore !== undefined && cutBefore >= visibleFrom && cutBefore < openSince) {
      place = { index, coversThrough: cutBefore, tokens: rest + pinnedTokens(kept, cutBefore, smallest) }
      if (place.tokens <= how.goal) break
    }
    // What an earlier summary has pinned goes with the others, unless it is pinned again.
    rest -= smallest(exchange)
  }
  return place
}

const cutAt = (
  subject: Subject,
  view: View,
  how: { readonly clearing: ReadonlyArray<Clearable>; readonly goal: number; readonly place: Place }
): Omit<Cut, "estimate" | "recap" | "keepsRecap"> => {
  const { clearing, goal, place } = how
  const { coversThrough } = place
  const standing = pinnedThrough(pins(view, subject), coversThrough)
  const pinnedExchanges = new Set(standing.flatMap(({ exchange }) => exchange ?? []))
  const isKept = (exchange: Exchange, index: number) => index >= place.index || pinnedExchanges.has(exchange)
  const kept = new Set(view.exchanges.filter(isKept))
  const covered = view.exchanges.filter((exchange) => !kept.has(exchange))

  const standingResults = clearing.filter(({ exchange }) => kept.has(exchange))
  let after = place.tokens + standingResults.reduce((sum, { saving }) => sum + saving, 0)
  const cleared: Array<ToolCallId> = []
  for (const { callId, saving } of standingResults) {
    if (after <= goal) break
    cleared.push(callId)
    after -= saving
  }
  const hidden = [...kept].flatMap(({ results }) =>
    results.flatMap(({ callId, isCleared }) => (isCleared ? [callId] : []))
  )
  return {
    after,
    coversThrough,
    pinned: [...new Set(standing.flatMap(({ sequences }) => sequences))]
      .filter((sequence) => sequence <= coversThrough)
      .toSorted((a, b) => a - b),
    clearedCallIds: [...hidden, ...cleared],
    newlyCleared: cleared.length,
    covered,
    coveredTokens: covered.reduce((sum, { tokens }) => sum + tokens, view.recap?.tokens ?? 0),
    turns: covered.filter(({ kind }) => kind === "input").length
  }
}
