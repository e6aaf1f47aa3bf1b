/** Directories for files that a test may do anything with; gone with the scope. */
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The path of a file that does not exist yet. */
export const newFile = Effect.map(directory, (path) => join(path, "conversations.db"))
