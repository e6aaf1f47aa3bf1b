/** What an agent is made of, with the types of its tools: what a host is made from. */
import type { Budget } from "@colloquy/capabilities/Budget"
import type { Options as CompactionOptions } from "@colloquy/capabilities/Compaction"
import type { SecretMask } from "@colloquy/capabilities/SecretMask"
import type { AgentName } from "@colloquy/session/Ids"
import type { Mode } from "@colloquy/session/Payload"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Model from "effect/ai/Model"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Delegate } from "../AgentHost.ts"
import type { Limits, Persistence } from "../RunLimits.ts"
import type { Configurable } from "../RunSettings.ts"

export type Tools = Record<string, Tool.Any>

/**
 * A language model of an agent's own, with its provider and name.
 *
 * @category models
 * @since 0.1.0
 */
export type ModelLayer<E, R> = Layer.Layer<LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName, E, R>

/**
 * Whether a mode lets a tool run.
 *
 * @category models
 * @since 0.1.0
 */
export type ModePredicate = (tool: Tool.Any) => boolean

/**
 * The schema of a structured answer.
 *
 * @category models
 * @since 0.1.0
 */
export type Output<A> = Schema.Codec<A, object>

export interface Spec<in out T extends Tools, out E, out R, out A> {
  readonly name: AgentName
  readonly instructions: Effect.Effect<string, E, R>
  readonly toolkit: Toolkit.Toolkit<T>
  /** Its model, and where it is known the model's provider and name. */
  readonly model: Effect.Effect<Context.Context<LanguageModel.LanguageModel>, E, R | Scope.Scope>
  readonly output: Output<A> | undefined
  readonly delegates: ReadonlyArray<Delegate<E, R>>
  readonly mode: Mode
  readonly modes: { readonly [mode: string]: ModePredicate }
  readonly configurable: ReadonlySet<Configurable>
  readonly limits: Limits
  readonly persistence: Persistence
  readonly earlierRuns: "replay" | "ledger"
  readonly mask: SecretMask | undefined
  readonly budget: Budget | undefined
  readonly compaction: CompactionOptions | undefined
  readonly approvalTimeToLive: Duration.Duration | undefined
}

/**
 * What a run of an agent needs from its caller: the handlers of its tools, what these need, and what its instructions,
 * its model and its delegates need. An agent without a model of its own needs one from the caller.
 *
 * @category models
 * @since 0.1.0
 */
export type Services<T extends Tools, R> =
  | Tool.HandlersFor<T>
  | Tool.HandlerServices<T[keyof T]>
  | Tool.ParametersEncodingServices<T[keyof T]>
  | R

/**
 * What the tools and the instructions of an agent may fail a run with. Tools fail one only with the failure mode `error`.
 *
 * @category models
 * @since 0.1.0
 */
export type Failures<T extends Tools, E> = Tool.HandlerError<T[keyof T]> | E
