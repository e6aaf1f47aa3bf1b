/**
 * Runs the real command line as a child process, in a folder of the test's own.
 */
import { spawn } from "node:child_process"
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"

const root = mkdtempSync(join(tmpdir(), "colloquy-cli-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

// Node keeps what it has compiled of our sources: a start takes half the time.
const compileCache = join(tmpdir(), "colloquy-cli-compile-cache")

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

/** The environment of the children: nothing of the tester's own settings. */
export const environment: { readonly [name: string]: string | undefined } = {
  ...process.env,
  ANTHROPIC_API_KEY: undefined,
  ANTHROPIC_BASE_URL: undefined,
  COLLOQUY_DB: undefined,
  COLLOQUY_MODEL: undefined,
  FORCE_COLOR: undefined,
  NO_COLOR: "1",
  NODE_COMPILE_CACHE: compileCache,
  OPENAI_API_KEY: undefined,
  OPENAI_BASE_URL: undefined
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export class Folder {
  readonly path = mkdtempSync(join(root, "test-"))

  /** Runs `colloquy` with these arguments. */
  readonly run = (...args: ReadonlyArray<string>): Promise<Ended> => this.runWith({}, ...args)

  /** Runs it with these variables besides. */
  readonly runWith = (more: { readonly [name: string]: string }, ...args: ReadonlyArray<string>): Promise<Ended> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, ["--conditions=@colloquy/source", main, ...args], {
        cwd: this.path,
        env: { ...environment, ...more },
        stdio: ["ignore", "pipe", "pipe"]
      })
      const stdout: Array<Buffer> = []
      const stderr: Array<Buffer> = []
      child.stdout.on("data", (chunk) => stdout.push(chunk))
      child.stderr.on("data", (chunk) => stderr.push(chunk))
      child.on("error", reject)
      child.on("close", (code) => {
        resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() })
      })
    })

  /** The arguments that run it in this folder, for tests that start it by themselves. */
  readonly command: ReadonlyArray<string> = [process.execPath, "--conditions=@colloquy/source", main]

  readonly write = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(this.path, name), content)
    return name
  }

  readonly copy = (from: Folder, name: string): void => copyFileSync(join(from.path, name), join(this.path, name))

  readonly read = (name: string): Buffer => readFileSync(join(this.path, name))

  readonly files = (): ReadonlyArray<string> => readdirSync(this.path).toSorted()
}

/** A folder for one test; gone when the tests of its file have ended. */
export const folder = (): Folder => new Folder()

/** The values of NDJSON. */
export const values = <A = Record<string, unknown>>(stdout: string): ReadonlyArray<A> =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line): A => JSON.parse(line))

/** The one value of an output that holds nothing else. */
export const value = <A = Record<string, unknown>>(stdout: string): A => JSON.parse(stdout)

/** The error that `--json` writes to stderr, on its last line. */
export const errorOf = (stderr: string): { readonly tag: string; readonly message: string } =>
  value<{ readonly error: { readonly tag: string; readonly message: string } }>(stderr.trimEnd().split("\n").at(-1)!)
    .error
