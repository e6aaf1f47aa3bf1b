/**
 * Runs agents: starts a run and returns its answer, one at a time for each conversation, every step stored; talks to it
 * while it goes on; goes on with a run that a crash cut off or that waited for people.
 *
 * @since 0.1.0
 */
import * as CommandQueues from "@colloquy/capabilities/CommandQueues"
import * as ConversationTracker from "@colloquy/capabilities/ConversationTracker"
import type { ConversationId } from "@colloquy/session/Ids"
import type { IllegalRecord } from "@colloquy/session/IllegalRecord"
import type { Input } from "@colloquy/session/Input"
import * as Conversations from "@colloquy/store/Conversations"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { SettingsStore } from "@colloquy/store/SettingsStore"
import type { ReadError } from "@colloquy/store/StoreError"
import type { WriteError } from "@colloquy/store/Writer"
import * as Context from "effect/Context"
import type * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Agent } from "./Agent.ts"
import { type ConversationBusy, type InvalidId, type InvalidOption, NothingToResume } from "./AgentError.ts"
import * as Agents from "./Agents.ts"
import type { ApprovalRequest, Decision } from "./Approvals.ts"
import { backgroundNamed, hostNamed, hostsOf } from "./internal/hosts.ts"
import * as Recovering from "./internal/recovering.ts"
import { cancelSuspended, decideRun, openApprovals, resumeRun } from "./internal/resuming.ts"
import { decodeConversationId, type Parts, seamsAtHand, type Storage } from "./internal/shared.ts"
import { withSpan } from "./internal/spans.ts"
import { startRun } from "./internal/starting.ts"
import * as Tasks from "./internal/tasks.ts"
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
import type { RunEvent } from "@colloquy/capabilities/RunEvent"
import * as RunGate from "./RunGate.ts"

/**
 * Runs agents.
 *
 * @category services
 * @since 0.1.0
 */
export class AgentRuntime extends Context.Service<
  AgentRuntime,
  {
    /** Starts a run; returns once its start and input are stored. */
    readonly start: <E, R, A>(
      agent: Agent<E, R, A>,
      input: Input,
      options?: RunOptions
    ) => Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | E, Exclude<R, Scope.Scope>>
    /** Goes on with an unfinished run, under its id; returns once that is stored. */
    readonly startResume: <E, R, A>(
      agents: Agents.Source<E, R, A>,
      conversationId: string,
      options?: ResumeOptions
    ) => Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | ResumeError | E, Exclude<R, Scope.Scope>>
    /** Goes on with a run that waits for people, with what they decided; returns once that is stored. */
    readonly startDecide: <E, R, A>(
      agents: Agents.Source<E, R, A>,
      conversationId: string,
      decisions: ReadonlyArray<Decision>,
      options?: ResumeOptions
    ) => Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | DecideError | E, Exclude<R, Scope.Scope>>
    /**
     * The calls of a conversation that wait for a person, for whoever shows them; takes nothing over. When they expire is
     * known to their agent, and is not among what this gives.
     */
    readonly approvals: (
      conversationId: string
    ) => Effect.Effect<ReadonlyArray<ApprovalRequest>, InvalidId | InvalidOption | IllegalRecord | ReadError>
    /**
     * Stops the run of a conversation in this process, or ends one that waits for people, and returns when its end is
     * stored; false when there is neither. Background agents that are to end with it are stopped too.
     */
    readonly cancel: (conversationId: string) => Effect.Effect<boolean, CancelError>
    /** Conversations whose last run is unfinished and that this process may go on with. */
    readonly recoverable: (options?: {
      readonly takeover?: boolean | undefined
    }) => Stream.Stream<ConversationId, ReadError>
  }
>()("@colloquy/engine/AgentRuntime") {}

/**
 * What cancelling fails with.
 *
 * @category errors
 * @since 0.1.0
 */
export type CancelError = InvalidId | ConversationBusy | WriteError

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
 * What became of an input that is for a run that goes on, if there is one.
 *
 * @category models
 * @since 0.1.0
 */
export type SteeredOrStarted<E, A> = Data.TaggedEnum<{
  Steered: { readonly receipt: CommandQueues.Receipt }
  Started: { readonly run: RunHandle<RunFailure<E>, A> }
}>

/**
 * Says something to the conversation's run if one goes on, else starts one with it: there is no moment in which the input
 * belongs to neither.
 *
 * @category running
 * @since 0.1.0
 */
export const steerOrRun = <E, R, A>(
  agent: Agent<E, R, A>,
  input: Input,
  options: RunOptions & { readonly conversationId: string }
): Effect.Effect<
  SteeredOrStarted<E, A>,
  StartError | CommandQueues.OfferError | E,
  AgentRuntime | CommandQueues.CommandQueues | Exclude<R, Scope.Scope>
> =>
  Effect.gen(function* () {
    const queues = yield* CommandQueues.CommandQueues
    const conversationId = yield* decodeConversationId(options.conversationId)
    let busy: ConversationBusy | undefined
    while (true) {
      const { author, inputId } = options
      const offered = yield* queues.steer(conversationId, input, { author, inputId })
      if (offered._tag === "Accepted") return { _tag: "Steered", receipt: offered.receipt }
      // None goes on: starting waits for one that ends. If another begins first, that one takes it.
      const started = yield* Effect.result(start(agent, input, options))
      if (started._tag === "Success") return { _tag: "Started", run: started.success }
      const { failure } = started
      // The same run twice: it takes nothing in from these queues, and will not.
      if (!isBusy(failure) || failure.runId === busy?.runId) return yield* Effect.fail(failure)
      busy = failure
    }
  })

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

export type { Recovered } from "./internal/recovering.ts"

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (storage: Storage | undefined) {
  const parts: Parts = {
    storage,
    gate: storage === undefined ? RunGate.make() : RunGate.of(storage.conversations),
    queues: yield* CommandQueues.CommandQueues,
    ownQueues: yield* CommandQueues.make(),
    tracker: yield* ConversationTracker.ConversationTracker,
    scope: yield* Effect.scope,
    seams: yield* seamsAtHand,
    settings: yield* Effect.serviceOption(SettingsStore)
  }
  const { gate } = parts
  const tasks: Tasks.Tasks =
    storage === undefined
      ? Tasks.none
      : Tasks.make(storage, gate, {
          start: (host, input, options) =>
            startRun(parts, tasks, { host, output: undefined, configurable: new Set() }, input, options),
          resume: (host, conversationId) =>
            resumeRun(
              parts,
              tasks,
              {
                hostNamed: () => host,
                backgroundNamed: (name) => backgroundNamed([host], name),
                output: () => undefined
              },
              conversationId,
              {}
            ),
          cancel: (conversationId) => cancelOne(conversationId)
        })
  const cancelOne = Effect.fnUntraced(function* (conversationId: ConversationId) {
    const stopped = yield* gate.stop(conversationId)
    yield* tasks.cancelOf(conversationId)
    const suspended = cancelSuspended(parts, tasks, conversationId)
    if (!stopped) return yield* suspended
    // What was stopped may have come to wait for people in that moment, and the next run may go on already.
    yield* Effect.catchTag(suspended, "ConversationBusy", () => Effect.void)
    return true
  })
  return AgentRuntime.of({
    start: (agent, input, options = {}) =>
      withSpan("AgentRuntime.start", {})(startRun(parts, tasks, agent, input, options)),
    startResume: (agents, conversationId, options = {}) =>
      withSpan("AgentRuntime.resume", {})(resumeRun(parts, tasks, resumerOf(agents), conversationId, options)),
    startDecide: (agents, conversationId, decisions, options = {}) =>
      withSpan(
        "AgentRuntime.decide",
        {}
      )(decideRun(parts, tasks, resumerOf(agents), conversationId, decisions, options)),
    approvals: Effect.fn("AgentRuntime.approvals")((conversation) => openApprovals(parts, conversation)),
    cancel: Effect.fn("AgentRuntime.cancel")(function* (conversation) {
      return yield* cancelOne(yield* decodeConversationId(conversation))
    }),
    recoverable: (options = {}) =>
      storage === undefined ? Stream.empty : Recovering.recoverable(storage, gate, options.takeover === true)
  })
})

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

/** Agents as whoever goes on with a run looks for them. */
const resumerOf = <E, R, A>(agents: Agents.Source<E, R, A>) => ({
  hostNamed: (conversationId: ConversationId, name: Agent["name"]) => hostNamed(agents, conversationId, name),
  backgroundNamed: (name: Agent["name"]) => backgroundNamed(hostsOf(agents), name),
  output: (name: Agent["name"]) => Agents.find(agents, name)?.output
})

const inMemory = Layer.merge(CommandQueues.layer, ConversationTracker.layer)

const awaited = <E, A, E2, R>(
  starting: Effect.Effect<RunHandle<E, A>, E2, R>
): Effect.Effect<RunResult<A>, E | E2, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(restore(starting), (handle) => Effect.onInterrupt(restore(handle.await), () => handle.cancel))
  )

const isNothingToResume = (error: unknown): error is NothingToResume => error instanceof NothingToResume

const isBusy = (error: unknown): error is ConversationBusy =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "ConversationBusy"
