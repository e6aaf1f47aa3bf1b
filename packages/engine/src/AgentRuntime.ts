/**
 * Runs agents: starts a run and returns its answer, one at a time for each conversation, every step stored; and goes on
 * with a run that a crash cut off.
 *
 * @since 0.1.0
 */
import { ConversationId, idFault, RunId } from "@colloquy/session/Ids"
import * as Input from "@colloquy/session/Input"
import * as Conversations from "@colloquy/store/Conversations"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import type * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import { type Agent, limitFault, limitsOf, type Services } from "./Agent.ts"
import { AwaitingApproval, InvalidId, InvalidOption, NothingToResume, UnknownAgent } from "./AgentError.ts"
import * as AgentHost from "./AgentHost.ts"
import * as AgentLoop from "./AgentLoop.ts"
import { launch } from "./internal/launch.ts"
import { begin, finish, resumedOf, startOf } from "./internal/runEdges.ts"
import * as Journal from "./Journal.ts"
import * as Recovery from "./Recovery.ts"
import type {
  ResumeError,
  ResumeOptions,
  RunError,
  RunFailure,
  RunHandle,
  RunOptions,
  RunResult,
  StartError
} from "./Run.ts"
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
    ) => Effect.Effect<RunHandle<RunFailure<T, EI>>, StartError | EI, Services<T, RI>>
    /** Goes on with an unfinished run, under its id; returns once that is stored. */
    readonly startResume: <T extends Tools, EI, RI>(
      agent: Agent<T, EI, RI>,
      conversationId: string,
      options?: ResumeOptions
    ) => Effect.Effect<RunHandle<RunFailure<T, EI>>, StartError | ResumeError | EI, Services<T, RI>>
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
): Effect.Effect<RunHandle<RunFailure<T, EI>>, StartError | EI, AgentRuntime | Services<T, RI>> =>
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
  options?: ResumeOptions
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
  options?: ResumeOptions
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
  const gate = RunGate.of(conversations)

  const start = Effect.fn("AgentRuntime.start")(function* <T extends Tools, EI, RI>(
    agent: Agent<T, EI, RI>,
    input: Input.Input,
    options: RunOptions = {}
  ) {
    const message = yield* Input.toMessage(input)
    const host = yield* limited(yield* AgentHost.make(agent), options)
    if (options.mode === "") return yield* new InvalidOption({ option: "mode", value: '""', reason: "it is empty" })
    const runId = yield* decodeId("run id", RunId, options.runId ?? `run-${randomUUID()}`)
    const id = options.conversationId
    const conversationId = id === undefined ? undefined : yield* decodeId("conversation id", ConversationId, id)
    return yield* launch(scope, (restore) =>
      Effect.gen(function* () {
        const pass = conversationId === undefined ? RunGate.free : yield* restore(gate.enter(conversationId, runId))
        const journal =
          conversationId === undefined
            ? Journal.inMemory()
            : Journal.fromWriter(yield* restore(conversations.open(conversationId)))
        yield* begin(journal, host, runId, () => startOf(runId, host, journal, message, options))
        const loop = restore(AgentLoop.run(journal, host, runId, pass.ending))
        return { runId, pass, result: finish(journal, runId, loop) }
      })
    )
  })

  const startResume = Effect.fn("AgentRuntime.resume")(function* <T extends Tools, EI, RI>(
    agent: Agent<T, EI, RI>,
    conversation: string,
    options: ResumeOptions = {}
  ) {
    const host = yield* limited(yield* AgentHost.make(agent), options)
    const conversationId = yield* decodeId("conversation id", ConversationId, conversation)
    return yield* launch(scope, (restore) =>
      Effect.gen(function* () {
        const pass = yield* restore(gate.enter(conversationId, loading))
        // Opening would create it.
        yield* Effect.catchTag(restore(store.tail({ conversationId })), "ConversationNotFound", () =>
          Effect.fail(new NothingToResume({ conversationId, reason: "unknown-conversation" }))
        )
        const journal = Journal.fromWriter(yield* restore(conversations.open(conversationId)))
        const decision = yield* decide(journal, host, conversationId)
        const { attempt, runId } = decision.run
        yield* journal.write(runId, [resumedOf(runId, host, attempt + 1)])
        const policy = (name: string) => AgentHost.crashPolicy(host, name)
        const loop = restore(AgentLoop.resume(journal, host, decision, policy, pass.ending))
        return { runId, pass, result: finish(journal, runId, loop) }
      })
    )
  })

  return AgentRuntime.of({
    start,
    startResume,
    cancel: gate.stop
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

/** Who enters the gate to resume knows the run's id only when the log is read. */
const loading = RunId.make("loading")

const attached = <E, E2, R>(starting: Effect.Effect<RunHandle<E>, E2, R>): Effect.Effect<RunResult, E | E2, R> =>
  Effect.flatMap(starting, (handle) => Effect.onInterrupt(handle.await, () => handle.cancel))

const decodeId = <Id extends string>(what: string, schema: Schema.Codec<Id, string>, id: string) =>
  Effect.mapError(
    Schema.decodeEffect(schema)(id),
    () => new InvalidId({ what, id, reason: idFault(id) ?? "not a text" })
  )

const limited = Effect.fnUntraced(function* <E>(host: AgentHost.AgentHost<E>, options: ResumeOptions) {
  const { maxToolRounds = host.maxToolRounds, toolConcurrency = host.toolConcurrency } = options
  for (const [option, value] of limitsOf({ maxToolRounds, toolConcurrency })) {
    const reason = limitFault(option, value)
    if (reason !== undefined) return yield* new InvalidOption({ option, value: String(value), reason })
  }
  return { ...host, maxToolRounds, toolConcurrency }
})

/** What to do about the run that the log has open, if it is this agent's to do it. */
const decide = Effect.fnUntraced(function* <E>(
  journal: Journal.Journal,
  host: AgentHost.AgentHost<E>,
  conversationId: ConversationId
) {
  const decision = Recovery.classify(journal.state(), journal.records())
  if (decision._tag === "Nothing") return yield* new NothingToResume({ conversationId, reason: decision.reason })
  const { agent, runId } = decision.run
  if (decision._tag === "Await") {
    const approvalIds = journal.state().approvals.map(({ approvalId }) => approvalId)
    return yield* new AwaitingApproval({ conversationId, runId, approvalIds })
  }
  if (agent !== host.name) return yield* new UnknownAgent({ conversationId, recorded: agent, given: host.name })
  return decision
})
