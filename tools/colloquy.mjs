/**
 * `npm run --silent colloquy -- <arguments>`: runs the command line from a checkout, on whatever Node starts this file.
 *
 * Installs what is missing, builds what has changed, then hands over: the CLI has the caller's folder, streams, signals
 * and exit code. Nothing but the CLI writes to stdout; the build says something only when it fails.
 */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { constants } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const bin = join(root, "node_modules", ".bin")
const env = {
  TURBO_TELEMETRY_DISABLED: "1",
  // Node keeps what it has compiled: the CLI starts in half the time.
  NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "node"),
  ...process.env,
  PATH: `${bin}${delimiter}${process.env.PATH ?? ""}`
}

/** Runs a program to its end; gives its exit code, and what it wrote unless that goes elsewhere. */
const run = (command, args, options) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { env, ...options })
    const output = []
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => output.push(chunk))
    const forward = (signal) => child.kill(signal)
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"]
    for (const signal of signals) process.on(signal, forward)
    const end = (code) => {
      for (const signal of signals) process.off(signal, forward)
      resolve({ code, output: Buffer.concat(output) })
    }
    child.on("error", (error) => {
      process.stderr.write(`colloquy: ${command} cannot be started: ${error.message}\n`)
      end(1)
    })
    child.on("close", (code, signal) => end(code ?? 128 + (constants.signals[signal] ?? 0)))
  })

const start = async () => {
  if (!existsSync(join(bin, "turbo"))) {
    process.stderr.write("colloquy: installing what is needed, once\n")
    // Its stdout goes to our stderr (2): our stdout is the CLI's alone.
    const { code } = await run("npm", ["run", "--silent", "bootstrap"], { cwd: root, stdio: ["ignore", 2, 2] })
    if (code !== 0) return 1
  }
  const build = await run(join(bin, "turbo"), ["run", "build", "--filter=@colloquy/cli", "--output-logs=errors-only"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"]
  })
  if (build.code !== 0) {
    process.stderr.write(build.output)
    process.stderr.write("colloquy: the build failed; mend what is named above, then try again\n")
    return 1
  }
  const main = join(root, "apps", "cli", "dist", "main.js")
  const { code } = await run(join(bin, "node"), [main, ...process.argv.slice(2)], {
    cwd: process.env.INIT_CWD ?? process.cwd(),
    stdio: "inherit"
  })
  return code
}

process.exitCode = await start()
