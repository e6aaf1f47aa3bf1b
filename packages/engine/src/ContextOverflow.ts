/**
 * How a provider's error says that the prompt is larger than the model's window.
 *
 * @since 0.1.0
 */
import type * as AiError from "effect/ai/AiError"
import * as Context from "effect/Context"

/**
 * Recognises a context overflow among the model's errors; nothing is recognised by default. The app provides the
 * predicate that goes with its providers, as `@colloquy/ai-sdk` exports one.
 *
 * @category services
 * @since 0.1.0
 */
export const ContextOverflow = Context.Reference<(error: AiError.AiError) => boolean>(
  "@colloquy/engine/ContextOverflow",
  { defaultValue: () => () => false }
)
