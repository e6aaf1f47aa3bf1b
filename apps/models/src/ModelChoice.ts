/**
 * Which model answers: the one that `--model` names, else the one that the environment has a key or a server for, else
 * an offline stand-in. Pure.
 */
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** What the environment says; a variable that is empty counts as absent. */
export interface Environment {
  readonly anthropicKey?: Redacted.Redacted | undefined
  readonly anthropicUrl?: string | undefined
  readonly openAiKey?: Redacted.Redacted | undefined
  readonly openAiUrl?: string | undefined
}

/** A provider, with what it is called with. */
export type ModelChoice =
  | { readonly provider: "offline" }
  | {
      readonly provider: "anthropic"
      readonly model: string
      readonly key: Redacted.Redacted
      readonly url?: string | undefined
    }
  | { readonly provider: "openai"; readonly model: string; readonly key: Redacted.Redacted }
  | {
      readonly provider: "compatible"
      readonly model: string
      readonly url: string
      readonly key?: Redacted.Redacted | undefined
    }

/**
 * The model cannot be asked as it is set up. Nothing was sent.
 *
 * @public
 */
export class ModelNotSetUp extends Schema.TaggedError<ModelNotSetUp>("@colloquy/models/ModelNotSetUp")(
  "ModelNotSetUp",
  {
    model: Schema.String,
    detail: Schema.String
  }
) {
  override get message() {
    return `${this.model} cannot be asked: ${this.detail}`
  }
}

/** What is asked where only a key is set. */
const defaults = { anthropic: "claude-sonnet-4-5", openai: "gpt-5.2" }

/**
 * `named` is `provider/model`, a provider, or a model of the provider that the environment chooses: a server at a base
 * URL before Anthropic before OpenAI.
 */
export const choose = (
  named: string | undefined,
  environment: Environment
): Result.Result<ModelChoice, ModelNotSetUp> => {
  const { model, provider } = split(named, environment)
  const { anthropicKey, anthropicUrl, openAiKey, openAiUrl } = environment
  const fail = (detail: string) => Result.fail(new ModelNotSetUp({ model: named ?? provider, detail }))
  switch (provider) {
    case "offline":
      return model === undefined
        ? Result.succeed({ provider })
        : fail("no provider is set up: set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL")
    case "anthropic":
      if (anthropicKey === undefined) return fail("there is no key: set ANTHROPIC_API_KEY")
      return Result.succeed({ provider, model: model ?? defaults.anthropic, key: anthropicKey, url: anthropicUrl })
    case "openai":
      if (openAiKey === undefined) return fail("there is no key: set OPENAI_API_KEY")
      return Result.succeed({ provider, model: model ?? defaults.openai, key: openAiKey })
    case "compatible":
      if (openAiUrl === undefined)
        return fail("there is no server: set OPENAI_BASE_URL, for example http://localhost:11434/v1")
      if (!URL.canParse(openAiUrl))
        return fail(`OPENAI_BASE_URL is no URL (${openAiUrl}): set it to http://… or https://…`)
      if (model === undefined) return fail(`which model of ${openAiUrl} is not said: name one with --model`)
      return Result.succeed({ provider, model, url: openAiUrl, key: openAiKey })
  }
}

// --- internal ---

type Provider = ModelChoice["provider"]

const providers: ReadonlyArray<Provider> = ["offline", "anthropic", "openai", "compatible"]

/** Names of models may have slashes of their own: only what stands before the first one can be a provider. */
const split = (named: string | undefined, environment: Environment) => {
  const [first = "", ...rest] = (named ?? "").split("/")
  const provider = providers.find((one) => one === first)
  if (provider !== undefined) return { provider, model: rest.length === 0 ? undefined : rest.join("/") }
  const chosen: Provider =
    environment.openAiUrl !== undefined
      ? "compatible"
      : environment.anthropicKey !== undefined
        ? "anthropic"
        : environment.openAiKey !== undefined
          ? "openai"
          : "offline"
  return { provider: chosen, model: named }
}
