/**
 * What a verb answers, on stdout: text for people, or JSON for programs.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { Json } from "./Settings.ts"

/**
 * Whoever read the output has closed it, as `head` does. The verb ends, and nothing is said about it.
 */
export class ReaderGone extends Schema.TaggedError<ReaderGone>("@colloquy/cli/ReaderGone")("ReaderGone", {}) {}

/**
 * The output cannot be written.
 *
 * @public
 */
export class OutputFailed extends Schema.TaggedError<OutputFailed>("@colloquy/cli/OutputFailed")("OutputFailed", {
  detail: Schema.String
}) {
  override get message() {
    return `the output cannot be written: ${this.detail}`
  }
}

export type OutputError = ReaderGone | OutputFailed

export class Output extends Context.Service<
  Output,
  {
    readonly isJson: boolean
    /** Writes lines as they come; the next ones are asked for when the reader has room. */
    readonly lines: <E, R>(lines: Stream.Stream<string, E, R>) => Effect.Effect<void, E | OutputError, R>
    /** Writes the lines of a text. */
    readonly text: (lines: ReadonlyArray<string>) => Effect.Effect<void, OutputError>
    /** Writes a piece of text as it is, without an end of line. */
    readonly write: (piece: string) => Effect.Effect<void, OutputError>
    /** Writes one JSON value on a line. */
    readonly json: (value: unknown) => Effect.Effect<void, OutputError>
  }
>()("@colloquy/cli/Output") {}

/** One JSON value as a line that is safe to print: what JSON leaves as it is, a terminal might obey. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/** Writes to the stdout of the process. */
export const layer = Layer.effect(
  Output,
  Effect.gen(function* () {
    const stdio = yield* Stdio.Stdio
    const isJson = yield* Json
    const write = (text: string) =>
      Effect.mapError(Stream.run(Stream.succeed(text), stdio.stdout({ endOnDone: false })), translate)
    const lines = <E, R>(all: Stream.Stream<string, E, R>) =>
      Stream.runForEachArray(all, (some) => write(some.map((line) => `${line}\n`).join("")))
    return Output.of({
      isJson,
      lines,
      text: (all) => (all.length === 0 ? Effect.void : write(`${all.join("\n")}\n`)),
      write: (piece) => (piece === "" ? Effect.void : write(piece)),
      json: (value) => write(`${toJson(value)}\n`)
    })
  })
)

// --- internal ---

const translate = (error: PlatformError): OutputError => {
  const cause = error.reason._tag === "BadArgument" ? undefined : error.reason.cause
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  if (code === "EPIPE" || code === "ERR_STREAM_DESTROYED") return new ReaderGone()
  return new OutputFailed({ detail: cause instanceof Error ? cause.message : error.message })
}
