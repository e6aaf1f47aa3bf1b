/**
 * What a person or a system says to an agent, before it is recorded.
 *
 * @since 0.1.0
 */
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * A text, or parts of a user message: texts and files.
 *
 * @category models
 * @since 0.1.0
 */
export type Input = string | ReadonlyArray<Prompt.UserMessagePart>

/**
 * The input says nothing: it has no text and no file. Nothing was stored.
 *
 * @category errors
 * @since 0.1.0
 */
export class EmptyInput extends Schema.TaggedError<EmptyInput>("@colloquy/session/EmptyInput")("EmptyInput", {}) {
  override get message() {
    return "the input is empty: give it a text or a file"
  }
}

/**
 * The encoded user message of an input. Fails with `EmptyInput` when there is nothing but white space in it.
 *
 * @category encoding
 * @since 0.1.0
 */
export const toMessage = (input: Input): Effect.Effect<Prompt.UserMessageEncoded, EmptyInput> =>
  Effect.suspend(() => {
    const parts = typeof input === "string" ? [Prompt.makePart("text", { text: input })] : input
    const says = parts.some((part) => part.type === "file" || part.text.trim() !== "")
    return says ? Effect.succeed({ role: "user" as const, content: encodeParts(parts) }) : Effect.fail(new EmptyInput())
  })

// --- internal ---

const encodeParts = Schema.encodeSync(Schema.Array(Prompt.UserMessagePart))
