/** Child processes over a folder: scripts in `child/`, run from source. */
import * as Effect from "effect/Effect"
import { ChildProcess } from "effect/process"
import type { ChildProcessHandle } from "effect/process/ChildProcessSpawner"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"

/** Starts a script with these arguments; it reads `stdin`, and is gone with the scope. */
export const start = (script: URL, args: ReadonlyArray<string>, stdin: Stream.Stream<Uint8Array> = Stream.empty) =>
  ChildProcess.make(
    process.execPath,
    ["--conditions=@colloquy/source", "--disable-warning=ExperimentalWarning", fileURLToPath(script), ...args],
    { stdin, stderr: "inherit", killSignal: "SIGKILL" }
  )

export const lines = (handle: ChildProcessHandle) => handle.stdout.pipe(Stream.decodeText(), Stream.splitLines)

/** SIGKILL: the process runs not one more statement. */
export const kill = (handle: ChildProcessHandle) => Effect.ignore(handle.kill({ killSignal: "SIGKILL" }))
