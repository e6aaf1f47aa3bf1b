/**
 * Runs agents: starts a run and returns its answer, one at a time for each conversation, every step stored; talks to it
 * while it goes on; goes on with a run that a crash cut off or that waited for people.
 *
 * @since 0.1.0
 */
import * as CommandQueues from "@colloquy/capabilities/CommandQueues"
import * as ConversationTracker from "@colloquy/capabilities/ConversationTracker"
import type { RunEvent } from "@colloquy/capabilities/RunEvent"
import type { IllegalRecord } from "@colloquy/session/IllegalRecord"
import type { Input } from "@colloquy/session/Input"
import * as Conversations from "@colloquy/store/Conversations"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import type { ReadError } from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Agent } from "./Agent.ts"
import { type InvalidId, type InvalidOption, NothingToResume } from "./AgentError.ts"
import type * as Agents from "./Agents.ts"
import type { ApprovalRequest, Decision } from "./Approvals.ts"
import { make } from "./internal/makeRuntime.ts"
import type { AcceptedOrStarted } from "./internal/offering.ts"
import type * as Recovering from "./internal/recovering.ts"
import { AgentRuntime, type CancelError } from "./internal/runtime.ts"
import type {
  DecideError,
  ResumeError,
  ResumeOptions,
  RunError,
  RunFailure,
  RunHandle,
  RunOptions,
  RunResult,
  StartError
} from "./Run.ts"

export { AgentRuntime, make }
export type { CancelError }
export type { AcceptedOrStarted } from "./internal/offering.ts"
export type { Recovered } from "./internal/recovering.ts"

/**
 * Starts a run and returns a handle to it: to talk to it, wait for it, or stop it. The run goes on when the caller does not
 * wait.
 *
 * @category running
 * @since 0.1.0
 */
export const start = <E, R, A>(
  agent: Agent<E, R, A>,
  input: Input,
  options?: RunOptions
): Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | E, AgentRuntime | Exclude<R, Scope.Scope>> =>
  Effect.flatMap(AgentRuntime, (runtime) => runtime.start(agent, input, options))

/**
 * Goes on with an unfinished run, as {@link resume} does, and returns a handle to it once that is stored.
 *
 * @category running
 * @since 0.1.0
 */
export const startResume = <E, R, A>(
  agents: Agents.Source<E, R, A>,
  conversationId: string,
  options?: ResumeOptions
): Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | ResumeError | E, AgentRuntime | Exclude<R, Scope.Scope>> =>
  Effect.flatMap(AgentRuntime, (runtime) => runtime.startResume(agents, conversationId, options))

/**
 * Goes on with a run that waits for people, as {@link decide} does, and returns a handle to it once that is stored.
 *
 * @category running
 * @since 0.1.0
 */
export const startDecide = <E, R, A>(
  agents: Agents.Source<E, R, A>,
  conversationId: string,
  decisions: ReadonlyArray<Decision>,
  options?: ResumeOptions
): Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | DecideError | E, AgentRuntime | Exclude<R, Scope.Scope>> =>
  Effect.flatMap(AgentRuntime, (runtime) => runtime.startDecide(agents, conversationId, decisions, options))

/**
 * Runs an agent on an input and returns its answer. Interrupting it stops the run, whose end is then stored.
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E, R, A>(
  agent: Agent<E, R, A>,
  input: Input,
  options?: RunOptions
): Effect.Effect<RunResult<A>, RunError<E>, AgentRuntime | Exclude<R, Scope.Scope>> =>
  awaited(start(agent, input, options))

/**
 * Runs an agent and shows what it does: text and reasoning while they come, and every record as it is written. The run is
 * the same as that of {@link run}. The stream ends with the run and fails with it; a reader that stops early stops it.
 *
 * @category running
 * @since 0.1.0
 */
export const stream = <E, R, A>(
  agent: Agent<E, R, A>,
  input: Input,
  options: RunOptions = {}
): Stream.Stream<RunEvent, RunError<E>, AgentRuntime | Exclude<R, Scope.Scope>> =>
  Stream.unwrap(
    Effect.map(attached(start(agent, input, { ...options, streaming: true, watched: true })), (handle) =>
      Stream.concat(handle.events, Stream.drain(Stream.fromEffect(handle.await)))
    )
  )

/**
 * Ties a run to the scope that it is started, resumed or decided in: it is cancelled when that closes.
 *
 * **Example** (A run that is shown from its first event on)
 *
 * ```ts
 * Effect.gen(function* () {
 *   const run = yield* AgentRuntime.attached(AgentRuntime.start(desk, "Where is A1?", { streaming: true, watched: true }))
 *   yield* Effect.forkScoped(Stream.runForEach(run.events, show))
 *   return yield* run.await
 * }).pipe(Effect.scoped)
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const attached = <E, A, E2, R>(
  starting: Effect.Effect<RunHandle<E, A>, E2, R>
): Effect.Effect<RunHandle<E, A>, E2, R | Scope.Scope> =>
  // Starting may have to wait for the end of another run.
  Effect.acquireRelease(starting, (handle) => handle.cancel, { interruptible: true })

/**
 * Says something to the conversation's run if one goes on, to be read before its next model call, else starts one with it:
 * there is no moment in which the input belongs to neither.
 *
 * **Details**
 *
 * An input id that waits in the run's queue gives the same receipt again; one that the run's records have, or the
 * conversation's, is `InputExists`. See `RunOptions.inputId`.
 *
 * @category running
 * @since 0.1.0
 */
export const steerOrRun = <E, R, A>(
  agent: Agent<E, R, A>,
  input: Input,
  options: RunOptions & { readonly conversationId: string }
): Effect.Effect<
  AcceptedOrStarted<E, A>,
  StartError | CommandQueues.OfferError | E,
  AgentRuntime | Exclude<R, Scope.Scope>
> => Effect.flatMap(AgentRuntime, (runtime) => runtime.offerOrStart("steering", agent, input, options))

/**
 * As {@link steerOrRun}, but a run that goes on reads it when it would otherwise stop.
 *
 * @category running
 * @since 0.1.0
 */
export const followUpOrRun = <E, R, A>(
  agent: Agent<E, R, A>,
  input: Input,
  options: RunOptions & { readonly conversationId: string }
): Effect.Effect<
  AcceptedOrStarted<E, A>,
  StartError | CommandQueues.OfferError | E,
  AgentRuntime | Exclude<R, Scope.Scope>
> => Effect.flatMap(AgentRuntime, (runtime) => runtime.offerOrStart("follow-up", agent, input, options))

/**
 * Goes on with the run that a crash cut off, under the same id, and returns its answer.
 *
 * **Details**
 *
 * A run that lives in another process looks the same from outside: this takes its conversation over, and the other stops
 * at its next write. Calls that had started are settled by their tool's crash policy; a run whose answer was stored
 * already is ended without another model call. A run that waits for people is `AwaitingApproval`, unless all that is left
 * of its requests has expired.
 *
 * @category running
 * @since 0.1.0
 */
export const resume = <E, R, A>(
  agents: Agents.Source<E, R, A>,
  conversationId: string,
  options?: ResumeOptions
): Effect.Effect<RunResult<A>, RunError<E> | ResumeError, AgentRuntime | Exclude<R, Scope.Scope>> =>
  awaited(startResume(agents, conversationId, options))

/**
 * {@link resume}, or nothing when there is nothing to resume.
 *
 * @category running
 * @since 0.1.0
 */
export const resumeIfNeeded = <E, R, A>(
  agents: Agents.Source<E, R, A>,
  conversationId: string,
  options?: ResumeOptions
): Effect.Effect<
  Option.Option<RunResult<A>>,
  Exclude<RunError<E> | ResumeError, NothingToResume>,
  AgentRuntime | Exclude<R, Scope.Scope>
> =>
  Effect.asSome(resume(agents, conversationId, options)).pipe(
    Effect.catchIf(isNothingToResume, () => Effect.succeedNone, Effect.fail)
  )

/**
 * Goes on with the run that waits for people, under the same id, with what they decided, and returns what it comes to.
 *
 * **Details**
 *
 * What runs is the stored call. Requests may be decided one by one: while some are open the run waits again. A decision
 * that is none is `DecisionRejected`, and then none of those that came with it is taken.
 *
 * @category running
 * @since 0.1.0
 */
export const decide = <E, R, A>(
  agents: Agents.Source<E, R, A>,
  conversationId: string,
  decisions: ReadonlyArray<Decision>,
  options?: ResumeOptions
): Effect.Effect<RunResult<A>, RunError<E> | DecideError, AgentRuntime | Exclude<R, Scope.Scope>> =>
  awaited(startDecide(agents, conversationId, decisions, options))

/**
 * The calls of a conversation that wait for a person; see `AgentRuntime.approvals`.
 *
 * @category running
 * @since 0.1.0
 */
export const approvals = (
  conversationId: string
): Effect.Effect<ReadonlyArray<ApprovalRequest>, InvalidId | InvalidOption | IllegalRecord | ReadError, AgentRuntime> =>
  Effect.flatMap(AgentRuntime, (runtime) => runtime.approvals(conversationId))

/**
 * Stops the run of a conversation; see `AgentRuntime.cancel`.
 *
 * @category running
 * @since 0.1.0
 */
export const cancel = (conversationId: string): Effect.Effect<boolean, CancelError, AgentRuntime> =>
  Effect.flatMap(AgentRuntime, (runtime) => runtime.cancel(conversationId))

/**
 * Goes on with every run that a crash cut off, some at once, and gives what each came to as it ends.
 *
 * **Details**
 *
 * Takes the conversations that this producer wrote last: give `Conversations` a `producerId` that stays the same over
 * restarts. A run that lives in another process looks the same from outside, so those of other producers are left alone
 * unless `takeover` is set. A run whose agent is not among `agents` gives `UnknownAgent` and stays as it is.
 *
 * @category running
 * @since 0.1.0
 */
export const recoverAll = <E, R, A>(
  agents: Agents.Source<E, R, A>,
  options: RecoverOptions = {}
): Stream.Stream<Recovering.Recovered<E, A>, ReadError, AgentRuntime | Exclude<R, Scope.Scope>> =>
  Stream.unwrap(
    AgentRuntime.useSync((runtime) =>
      Stream.mapEffect(
        runtime.recoverable(options),
        (conversationId) =>
          Effect.map(Effect.exit(resume(agents, conversationId, options)), (exit) => ({ conversationId, exit })),
        { concurrency: options.concurrency ?? 4, unordered: true }
      )
    )
  )

/**
 * @category models
 * @since 0.1.0
 */
export interface RecoverOptions extends ResumeOptions {
  /** How many at once (default 4). */
  readonly concurrency?: number | undefined
  /** Also runs of other producers: only when no other process can be at work. */
  readonly takeover?: boolean | undefined
}

/**
 * The runtime with queues and a tracker in memory, and with the shared writers of its process inside. Runs end with the layer: they are
 * interrupted, and their ends are stored.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<
  AgentRuntime | CommandQueues.CommandQueues | ConversationTracker.ConversationTracker,
  never,
  ConversationStore
> = Layer.suspend(() => Layer.provide(Layer.provideMerge(layerWithout, inMemory), Conversations.layer))

/**
 * The runtime over shared writers, queues and a tracker that the app provides: for apps that also write to conversations
 * themselves, for queues that last, and to watch what runs do (`ConversationTracker.layerUpdates`).
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWithout: Layer.Layer<
  AgentRuntime,
  never,
  | ConversationStore
  | Conversations.Conversations
  | CommandQueues.CommandQueues
  | ConversationTracker.ConversationTracker
> = Layer.effect(
  AgentRuntime,
  Effect.gen(function* () {
    return yield* make({ store: yield* ConversationStore, conversations: yield* Conversations.Conversations })
  })
)

/**
 * The runtime without a store: for runs without a conversation, or with a history that the caller keeps.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerEphemeral: Layer.Layer<
  AgentRuntime | CommandQueues.CommandQueues | ConversationTracker.ConversationTracker
> = Layer.suspend(() => Layer.provideMerge(Layer.effect(AgentRuntime, make(undefined)), inMemory))

// --- internal ---

const inMemory = Layer.merge(CommandQueues.layer, ConversationTracker.layer)

const awaited = <E, A, E2, R>(
  starting: Effect.Effect<RunHandle<E, A>, E2, R>
): Effect.Effect<RunResult<A>, E | E2, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(restore(starting), (handle) => Effect.onInterrupt(restore(handle.await), () => handle.cancel))
  )

const isNothingToResume = (error: unknown): error is NothingToResume => error instanceof NothingToResume
