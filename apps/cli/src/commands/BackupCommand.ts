/**
 * `colloquy backup <destination>`: copies a database while it is in use.
 */
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Database from "../Database.ts"
import type * as Json from "../JsonOutput.ts"
import { Output } from "../Output.ts"
import { Progress } from "../Progress.ts"
import { bytesText, visible } from "../TerminalText.ts"

export const backupCommand = Command.make(
  "backup",
  {
    destination: Argument.String("destination").pipe(
      Argument.withDescription("The path of the copy; nothing may be there")
    )
  },
  Effect.fn("colloquy.backup")(function* ({ destination }) {
    const output = yield* Output
    const filename = yield* Database.file("backup", "read")
    const pages = yield* Effect.scoped(copy(filename, destination))
    const fs = yield* FileSystem.FileSystem
    const bytes = Number((yield* fs.stat(destination)).size)
    const report: Json.Backup = { database: filename, destination, pages, bytes }
    yield* output.isJson
      ? output.json(report)
      : output.text([`${visible(filename)} copied to ${visible(destination)} (${bytesText(bytes)})`])
  })
).pipe(
  Command.withDescription("Copy a database while it is in use: the copy is that of one moment, whole or not at all"),
  Command.withExamples([
    { command: "colloquy backup desk-monday.db --db desk.db", description: "Copy desk.db while it is in use" }
  ])
)

// --- internal ---

const copy = Effect.fnUntraced(function* (filename: string, destination: string) {
  const progress = yield* Progress
  // In shares of the whole: how many pages there are is known once it has begun.
  const advance = yield* progress.track("copying", 1)
  let last = 0
  return yield* SqliteStorage.backup({
    filename,
    destination,
    onProgress: (copied, total) =>
      Effect.suspend(() => {
        const share = total === 0 ? 1 : copied / total
        const more = share - last
        last = share
        return advance(more)
      })
  })
})
