/**
 * `colloquy migrate`: brings the tables of a file to the version of this release.
 */
import * as Migrations from "@colloquy/storage-sqlite/Migrations"
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Database from "../Database.ts"
import type * as Json from "../JsonOutput.ts"
import { Output } from "../Output.ts"
import { visible } from "../TerminalText.ts"

export const migrateCommand = Command.make(
  "migrate",
  {},
  Effect.fn("colloquy.migrate")(function* () {
    const output = yield* Output
    const path = yield* Database.file("migrate", "read")
    const report: Json.Migration = yield* Effect.scoped(migrate(path))
    const { from, to } = report
    yield* output.isJson
      ? output.json(report)
      : output.text([
          from === to
            ? `${visible(path)} is at version ${to} already`
            : `${visible(path)} migrated from version ${from} to ${to}`
        ])
  })
).pipe(
  Command.withDescription(
    "Bring the tables of a database to the version of this release; every other verb does so too, without saying it"
  )
)

// --- internal ---

const migrate = Effect.fnUntraced(function* (database: string) {
  // A file of something else, or of a newer release, is refused before anything is written to it.
  const file = yield* Layer.build(SqliteStorage.layerFile({ filename: database }))
  return { database, ...(yield* Effect.provideContext(Migrations.migrate, file)) }
})
