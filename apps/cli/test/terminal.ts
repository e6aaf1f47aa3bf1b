/**
 * Runs the command line in this process, before a terminal that the test plays: it types lines and sees what appears.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import type * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { run } from "../src/Cli.ts"

interface Terminal {
  /** Types a line. */
  readonly type: (line: string) => Effect.Effect<void>
  /** Types Ctrl-D. */
  readonly close: Effect.Effect<void>
  /** Waits until this stands on the screen, on stdout or stderr. */
  readonly sees: (text: string) => Effect.Effect<void>
  /** Everything on the screen so far. */
  readonly screen: () => string
  /** Types Ctrl-C, and waits for the end. */
  readonly interrupt: Effect.Effect<void>
  /** The exit code; 130 after Ctrl-C. */
  readonly exitCode: Effect.Effect<number>
}

/** Starts `colloquy` with these arguments and this environment; it is gone with the scope. */
export const start = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  environment: { readonly [name: string]: string } = {}
) {
  const typed = yield* Queue.unbounded<Uint8Array, Cause.Done>()
  const encoder = new TextEncoder()
  const waiting: Array<{ readonly text: string; readonly seen: Deferred.Deferred<void> }> = []
  let screen = ""
  const show = (text: string) => {
    screen += text
    for (const { seen, text } of waiting) if (screen.includes(text)) Deferred.doneUnsafe(seen, Effect.void)
  }
  const sink = () =>
    Sink.forEach((chunk: string | Uint8Array) =>
      Effect.sync(() => show(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk)))
    )
  const terminal = Stdio.make({
    args: Effect.succeed(args),
    stdout: sink,
    stderr: sink,
    stdin: Stream.fromQueue(typed),
    stdinIsTerminal: Effect.succeed(true),
    stdoutIsTerminal: Effect.succeed(true)
  })
  const layers = Layer.mergeAll(
    NodeServices.layer,
    Layer.succeed(Stdio.Stdio, terminal),
    ConfigProvider.layer(ConfigProvider.fromUnknown(environment))
  )
  const fiber = yield* run.pipe(
    Effect.provideService(Console.Console, { ...console, error: (...words) => show(`${words.join(" ")}\n`) }),
    Effect.provide(layers),
    Effect.forkScoped
  )
  const result: Terminal = {
    type: (line) => Effect.asVoid(Queue.offer(typed, encoder.encode(`${line}\n`))),
    close: Effect.asVoid(Queue.end(typed)),
    sees: (text) =>
      Effect.suspend(() => {
        const seen = Deferred.makeUnsafe<void>()
        waiting.push({ text, seen })
        show("")
        return Deferred.await(seen)
      }),
    screen: () => screen,
    interrupt: Fiber.interrupt(fiber),
    exitCode: Effect.map(Fiber.await(fiber), (exit) => (Exit.isSuccess(exit) ? exit.value : 130))
  }
  return result
})
