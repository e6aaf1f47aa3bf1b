/**
 * How far long work has come, as a bar on a terminal's stderr. Programs, pipes and `--json` see nothing of it.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stdio from "effect/Stdio"
import { Json } from "./Settings.ts"

/** Says that so many more units are done. */
export type Advance = (units: number) => Effect.Effect<void>

export class Progress extends Context.Service<
  Progress,
  {
    /** A bar for `total` units of work, until the scope closes; one bar at a time. */
    readonly track: (label: string, total: number) => Effect.Effect<Advance, never, Scope.Scope>
  }
>()("@colloquy/cli/Progress") {}

/** A bar where stderr is a terminal and the output is for people. */
export const layer = Layer.effect(
  Progress,
  Effect.gen(function* () {
    const stdio = yield* Stdio.Stdio
    const shows = !(yield* Json) && (yield* stdio.stderrIsTerminal)
    return Progress.of({ track: (label, total) => (shows ? track(label, total) : Effect.succeed(() => Effect.void)) })
  })
)

/** The bar as text; public for tests. */
export const draw = (label: string, done: number, total: number): string => {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const filled = Math.round(share * width)
  return `${label} [${"#".repeat(filled)}${".".repeat(width - filled)}] ${Math.floor(share * 100)}%`
}

// --- internal ---

const width = 30
const redrawMillis = 100
const clearLine = "\r\u001b[2K"

const track = Effect.fnUntraced(function* (label: string, total: number) {
  let done = 0
  let drawnAt = yield* Clock.currentTimeMillis
  // Work that is over soon shows no bar.
  let isDrawn = false
  yield* Effect.addFinalizer(() => Effect.sync(() => isDrawn && process.stderr.write(clearLine)))
  return (units: number) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      done += units
      if (now - drawnAt < redrawMillis) return
      drawnAt = now
      isDrawn = true
      process.stderr.write(clearLine + draw(label, done, total))
    })
})
