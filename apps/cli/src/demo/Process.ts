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

/** Runs `colloquy` to its end; gives what it printed. */
export const cli = (args: ReadonlyArray<string>) => run(`../main.${extension}`, args)

/** Runs the demo's worker to its end; gives what it printed. */
export const work = (verb: string, args: ReadonlyArray<string>) => run(worker, [verb, ...args])

/** Runs the demo's worker until it prints `mark`, then sends it a signal; gives its id and what it printed. */
export const runUntil = (
  verb: string,
  args: ReadonlyArray<string>,
  mark: string,
  signal: "SIGKILL" | "SIGINT"
): Effect.Effect<{ readonly pid: number; readonly stdout: string }, ProcessFailed> =>
  Effect.callback((resume) => {
    const child = start(worker, [verb, ...args])
    const output = collect(child)
    let sent = false
    child.stdout?.on("data", () => {
      if (sent || !output.stdout.includes(mark)) return
      sent = true
      child.kill(signal)
    })
    child.on("close", (code) => {
      const { stdout } = output
      resume(
        sent
          ? Effect.succeed({ pid: child.pid ?? 0, stdout })
          : Effect.fail(new ProcessFailed({ command: `worker ${verb}`, code, output: stdout + output.stderr }))
      )
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

// --- internal ---

const extension = import.meta.url.endsWith(".ts") ? "ts" : "js"
const worker = `./worker.${extension}`

const run = (program: string, args: ReadonlyArray<string>): Effect.Effect<string, ProcessFailed> =>
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
