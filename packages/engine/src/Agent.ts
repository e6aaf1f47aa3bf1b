/**
 * Makes agents: a name, instructions, tools, and how far they may go.
 *
 * @since 0.1.0
 */
import type { Budget } from "@colloquy/capabilities/Budget"
import type { Options as CompactionOptions } from "@colloquy/capabilities/Compaction"
import type { SecretMask } from "@colloquy/capabilities/SecretMask"
import { AgentName } from "@colloquy/session/Ids"
import type { Mode } from "@colloquy/session/Payload"
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { AgentHost, Delegate } from "./AgentHost.ts"
import { makeHost } from "./internal/makeHost.ts"
import type { Failures, ModelLayer, ModePredicate, Output, Services, Spec, Tools } from "./internal/spec.ts"
import * as RunLimits from "./RunLimits.ts"
import type { Configurable } from "./RunSettings.ts"

export type { Failures, ModelLayer, ModePredicate, Output, Services } from "./internal/spec.ts"

/**
 * An agent. An immutable value.
 *
 * `E` is what its tools, its instructions and its model may fail a run with; `R` what a run of it needs from its caller:
 * the handlers of its tools and what these need, and a `LanguageModel` unless it has one of its own; `A` its structured
 * answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Agent<out E = never, out R = LanguageModel.LanguageModel, out A = never> {
  readonly name: AgentName
  readonly output: Output<A> | undefined
  /** Which options stored settings may set. */
  readonly configurable: ReadonlySet<Configurable>
  /**
   * Takes what the agent needs from the caller's context, and holds its own model for the scope. The runtime does it for
   * each run; loops of your own begin with it.
   */
  readonly host: Effect.Effect<AgentHost<E | AiError.AiError>, E, R | Scope.Scope>
}

/**
 * What {@link make} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<T extends Tools, EI, RI, EM, RM, D extends ReadonlyArray<AnyDelegate>, A>
  extends RunLimits.LimitOptions {
  /** Recorded with everything the agent does; a run is resumed by the agent of its recorded name. */
  readonly name: string
  /** The system message: a text, or an effect that makes it when a run starts or is resumed. */
  readonly instructions: string | Effect.Effect<string, EI, RI>
  readonly toolkit?: Toolkit.Toolkit<T> | undefined
  /** A model of its own, so that two agents may differ; by default that of the caller's context. */
  readonly model?: ModelLayer<EM, RM> | undefined
  /** A schema of the answer, for a structured result; its encoded form is a JSON object. */
  readonly output?: Output<A> | undefined
  /** Agents that it can hand over to, or set to work beside it: {@link handoff}, {@link background}. */
  readonly delegates?: D | undefined
  /** The mode of a conversation's first run (default `execute`); later runs go on in the recorded one. */
  readonly mode?: Mode | undefined
  /**
   * Modes beyond `execute` (every tool) and `plan` (tools that are annotated as read-only): which tools they let run. A
   * mode that is not named here lets all run.
   */
  readonly modes?: { readonly [mode: string]: ModePredicate } | undefined
  /** Which options stored settings may set (default: none). */
  readonly configurable?: ReadonlyArray<Configurable> | undefined
  /** What a run does when the store fails (default `buffer`). */
  readonly persistence?: RunLimits.Persistence | undefined
  /** Whether the model is shown a conversation's earlier runs (default `replay`); see `RunOptions`. */
  readonly earlierRuns?: "replay" | "ledger" | undefined
  /** Masks secrets in whatever a run stores and shows; see `RunOptions` (default: nothing is masked). */
  readonly mask?: SecretMask | undefined
  /** What a run, and a conversation, may use (default: whatever it takes). */
  readonly budget?: Budget | undefined
  /** How history is compacted when it grows too large (default: never). */
  readonly compaction?: CompactionOptions | undefined
  /** After this long an undecided request for approval counts as denied (default: never). */
  readonly approvalTimeToLive?: Duration.Input | undefined
}

/**
 * Makes an agent. A name that is no id, a limit that is out of bounds, and two tools of one name are defects: they stand
 * in the program.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  <
    EI = never,
    RI = never,
    EM = never,
    RM = LanguageModel.LanguageModel,
    const D extends ReadonlyArray<AnyDelegate> = readonly [],
    A = never
  >(
    options: Options<{}, EI, RI, EM, RM, D, A> & { readonly toolkit?: undefined }
  ): Agent<EI | EM | DelegateError<D>, Services<{}, RI | RM | DelegateServices<D>>, A>
  <
    T extends Tools,
    EI = never,
    RI = never,
    EM = never,
    RM = LanguageModel.LanguageModel,
    const D extends ReadonlyArray<AnyDelegate> = readonly [],
    A = never
  >(
    options: Options<T, EI, RI, EM, RM, D, A> & { readonly toolkit: Toolkit.Toolkit<T> }
  ): Agent<Failures<T, EI | EM | DelegateError<D>>, Services<T, RI | RM | DelegateServices<D>>, A>
} = <T extends Tools, EI, RI, EM, RM, D extends ReadonlyArray<AnyDelegate>, A>(
  options: Options<T, EI, RI, EM, RM, D, A>
) => {
  const { approvalTimeToLive, configurable = [], instructions, mode = "execute", modes = {}, name, toolkit } = options
  const fault = RunLimits.fault(options)
  if (fault !== undefined) throw new RangeError(`${fault.option} is ${fault.value}: ${fault.reason}`)
  const {
    maxToolRounds = RunLimits.defaults.maxToolRounds,
    modelRetries = RunLimits.defaults.modelRetries,
    toolConcurrency = RunLimits.defaults.toolConcurrency
  } = options
  const spec: Omit<Spec<T, EI | EM | DelegateError<D>, RI | RM | DelegateServices<D>, A>, "toolkit"> = {
    name: AgentName.make(name),
    instructions: typeof instructions === "string" ? Effect.succeed(instructions) : instructions,
    model: modelOf(options.model),
    output: options.output,
    // The compiler does not see that a tuple of delegates is an array of what they have in common.
    delegates: (options.delegates ?? []) as ReadonlyArray<Delegate<DelegateError<D>, DelegateServices<D>>>,
    mode,
    modes,
    configurable: new Set(configurable),
    limits: { maxToolRounds, modelRetries, toolConcurrency },
    persistence: options.persistence ?? "buffer",
    earlierRuns: options.earlierRuns ?? "replay",
    mask: options.mask,
    budget: options.budget,
    compaction: options.compaction,
    approvalTimeToLive: approvalTimeToLive === undefined ? undefined : Duration.fromInputUnsafe(approvalTimeToLive)
  }
  const toolNames = [...Object.keys(toolkit?.tools ?? {}), ...spec.delegates.map(({ tool }) => tool.name)]
  const repeated = toolNames.find((toolName, i) => toolNames.indexOf(toolName) !== i)
  if (repeated !== undefined) throw new RangeError(`agent ${name} has two tools of the name ${repeated}`)
  return toolkit === undefined ? fromSpec({ ...spec, toolkit: Toolkit.empty }) : fromSpec({ ...spec, toolkit })
}

/**
 * @category models
 * @since 0.1.0
 */
export interface DelegateOptions {
  /** What the model calls (default: made from the agent's name). */
  readonly toolName?: string | undefined
  /** When the model should call it. */
  readonly description?: string | undefined
}

/**
 * An agent that another one can hand over to: a tool for its model. The run goes on under the other agent's instructions,
 * tools and model, in the same log. Needs a conversation id.
 *
 * **Details**
 *
 * The run stays in its mode, also in `plan`: what the other agent may do is judged by it.
 *
 * Agents that hand over to each other name themselves: `Agent.handoff({ name: "billing", agent: () => billing })`.
 *
 * @category delegates
 * @since 0.1.0
 */
export const handoff = <E, R, A>(
  to: Agent<E, R, A> | Lazy<E, R, A>,
  options: DelegateOptions = {}
): Delegate<E | AiError.AiError, R> => {
  const { description = `Hands the conversation over to ${to.name}, who goes on with it.` } = options
  const tool = Tool.make(options.toolName ?? toolNameOf("hand_over_to", to.name), {
    description,
    parameters: Schema.Struct({ reason: Schema.optionalKey(Schema.String) }),
    success: Schema.String
    // It changes nothing outside of the conversation: it may be used in plan mode, and is carried out after a crash.
  }).annotate(Tool.Readonly, true)
  return { ...delegateOf(to), kind: "handoff", tool, cancelWithParent: false }
}

/**
 * An agent that works beside another one: a tool that starts it in a child conversation and returns at once. Its end is
 * told to the parent as an input. Needs a conversation id. It begins in a mode of its own, so `plan` refuses it.
 *
 * @category delegates
 * @since 0.1.0
 */
export const background = <E, R, A>(
  child: Agent<E, R, A> | Lazy<E, R, A>,
  options: DelegateOptions & {
    /** Whether the end of a cancelled parent cancels the child (default: true). */
    readonly cancelWithParent?: boolean | undefined
  } = {}
): Delegate<E | AiError.AiError, R> => {
  const { cancelWithParent = true } = options
  const { description = `Sets ${child.name} to work in the background. Its result comes later, as a message.` } =
    options
  const tool = Tool.make(options.toolName ?? toolNameOf("start", child.name), {
    description,
    parameters: Schema.Struct({ input: Schema.String.annotate({ description: "What to do, in full." }) }),
    success: Schema.Struct({ taskId: Schema.String })
    // A task that is recorded is not started again.
  }).annotate(Tool.Idempotent, true)
  return { ...delegateOf(child), kind: "background", tool, cancelWithParent }
}

/**
 * An agent that is not there yet when it is named.
 *
 * @category models
 * @since 0.1.0
 */
export interface Lazy<E, R, A> {
  readonly name: string
  readonly agent: () => Agent<E, R, A>
}

// --- internal ---

type AnyDelegate = Delegate<unknown, unknown>

type ErrorOf<D> = D extends Delegate<infer E, infer _R> ? Exclude<E, AiError.AiError> : never
type ServicesOf<D> = D extends Delegate<infer _E, infer R> ? Exclude<R, Scope.Scope> : never
type DelegateError<D extends ReadonlyArray<AnyDelegate>> = ErrorOf<D[number]>
type DelegateServices<D extends ReadonlyArray<AnyDelegate>> = ServicesOf<D[number]>

const fromSpec = <T extends Tools, E, R, A>(spec: Spec<T, E, R, A>): Agent<Failures<T, E>, Services<T, R>, A> => ({
  name: spec.name,
  output: spec.output,
  configurable: spec.configurable,
  host: makeHost(spec)
})

const delegateOf = <E, R, A>(to: Agent<E, R, A> | Lazy<E, R, A>) => ({
  agent: AgentName.make(to.name),
  host: Effect.suspend(() => ("agent" in to ? to.agent() : to).host)
})

const modelOf = <E, R>(model: ModelLayer<E, R> | undefined) =>
  // Where none is given, `R` is the model of the caller's context: the default of the type parameter says so.
  (model === undefined
    ? Effect.map(
        Effect.context<LanguageModel.LanguageModel>(),
        Context.pick(LanguageModel.LanguageModel, Model.ProviderName, Model.ModelName)
      )
    : Layer.build(model)) as Effect.Effect<Context.Context<LanguageModel.LanguageModel>, E, R | Scope.Scope>

/** Providers take letters, digits, `_` and `-`, at most 64 of them. */
const toolNameOf = (verb: string, agent: string): string =>
  `${verb}_${agent.replaceAll(/[^a-zA-Z0-9_-]/g, "_")}`.slice(0, 64)
