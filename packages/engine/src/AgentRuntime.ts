/**
 * Runs agents: starts a run and returns its answer, one at a time for each conversation, every step stored; and goes on
 * with a run that a crash cut off.
 *
 * @since 0.1.0
 */
import { ConversationId, idFault, RunId } from "@colloquy/session/Ids"
import * as Conversations from "@colloquy/store/Conversations"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import type * as Tool from "effect/ai/Tool"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { Agent, Services } from "./Agent.ts"
import { AwaitingApproval, InvalidId, NothingToResume, UnknownAgent } from "./AgentError.ts"
import * as AgentHost from "./AgentHost.ts"
import * as AgentLoop from "./AgentLoop.ts"
import * as Input from "./Input.ts"
import { begin, finish, startOf } from "./internal/runEdges.ts"
import * as Journal from "./Journal.ts"
import * as Recovery from "./Recovery.ts"
import type { ResumeError, RunError, RunHandle, RunOptions, RunResult } from "./Run.ts"
import * as RunGate from "./RunGate.ts"

type Tools = Record<string, Tool.Any>

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
    readonly start: <T extends Tools, EI, RI>(
      agent: Agent<T, EI, RI>,
      input: Input.Input,
      options?: RunOptions
    ) => Effect.Effect<RunHandle<RunError<T, EI>>, RunError<T, EI>, Services<T, RI>>
    /** Goes on with an unfinished run, under its id; returns once that is stored. */
    readonly startResume: <T extends Tools, EI, RI>(
      agent: Agent<T, EI, RI>,
      conversationId: string,
      options?: Pick<RunOptions, "maxToolRounds" | "toolConcurrency">
    ) => Effect.Effect<RunHandle<RunError<T, EI> | ResumeError>, RunError<T, EI> | ResumeError, Services<T, RI>>
    /** Stops the run of a conversation in this process, and returns when its end is stored; false when there is none. */
    readonly cancel: (conversationId: string) => Effect.Effect<boolean>
  }
>()("@colloquy/engine/AgentRuntime") {}

/**
 * Starts a run and returns a handle to it: to wait for it, or to stop it. The run goes on when the caller does not wait.
 *
 * @category running
 * @since 0.1.0
 */
export const start = <T extends Tools, EI, RI>(
  agent: Agent<T, EI, RI>,
  input: Input.Input,
  options?: RunOptions
): Effect.Effect<RunHandle<RunError<T, EI>>, RunError<T, EI>, AgentRuntime | Services<T, RI>> =>
  Effect.flatMap(AgentRuntime, (runtime) => runtime.start(agent, input, options))

/**
 * Runs an agent on an input and returns its answer. Interrupting it stops the run, whose end is then stored.
 *
 * @category running
 * @since 0.1.0
 */
export const run = <T extends Tools, EI, RI>(
  agent: Agent<T, EI, RI>,
  input: Input.Input,
  options?: RunOptions
): Effect.Effect<RunResult, RunError<T, EI>, AgentRuntime | Services<T, RI>> => attached(start(agent, input, options))

/**
 * Goes on with the run that a crash cut off, under the same id, and returns its answer.
 *
 * **Details**
 *
 * A run that lives in another process looks the same from outside: this takes its conversation over, and the other stops
 * at its next write. Calls that had started are settled by their tool's crash policy; a run whose answer was stored
 * already is ended without another model call.
 *
 * @category running
 * @since 0.1.0
 */
export const resume = <T extends Tools, EI, RI>(
  agent: Agent<T, EI, RI>,
  conversationId: string,
  options?: Pick<RunOptions, "maxToolRounds" | "toolConcurrency">
): Effect.Effect<RunResult, RunError<T, EI> | ResumeError, AgentRuntime | Services<T, RI>> =>
  attached(Effect.flatMap(AgentRuntime, (runtime) => runtime.startResume(agent, conversationId, options)))

/**
 * {@link resume}, or nothing when there is nothing to resume.
 *
 * @category running
 * @since 0.1.0
 */
export const resumeIfNeeded = <T extends Tools, EI, RI>(
  agent: Agent<T, EI, RI>,
  conversationId: string,
  options?: Pick<RunOptions, "maxToolRounds" | "toolConcurrency">
): Effect.Effect<
  Option.Option<RunResult>,
  RunError<T, EI> | AwaitingApproval | UnknownAgent,
  AgentRuntime | Services<T, RI>
> =>
  Effect.matchEffect(resume(agent, conversationId, options), {
    onSuccess: Effect.succeedSome,
    // The compiler does not take a member out of a union that has type parameters in it.
    onFailure: (error) =>
      error instanceof NothingToResume
        ? Effect.succeedNone
        : Effect.fail(error as Exclude<typeof error, NothingToResume>)
  })

/**
 * Stops the run of a conversation in this process; false when none goes on.
 *
 * @category running
 * @since 0.1.0
 */
export const cancel = (conversationId: string): Effect.Effect<boolean, never, AgentRuntime> =>
  Effect.flatMap(AgentRuntime, (runtime) => runtime.cancel(conversationId))

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.gen(function* () {
  const store = yield* ConversationStore
  const conversations = yield* Conversations.Conversations
  const scope = yield* Effect.scope
  const gate = RunGate.make()
  const running = new Map<string, Effect.Effect<void>>()

  /** Runs a body in the runtime's scope: it outlives its starter, and ends with the runtime. */
  const launch = Effect.fnUntraced(function* <E>(
    conversationId: ConversationId | undefined,
    body: (hooks: Hooks) => Effect.Effect<RunResult, E, Scope.Scope>
  ) {
    const begun = yield* Deferred.make<RunId, E>()
    const result = yield* Deferred.make<RunResult, E>()
    let cancelled: RunResult | undefined
    const hooks: Hooks = {
      begun: (id) => Deferred.doneUnsafe(begun, Effect.succeed(id)),
      cancelled: (result) => {
        cancelled = result
      }
    }
    const fiber = yield* Effect.scoped(body(hooks)).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          if (conversationId !== undefined) running.delete(conversationId)
          const stopped = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
          const settled = stopped && cancelled !== undefined ? Exit.succeed(cancelled) : exit
          Deferred.doneUnsafe(result, settled)
          Deferred.doneUnsafe(
            begun,
            Exit.map(settled, ({ runId }) => runId)
          )
        })
      ),
      Effect.forkIn(scope)
    )
    const stop = Effect.asVoid(Fiber.interrupt(fiber))
    const id = yield* Effect.onInterrupt(Deferred.await(begun), () => stop)
    if (conversationId !== undefined && fiber.pollUnsafe() === undefined) running.set(conversationId, stop)
    return { runId: id, await: Deferred.await(result), cancel: stop }
  })

  const start = Effect.fn("AgentRuntime.start")(function* <T extends Tools, EI, RI>(
    agent: Agent<T, EI, RI>,
    input: Input.Input,
    options: RunOptions = {}
  ) {
    const message = yield* Input.toMessage(input)
    const host = limited(yield* AgentHost.make(agent), options)
    const runId = yield* decodeId("run id", RunId, options.runId ?? `run-${randomUUID()}`)
    const conversationId =
      options.conversationId === undefined
        ? undefined
        : yield* decodeId("conversation id", ConversationId, options.conversationId)
    return yield* launch(conversationId, (hooks) =>
      Effect.gen(function* () {
        const pass = conversationId === undefined ? freePass : yield* gate.enter(conversationId, runId)
        const journal =
          conversationId === undefined
            ? Journal.inMemory()
            : Journal.fromWriter(yield* conversations.open(conversationId))
        yield* begin(journal, runId, (journal) => startOf(runId, host, journal, message, options))
        pass.begun(runId)
        hooks.begun(runId)
        return yield* finish(journal, runId, hooks.cancelled, AgentLoop.run(journal, host, runId, pass.ending))
      })
    )
  })

  const startResume = Effect.fn("AgentRuntime.resume")(function* <T extends Tools, EI, RI>(
    agent: Agent<T, EI, RI>,
    conversation: string,
    options: Pick<RunOptions, "maxToolRounds" | "toolConcurrency"> = {}
  ) {
    const host = limited(yield* AgentHost.make(agent), options)
    const conversationId = yield* decodeId("conversation id", ConversationId, conversation)
    const loading = RunId.make("loading")
    return yield* launch(conversationId, (hooks) =>
      Effect.gen(function* () {
        const pass = yield* gate.enter(conversationId, loading)
        // Opening would create it.
        yield* Effect.catchTag(store.tail({ conversationId }), "ConversationNotFound", () =>
          Effect.fail(new NothingToResume({ conversationId, reason: "unknown-conversation" }))
        )
        const journal = Journal.fromWriter(yield* conversations.open(conversationId))
        const decision = Recovery.classify(journal.state(), journal.records())
        if (decision._tag === "Nothing") {
          return yield* new NothingToResume({ conversationId, reason: decision.reason })
        }
        const { agent, attempt, runId } = decision.run
        if (decision._tag === "Await") {
          const approvalIds = journal.state().approvals.map(({ approvalId }) => approvalId)
          return yield* new AwaitingApproval({ conversationId, runId, approvalIds })
        }
        if (agent !== host.name) return yield* new UnknownAgent({ conversationId, recorded: agent, given: host.name })
        const next = attempt + 1
        yield* Effect.uninterruptible(
          journal.write(runId, [
            {
              name: ["resumed", String(next)],
              payload: { _tag: "RunResumed", runId, attempt: next, cause: "crash", agent }
            }
          ])
        )
        pass.begun(runId)
        hooks.begun(runId)
        const policy = (name: string) => AgentHost.crashPolicy(host, name)
        return yield* finish(
          journal,
          runId,
          hooks.cancelled,
          AgentLoop.resume(journal, host, decision, policy, pass.ending)
        )
      })
    )
  })

  return AgentRuntime.of({
    start,
    startResume,
    cancel: (conversation) =>
      Effect.suspend(() => {
        const stop = running.get(conversation)
        return stop === undefined ? Effect.succeed(false) : Effect.as(stop, true)
      })
  })
})

/**
 * The runtime, with the shared writers of its process inside. Runs end with the layer: they are interrupted, and their
 * ends are stored.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<AgentRuntime, never, ConversationStore> = Layer.effect(AgentRuntime, make).pipe(
  Layer.provide(Conversations.layer)
)

/**
 * The runtime over shared writers that the app provides, for apps that also write to conversations themselves.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWithout: Layer.Layer<AgentRuntime, never, ConversationStore | Conversations.Conversations> =
  Layer.effect(AgentRuntime, make)

// --- internal ---

interface Hooks {
  readonly begun: (runId: RunId) => void
  readonly cancelled: (result: RunResult) => void
}

const freePass: RunGate.Pass = { begun: () => undefined, ending: () => undefined }

const attached = <E, E2, R>(starting: Effect.Effect<RunHandle<E>, E2, R>): Effect.Effect<RunResult, E | E2, R> =>
  Effect.flatMap(starting, (handle) => Effect.onInterrupt(handle.await, () => handle.cancel))

const decodeId = <Id extends string>(what: string, schema: Schema.Codec<Id, string>, id: string) =>
  Effect.mapError(
    Schema.decodeEffect(schema)(id),
    () => new InvalidId({ what, id, reason: idFault(id) ?? "not a text" })
  )

const limited = <E>(host: AgentHost.AgentHost<E>, options: Pick<RunOptions, "maxToolRounds" | "toolConcurrency">) => ({
  ...host,
  maxToolRounds: options.maxToolRounds ?? host.maxToolRounds,
  toolConcurrency: options.toolConcurrency ?? host.toolConcurrency
})
