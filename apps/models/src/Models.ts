/**
 * The model that answers, as a name and the environment choose it.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as ModelChoice from "./ModelChoice.ts"

/** What a choice means, before anything is sent. */
export const choice = Effect.fnUntraced(function* (named: Option.Option<string>) {
  const environment = yield* Config.all({
    anthropicKey: secret("ANTHROPIC_API_KEY"),
    anthropicUrl: text("ANTHROPIC_BASE_URL"),
    openAiKey: secret("OPENAI_API_KEY"),
    openAiUrl: text("OPENAI_BASE_URL")
  })
  return yield* Effect.fromResult(ModelChoice.choose(Option.getOrUndefined(named), environment))
})

/** The model, and how it says that a prompt is too long for it. `offline` answers where no provider is chosen. */
export const layer = (
  chosen: ModelChoice.ModelChoice,
  offline: Layer.Layer<LanguageModel.LanguageModel>
): Layer.Layer<LanguageModel.LanguageModel> =>
  chosen.provider === "offline"
    ? offline
    : // The packages of providers are loaded only where one is asked: everything would start later.
      Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("./Providers.ts")),
          ({ layer }) => layer(chosen)
        )
      )

// --- internal ---

const isSaid = (text: string): boolean => text.trim() !== ""

const secret = (name: string) =>
  Config.map(Config.option(Config.Redacted(name)), (found) =>
    Option.getOrUndefined(Option.filter(found, (key) => isSaid(Redacted.value(key))))
  )

const text = (name: string) =>
  Config.map(Config.option(Config.String(name)), (found) => Option.getOrUndefined(Option.filter(found, isSaid)))
