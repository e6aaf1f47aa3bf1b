/**
 * An agent: a name, instructions, tools, and how far it may go. An immutable value.
 *
 * @since 0.1.0
 */
import { AgentName } from "@colloquy/session/Ids"
import type { Mode } from "@colloquy/session/Payload"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"

type Tools = Record<string, Tool.Any>

/**
 * What {@link make} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<T extends Tools, EI = never, RI = never> {
  /** Recorded with everything the agent does; a run is resumed by the agent of its recorded name. */
  readonly name: string
  /** The system message: a text, or an effect that makes it when a run starts. */
  readonly instructions: string | Effect.Effect<string, EI, RI>
  readonly toolkit?: Toolkit.Toolkit<T> | undefined
  /** The mode of a conversation's first run (default `execute`); later runs go on in the recorded one. */
  readonly mode?: Mode | undefined
  /** How many responses with tool calls a run may have before it must answer (default 50). */
  readonly maxToolRounds?: number | undefined
  /** How many handlers of a response run at once (default 4, at most {@link maxToolConcurrency}). */
  readonly toolConcurrency?: number | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Agent<T extends Tools = {}, EI = never, RI = never> {
  readonly name: AgentName
  readonly instructions: Effect.Effect<string, EI, RI>
  readonly toolkit: Toolkit.Toolkit<T>
  readonly mode: Mode
  readonly maxToolRounds: number
  readonly toolConcurrency: number
}

/**
 * What a run of an agent needs from its caller: a model, the handlers of its tools, and what these need.
 *
 * @category models
 * @since 0.1.0
 */
export type Services<T extends Tools, RI> =
  | LanguageModel.LanguageModel
  | Tool.HandlersFor<T>
  | Tool.HandlerServices<T[keyof T]>
  | Tool.ParametersEncodingServices<T[keyof T]>
  | RI

/**
 * What the tools and the instructions of an agent may fail a run with. Tools fail one only with the failure mode `error`.
 *
 * @category models
 * @since 0.1.0
 */
export type Failures<T extends Tools, EI> = Tool.HandlerError<T[keyof T]> | EI

/**
 * Makes an agent. A name that is no id, and a limit that is out of bounds, are defects: both stand in the program.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  <EI = never, RI = never>(options: Options<{}, EI, RI> & { readonly toolkit?: undefined }): Agent<{}, EI, RI>
  <T extends Tools, EI = never, RI = never>(
    options: Options<T, EI, RI> & { readonly toolkit: Toolkit.Toolkit<T> }
  ): Agent<T, EI, RI>
} = <T extends Tools, EI, RI>(options: Options<T, EI, RI>): Agent<T, EI, RI> | Agent<{}, EI, RI> => {
  const { instructions, maxToolRounds = 50, mode = "execute", name, toolConcurrency = 4, toolkit } = options
  for (const [limit, value] of limitsOf({ maxToolRounds, toolConcurrency })) {
    const reason = limitFault(limit, value)
    if (reason !== undefined) throw new RangeError(`${limit} is ${value}: ${reason}`)
  }
  const agent = {
    name: AgentName.make(name),
    instructions: typeof instructions === "string" ? Effect.succeed(instructions) : instructions,
    mode,
    maxToolRounds,
    toolConcurrency
  }
  return toolkit === undefined ? { ...agent, toolkit: Toolkit.empty } : { ...agent, toolkit }
}

/**
 * Why a number is no limit of an agent or a run; undefined when it is one.
 *
 * @category reading
 * @since 0.1.0
 */
export const limitFault = (limit: "maxToolRounds" | "toolConcurrency", value: number): string | undefined => {
  if (!Number.isSafeInteger(value) || value < 1) return "it must be a whole number of at least 1"
  const most = limit === "toolConcurrency" ? maxToolConcurrency : value
  return value > most ? `it may be at most ${most}` : undefined
}

/**
 * The limits of an agent or a run, by name.
 *
 * @internal
 */
export const limitsOf = ({ maxToolRounds, toolConcurrency }: Pick<Agent, "maxToolRounds" | "toolConcurrency">) =>
  [
    ["maxToolRounds", maxToolRounds],
    ["toolConcurrency", toolConcurrency]
  ] as const

/**
 * How many handlers may run at once: the starts of all are stored in the batch of the response that asks for them.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxToolConcurrency = 64
