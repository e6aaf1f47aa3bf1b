/**
 * What a verb says when it fails, on stderr: one readable line, with `--json` also one JSON value.
 */
import * as Cause from "effect/Cause"
import * as CliError from "effect/cli/CliError"
import { ReaderGone, toJson } from "./Output.ts"
import { visible } from "./TerminalText.ts"

/** Exit codes: 0 only for success, 2 for wrong usage, 130 for an interruption, 1 for everything else. */
export interface ErrorReport {
  readonly exitCode: number
  readonly lines: ReadonlyArray<string>
}

export const make = (cause: Cause.Cause<unknown>, isJson: boolean): ErrorReport => {
  if (Cause.hasInterruptsOnly(cause)) return { exitCode: 130, lines: [] }
  const error = Cause.squash(cause)
  const tag = tagOf(error)
  // The reader has what it wanted.
  if (error instanceof ReaderGone) return { exitCode: 0, lines: [] }
  if (CliError.isCliError(error) && error._tag === "ShowHelp") {
    // Help and errors are on stderr already; help alone does not say what it is there for.
    const [first] = error.errors
    const usage = first ?? { _tag: "MissingSubcommand", message: "a subcommand is missing: name one of those above" }
    const json = toJson({ error: { tag: usage._tag, message: usage.message } })
    return {
      exitCode: 2,
      lines: [...(first === undefined ? [`colloquy: ${usage.message}`] : []), ...(isJson ? [json] : [])]
    }
  }
  const message = Cause.hasFails(cause) ? messageOf(error) : `internal fault, please report it: ${messageOf(error)}`
  return {
    exitCode: 1,
    lines: [
      `colloquy: ${visible(message).replace(/\s*\n\s*/g, " ")}`,
      ...(isJson ? [toJson({ error: { tag, message } })] : [])
    ]
  }
}

// --- internal ---

const tagOf = (error: unknown): string => {
  if (typeof error === "object" && error !== null && "_tag" in error && typeof error._tag === "string")
    return error._tag
  return error instanceof Error ? error.name : "Defect"
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
