/**
 * The model that rewrites what is too long: not the one that the agent works with, and optional.
 *
 * @since 0.1.0
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * An Effect AI language model in a service of its own, and the gate of its token budget.
 *
 * @category services
 * @since 0.1.0
 */
export class AuxiliaryModel extends Context.Service<
  AuxiliaryModel,
  {
    readonly model: LanguageModel.LanguageModel
    /** Whether tokens may be spent now; asked before each call. */
    readonly mayUse: Effect.Effect<boolean>
  }
>()("@colloquy/ledger/AuxiliaryModel") {}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Whether tokens may be spent now (default: always). */
  readonly mayUse?: Effect.Effect<boolean> | undefined
}

/**
 * The auxiliary model from a language model.
 *
 * **Example** (A small model for rewriting, a large one for the agent)
 *
 * ```ts
 * AuxiliaryModel.layer({ mayUse: budget.isOpen }).pipe(Layer.provide(smallModel))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = ({ mayUse = Effect.succeed(true) }: Options = {}): Layer.Layer<
  AuxiliaryModel,
  never,
  LanguageModel.LanguageModel
> =>
  Layer.effect(
    AuxiliaryModel,
    Effect.map(LanguageModel.LanguageModel, (model) => AuxiliaryModel.of({ model, mayUse }))
  )
