/** The desk as a process of its own, which a test may kill. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

interface Desk {
  /** Its address, once it is ready; without a slash at the end. Dies with what it said when it ends before. */
  readonly url: Effect.Effect<string>
  /** A line of its output; the first is its address. */
  readonly line: (text: string) => Effect.Effect<void>
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<Ended>
  readonly ended: Effect.Effect<Ended>
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts it; it is killed with the scope. */
export const start = (
  args: ReadonlyArray<string>,
  options: { readonly entry?: string; readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {}
) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const ended = yield* Deferred.make<Ended>()
      const child = spawn(
        process.execPath,
        ["--conditions=@colloquy/source", "--disable-warning=ExperimentalWarning", options.entry ?? main, ...args],
        { cwd: options.cwd, env: { ...withoutModels(process.env), ...options.env }, stdio: ["ignore", "pipe", "pipe"] }
      )
      let stdout = ""
      let stderr = ""
      const waiting = new Set<() => void>()
      const tell = () => {
        for (const look of waiting) look()
      }
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text
        tell()
      })
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
      child.on("close", (code) => {
        Deferred.doneUnsafe(ended, Effect.succeed({ code, stdout, stderr }))
        tell()
      })
      /** The first line that is one of those looked for. */
      const find = (isIt: (line: string) => boolean) =>
        Effect.callback<string>((resume) => {
          const look = () => {
            const found = stdout.split("\n").slice(0, -1).find(isIt)
            const isOver = child.exitCode !== null || child.signalCode !== null
            if (found === undefined && !isOver) return
            waiting.delete(look)
            resume(
              found === undefined
                ? Effect.die(new Error(`the desk ended (${child.exitCode}): ${stdout}${stderr}`))
                : Effect.succeed(found)
            )
          }
          waiting.add(look)
          look()
        })
      const desk: Desk = {
        url: Effect.map(
          find((line) => line.startsWith("http://")),
          (line) => line.replace(/\/$/, "")
        ),
        line: (text) => Effect.asVoid(find((line) => line === text)),
        kill: (signal) => Effect.suspend(() => (child.kill(signal), Deferred.await(ended))),
        ended: Deferred.await(ended)
      }
      return desk
    }),
    (desk) => desk.kill("SIGKILL")
  )

// --- internal ---

/** Whoever runs the tests may have a key. */
const withoutModels = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(OPENAI|ANTHROPIC)_|^COLLOQUY_MODEL$|^DESK_/.test(name)))
