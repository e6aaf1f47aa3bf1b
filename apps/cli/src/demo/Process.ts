/**
 * Runs programs of the demo as processes of their own.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

export class ProcessFailed extends Data.TaggedError("ProcessFailed")<{
  readonly command: string
  readonly code: number | null
  readonly output: string
}> {
  override get message() {
    return `${this.command} ended with ${this.code}: ${this.output}`
  }
}

/** Runs a program beside this file to its end; gives what it printed. */
export const run = (program: string, args: ReadonlyArray<string>): Effect.Effect<string, ProcessFailed> =>
  Effect.callback((resume) => {
    const child = start(program, args)
    const output = collect(child)
    child.on("close", (code) => {
      const command = [program, ...args].join(" ")
      resume(
        code === 0
          ? Effect.succeed(output.stdout)
          : Effect.fail(new ProcessFailed({ command, code, output: output.stdout + output.stderr }))
      )
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** Runs a program until it prints a line with `mark`, then kills it with SIGKILL; gives its id and what it printed. */
export const runUntilKilled = (
  program: string,
  args: ReadonlyArray<string>,
  mark: string
): Effect.Effect<{ readonly pid: number; readonly stdout: string }, ProcessFailed> =>
  Effect.callback((resume) => {
    const child = start(program, args)
    const output = collect(child)
    child.stdout?.on("data", () => {
      if (output.stdout.includes(mark)) child.kill("SIGKILL")
    })
    child.on("close", (code, signal) => {
      const command = [program, ...args].join(" ")
      resume(
        signal === "SIGKILL"
          ? Effect.succeed({ pid: child.pid ?? 0, stdout: output.stdout })
          : Effect.fail(new ProcessFailed({ command, code, output: output.stdout + output.stderr }))
      )
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

// --- internal ---

// The same conditions as this process has: sources in development, the build otherwise.
const start = (program: string, args: ReadonlyArray<string>): ChildProcess =>
  spawn(process.execPath, [...process.execArgv, fileURLToPath(new URL(program, import.meta.url)), ...args], {
    stdio: ["ignore", "pipe", "pipe"]
  })

const collect = (child: ChildProcess): { stdout: string; stderr: string } => {
  const output = { stdout: "", stderr: "" }
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output.stdout += text))
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (output.stderr += text))
  return output
}
