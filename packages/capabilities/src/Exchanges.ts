/**
 * The visible window of a conversation in pieces that are shown whole or not at all: an input, or a response with the
 * results of its calls. What each counts is measured once per record.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { ConversationState } from "@colloquy/session/ConversationState"
import type { RunId, ToolCallId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import { Measures } from "./internal/Measures.ts"
import type { Counter } from "./Tokens.ts"
import * as Tokens from "./Tokens.ts"

/**
 * A result that a model is shown.
 *
 * @category models
 * @since 0.1.0
 */
export interface ShownResult {
  readonly callId: ToolCallId
  readonly name: string
  /** The record that settles the call. */
  readonly sequence: number
  /** What clearing it would save, in tokens; not more than 0 for one that is no larger than the mark in its place. */
  readonly saving: number
  readonly isCleared: boolean
}

/**
 * An input, or a response with what was made of its calls.
 *
 * @category models
 * @since 0.1.0
 */
export interface Exchange {
  readonly kind: "input" | "response"
  readonly runId: RunId
  readonly head: CanonicalRecord
  /** The head, and the requests, decisions and results of its calls. In the order of the log. */
  readonly members: ReadonlyArray<CanonicalRecord>
  readonly results: ReadonlyArray<ShownResult>
  /** As it is shown now, in tokens before any correction. 0 for what is not shown. */
  readonly tokens: number
  /**
   * What a summary that stops just before this exchange covers through. Undefined where a call that was made before it
   * has its result behind it, or has none yet.
   */
  readonly cutBefore: number | undefined
}

/**
 * What a model sees, in pieces. Tokens are before any correction.
 *
 * @category models
 * @since 0.1.0
 */
export interface View {
  readonly exchanges: ReadonlyArray<Exchange>
  /** The summary in front, if there is one, and what it counts. */
  readonly recap: { readonly text: string; readonly tokens: number } | undefined
  readonly instructionsTokens: number
  /** Everything, without tools. */
  readonly tokens: number
  /** The last response of any run, as a sequence: results before it have been read. 0 when there is none. */
  readonly lastResponseAt: number
  /** The response that declares the oldest call without a result whose run is alive; infinite when there is none. */
  readonly openSince: number
}

/**
 * Measures conversations, and each record only once: a run over n messages costs O(n), not O(n²). One for each run, or for
 * each process; it holds on to no record.
 *
 * @category models
 * @since 0.1.0
 */
export interface Meter {
  readonly counter: Counter
  readonly view: (
    state: ConversationState,
    records: ReadonlyArray<CanonicalRecord>,
    options?: ConversationPrompt.Options
  ) => View
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const meter = (counter: Counter = Tokens.estimating): Meter => {
  const measures = new Measures(counter)
  return { counter, view: (state, records, options = {}) => viewOf(measures, state, records, options) }
}

/**
 * The records that a model sees, and that a call's facts are among.
 *
 * @category reading
 * @since 0.1.0
 */
export const visible = (
  { sequence: tail, window }: ConversationState,
  records: ReadonlyArray<CanonicalRecord>
): ReadonlyArray<CanonicalRecord> => {
  const pinned = new Set(window.pinned)
  return records.filter(({ sequence }) => sequence <= tail && (sequence >= window.visibleFrom || pinned.has(sequence)))
}

// --- internal ---

interface Draft {
  readonly kind: "input" | "response"
  readonly runId: RunId
  readonly head: CanonicalRecord
  readonly members: Array<CanonicalRecord>
  /** The record of each call's result. */
  readonly settled: Map<string, number>
  readonly cutBefore: number | undefined
  unsettled: number
}

const callKey = (call: { readonly runId: string; readonly step: number; readonly callId: string }): string =>
  `${call.runId}\u0000${call.step}\u0000${call.callId}`

const viewOf = (
  measures: Measures,
  state: ConversationState,
  records: ReadonlyArray<CanonicalRecord>,
  options: ConversationPrompt.Options
): View => {
  const shown = visible(state, records)
  const drafts = group(state, shown)
  const cleared = new Set<string>(state.window.clearedCallIds)
  const openRuns = new Set<string>(state.runs.map(({ runId }) => runId))
  const exchanges = drafts.map((draft): Exchange => {
    const { cutBefore, head, kind, members, runId, settled } = draft
    const measured = measures.of(state, draft, openRuns.has(runId), options)
    let { tokens } = measured
    const results: Array<ShownResult> = []
    for (const { callId, contentTokens, name } of measured.results) {
      const sequence = settled.get(callId)
      if (sequence === undefined) continue
      const saving = contentTokens - measures.clearedTokens
      const isCleared = cleared.has(callId)
      if (isCleared) tokens -= saving
      results.push({ callId, name, sequence, saving, isCleared })
    }
    return { kind, runId, head, members, results, tokens, cutBefore }
  })
  const summary = shown.find(({ sequence }) => sequence === state.window.summaryAt)?.payload
  const text = summary?._tag === "Compacted" ? summary.summary : undefined
  const recap = text === undefined ? undefined : { text, tokens: measures.recapTokens(text) }
  let instructions = options.instructions
  for (const { payload } of shown) if (payload._tag === "ConversationCreated") instructions ??= payload.instructions
  const instructionsTokens = measures.instructionsTokens(instructions)
  return {
    exchanges,
    recap,
    instructionsTokens,
    tokens: exchanges.reduce((sum, { tokens }) => sum + tokens, instructionsTokens + (recap?.tokens ?? 0)),
    lastResponseAt: exchanges.findLast(({ kind }) => kind === "response")?.head.sequence ?? 0,
    openSince: Math.min(...state.calls.map(({ declaredAt }) => declaredAt), Number.POSITIVE_INFINITY)
  }
}

/** One pass over the records; `pending` are calls that a cut here would part from their results. */
const group = (state: ConversationState, records: ReadonlyArray<CanonicalRecord>): ReadonlyArray<Draft> => {
  const settledAt = new Map<string, number>()
  for (const record of records) {
    const facts = Payload.legible(record.payload)
    if (facts._tag === "ToolCallSettled") settledAt.set(callKey(facts), record.sequence)
  }
  const open = new Set(state.calls.map(callKey))
  const pending = new Set<string>()
  const drafts: Array<Draft> = []
  const byCall = new Map<string, Draft>()
  const byApproval = new Map<string, Draft>()
  let startOfRun: number | undefined
  const cutBefore = (sequence: number) => (pending.size === 0 ? (startOfRun ?? sequence) - 1 : undefined)
  const add = (record: CanonicalRecord, kind: Draft["kind"], runId: RunId): Draft => {
    const cut = cutBefore(record.sequence)
    const draft = { kind, runId, head: record, members: [record], settled: new Map(), cutBefore: cut, unsettled: 0 }
    startOfRun = undefined
    drafts.push(draft)
    return draft
  }
  for (const record of records) {
    const facts = Payload.legible(record.payload)
    switch (facts._tag) {
      case "RunStarted":
        // The start belongs to the run's first input. A call that was open at it is closed behind it.
        startOfRun ??= pending.size === 0 ? record.sequence : undefined
        break
      case "InputRecorded":
        add(record, "input", facts.runId)
        break
      case "ModelResponded": {
        const draft = add(record, "response", facts.runId)
        const calls = "content" in facts ? Payload.declaredCalls(facts.content) : facts.calls
        for (const { callId, providerExecuted } of calls) {
          if (providerExecuted) continue
          const key = callKey({ runId: facts.runId, step: facts.step, callId })
          byCall.set(key, draft)
          byCall.set(callId, draft)
          draft.unsettled++
          if (open.has(key) || (settledAt.get(key) ?? 0) > record.sequence) pending.add(key)
        }
        break
      }
      case "ToolCallSettled": {
        const key = callKey(facts)
        const draft = byCall.get(key)
        if (settledAt.get(key) === record.sequence) pending.delete(key)
        if (draft === undefined || draft.settled.has(facts.callId)) break
        draft.members.push(record)
        draft.settled.set(facts.callId, record.sequence)
        draft.unsettled--
        break
      }
      case "ApprovalRequested": {
        const draft = byCall.get(facts.callId)
        if (draft === undefined) break
        draft.members.push(record)
        byApproval.set(facts.approvalId, draft)
        break
      }
      case "ApprovalResolved": {
        byApproval.get(facts.approvalId)?.members.push(record)
        byApproval.delete(facts.approvalId)
        break
      }
      case "Forked":
        // It closes the requests: without it their calls would be shown.
        for (const draft of new Set(byApproval.values())) draft.members.push(record)
        byApproval.clear()
        break
    }
  }
  return drafts
}
