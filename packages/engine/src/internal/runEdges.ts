/**
 * The two edges of a run: the start that is written before anything else, and the end that is written whatever happens.
 */
import type { RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Usage from "@colloquy/session/Usage"
import type * as Prompt from "effect/ai/Prompt"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { RunExists } from "../AgentError.ts"
import type * as AgentHost from "../AgentHost.ts"
import * as AgentLoop from "../AgentLoop.ts"
import type * as Journal from "../Journal.ts"
import type { RunOptions, RunResult } from "../Run.ts"

/** Closes what a crash left behind, and writes the start, unless the run has been there before. */
export const begin = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  runId: RunId,
  start: (journal: Journal.Journal) => readonly [Journal.Fact, ...Array<Journal.Fact>]
) {
  const { conversationId } = journal
  const exists = (status: RunExists["status"]) =>
    conversationId === undefined ? Effect.void : Effect.fail(new RunExists({ conversationId, runId, status }))
  const { lastEnded, runs } = journal.state()
  if (runs.some((run) => run.runId === runId)) yield* exists("unfinished")
  if (lastEnded?.runId === runId) yield* exists("ended")
  yield* AgentLoop.closeUnfinished(journal)
  const { sequence } = journal.state()
  const written = yield* Effect.result(Effect.uninterruptible(journal.write(runId, start(journal))))
  // A run of long ago, which the state has forgotten: its start is recognised, or it had another input.
  const isKnown = Result.isSuccess(written)
    ? written.success.some((record) => record.sequence <= sequence)
    : written.failure._tag === "AppendConflict" && written.failure.reason === "batch-content"
  if (isKnown) yield* exists("ended")
  yield* Effect.fromResult(written)
})

export const startOf = (
  runId: RunId,
  host: AgentHost.AgentHost<unknown>,
  journal: Journal.Journal,
  message: Prompt.UserMessageEncoded,
  options: RunOptions
): readonly [Journal.Fact, Journal.Fact] => {
  const { author, conversationKey, inputId } = options
  const state = journal.state()
  const mode = options.mode ?? (state.agent === undefined ? host.mode : state.mode)
  const workKey = options.workKey ?? inputId ?? runId
  const { name: agent, toolsDigest } = host
  return [
    {
      name: ["start"],
      payload: {
        _tag: "RunStarted",
        runId,
        agent,
        mode,
        toolsDigest,
        workKey,
        ...(conversationKey === undefined ? {} : { conversationKey })
      }
    },
    {
      name: ["input"],
      payload: {
        _tag: "InputRecorded",
        runId,
        kind: "user",
        message,
        ...(inputId === undefined ? {} : { inputId }),
        ...(author === undefined ? {} : { author })
      }
    }
  ]
}

/** Runs the loop to its end; when it fails or is interrupted, stores that end, unless the store itself has failed. */
export const finish = <E>(
  journal: Journal.Journal,
  runId: RunId,
  onCancelled: (result: RunResult) => void,
  loop: Effect.Effect<AgentLoop.Ended, E>
): Effect.Effect<RunResult, E> =>
  loop.pipe(
    Effect.map(({ outcome, response }) => resultOf(journal, runId, outcome, response)),
    Effect.onError((cause) => {
      const interrupted = Cause.hasInterruptsOnly(cause)
      const error = interrupted ? undefined : failureOf(cause)
      const response = lastResponse(journal, runId)
      if (interrupted) onCancelled(resultOf(journal, runId, "cancelled", response))
      if (journal.isUnavailable()) return Effect.void
      return AgentLoop.end(journal, runId, interrupted ? "cancelled" : "failed", error).pipe(
        Effect.timeoutOption(endTimeout),
        // The run's own failure is what the caller gets; an end that is not stored leaves the run to be resumed.
        Effect.catch((error) => Effect.logWarning(`the end of run ${runId} is not stored: ${error.message}`))
      )
    })
  )

const failureOf = (cause: Cause.Cause<unknown>): Payload.Failure => {
  const found = Cause.findError(cause)
  const error = Result.isSuccess(found) ? found.success : Cause.squash(cause)
  const tag = typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : "Defect"
  return { tag, message: error instanceof Error ? error.message : String(error) }
}

const lastResponse = (journal: Journal.Journal, runId: RunId): Payload.ModelResponded | undefined => {
  const last = journal.records().findLast(({ payload }) => payload._tag === "ModelResponded" && payload.runId === runId)
  return last?.payload._tag === "ModelResponded" ? last.payload : undefined
}

const resultOf = (
  journal: Journal.Journal,
  runId: RunId,
  outcome: Payload.RunOutcome,
  response: Payload.ModelResponded | undefined
): RunResult => {
  const content = response?.content ?? []
  const ended = journal.records().findLast(({ payload }) => payload._tag === "RunEnded" && payload.runId === runId)
  const open = journal.state().runs.find((run) => run.runId === runId)
  return {
    runId,
    outcome,
    text: content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
    content,
    usage: ended?.payload._tag === "RunEnded" ? ended.payload.usage : (open?.usage ?? Usage.empty)
  }
}

/** How long the end of an interrupted run may take to be stored. */
const endTimeout = "10 seconds"
