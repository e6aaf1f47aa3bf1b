/**
 * A question to the person at the terminal before what cannot be undone: asked on stderr, answered by a line of stdin.
 */
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { wrongUsage } from "./WrongUsage.ts"

/**
 * The question was not answered with yes. Nothing was changed.
 *
 * @public
 */
export class NotConfirmed extends Schema.TaggedError<NotConfirmed>("@colloquy/cli/NotConfirmed")("NotConfirmed", {
  unchanged: Schema.String
}) {
  override get message() {
    return `${this.unchanged}: answer y, or say --yes`
  }
}

/** `--yes`: the question is not asked. */
export const yesFlag = Flag.Boolean("yes").pipe(
  Flag.withAlias("y"),
  Flag.withDefault(false),
  Flag.withDescription("Do not ask; needed where stdin is no terminal")
)

/** Fails as wrong usage where a verb that was not told `--yes` has nobody to ask. */
export const refuseUnasked = Effect.fnUntraced(function* (verb: string, yes: boolean, doing: string) {
  if (yes || (yield* (yield* Stdio.Stdio).stdinIsTerminal)) return
  return yield* wrongUsage(verb, `${doing} cannot be undone, and nobody can be asked here: say --yes`)
})

/** Asks; without a yes it fails, and says that this was not done. */
export const ensureMeant = Effect.fnUntraced(function* (question: string, unchanged: string) {
  if (!(yield* confirm(`${question} This cannot be undone.`))) return yield* new NotConfirmed({ unchanged })
})

// --- internal ---

/** Whether the answer is yes; no answer is none. */
const confirm = Effect.fnUntraced(function* (question: string) {
  const stdio = yield* Stdio.Stdio
  yield* Console.error(`${question} [y/N]`)
  const answer = yield* Stream.runHead(Stream.splitLines(Stream.decodeText(stdio.stdin)))
  return /^\s*y(es)?\s*$/i.test(Option.getOrElse(answer, () => ""))
})
