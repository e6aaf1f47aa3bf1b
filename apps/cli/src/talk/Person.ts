/**
 * The person at the terminal, whose lines are heard while the model speaks. Nobody where stdin is no terminal.
 */
import type * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"

export interface Person {
  /** The next line; nothing once there are no more. */
  readonly line: Effect.Effect<Option.Option<string>>
  /** Hands each line to `hear` as it comes, and keeps it for {@link line} when that is false. Ends with the lines. */
  readonly hearing: <E>(hear: (line: string) => Effect.Effect<boolean, E>) => Effect.Effect<void, E>
  /** Says something that is not the answer. */
  readonly tell: (text: string) => Effect.Effect<void>
}

/** Listens to stdin for the scope. */
export const make = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  const lines = yield* Queue.unbounded<string, Cause.Done>()
  yield* Stream.splitLines(Stream.decodeText(stdio.stdin)).pipe(
    Stream.runForEach((line) => Queue.offer(lines, line)),
    // A terminal that cannot be read any more says no more.
    Effect.ignore,
    Effect.andThen(Queue.end(lines)),
    Effect.forkScoped
  )
  const person: Person = {
    line: Effect.option(Queue.take(lines)),
    hearing: (hear) =>
      Effect.gen(function* () {
        while (true) {
          const line = yield* Effect.option(Queue.peek(lines))
          if (Option.isNone(line)) return
          // Between hearing a line and forgetting it nothing may come: it would be said twice, or not at all.
          const isHeard = yield* Effect.uninterruptible(
            Effect.tap(hear(line.value), (isHeard) => (isHeard ? Queue.take(lines).pipe(Effect.option) : Effect.void))
          )
          if (!isHeard) return
        }
      }),
    tell: (text) => Console.error(text)
  }
  return person
})
