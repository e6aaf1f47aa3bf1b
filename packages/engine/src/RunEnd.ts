/**
 * How a run is closed: with its answer, with a failure, or at the head of the next run.
 *
 * @since 0.1.0
 */
import type { OpenCall } from "@colloquy/session/ConversationState"
import type { RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Text from "@colloquy/session/Text"
import * as Usage from "@colloquy/session/Usage"
import type { WriteError } from "@colloquy/store/Writer"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Approvals from "./Approvals.ts"
import { callsOf, settledWithout } from "./CallFacts.ts"
import { type Fact, isFaultOfContent, type Journal } from "./Journal.ts"
import { openRun, type RunContext, write } from "./RunContext.ts"
import type * as ToolCall from "./ToolCall.ts"

/**
 * The record of a run's end. `response` is one that is written with it.
 *
 * @category facts
 * @since 0.1.0
 */
export const ended = (
  { journal, runId }: Pick<RunContext<unknown>, "journal" | "runId">,
  outcome: Payload.RunOutcome,
  response?: Payload.ModelResponded,
  error?: Payload.Failure
): Fact => {
  const run = openRun({ journal, runId })
  const usage = Usage.add(run?.usage ?? Usage.empty, response?.usage ?? Usage.empty)
  const mode = run?.mode ?? journal.state().mode
  return {
    name: ["ended"],
    payload: { _tag: "RunEnded", runId, outcome, mode, usage, ...(error === undefined ? {} : { error }) }
  }
}

/**
 * The records that close a run's open requests for approval, since something newer was said.
 *
 * @category facts
 * @since 0.1.0
 */
export const superseded = ({ journal, runId }: Pick<RunContext<unknown>, "journal" | "runId">): ReadonlyArray<Fact> => {
  const { approvals, calls } = journal.state()
  return approvals.flatMap((approval) => {
    if (approval.runId !== runId) return []
    const call = calls.find(({ callId }) => callId === approval.callId)
    const facts = Approvals.resolved(approval, { decision: "superseded" }, call ?? { attempt: 0, step: 1 })
    // Another producer may have settled the call and left the request open.
    return call === undefined ? facts.slice(0, 1) : facts
  })
}

/**
 * Ends a run that does not go on: what had arrived of a response is kept as a partial one, each open call is settled, each
 * open request closed, and the end says why. Does nothing to a run that is over, or that waits for people.
 *
 * @category running
 * @since 0.1.0
 */
export const end = <E>(
  context: RunContext<E>,
  outcome: "failed" | "cancelled",
  error?: Payload.Failure
): Effect.Effect<void, WriteError> =>
  Effect.gen(function* () {
    const { journal, runId } = context
    if (openRun(context)?.status !== "running") return
    const closing = (partial: Payload.ModelResponded | undefined) => {
      const interrupted = [
        ...unapproved(journal, runId),
        ...(partial === undefined ? [] : callsOf(partial).map((call) => ({ ...call, attempt: 0 })))
      ].map((call) => settledWithout(runId, call, "interrupted"))
      return write(context, [
        ...(partial === undefined ? [] : [{ name: ["step", String(partial.step)] as const, payload: partial }]),
        ...superseded(context),
        ...interrupted,
        ended(context, outcome, partial, error)
      ])
    }
    const partial = Option.getOrUndefined(yield* context.inFlight)
    yield* Effect.catchIf(
      closing(partial),
      // A response that no record can hold is why the run failed: it ends without it.
      (failure) => partial !== undefined && isFaultOfContent(failure),
      () => closing(undefined)
    )
  })

/**
 * Ends a run whose loop has failed or was interrupted: nothing is accepted any more, what was accepted is in the log or
 * goes back, and the end is stored, unless the store itself has failed: then the run can be resumed. Call it where nothing
 * interrupts it.
 *
 * @category running
 * @since 0.1.0
 */
export const stop = <E>(context: RunContext<E>, cause: Cause.Cause<unknown>): Effect.Effect<"failed" | "cancelled"> =>
  Effect.gen(function* () {
    const outcome = Cause.hasInterruptsOnly(cause) ? "cancelled" : "failed"
    // From here on nothing is accepted: what was, is in the log or goes back. Who is refused finds the run ending.
    context.ending()
    yield* context.queues.close(outcome)
    if (context.journal.isUnavailable()) return outcome
    yield* Effect.catch(
      end(context, outcome, outcome === "failed" ? failureOf(cause) : undefined),
      // The run's own failure is what the caller gets; an end that is not stored leaves the run to be resumed.
      (error) => Effect.logWarning(`the end of run ${context.runId} is not stored: ${error.message}`)
    )
    return outcome
  })

/**
 * Closes the runs that a crash or a suspension left behind, at the head of a new one: their steps stay visible. Calls are
 * settled by the policy of their tools, what is omitted is left without a result; a run that waited for people counts as
 * cancelled by the new input, any other as failed.
 *
 * @category running
 * @since 0.1.0
 */
export const closeUnfinished = Effect.fnUntraced(function* (
  { journal, publish }: Pick<RunContext<unknown>, "journal" | "publish">,
  policy: (name: string) => ToolCall.CrashPolicy
): Effect.fn.Return<void, WriteError> {
  for (const run of journal.state().runs) {
    const { runId } = run
    const context = { journal, publish, runId }
    if (run.status === "suspended") {
      const message = "a new run began while this one waited for people"
      yield* write(context, [
        ...superseded(context),
        ended(context, "cancelled", undefined, { tag: "Superseded", message })
      ])
      continue
    }
    const open = unapproved(journal, runId).filter(({ name }) => policy(name) !== "omit")
    const subject = journal.records().findLast(({ payload }) => "runId" in payload && payload.runId === runId)
    const subjects = subject === undefined ? [] : [subject.recordId]
    const reason = "a new run began while this one was unfinished"
    yield* write(context, [
      // Of more calls than a batch takes some may be settled already, by who died meanwhile.
      { name: ["closed", String(open.length)], payload: { _tag: "RepairAnnotated", subjects, reason } },
      ...superseded(context),
      ...open.map((call) => settledWithout(runId, call, call.attempt > 0 ? "unknown" : "interrupted")),
      ended(context, "failed", undefined, { tag: "Unfinished", message: reason })
    ])
  }
})

// --- internal ---

const failureOf = (cause: Cause.Cause<unknown>): Payload.Failure => {
  const found = Cause.findError(cause)
  const error = Result.isSuccess(found) ? found.success : Cause.squash(cause)
  const tag = typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : "Defect"
  const message = error instanceof Error ? error.message : String(error)
  return { tag, message: Text.cut(message.toWellFormed(), maxErrorBytes) }
}

/** How much of an error's message the log has, in UTF-8 bytes: providers may send theirs back with the whole prompt in it. */
const maxErrorBytes = 16 * 1024

/** The run's open calls that do not wait for a decision. */
const unapproved = (journal: Journal, runId: RunId): ReadonlyArray<OpenCall> => {
  const { approvals, calls } = journal.state()
  const waiting = new Set(approvals.map(({ callId }) => callId))
  return calls.filter((call) => call.runId === runId && !waiting.has(call.callId))
}
