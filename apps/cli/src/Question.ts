/**
 * A question to the person at the terminal: asked on stderr, answered by a line of stdin.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"

/** Whether the answer is yes; no answer is none. */
export const confirm = Effect.fnUntraced(function* (question: string) {
  const stdio = yield* Stdio.Stdio
  yield* Console.error(`${question} [y/N]`)
  const answer = yield* Stream.runHead(Stream.splitLines(Stream.decodeText(stdio.stdin)))
  return /^\s*y(es)?\s*$/i.test(Option.getOrElse(answer, () => ""))
})
