/**
 * The peers' packages: installed on demand in a folder of their own, since they are several times as large as all the
 * rest, and imported without types, since a checkout does not have them.
 */
import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { load } from "../../peers/load.ts"

/** Brings the packages of the lockfile in; says what went wrong, if something did. */
export const install = async (): Promise<string | undefined> => {
  try {
    // Not a member of the workspace above it: it has its own lockfile, and its own rules for install scripts.
    await promisify(execFile)("pnpm", ["install", "--frozen-lockfile"], { cwd: directory, timeout: 300_000 })
    return undefined
  } catch (error) {
    const said = hasField(error, "stderr") ? String(error.stderr).trim().replaceAll(/\s+/g, " ") : ""
    return `the packages could not be installed: ${said || messageOf(error)}`
  }
}

export const isInstalled = (): boolean => existsSync(`${directory}node_modules`)

/** The version of a package as it is installed. */
export const versionOf = (name: string): string => {
  const manifest: unknown = JSON.parse(readFileSync(`${directory}node_modules/${name}/package.json`, "utf8"))
  return hasField(manifest, "version") ? String(manifest.version) : "unknown"
}

/** A package's exports, if they have the functions that are asked for. */
export const importPackage = async <A>(
  name: string,
  functions: ReadonlyArray<keyof A & string>,
  isPackage: (exports: unknown) => exports is A = (exports): exports is A =>
    functions.every((name) => hasField(exports, name) && typeof exports[name] === "function")
): Promise<A> => {
  const exports = await load(name)
  if (isPackage(exports)) return exports
  throw new Error(`${name} ${versionOf(name)} does not export ${functions.join(", ")}`)
}

export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0]!

// --- internal ---

const directory = fileURLToPath(new URL("../../peers/", import.meta.url))

const hasField = <K extends string>(value: unknown, name: K): value is { readonly [P in K]: unknown } =>
  typeof value === "object" && value !== null && name in value
