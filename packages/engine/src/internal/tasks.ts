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
import type { BackgroundTask } from "@colloquy/session/ConversationState"
import type { ConversationId } from "@colloquy/session/Ids"
import { BatchId, derive, RecordId, RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Text from "@colloquy/session/Text"
import type { Writer, WriteError } from "@colloquy/store/Writer"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { AgentHost } from "../AgentHost.ts"
import * as AgentLoop from "../AgentLoop.ts"
import type { RunOptions } from "../Run.ts"
import { type RunContext, type TaskStarter, write } from "../RunContext.ts"
import type { RunGate } from "../RunGate.ts"
import type { Untyped } from "./running.ts"
import type { Storage } from "./shared.ts"

/** What a task's run is started and resumed with; both return once that is stored. */
export interface Runs {
  readonly start: (host: HostOf<unknown>, input: string, options: RunOptions) => Effect.Effect<unknown, unknown>
  readonly resume: (host: HostOf<unknown>, conversationId: ConversationId) => Effect.Effect<unknown, unknown>
}

export interface Tasks {
  /** Starts the run of a task that is recorded. A run that cannot start settles its task as failed. */
  readonly starter: (parent: ConversationId) => TaskStarter<unknown>
  /** Looks what became of the tasks that the log has open and that nobody here works on. */
  readonly reconcile: <E>(context: RunContext<E>) => Effect.Effect<void, WriteError>
  /** A run of this conversation is over, or waits for people: if it is a task's, its parent is told. */
  readonly ended: (conversationId: ConversationId | undefined, exit: Exit.Exit<Untyped, unknown>) => Effect.Effect<void>
  /** Stops the tasks of a parent that are to end with it. */
  readonly cancelOf: (parent: ConversationId | undefined) => Effect.Effect<void>
}

export const make = ({ conversations, store }: Storage, gate: RunGate, runs: Runs): Tasks => {
  const working = new Map<ConversationId, Working>()

  const settle = (child: ConversationId, { parent, taskId }: Working, settlement: Settlement) =>
    Effect.scoped(
      Effect.flatMap(conversations.open(parent), (writer) =>
        writer.append({
          batchId: BatchId.make(derive("task", taskId, "settled")),
          records: [
            { recordId: RecordId.make(derive("task", taskId, "settled")), payload: settledOf(taskId, settlement) }
          ]
        })
      )
    ).pipe(
      Effect.retry({ while: (error) => error._tag === "StoreUnavailable", schedule: patience }),
      // Somebody else has the parent, or has settled the task; or the parent's next run will.
      Effect.catch((error) => Effect.logWarning(`task ${taskId} of ${parent} is not settled yet: ${error.message}`)),
      Effect.ensuring(Effect.sync(() => working.delete(child)))
    )

  const ended: Tasks["ended"] = (conversationId, exit) =>
    Effect.suspend(() => {
      const task = conversationId === undefined ? undefined : working.get(conversationId)
      if (conversationId === undefined || task === undefined) return Effect.void
      if (Exit.isFailure(exit)) return settle(conversationId, task, failed(exit.cause))
      const { outcome, text, usage } = exit.value
      if (outcome === "awaiting-approval") return Effect.void
      return settle(conversationId, task, { outcome: outcomes[outcome], summary: text, usage })
    })

  const begin = (child: ConversationId, task: Working, starting: Effect.Effect<unknown, unknown>) =>
    Effect.suspend(() => {
      working.set(child, task)
      return Effect.matchCauseEffect(starting, {
        onSuccess: () => Effect.void,
        onFailure: (cause) => settle(child, task, failed(cause))
      })
    })

  const reconcileOne = Effect.fnUntraced(function* <E>(context: RunContext<E>, task: BackgroundTask) {
    const { agent, conversationId: child, taskId } = task
    const parent = context.journal.state().conversationId
    const delegate = context.host.delegates.find(
      (delegate) => delegate.kind === "background" && delegate.agent === agent
    )
    const cancelWithParent = delegate?.cancelWithParent ?? true
    const found = yield* lookUp(conversations, store, child)
    if (found === "suspended") working.set(child, { parent, taskId, cancelWithParent })
    else if (found === "unfinished" && delegate !== undefined) {
      yield* begin(child, { parent, taskId, cancelWithParent }, runs.resume(delegate.host, child))
    } else {
      const settlement = typeof found === "string" ? { outcome: "lost" as const } : found
      yield* write(context, [{ name: ["task-settled", taskId], payload: settledOf(taskId, settlement) }])
    }
  })

  return {
    starter:
      (parent) =>
      (delegate, input, { conversationId, taskId }) =>
        begin(
          conversationId,
          { parent, taskId, cancelWithParent: delegate.cancelWithParent },
          runs.start(delegate.host, input, { conversationId, runId: RunId.make(derive("task", taskId)) })
        ),
    reconcile: (context) =>
      Effect.forEach(
        context.journal.state().tasks.filter(({ conversationId }) => !working.has(conversationId)),
        (task) => reconcileOne(context, task),
        { discard: true }
      ),
    ended,
    cancelOf: (parent) =>
      Effect.forEach(
        [...working].flatMap(([child, task]) => (task.parent === parent && task.cancelWithParent ? [child] : [])),
        (child) => gate.stop(child),
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

type Settlement = Omit<Payload.BackgroundSettled, "_tag" | "taskId">

/** How much of a task's answer the parent is told, in UTF-8 bytes; the child's conversation has the whole. */
const maxSummaryBytes = 16 * 1024

const patience = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]).pipe(
  Schedule.upTo({ duration: "1 minute" })
)

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

/** What the child's log says of a task whose process is gone. */
const lookUp = (conversations: Storage["conversations"], store: Storage["store"], child: ConversationId) =>
  Effect.scoped(
    Effect.gen(function* () {
      // Opening would create it.
      yield* store.tail({ conversationId: child })
      const writer = yield* conversations.open(child)
      const { lastEnded, runs } = writer.state()
      const run = runs.at(-1)
      if (run !== undefined) return run.status === "suspended" ? ("suspended" as const) : ("unfinished" as const)
      if (lastEnded === undefined) return "lost" as const
      return {
        outcome: outcomes[lastEnded.outcome],
        summary: AgentLoop.textOf(lastResponse(writer))
      } satisfies Settlement
    })
  ).pipe(Effect.catchTag(["ConversationNotFound", "ConversationErased"], () => Effect.succeed("lost" as const)))

const lastResponse = (writer: Writer): Payload.ModelResponded | undefined => {
  const last = writer.records().findLast(({ payload }) => payload._tag === "ModelResponded")
  return last?.payload._tag === "ModelResponded" ? last.payload : undefined
}
