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
import * as AgentHost from "../AgentHost.ts"
import * as AgentLoop from "../AgentLoop.ts"
import * as Journal from "../Journal.ts"
import type { RunOptions, RunResult } from "../Run.ts"

/** Closes what a crash left behind, and writes the start, unless a run of this id has been there before. */
export const begin = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  host: AgentHost.AgentHost<unknown>,
  runId: RunId,
  start: () => readonly [Journal.Fact, ...Array<Journal.Fact>]
) {
  const { conversationId } = journal
  if (conversationId !== undefined && (yield* journal.hasRun(runId))) {
    const isOpen = journal.state().runs.some((run) => run.runId === runId)
    return yield* new RunExists({ conversationId, runId, status: isOpen ? "unfinished" : "ended" })
  }
  yield* AgentLoop.closeUnfinished(journal, (name) => AgentHost.crashPolicy(host, name))
  yield* journal.write(runId, start())
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
      name: Journal.startName,
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

/** The record that a run goes on after a crash. */
export const resumedOf = (runId: RunId, host: AgentHost.AgentHost<unknown>, attempt: number): Journal.Fact => ({
  name: ["resumed", String(attempt)],
  payload: { _tag: "RunResumed", runId, attempt, cause: "crash", agent: host.name }
})

/**
 * Runs the loop to its end. When it fails or is interrupted, stores that end, unless the store itself has failed; an
 * interrupted run has a result, as one that came to its end. Only the loop may be interrupted.
 */
export const finish = <E>(
  journal: Journal.Journal,
  runId: RunId,
  loop: Effect.Effect<AgentLoop.Ended, E>
): Effect.Effect<RunResult, E> =>
  Effect.matchCauseEffect(loop, {
    onSuccess: ({ outcome, response }) => Effect.sync(() => resultOf(journal, runId, outcome, response)),
    onFailure: (cause) => {
      const interrupted = Cause.hasInterruptsOnly(cause)
      const outcome = interrupted ? "cancelled" : "failed"
      return Effect.andThen(
        journal.isUnavailable() ? Effect.void : storeEnd(journal, runId, outcome, cause),
        Effect.suspend(() => {
          if (!interrupted) return Effect.failCause(cause)
          // The interruption may have come while the end was being stored: the run had its answer.
          const { lastEnded } = journal.state()
          const stored = lastEnded?.runId === runId ? lastEnded.outcome : outcome
          return Effect.succeed(resultOf(journal, runId, stored, lastResponse(journal, runId)))
        })
      )
    }
  })

// --- internal ---

const storeEnd = (
  journal: Journal.Journal,
  runId: RunId,
  outcome: "cancelled" | "failed",
  cause: Cause.Cause<unknown>
) =>
  Effect.catch(
    AgentLoop.end(journal, runId, outcome, outcome === "failed" ? failureOf(cause) : undefined),
    // The run's own failure is what the caller gets; an end that is not stored leaves the run to be resumed.
    (error) => Effect.logWarning(`the end of run ${runId} is not stored: ${error.message}`)
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
