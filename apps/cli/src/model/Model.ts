/**
 * The model that answers in `chat`, `resume` and `decide`, as `--model` and the environment choose it.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { choose, type ModelChoice } from "./ModelChoice.ts"
import * as OfflineModel from "./OfflineModel.ts"

/** `--model`, or the environment variable `COLLOQUY_MODEL`. */
export const modelFlag = Flag.String("model").pipe(
  Flag.withMetavar("<[anthropic/|openai/|compatible/]model|offline>"),
  Flag.withDescription(
    "The model that answers (or COLLOQUY_MODEL). Its provider comes from OPENAI_BASE_URL, ANTHROPIC_API_KEY or " +
      "OPENAI_API_KEY; with none of them an offline stand-in answers"
  ),
  Flag.withFallbackConfig(Config.String("COLLOQUY_MODEL")),
  Flag.optional
)

/** What a choice means, before anything is sent. */
export const choice = Effect.fnUntraced(function* (named: Option.Option<string>) {
  const environment = yield* Config.all({
    anthropicKey: secret("ANTHROPIC_API_KEY"),
    anthropicUrl: text("ANTHROPIC_BASE_URL"),
    openAiKey: secret("OPENAI_API_KEY"),
    openAiUrl: text("OPENAI_BASE_URL")
  })
  return yield* Effect.fromResult(choose(Option.getOrUndefined(named), environment))
})

/** The model, and how it says that a prompt is too long for it. */
export const layer = (chosen: ModelChoice): Layer.Layer<LanguageModel.LanguageModel> =>
  chosen.provider === "offline"
    ? OfflineModel.layer
    : // The packages of providers are loaded only where one is asked: every verb would start later.
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
