/**
 * The store of the conversations that `--db` names.
 */
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import type { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { withoutSecrets } from "./DatabaseName.ts"
import { Db } from "./Settings.ts"

/**
 * There is no database where the verb should read one. Nothing was created.
 *
 * @public
 */
export class DatabaseMissing extends Schema.TaggedError<DatabaseMissing>("@colloquy/cli/DatabaseMissing")(
  "DatabaseMissing",
  { path: Schema.String }
) {
  override get message() {
    return `there is no database at ${this.path}: correct --db, or import something into it first`
  }
}

/**
 * The database is of a kind that this release does not open.
 *
 * @public
 */
export class DatabaseUnsupported extends Schema.TaggedError<DatabaseUnsupported>("@colloquy/cli/DatabaseUnsupported")(
  "DatabaseUnsupported",
  { database: Schema.String }
) {
  override get message() {
    return `${this.database} cannot be opened yet: Postgres comes in a later release; name a SQLite file with --db`
  }
}

/** Everything that opening a database fails with. */
export type DatabaseError = DatabaseMissing | DatabaseUnsupported | SqliteStorage.OpenError

/**
 * The store. To `read`, the database must be there; to `write`, it is created where it is absent.
 */
export const layer = (access: "read" | "write") =>
  Layer.unwrap(
    Effect.gen(function* (): Effect.fn.Return<
      Layer.Layer<ConversationStore, SqliteStorage.OpenError>,
      DatabaseError,
      (typeof Db)["Identifier"] | FileSystem.FileSystem
    > {
      const name = yield* Db
      if (name._tag === "Postgres") return yield* new DatabaseUnsupported({ database: withoutSecrets(name.url) })
      const { path } = name
      const fs = yield* FileSystem.FileSystem
      // An empty file is none either: opening it would make tables in it.
      const info = yield* Effect.option(fs.stat(path))
      const isThere = Option.isSome(info) && (info.value.type !== "File" || info.value.size > 0)
      if (access === "read" && !isThere) return yield* new DatabaseMissing({ path })
      return SqliteStorage.layer({ filename: path })
    })
  )
