/** Folders that a test may do anything with. */
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A new one, gone with the scope. */
export const newFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The paths of all files, or of those with this ending. */
export const filesOf = (folder: string, extension = ""): ReadonlyArray<string> =>
  readdirSync(folder)
    .filter((name) => name.endsWith(extension))
    .map((name) => join(folder, name))

/** The names of files in which the text occurs. */
export const filesWith = (folder: string, text: string): ReadonlyArray<string> =>
  filesOf(folder).filter((path) => readFileSync(path).includes(text))
