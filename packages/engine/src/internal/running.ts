/** A run between its two edges: what it is made of, and the end that is written whatever happens. */
import type { Compactor } from "@colloquy/capabilities/Compaction"
import type { RunQueues } from "@colloquy/capabilities/CommandQueues"
import type { RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Usage from "@colloquy/session/Usage"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { AgentHost } from "../AgentHost.ts"
import * as AgentLoop from "../AgentLoop.ts"
import * as Approvals from "../Approvals.ts"
import type { Journal } from "../Journal.ts"
import * as Metrics from "../Metrics.ts"
import type { ResumeOptions, RunResult } from "../Run.ts"
import * as RunContext from "../RunContext.ts"
import * as RunEnd from "../RunEnd.ts"
import type { RunEvent } from "@colloquy/capabilities/RunEvent"
import { maskedEvents, maskedJournal } from "./masked.ts"
import { limitsOf, showsOnlyItself } from "./shared.ts"
import type { Output } from "./spec.ts"

/** What a run came to, without its structured answer. */
export type Untyped = Omit<RunResult, "value">

export interface Making<E> {
  readonly runId: RunId
  readonly journal: Journal
  readonly host: AgentHost<E>
  readonly queues: RunQueues
  readonly options: ResumeOptions
  readonly closing: () => void
  readonly goesOn: () => void
  readonly ending: () => void
  readonly publish: (event: RunEvent) => void
  readonly startTask: RunContext.RunContext<E>["startTask"]
  readonly hostOf: RunContext.RunContext<E>["hostOf"]
  readonly budget: RunContext.RunContext<E>["budget"]
  readonly observer: RunContext.RunContext<E>["observer"]
  readonly compactor: Compactor | undefined
  readonly historyTokens: number
}

/** A run's context, with everything that it stores counted and shown. */
export const contextOf = <E>({ host, journal, options, publish, ...making }: Making<E>): RunContext.RunContext<E> => {
  const mask = options.mask ?? host.mask
  const show = (event: RunEvent) => {
    publish(event)
    options.onEvent?.(event)
  }
  return RunContext.make({
    ...making,
    host,
    limits: limitsOf(host, options),
    showsOnlyItself: showsOnlyItself(host, options),
    streams: options.streaming ?? false,
    journal: counted(mask === undefined ? journal : maskedJournal(journal, mask)),
    publish: mask === undefined ? show : maskedEvents(show, mask)
  })
}

/**
 * Runs the loop to its end. When it fails or is interrupted, stores that end, unless the store itself has failed; an
 * interrupted run has a result, as one that came to its end. Only the loop may be interrupted. Whatever the end, nothing
 * that was accepted is left in a queue.
 */
export const finish = <E, E2>(
  context: RunContext.RunContext<E>,
  loop: Effect.Effect<AgentLoop.Stopped, E2>
): Effect.Effect<Untyped, E2> =>
  Effect.matchCauseEffect(loop, {
    onSuccess: ({ outcome, response }) => Effect.andThen(settleStore(context), resultOf(context, outcome, response)),
    onFailure: (cause) =>
      Effect.gen(function* () {
        const outcome = yield* RunEnd.stop(context, cause)
        yield* settleStore(context)
        if (outcome === "failed") return yield* Effect.failCause(cause)
        // The interruption may have come while the end was being stored: the run had its answer.
        const { lastEnded } = context.journal.state()
        const stored = lastEnded?.runId === context.runId ? lastEnded.outcome : outcome
        return yield* resultOf(context, stored, lastResponse(context))
      })
  })

/** The structured answer of a text, if the agent has one and the text encodes it. */
export const withValue =
  <A>(output: Output<A> | undefined) =>
  (result: Untyped): Effect.Effect<RunResult<A>> =>
    output === undefined || result.outcome === "awaiting-approval"
      ? Effect.succeed({ ...result, value: undefined })
      : Effect.map(Effect.option(Schema.decodeEffect(Schema.fromJsonString(output))(result.text)), (value) => ({
          ...result,
          value: Option.getOrUndefined(value)
        }))

// --- internal ---

/** How long a run that is over waits for a store that has failed. */
const patience = Duration.seconds(10)

/** What is not stored by now will not be: the result says so. */
const settleStore = <E>({ journal, runId }: RunContext.RunContext<E>): Effect.Effect<void> =>
  journal.isStored()
    ? Effect.void
    : Effect.catch(journal.stored(patience), (error) =>
        Effect.logError(`run ${runId} is over and not all of it is stored: ${error.message}`)
      )

const counted = (journal: Journal): Journal => ({
  ...journal,
  write: (runId, facts) =>
    Effect.tap(journal.write(runId, facts), (records) =>
      Effect.forEach(records, ({ payload }) => Metrics.count(payload), { discard: true })
    )
})

const lastResponse = <E>({ journal, runId }: RunContext.RunContext<E>): Payload.ModelResponded | undefined => {
  const last = journal.records().findLast(({ payload }) => payload._tag === "ModelResponded" && payload.runId === runId)
  return last?.payload._tag === "ModelResponded" ? last.payload : undefined
}

const resultOf = <E>(
  context: RunContext.RunContext<E>,
  outcome: RunResult["outcome"],
  response: Payload.ModelResponded | undefined
): Effect.Effect<Untyped> =>
  Effect.sync(() => {
    const { host, journal, runId } = context
    // As it is stored.
    const answer = lastResponse(context) ?? response
    const ended = journal.records().findLast(({ payload }) => payload._tag === "RunEnded" && payload.runId === runId)
    const isWaiting = outcome === "awaiting-approval"
    return {
      runId,
      outcome,
      text: AgentLoop.textOf(answer),
      content: answer?.content ?? [],
      usage:
        ended?.payload._tag === "RunEnded" ? ended.payload.usage : (RunContext.openRun(context)?.usage ?? Usage.empty),
      approvals: isWaiting
        ? Approvals.requests(journal.state(), journal.records(), host.approvalTimeToLive).filter(
            (request) => request.runId === runId
          )
        : [],
      persisted: journal.conversationId !== undefined && journal.isStored()
    }
  })
