/**
 * A run from inside: what the pieces of a loop share while it goes on.
 *
 * @since 0.1.0
 */
import type { Verdict } from "@colloquy/capabilities/Budget"
import type { Compactor } from "@colloquy/capabilities/Compaction"
import type { RunQueues } from "@colloquy/capabilities/CommandQueues"
import type { OpenRun } from "@colloquy/session/ConversationState"
import type { AgentName, ConversationId, RunId } from "@colloquy/session/Ids"
import { maxBatchRecords } from "@colloquy/session/Limits"
import type * as Payload from "@colloquy/session/Payload"
import type { Observer } from "@colloquy/session/Seams"
import type { WriteError } from "@colloquy/store/Writer"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { AgentHost, Delegate } from "./AgentHost.ts"
import type { Fact, Journal } from "./Journal.ts"
import { RunEvent } from "@colloquy/capabilities/RunEvent"
import type { Limits } from "./RunLimits.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface RunContext<E> {
  readonly runId: RunId
  readonly journal: Journal
  readonly queues: RunQueues
  readonly limits: Limits
  /** Whether model calls are made part by part, to be watched. */
  readonly streams: boolean
  /** Earlier runs are not shown to the model. */
  readonly showsOnlyItself: boolean
  /** Undefined: history is never compacted. */
  readonly compactor: Compactor | undefined
  /** What may still be used. Undefined: there is no limit. */
  readonly budget: Effect.Effect<Verdict> | undefined
  /** Who is told of model calls. Undefined: nobody. */
  readonly observer: Observer | undefined
  /** What a history of the caller's counts, in tokens. */
  readonly historyTokens: number
  /** Shows an event to whoever watches; never waits for anybody. */
  readonly publish: (event: RunEvent) => void
  /** The run is about to find out whether it takes anything in any more: it goes on, or it is ending. */
  readonly closing: () => void
  readonly goesOn: () => void
  /** The run takes nothing in any more. */
  readonly ending: () => void
  /** Undefined where no agent can work in the background. */
  readonly startTask: TaskStarter | undefined
  /** The host of an agent that the run can be handed over to; undefined when there is none of this name. */
  readonly hostOf: (agent: AgentName) => Effect.Effect<AgentHost<E>, E> | undefined
  /** The agent at work: another one after a handoff. */
  host: AgentHost<E>
  /** The agent that a call of this step hands over to; the first of several counts. */
  handover: AgentName | undefined
  /** What has arrived of a response that is not stored yet, as a partial one. */
  inFlight: Effect.Effect<Option.Option<Payload.ModelResponded>, WriteError>
}

/**
 * Starts a background agent whose task is recorded, in its child conversation. Returns once that is stored there.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskStarter = (
  delegate: Delegate<unknown, never>,
  input: string,
  task: { readonly taskId: string; readonly conversationId: ConversationId }
) => Effect.Effect<void>

/**
 * What {@link make} takes: without a value there are no queues, nobody watches, and no agent works in the background.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<E> extends Pick<RunContext<E>, "runId" | "journal" | "host"> {
  readonly queues?: RunQueues | undefined
  readonly limits?: Limits | undefined
  readonly streams?: boolean | undefined
  readonly showsOnlyItself?: boolean | undefined
  readonly compactor?: Compactor | undefined
  readonly budget?: RunContext<E>["budget"]
  readonly observer?: Observer | undefined
  readonly historyTokens?: number | undefined
  readonly publish?: ((event: RunEvent) => void) | undefined
  readonly closing?: (() => void) | undefined
  readonly goesOn?: (() => void) | undefined
  readonly ending?: (() => void) | undefined
  readonly startTask?: TaskStarter | undefined
  readonly hostOf?: RunContext<E>["hostOf"] | undefined
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = <E>({
  budget,
  closing,
  compactor,
  ending,
  goesOn,
  historyTokens,
  host,
  hostOf,
  journal,
  limits,
  observer,
  publish,
  queues,
  runId,
  showsOnlyItself,
  startTask,
  streams
}: Options<E>): RunContext<E> => ({
  runId,
  journal,
  host,
  queues: queues ?? noQueues,
  limits: limits ?? host.limits,
  streams: streams ?? false,
  showsOnlyItself: showsOnlyItself ?? false,
  compactor,
  budget,
  observer,
  historyTokens: historyTokens ?? 0,
  publish: publish ?? nothing,
  closing: closing ?? nothing,
  goesOn: goesOn ?? nothing,
  ending: ending ?? nothing,
  startTask,
  hostOf: hostOf ?? nothing,
  handover: undefined,
  inFlight: Effect.succeedNone
})

/**
 * Writes facts of the run, in their order, in as many batches as they need, and shows them. Nothing cuts it short.
 *
 * @category writing
 * @since 0.1.0
 */
export const write = <E>(
  { journal, publish, runId }: Pick<RunContext<E>, "journal" | "publish" | "runId">,
  facts: ReadonlyArray<Fact>
): Effect.Effect<void, WriteError> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      for (let start = 0; start < facts.length; start += maxBatchRecords) {
        const [first, ...others] = facts.slice(start, start + maxBatchRecords)
        if (first === undefined) return
        const records = yield* journal.write(runId, [first, ...others])
        publish(RunEvent.Recorded({ records, stored: journal.isStored() }))
      }
    })
  )

/**
 * The run as the log has it; undefined when it is over.
 *
 * @category reading
 * @since 0.1.0
 */
export const openRun = ({ journal, runId }: Pick<RunContext<unknown>, "journal" | "runId">): OpenRun | undefined =>
  journal.state().runs.find((run) => run.runId === runId)

// --- internal ---

const nothing = () => undefined

const none = Effect.succeed([])

const noQueues: RunQueues = {
  takeSteering: none,
  takeOrClose: none,
  takeOrSuspend: none,
  delivered: () => Effect.void,
  answered: Effect.void,
  close: () => Effect.void
}
