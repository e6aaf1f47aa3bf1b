/**
 * What a log that ends in the middle of a run asks for: a pure and total decision.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ConversationState, OpenApproval, OpenCall, OpenRun } from "@colloquy/session/ConversationState"
import type * as Payload from "@colloquy/session/Payload"
import * as Data from "effect/Data"

/**
 * What to do next.
 *
 * - `CallModel`: an input, or the results of every call, wait for the model.
 * - `SettleCalls`: calls have no result; by policy, then call the model. `started` ones had a handler running. Calls that
 *   wait for a person are not among them.
 * - `End`: the last response was the answer; only the end was not written.
 * - `Suspend`: only people are waited for, which was not written yet.
 * - `Await`: people are waited for.
 * - `Nothing`: the last run has ended, or none has started.
 *
 * @category models
 * @since 0.1.0
 */
export type Decision = Data.TaggedEnum<{
  CallModel: { readonly run: OpenRun }
  SettleCalls: {
    readonly run: OpenRun
    readonly started: ReadonlyArray<OpenCall>
    readonly waiting: ReadonlyArray<OpenCall>
  }
  End: { readonly run: OpenRun; readonly response: Payload.ModelResponded }
  Suspend: { readonly run: OpenRun }
  Await: { readonly run: OpenRun; readonly approvals: ReadonlyArray<OpenApproval> }
  Nothing: { readonly reason: "ended" | "never-started" }
}>

/**
 * Constructors and matchers of {@link Decision}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Decision = Data.taggedEnum<Decision>()

/**
 * A decision that there is something to do.
 *
 * @category models
 * @since 0.1.0
 */
export type Resumable = Exclude<Decision, { readonly _tag: "Await" | "Nothing" }>

/**
 * Decides from the state and the visible records.
 *
 * @category deciding
 * @since 0.1.0
 */
export const classify = (state: ConversationState, records: ReadonlyArray<CanonicalRecord>): Decision => {
  const run = state.runs.at(-1)
  if (run === undefined) {
    return Decision.Nothing({ reason: state.lastEnded === undefined ? "never-started" : "ended" })
  }
  const approvals = state.approvals.filter(({ runId }) => runId === run.runId)
  const waitsForPeople = new Set(approvals.map(({ callId }) => callId))
  const calls = state.calls.filter(({ callId, runId }) => runId === run.runId && !waitsForPeople.has(callId))
  if (run.status === "suspended") {
    // A decision that is stored without its resumption lets the run go on: to run what was approved, or when it was the last.
    const goesOn = approvals.length === 0 || (calls.length > 0 && isDecided(records, run))
    if (!goesOn) return Decision.Await({ run, approvals })
  }
  if (calls.length > 0) {
    return Decision.SettleCalls({
      run,
      started: calls.filter(({ attempt }) => attempt > 0),
      waiting: calls.filter(({ attempt }) => attempt === 0)
    })
  }
  const last = records.findLast(({ payload }) => isStep(payload, run))
  if (approvals.length > 0 && !hasUnread(records, run)) return Decision.Suspend({ run })
  return last?.payload._tag === "ModelResponded" && isFinal(last.payload)
    ? Decision.End({ run, response: last.payload })
    : Decision.CallModel({ run })
}

/**
 * Whether a response is an answer: whole, not paused, not cut by a limit, and without calls of ours.
 *
 * @category deciding
 * @since 0.1.0
 */
export const isFinal = (response: Payload.ModelResponded): boolean =>
  response.partial !== true &&
  response.finishReason !== "pause" &&
  response.finishReason !== "length" &&
  !response.content.some((part) => part.type === "tool-call" && part.providerExecuted !== true)

/**
 * Whether an input of the run has no response behind it, also when calls were settled since. Behind requests for approval,
 * the response to it closes them.
 *
 * @category deciding
 * @since 0.1.0
 */
export const hasUnread = (records: ReadonlyArray<CanonicalRecord>, run: Pick<OpenRun, "runId">): boolean =>
  records.findLast(({ payload }) => isStep(payload, run) && payload._tag !== "ToolCallSettled")?.payload._tag ===
  "InputRecorded"

// --- internal ---

/** Whether one of the requests that the run was suspended for has been decided since. */
const isDecided = (records: ReadonlyArray<CanonicalRecord>, { runId }: OpenRun): boolean => {
  const suspended = records.findLast(({ payload }) => payload._tag === "RunSuspended" && payload.runId === runId)
  if (suspended?.payload._tag !== "RunSuspended") return false
  const awaited = new Set<string>(suspended.payload.approvalIds)
  return records.some(
    ({ payload, sequence }) =>
      sequence > suspended.sequence && payload._tag === "ApprovalResolved" && awaited.has(payload.approvalId)
  )
}

/** What decides how a run goes on. A compaction, a repair, a redaction or a change of mode is looked behind. */
const isStep = (payload: Payload.Payload, run: Pick<OpenRun, "runId">): boolean => {
  switch (payload._tag) {
    case "InputRecorded":
    case "ModelResponded":
    case "ToolCallSettled":
      return payload.runId === run.runId
    default:
      return false
  }
}
