/** A file seen from outside: with SQLite itself, or as bytes. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, readdirSync } from "node:fs"

/** A connection of its own, as another process has one; closed with the scope. */
export const connected = (filename: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(filename)),
    (database) => Effect.sync(() => database.close())
  )

/** The one value that a query gives. */
export const value = (database: DatabaseSync, sql: string, ...parameters: ReadonlyArray<SQLInputValue>): unknown =>
  Object.values(database.prepare(sql).get(...parameters) ?? {})[0]

/** The bytes of a file as hex, to compare; nothing when it is not there. */
export const bytes = (filename: string): string => (existsSync(filename) ? readFileSync(filename).toString("hex") : "")

export const names = (directory: string): ReadonlyArray<string> => readdirSync(directory).toSorted()
