/**
 * What a provider's error means for a person: what happened, and the way out.
 */
import type * as AiError from "effect/ai/AiError"
import * as Schema from "effect/Schema"
import type { ModelChoice } from "./ModelChoice.ts"

/**
 * The model did not answer. The run's end is stored as failed, with what had come; say it again to try again.
 *
 * @public
 */
export class ModelFailed extends Schema.TaggedError<ModelFailed>("@colloquy/models/ModelFailed")("ModelFailed", {
  provider: Schema.String,
  reason: Schema.String,
  detail: Schema.String,
  wayOut: Schema.String
}) {
  override get message() {
    return `${this.provider} did not answer (${this.reason}): ${this.detail}; ${this.wayOut}`
  }
}

/** Translates an error of the chosen model. */
export const explain = (chosen: ModelChoice, { message, reason }: AiError.AiError): ModelFailed =>
  new ModelFailed({
    provider: chosen.provider === "offline" ? "the offline model" : `${chosen.provider}/${chosen.model}`,
    reason: reason._tag,
    detail: oneLine("description" in reason && typeof reason.description === "string" ? reason.description : message),
    wayOut: wayOut(chosen, reason)
  })

// --- internal ---

/** Some servers answer with a page; what is told of it stands in a line. */
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

const keyOf: { readonly [provider in ModelChoice["provider"]]: string } = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  compatible: "OPENAI_API_KEY",
  offline: "--model"
}

const wayOut = (chosen: ModelChoice, reason: AiError.AiErrorReason): string => {
  const server =
    chosen.provider === "compatible"
      ? `that a model's server listens at ${chosen.url} (OPENAI_BASE_URL)`
      : "the network, and the provider's status"
  switch (reason._tag) {
    case "AuthenticationError":
      return `check ${keyOf[chosen.provider]}`
    case "QuotaExhaustedError":
      return "check the account's credit, or choose another provider with --model"
    case "RateLimitError":
      return "wait a while, then say it again"
    case "NetworkError":
      return `check ${server}, then say it again; --model offline needs none`
    case "InternalProviderError":
      return "it is the provider's fault: say it again later"
    case "InvalidResponseError":
    case "InvalidOutputError":
      return `what answers is no such provider: check ${chosen.provider === "compatible" ? "OPENAI_BASE_URL" : "the network's proxy"}`
    case "InvalidRequestError":
      return "check the name of the model (--model)"
    default:
      return "say it again, or choose another model with --model"
  }
}
