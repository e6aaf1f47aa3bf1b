/**
 * Models of providers, through their AI SDK packages.
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import * as AiSdkModel from "@colloquy/ai-sdk/AiSdkModel"
import { isContextOverflow } from "@colloquy/ai-sdk/ContextOverflow"
import { ContextOverflow } from "@colloquy/engine/ContextOverflow"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { ModelChoice } from "./ModelChoice.ts"

type Online = Exclude<ModelChoice, { readonly provider: "offline" }>

/** The model, and how its provider says that a prompt is too long for it. */
export const layer = (chosen: Online) =>
  Layer.merge(AiSdkModel.layer(modelOf(chosen)), Layer.succeed(ContextOverflow, isContextOverflow))

// --- internal ---

const modelOf = (chosen: Online) => {
  switch (chosen.provider) {
    case "anthropic": {
      const { key, model, url } = chosen
      return createAnthropic({ apiKey: Redacted.value(key), ...(url === undefined ? {} : { baseURL: url }) })(model)
    }
    case "openai":
      return createOpenAI({ apiKey: Redacted.value(chosen.key) }).responses(chosen.model)
    case "compatible": {
      const { key, model, url } = chosen
      const settings = { name: "compatible", baseURL: url, includeUsage: true }
      return createOpenAICompatible(
        key === undefined ? settings : { ...settings, apiKey: Redacted.value(key) }
      ).chatModel(model)
    }
  }
}
