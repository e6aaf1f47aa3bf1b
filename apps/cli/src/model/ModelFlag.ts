/**
 * `--model`: which model answers in `chat`, `resume` and `decide`.
 */
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"

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
