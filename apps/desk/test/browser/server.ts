/**
 * The desk's process, on a file of its own: to be asked, killed and started again.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, appendFile, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

export interface DeskServer {
  readonly url: string
  /** The SQLite file. */
  readonly file: string
  /** Answers of the API, as JSON. */
  readonly ask: (path: string) => Promise<unknown>
  /** Ends the process as a crash would. */
  readonly kill: () => Promise<void>
  /** Starts it again on the same port and file; `build` is the directory of the build that is started. */
  readonly start: (build?: string) => Promise<void>
  /** Ends it, and removes its file. */
  readonly remove: () => Promise<void>
}

/** Starts a desk with the offline model on any port. */
export const startServer = async (file?: string): Promise<DeskServer> => {
  const directory = await mkdtemp(join(tmpdir(), "desk-"))
  const database = file ?? join(directory, "desk.db")
  let { child, url } = await launch(database, 0, join(root, "dist"))
  const port = Number(new URL(url).port)
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, "exit")
    child.kill("SIGKILL")
    await exit
  }
  return {
    url,
    file: database,
    ask: async (path) => {
      const response = await fetch(new URL(`/api${path}`, url))
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return response.json()
    },
    kill,
    start: async (build = join(root, "dist")) => {
      ;({ child } = await launch(database, port, build))
    },
    remove: async () => {
      await kill()
      await rm(directory, { recursive: true })
    }
  }
}

/** Another build of the desk: the same but for its page. Removed by the returned function. */
export const otherBuild = async (): Promise<{ readonly build: string; readonly remove: () => Promise<void> }> => {
  // Below the package, where its dependencies are found.
  const build = await mkdtemp(join(root, ".cache", "build-"))
  await cp(join(root, "dist"), build, { recursive: true })
  await appendFile(join(build, "page", "index.html"), "<!-- newer -->\n")
  return { build, remove: () => rm(build, { recursive: true }) }
}

// --- internal ---

/** Waits for the line with its address. */
const launch = async (
  file: string,
  port: number,
  build: string
): Promise<{ readonly child: ChildProcess; readonly url: string }> => {
  const environment = { ...process.env }
  // A key of whoever runs the tests would have a real model answer.
  for (const name of ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "COLLOQUY_MODEL"])
    delete environment[name]
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(build, "main.js"), "--port", String(port), "--db", file],
    { cwd: root, env: environment, stdio: ["ignore", "pipe", "pipe"] }
  )
  let complaints = ""
  child.stderr.on("data", (data: Buffer) => (complaints += data.toString()))
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("http://")) return { child, url: line }
  }
  throw new Error(`the desk did not start: ${complaints}`)
}
