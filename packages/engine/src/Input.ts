/**
 * What a person or a system says to an agent.
 *
 * @since 0.1.0
 */
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { EmptyInput } from "./AgentError.ts"

/**
 * A text, or parts of a user message: texts and files.
 *
 * @category models
 * @since 0.1.0
 */
export type Input = string | ReadonlyArray<Prompt.UserMessagePart>

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
