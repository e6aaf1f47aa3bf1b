/**
 * Whether a call failed because the conversation no longer fits the model.
 *
 * @since 0.1.0
 */
import type * as AiError from "effect/ai/AiError"
import { isJsonObject, ownKey } from "./internal/metadata.ts"
import { saysOverflow } from "./internal/overflow.ts"

/**
 * **When to use**
 *
 * To decide that a conversation is compacted and sent again. An agent loop that takes such a predicate is given this one.
 *
 * **Details**
 *
 * Goes by the code where the provider has one (OpenAI, llama.cpp), and by what the message says where it has none
 * (Anthropic, vLLM, Ollama, SGLang, Google, Bedrock, Mistral, xAI, OpenRouter, LM Studio). Rate limits are no overflow,
 * however many tokens they count, and neither is an answer that was allowed to be too long.
 *
 * **Gotchas**
 *
 * Ollama cuts a long prompt by itself unless it is told otherwise, and newer models of Anthropic stop with the reason
 * `length`: neither is an error, and nothing is recognised.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isContextOverflow = (error: AiError.AiError): boolean => {
  const { reason } = error
  switch (reason._tag) {
    case "InvalidRequestError":
    case "InternalProviderError":
    case "UnknownError": {
      const said = reason.metadata[ownKey]
      const { code, type } = isJsonObject(said) ? said : {}
      const words = [code, type, reason.description, reason.http?.body]
      return saysOverflow(words.filter((word) => typeof word === "string").join("\n"))
    }
    case "InvalidUserInputError":
      return saysOverflow(reason.description)
    default:
      return false
  }
}
