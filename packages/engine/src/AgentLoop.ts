/**
 * The loop: model, tools, model … until the model answers. Every step is written as it happens.
 *
 * @since 0.1.0
 */
import type { OpenRun } from "@colloquy/session/ConversationState"
import type { RunId } from "@colloquy/session/Ids"
import { maxBatchRecords } from "@colloquy/session/Limits"
import type * as Payload from "@colloquy/session/Payload"
import * as Usage from "@colloquy/session/Usage"
import type { WriteError } from "@colloquy/store/Writer"
import type * as AiError from "effect/ai/AiError"
import * as Effect from "effect/Effect"
import type { AgentHost } from "./AgentHost.ts"
import type { Fact, Journal } from "./Journal.ts"
import * as Recovery from "./Recovery.ts"
import * as Step from "./Step.ts"
import * as ToolBatch from "./ToolBatch.ts"
import type * as ToolCall from "./ToolCall.ts"

/**
 * How a run ended, and with what answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ended {
  readonly outcome: Payload.RunOutcome
  readonly response: Payload.ModelResponded | undefined
}

/**
 * Goes on with a run whose log waits for the model, until the run's end is written.
 *
 * **Details**
 *
 * `ending` is called before the last write: from then on nothing is taken in. Fails with what the model or a tool fails
 * with, or with what the store says; the end is then not written. See {@link end} for who does.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Effect.fnUntraced(function* <E>(
  journal: Journal,
  host: AgentHost<E>,
  runId: RunId,
  ending: () => void
): Effect.fn.Return<Ended, E | AiError.AiError | WriteError> {
  for (let rounds = roundsSoFar(journal, runId); ; rounds++) {
    const isLast = rounds >= host.maxToolRounds
    const step = (openRun(journal, runId)?.step ?? 0) + 1
    const response = yield* Step.respond(journal, host, runId, step, isLast ? "none" : "auto")
    const responded: Fact = { name: ["step", String(step)], payload: response }
    const calls = ToolBatch.callsOf(response)

    if (isLast || (calls.length === 0 && response.finishReason !== "pause")) {
      const outcome = isLast ? "limit-reached" : "completed"
      ending()
      yield* Effect.uninterruptible(journal.write(runId, [responded, endOf(journal, runId, outcome, response)]))
      return { outcome, response }
    }
    if (!runsCalls(response)) {
      const settled = calls.map((call) => ToolBatch.settledWithout(runId, { ...call, attempt: 0 }, "interrupted"))
      yield* Effect.uninterruptible(writeAll(journal, runId, [responded, ...settled]))
      continue
    }
    const started = calls.slice(0, host.toolConcurrency).map((call) => ToolBatch.started(runId, call))
    yield* Effect.uninterruptible(journal.write(runId, [responded, ...started]))
    // Only this response's: an earlier call that a crash cut off may be left open, to be decided again.
    const stored = storedCalls(journal, runId).filter((call) => call.step === step)
    yield* ToolBatch.run(
      journal,
      host,
      runId,
      stored.map((call) => ({ ...call, attempt: 1 }))
    )
  }
})

/**
 * Carries out what a crash left undone, then goes on as {@link run} does.
 *
 * @category running
 * @since 0.1.0
 */
export const resume = Effect.fnUntraced(function* <E>(
  journal: Journal,
  host: AgentHost<E>,
  decision: Exclude<Recovery.Decision, { readonly _tag: "Await" | "Nothing" }>,
  policy: (name: string) => ToolCall.CrashPolicy,
  ending: () => void
): Effect.fn.Return<Ended, E | AiError.AiError | WriteError> {
  const { runId } = decision.run
  if (decision._tag === "End") {
    ending()
    yield* Effect.uninterruptible(journal.write(runId, [endOf(journal, runId, "completed")]))
    return { outcome: "completed", response: decision.response }
  }
  if (decision._tag === "SettleCalls") {
    const unknown = decision.started.filter(({ name }) => policy(name) === "unknown")
    const again = new Set(
      [...decision.waiting, ...decision.started.filter(({ name }) => policy(name) === "repeat")].map(
        ({ callId }) => callId
      )
    )
    const settled = unknown.map((call) => ToolBatch.settledWithout(runId, call, "unknown"))
    yield* Effect.uninterruptible(writeAll(journal, runId, settled))
    const calls = storedCalls(journal, runId)
      .filter(({ callId }) => again.has(callId))
      .map((call) => ({ ...call, attempt: call.attempt + 1 }))
    const [start, ...starts] = calls.slice(0, host.toolConcurrency).map((call) => ToolBatch.started(runId, call))
    if (start !== undefined) {
      yield* Effect.uninterruptible(journal.write(runId, [start, ...starts]))
      yield* ToolBatch.run(journal, host, runId, calls)
    }
  }
  return yield* run(journal, host, runId, ending)
})

/**
 * Ends a run that does not go on: each open call is settled, and the end says why.
 *
 * @category running
 * @since 0.1.0
 */
export const end = (
  journal: Journal,
  runId: RunId,
  outcome: "failed" | "cancelled",
  error?: Payload.Failure
): Effect.Effect<void, WriteError> =>
  Effect.suspend(() => {
    if (openRun(journal, runId) === undefined) return Effect.void
    const open = journal.state().calls.filter((call) => call.runId === runId)
    return writeAll(journal, runId, [
      ...open.map((call) => ToolBatch.settledWithout(runId, call, "interrupted")),
      endOf(journal, runId, outcome, undefined, error)
    ])
  })

/**
 * Closes the run that a crash left behind, at the head of a new one: its steps stay visible. Calls are settled by the
 * policy of their tools; what is omitted is left without a result.
 *
 * @category running
 * @since 0.1.0
 */
export const closeUnfinished = Effect.fnUntraced(function* (
  journal: Journal,
  policy: (name: string) => ToolCall.CrashPolicy
): Effect.fn.Return<void, WriteError> {
  for (const run of journal.state().runs) {
    const { runId } = run
    const open = journal.state().calls.filter((call) => call.runId === runId && policy(call.name) !== "omit")
    const subject = journal.records().findLast(({ payload }) => "runId" in payload && payload.runId === runId)
    const subjects = subject === undefined ? [] : [subject.recordId]
    const reason = "a new run began while this one was unfinished"
    yield* writeAll(journal, runId, [
      // Of more calls than a batch takes some may be settled already, by who died meanwhile.
      { name: ["closed", String(open.length)], payload: { _tag: "RepairAnnotated", subjects, reason } },
      ...open.map((call) => ToolBatch.settledWithout(runId, call, call.attempt > 0 ? "unknown" : "interrupted")),
      endOf(journal, runId, "failed", undefined, { tag: "Unfinished", message: reason })
    ])
  }
})

// --- internal ---

const openRun = (journal: Journal, runId: RunId): OpenRun | undefined =>
  journal.state().runs.find((run) => run.runId === runId)

/** Writes facts in their order, in as many batches as they need. The last one holds the last fact. */
const writeAll = Effect.fnUntraced(function* (journal: Journal, runId: RunId, facts: ReadonlyArray<Fact>) {
  for (let start = 0; start < facts.length; start += maxBatchRecords) {
    const [first, ...others] = facts.slice(start, start + maxBatchRecords)
    if (first !== undefined) yield* journal.write(runId, [first, ...others])
  }
})

const endOf = (
  journal: Journal,
  runId: RunId,
  outcome: Payload.RunOutcome,
  response?: Payload.ModelResponded,
  error?: Payload.Failure
): Fact => {
  const run = openRun(journal, runId)
  const usage = Usage.add(run?.usage ?? Usage.empty, response?.usage ?? Usage.empty)
  const mode = run?.mode ?? journal.state().mode
  return {
    name: ["ended"],
    payload: { _tag: "RunEnded", runId, outcome, mode, usage, ...(error === undefined ? {} : { error }) }
  }
}

/** After these finish reasons a response's calls may be incomplete: they are not run. */
const runsCalls = ({ finishReason }: Payload.ModelResponded): boolean =>
  finishReason === "tool-calls" || finishReason === "stop" || finishReason === "pause"

/** Responses with calls so far: a resumed run does not get its rounds anew. */
const roundsSoFar = (journal: Journal, runId: RunId): number =>
  journal
    .records()
    .filter(({ payload }) => payload._tag === "ModelResponded" && payload.runId === runId && !Recovery.isFinal(payload))
    .length

/** The run's open calls, as they are stored, with the attempts made so far: what is run is what was written. */
const storedCalls = (journal: Journal, runId: RunId): ReadonlyArray<ToolBatch.Call> => {
  const open = new Map(
    journal.state().calls.flatMap((call) => (call.runId === runId ? [[call.callId, call] as const] : []))
  )
  return journal.records().flatMap(({ payload }) =>
    payload._tag === "ModelResponded" && payload.runId === runId
      ? ToolBatch.callsOf(payload).flatMap((call) => {
          const stored = open.get(call.callId)
          return stored === undefined ? [] : [{ ...call, attempt: stored.attempt }]
        })
      : []
  )
}
