/**
 * Agents that work in the background, each in a child conversation: started, waited for, and found again after a crash.
 *
 * ```
 *   parent:  BackgroundStarted ─────────────────────────▶ BackgroundSettled ──▶ input of kind `background`
 *   child:        └─▶ RunStarted … (suspended, resumed) … RunEnded ──┘
 * ```
 *
 * What a task came to is written into the parent's log as soon as its run ends, whether the parent runs or not; its next
 * model call is told. After a crash the parent's next run looks what became of the tasks that its log has open.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { BackgroundTask, ConversationState } from "@colloquy/session/ConversationState"
import type { AgentName, ConversationId } from "@colloquy/session/Ids"
import { derive } from "@colloquy/session/DerivedId"
import { BatchId, RecordId, RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Text from "@colloquy/session/Text"
import { isAbsent } from "@colloquy/store/StoreError"
import { load, type WriteError } from "@colloquy/store/Writer"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { ConversationBusy } from "../AgentError.ts"
import type { AgentHost, Delegate } from "../AgentHost.ts"
import * as AgentLoop from "../AgentLoop.ts"
import type { RunOptions } from "../Run.ts"
import type { RunContext, TaskStarter } from "../RunContext.ts"
import type { RunGate } from "../RunGate.ts"
import type { Storage } from "./shared.ts"

/** What a task's run is started and resumed with; both return once that is stored. */
export interface Runs {
  readonly start: (host: HostOf<unknown>, input: string, options: RunOptions) => Effect.Effect<unknown, unknown>
  readonly resume: (host: HostOf<unknown>, conversationId: ConversationId) => Effect.Effect<unknown, unknown>
  /** Stops a run, or ends one that waits for people. */
  readonly cancel: (conversationId: ConversationId) => Effect.Effect<boolean, CancelError>
}

type CancelError = ConversationBusy | WriteError

type Find<E> = (agent: AgentName) => Effect.Effect<Delegate<E, never> | undefined, unknown, Scope.Scope>

type LookUpError = Effect.Error<ReturnType<typeof lookUp>>

export interface Tasks {
  /**
   * Starts the run of a task that is recorded, at the place in the app's world where its parent is. A run that cannot start
   * settles its task as failed.
   */
  readonly starter: (parent: ConversationId, conversationKey: string | undefined) => TaskStarter
  /**
   * Looks what became of the tasks that the log has open and that nobody here works on. `find` is asked for an agent that
   * the one at work does not know: another one, who handed over, may have started it.
   */
  readonly reconcile: <E>(context: RunContext<E>, find: Find<E>) => Effect.Effect<void, LookUpError, Scope.Scope>
  /** A run stops, as its log says: if it is a task's and over, its parent is told. */
  readonly ended: (run: Pick<RunContext<unknown>, "journal" | "runId">) => Effect.Effect<void>
  /** Stops the tasks of a parent that are to end with it. */
  readonly cancelOf: (parent: ConversationId | undefined) => Effect.Effect<void>
}

export const make = ({ conversations, store }: Storage, gate: RunGate, runs: Runs): Tasks => {
  const working = new Map<ConversationId, Working>()

  const settle = (child: ConversationId, { parent, taskId }: Working, settlement: Settlement) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { producerId } = yield* store.tail({ conversationId: parent })
        // To write there would take it over from a run that goes on elsewhere: that process's next run looks itself.
        if (producerId !== conversations.producerId) return
        const writer = yield* conversations.open(parent)
        if (!writer.state().tasks.some((open) => open.taskId === taskId)) return
        yield* writer.append({
          batchId: BatchId.make(derive("task", taskId, "settled")),
          records: [
            { recordId: RecordId.make(derive("task", taskId, "settled")), payload: settledOf(taskId, settlement) }
          ]
        })
      })
    ).pipe(
      Effect.retry({ while: (error) => error._tag === "StoreUnavailable", schedule: patience }),
      // Somebody else has the parent, or has settled the task; or the parent's next run will.
      Effect.catch((error) => Effect.logWarning(`task ${taskId} of ${parent} is not settled yet: ${error.message}`)),
      Effect.ensuring(Effect.sync(() => working.delete(child)))
    )

  const ended: Tasks["ended"] = ({ journal, runId }) =>
    Effect.suspend(() => {
      const child = journal.conversationId
      const task = child === undefined ? undefined : working.get(child)
      if (child === undefined || task === undefined) return Effect.void
      const state = journal.state()
      const open = state.runs.find((run) => run.runId === runId)
      if (open === undefined) return settle(child, task, settlementOf(state, journal.records()))
      // What the store's failure or another owner left unfinished is looked after by the parent's next run.
      if (open.status === "running") working.delete(child)
      return Effect.void
    })

  const start = (child: ConversationId, task: Working, starting: Effect.Effect<unknown, unknown>) =>
    Effect.suspend(() => {
      working.set(child, task)
      return Effect.matchCauseEffect(starting, {
        onSuccess: () => Effect.void,
        onFailure: (cause) => settle(child, task, failed(cause))
      })
    })

  /** Goes on with a task that is `working`. */
  const resume = (child: ConversationId, task: Working, resuming: Effect.Effect<unknown, unknown>) =>
    Effect.matchCauseEffect(resuming, {
      onSuccess: () => Effect.void,
      onFailure: (cause) =>
        Effect.gen(function* () {
          const found = yield* lookUp(store, child)
          if (typeof found === "object") yield* settle(child, task, found)
          // Somebody here has begun with it already; its end is told.
          else if (found === "suspended" || gate.isHeld(child)) return
          else if (isStores(cause)) working.delete(child)
          else yield* settle(child, task, failed(cause))
        })
    })

  const reconcileOne = Effect.fnUntraced(function* <E>(context: RunContext<E>, find: Find<E>, task: BackgroundTask) {
    const { agent, conversationId: child, taskId } = task
    const own = context.host.delegates.find((delegate) => delegate.kind === "background" && delegate.agent === agent)
    const parent = context.journal.state().conversationId
    const entry: Working = { parent, taskId, cancelWithParent: own?.cancelWithParent ?? true }
    // Before the log is read: a run of it that ends from here on tells its parent.
    working.set(child, entry)
    const found = yield* Effect.onError(lookUp(store, child), () => Effect.sync(() => working.delete(child)))
    if (working.get(child) !== entry || found === "suspended") return
    if (typeof found === "object") return yield* settle(child, entry, found)
    if (gate.isHeld(child)) return
    const delegate = own ?? (found === "lost" ? undefined : yield* Effect.orElseSucceed(find(agent), () => undefined))
    yield* found === "lost" || delegate === undefined
      ? settle(child, entry, lost)
      : resume(child, entry, runs.resume(delegate.host, child))
  })

  return {
    starter:
      (parent, conversationKey) =>
      (delegate, input, { conversationId, taskId }) =>
        start(
          conversationId,
          { parent, taskId, cancelWithParent: delegate.cancelWithParent },
          runs.start(delegate.host, input, {
            conversationId,
            conversationKey,
            runId: RunId.make(derive("task", taskId))
          })
        ),
    reconcile: (context, find) =>
      Effect.forEach(
        // One that waited for people here may have been decided elsewhere.
        context.journal.state().tasks.filter(({ conversationId: child }) => !working.has(child) || !gate.isHeld(child)),
        (task) => reconcileOne(context, find, task),
        { discard: true }
      ),
    ended,
    cancelOf: (parent) =>
      Effect.forEach(
        [...working].flatMap(([child, task]) => (task.parent === parent && task.cancelWithParent ? [child] : [])),
        (child) =>
          Effect.catch(runs.cancel(child), (error) =>
            Effect.logWarning(`the background run of ${child} is not cancelled: ${error.message}`)
          ),
        { concurrency: "unbounded", discard: true }
      )
  }
}

/** For a runtime without a store: nobody works in the background. */
export const none: Tasks = {
  starter: () => () => Effect.void,
  reconcile: () => Effect.void,
  ended: () => Effect.void,
  cancelOf: () => Effect.void
}

// --- internal ---

type HostOf<E> = Effect.Effect<AgentHost<E>, E, Scope.Scope>

interface Working {
  readonly parent: ConversationId
  readonly taskId: string
  readonly cancelWithParent: boolean
}

interface Settlement extends Pick<Payload.BackgroundSettled, "outcome"> {
  readonly summary?: string | undefined
  readonly usage?: Payload.BackgroundSettled["usage"] | undefined
}

/** How much of a task's answer the parent is told, in UTF-8 bytes; the child's conversation has the whole. */
const maxSummaryBytes = 16 * 1024

const patience = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]).pipe(
  Schedule.upTo({ duration: "1 minute" })
)

const lost: Settlement = { outcome: "lost" }

const outcomes = {
  completed: "completed",
  "limit-reached": "completed",
  failed: "failed",
  cancelled: "cancelled"
} as const

const settledOf = (taskId: string, { outcome, summary, usage }: Settlement): Payload.BackgroundSettled => ({
  _tag: "BackgroundSettled",
  taskId,
  outcome,
  ...(usage === undefined ? {} : { usage }),
  ...(summary === undefined || summary === "" ? {} : { summary: Text.cut(summary.toWellFormed(), maxSummaryBytes) })
})

const failed = (cause: Cause.Cause<unknown>): Settlement => {
  if (Cause.hasInterruptsOnly(cause)) return { outcome: "cancelled" }
  const error = Cause.squash(cause)
  return { outcome: "failed", summary: error instanceof Error ? error.message : String(error) }
}

/** What the store says is no end of a task: its run is left to be resumed. */
const isStores = (cause: Cause.Cause<unknown>): boolean => {
  const error = Cause.squash(cause)
  const tag = typeof error === "object" && error !== null && "_tag" in error ? error._tag : undefined
  return tag === "StoreUnavailable" || tag === "FenceRejected" || tag === "AppendConflict"
}

/** What the child's log says of a task whose process is gone. Takes nothing over. */
const lookUp = (store: Storage["store"], child: ConversationId) =>
  Effect.gen(function* () {
    const tail = yield* store.tail({ conversationId: child })
    const { records, state } = yield* load(store, child, tail)
    const run = state.runs.at(-1)
    if (run !== undefined) return run.status
    return state.lastEnded === undefined ? ("lost" as const) : settlementOf(state, records)
  }).pipe(Effect.catchIf(isAbsent, () => Effect.succeed("lost" as const)))

/** What a task whose run is over came to. */
const settlementOf = ({ lastEnded }: ConversationState, records: ReadonlyArray<CanonicalRecord>): Settlement => {
  if (lastEnded === undefined) return lost
  const { outcome, runId } = lastEnded
  let response: Payload.ModelResponded | undefined
  let end: Payload.RunEnded | undefined
  for (const { payload } of records) {
    if (payload._tag === "ModelResponded" && payload.runId === runId) response = payload
    if (payload._tag === "RunEnded" && payload.runId === runId) end = payload
  }
  const text = AgentLoop.textOf(response)
  return { outcome: outcomes[outcome], usage: end?.usage, summary: outcome === "failed" ? end?.error?.message : text }
}
