/**
 * How a recorded conversation is gone through again: which stretches of it the engine does anew, and which are written as
 * they were. Pure.
 *
 * ```
 *   created │ start, input │ leg: model, tools, model … │ what people decided, resumed │ leg … end │ start, input │ …
 *   as it was               by the engine                 as it was                     by the engine
 * ```
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { derive } from "@colloquy/session/DerivedId"
import { type RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import { callsOf } from "../CallFacts.ts"
import * as Recovery from "../Recovery.ts"
import type { RecordedLog } from "./RecordedLog.ts"

/**
 * Why the rest of a run, or of the conversation, is not done anew but written as it was.
 *
 * - `dead-calls`: calls of the response never had a result, or one that no handler gives.
 * - `partial`: the response was cut off, in a log that this engine has not written.
 * - `no-answer`: the run was over where the model would have been called.
 * - `not-ended`: the answer did not end the run.
 * - `unsayable`: the response holds what no model can be made to say again: a file that is only named.
 * - `redacted`: content was removed, or the log was forked; nothing behind it is replayed.
 *
 * @category models
 * @since 0.1.0
 */
export type StopReason = "dead-calls" | "partial" | "no-answer" | "not-ended" | "unsayable" | "redacted"

/**
 * How a leg is over.
 *
 * - `ended`, `suspended`: the loop comes to that by itself.
 * - `failed`: the run is ended from outside, as a failure or an interruption does it; that is written from `to` on.
 * - `cut`: the process is gone, or the run goes on under another model.
 * - `asked`: the model is asked once more, and the rest is written as it was.
 *
 * @category models
 * @since 0.1.0
 */
export type LegEnd =
  | { readonly _tag: "ended" | "suspended" | "cut" | "asked" }
  | { readonly _tag: "failed"; readonly ended: Payload.RunEnded; readonly endedAt: number }

/**
 * A stretch of a run: the records from `from` to `to`, which is not part of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Leg {
  readonly _tag: "Leg"
  readonly runId: RunId
  readonly from: number
  readonly to: number
  readonly end: LegEnd
  /** Goes on behind a `RunResumed`. */
  readonly isResumed: boolean
  readonly stop: StopReason | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export type Piece =
  | Leg
  | { readonly _tag: "AsItWas"; readonly from: number; readonly to: number; readonly stop?: StopReason }

/**
 * Plans a replay: pieces that follow each other, from the second record on. One that stops as `redacted` is the last.
 *
 * @category planning
 * @since 0.1.0
 */
export const plan = (log: RecordedLog): ReadonlyArray<Piece> => {
  const { records } = log
  const pieces: Array<Piece> = []
  let at = 1
  const asItWas = (to: number) => {
    if (to > at) pieces.push({ _tag: "AsItWas", from: at, to })
    at = to
  }
  const goOn = (runId: RunId, isResumed: boolean) => {
    const leg = legFrom(log, runId, at, isResumed)
    pieces.push(leg)
    at = leg.end._tag === "failed" ? leg.end.endedAt + 1 : leg.to
    if (leg.end._tag === "asked") asItWas(nextLeg(log, runId, at + 1))
  }
  while (at < records.length) {
    const payload = records[at]?.payload
    if (payload === undefined || isGone(payload)) {
      pieces.push({ _tag: "AsItWas", from: at, to: at, stop: "redacted" })
      break
    }
    if (payload._tag === "RunStarted") {
      const input = records[at + 1]?.payload
      asItWas(input?._tag === "InputRecorded" && input.runId === payload.runId ? at + 2 : at + 1)
      goOn(payload.runId, false)
    } else if (payload._tag === "RunResumed") {
      asItWas(at + 1)
      goOn(payload.runId, true)
    } else if (payload._tag === "ModelResponded" && isReady(log, payload.runId, at)) {
      goOn(payload.runId, false)
    } else asItWas(at + 1)
  }
  return pieces
}

/**
 * Whether the loop writes a record of a run, rather than somebody else.
 *
 * @category reading
 * @since 0.1.0
 */
export const isOfLoop = ({ payload }: CanonicalRecord, runId: RunId): boolean => {
  switch (payload._tag) {
    case "ModelResponded":
    case "ToolCallStarted":
    case "ToolCallSettled":
    case "ApprovalRequested":
    case "RunSuspended":
    case "RunEnded":
      return payload.runId === runId
    case "InputRecorded":
      // Without an id it cannot be offered to the run.
      return payload.runId === runId && payload.kind !== "user" && payload.inputId !== undefined
    case "ApprovalResolved":
      return payload.decision === "superseded"
    default:
      return false
  }
}

/**
 * The place of the response that had partly arrived when the run of a leg was ended, if one had.
 *
 * @category reading
 * @since 0.1.0
 */
export const arrivedOf = ({ records }: RecordedLog, { end, to }: Leg): number | undefined => {
  const payload = records[to]?.payload
  return end._tag === "failed" && payload?._tag === "ModelResponded" ? to : undefined
}

// --- internal ---

const legFrom = (log: RecordedLog, runId: RunId, from: number, isResumed: boolean): Leg => {
  const { records } = log
  const leg = (to: number, end: LegEnd, stop?: StopReason): Leg => ({
    _tag: "Leg",
    runId,
    from,
    to,
    end,
    isResumed,
    stop
  })
  let last: Payload.ModelResponded | undefined
  for (let i = from; i < records.length; i++) {
    const record = records[i]
    if (record === undefined || isGone(record.payload) || endsFromOutside(record, runId)) return leg(i, { _tag: "cut" })
    const { payload } = record
    if (payload._tag === "RunSuspended" && payload.runId === runId) return leg(i + 1, { _tag: "suspended" })
    if (payload._tag === "RunEnded" && payload.runId === runId) {
      const isAnswered = last !== undefined && callsOf(last).length === 0 && last.finishReason !== "pause"
      if (isAnswered && (payload.outcome === "completed" || payload.outcome === "limit-reached")) {
        return leg(i + 1, { _tag: "ended" })
      }
      const isOwn = log.isOwn(runId) && payload.outcome !== "completed" && payload.outcome !== "limit-reached"
      return isOwn
        ? leg(tailOf(log, i), { _tag: "failed", ended: payload, endedAt: i })
        : leg(i, { _tag: "cut" }, "no-answer")
    }
    if (payload._tag !== "ModelResponded" || payload.runId !== runId) continue
    if (last !== undefined && !isSameModel(log, last, payload, i)) return leg(i, { _tag: "cut" })
    const next = followUp(log, runId, i)
    // What had arrived when the run was ended from outside is written with its end.
    if (payload.partial === true && next?._tag === "RunEnded" && log.isOwn(runId)) {
      const endedAt = records.findIndex(({ payload }) => payload === next)
      if (tailOf(log, endedAt) <= i) return leg(i, { _tag: "failed", ended: next, endedAt })
    }
    const stop = stopAt(log, payload, i, next)
    if (stop !== undefined) return leg(i, { _tag: "asked" }, stop)
    last = payload
  }
  return leg(records.length, { _tag: "cut" })
}

/** Why the engine would not go on from this response as the record does. */
const stopAt = (
  log: RecordedLog,
  response: Payload.ModelResponded,
  index: number,
  next: Payload.Payload | undefined
): StopReason | undefined => {
  const calls = callsOf(response)
  if (response.partial === true) return calls.some(({ callId }) => !log.settled.has(callId)) ? "dead-calls" : "partial"
  if (response.content.some((part) => part.type === "file" && !isInline(part.data))) return "unsayable"
  if (calls.length === 0) {
    if (response.finishReason === "pause")
      return next?._tag === "RunEnded" && !isFailure(next) ? "no-answer" : undefined
    if (next?._tag === "RunEnded") return isFailure(next) && !hasInput(log, response, index) ? "not-ended" : undefined
    return hasInput(log, response, index) ? undefined : "not-ended"
  }
  const mayBeOpen = next === undefined || next._tag === "RunResumed" || next._tag === "RepairAnnotated"
  for (const { callId } of calls) {
    const settled = log.settled.get(callId)
    const isSettled = settled?.runId === response.runId && settled.step === response.step
    if (!isSettled) {
      if (mayBeOpen || (next._tag === "RunSuspended" && log.asked.has(callId))) continue
      return "dead-calls"
    }
    if (!log.isOwn(response.runId) && settled.outcome !== "success" && settled.outcome !== "failure")
      return "dead-calls"
  }
  return undefined
}

/** What decides how the run goes on behind a record of it: the next response, or a change of the run. */
const followUp = (log: RecordedLog, runId: RunId, index: number): Payload.Payload | undefined =>
  log.records.slice(index + 1).find((record) => {
    const { payload } = record
    if (payload._tag === "ModelResponded" || payload._tag === "RunSuspended" || payload._tag === "RunEnded") {
      return payload.runId === runId
    }
    return endsFromOutside(record, runId)
  })?.payload

/** Something was said to the run behind an answer, so that it went on. */
const hasInput = ({ records }: RecordedLog, { runId }: Payload.ModelResponded, index: number): boolean => {
  for (const { payload } of records.slice(index + 1)) {
    if (payload._tag === "InputRecorded" && payload.runId === runId) return payload.kind !== "user"
    if (payload._tag === "ModelResponded" && payload.runId === runId) return false
  }
  return false
}

/** A decision, a resumption, another run: the loop of this one was gone by then. */
const endsFromOutside = ({ payload, recordId }: CanonicalRecord, runId: RunId): boolean =>
  payload._tag === "RunResumed" ||
  payload._tag === "RunStarted" ||
  (payload._tag === "ApprovalResolved" && payload.decision !== "superseded") ||
  (payload._tag === "RepairAnnotated" && recordId.startsWith(derive("run", runId, "closed")))

/** Where the records begin that end a run from outside: with what had arrived, or the first call that is settled so. */
const tailOf = ({ records }: RecordedLog, end: number): number => {
  let from = end
  // More calls than a batch takes are settled in several; those of a response that was not to run its calls are in its own.
  const isWithResponse = (batchId: string) =>
    records.some((record) => record.batchId === batchId && record.payload._tag === "ModelResponded")
  const isTail = ({ batchId, payload }: CanonicalRecord) =>
    batchId === records[end]?.batchId ||
    (payload._tag === "ToolCallSettled" && payload.outcome === "interrupted" && !isWithResponse(batchId))
  for (let i = end - 1; i >= 0; i--) {
    const record = records[i]
    if (record === undefined || !isTail(record)) break
    from = i
  }
  return from
}

/** Where the run can be gone on with behind what was written as it was: its next response with no call open. */
const nextLeg = (log: RecordedLog, runId: RunId, from: number): number => {
  for (let i = from; i < log.records.length; i++) {
    const record = log.records[i]
    if (record === undefined || isGone(record.payload) || endsFromOutside(record, runId)) return i
    const { payload } = record
    if (payload._tag === "RunEnded" && payload.runId === runId) return i + 1
    if (payload._tag === "ModelResponded" && isReady(log, runId, i)) return i
  }
  return log.records.length
}

const isReady = (log: RecordedLog, runId: RunId, index: number): boolean => {
  const { approvals, calls, runs } = log.before(index)
  return runs.at(-1)?.runId === runId && calls.length === 0 && approvals.length === 0
}

/** A run whose model changes without a handoff goes on in a leg of its own. */
const isSameModel = (log: RecordedLog, a: Payload.ModelResponded, b: Payload.ModelResponded, index: number): boolean =>
  a.agent !== b.agent
    ? log.before(index).runs.at(-1)?.agent === b.agent
    : a.provider === b.provider && a.model === b.model

const isFailure = ({ outcome }: Payload.RunEnded): boolean => outcome === "failed" || outcome === "cancelled"

const isGone = ({ _tag }: Payload.Payload): boolean =>
  _tag === "Redacted" || _tag === "ContentRedacted" || _tag === "Forked"

const isInline = (data: unknown): boolean => typeof data === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(data)

/**
 * Responses of a run before its last one after which it went on by itself.
 *
 * @internal
 */
export const roundsOf = ({ steps }: RecordedLog, runId: RunId): number =>
  steps
    .filter(({ response }) => response.runId === runId)
    .slice(0, -1)
    .filter(({ response }) => !Recovery.isFinal(response)).length
