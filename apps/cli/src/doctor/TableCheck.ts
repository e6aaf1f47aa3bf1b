/**
 * Looks into a database file as SQLite sees it: whose it is, of which version, whether it is whole, and whether it can be
 * written. Nothing is changed: an older file stays as it is.
 */
import * as Migrations from "@colloquy/storage-sqlite/Migrations"
import * as SqliteFile from "@colloquy/storage-sqlite/SqliteFile"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import type { Kind, Problem } from "./Problem.ts"

/** What was found, and whether the logs in it can be read. */
export interface Found {
  readonly problems: ReadonlyArray<Problem>
  readonly isReadable: boolean
}

export const check = Effect.fnUntraced(
  function* (file: string) {
    const client = yield* SqliteFile.open(file)
    return yield* Effect.provideService(inspect(file), SqlClient.SqlClient, client)
  },
  Effect.scoped,
  Effect.provide(Reactivity.layer),
  Effect.catchTag("StoreUnavailable", ({ detail }) => Effect.succeed(only("not-a-database", detail)))
)

// --- internal ---

const remedies = {
  "not-a-database": "correct --db, or restore a backup there",
  "foreign-database": "correct --db: choose a file of colloquy",
  "newer-version": "update colloquy, or use the release that wrote the file",
  "older-version": "bring it up to date: colloquy migrate (make a backup first: colloquy backup)",
  "lost-tables": "restore a backup",
  "damaged-file": "stop writing to it, save what export can still read, and restore a backup",
  locked: "find who holds it (fuser or lsof on the file), and end that process if it hangs"
} satisfies { readonly [kind in Kind]?: string }

const problem = (kind: keyof typeof remedies, detail: string): Problem => ({
  problem: kind,
  detail,
  remedy: remedies[kind]
})

const only = (kind: keyof typeof remedies, detail: string): Found => ({
  problems: [problem(kind, detail)],
  isReadable: false
})

const inspect = (file: string) =>
  Effect.gen(function* () {
    const { found, state, supported } = yield* Migrations.inspect
    if (state === "older") {
      return only("older-version", `the tables of ${file} are of version ${found}, older than ${supported}`)
    }
    if (state === "empty") return only("not-a-database", `there are no tables in ${file}`)
    const damage = yield* quickCheck
    const lock = yield* isLocked
    const problems = [
      ...(damage === undefined ? [] : [problem("damaged-file", `SQLite finds damage in ${file}: ${damage}`)]),
      ...(lock ? [problem("locked", `another process has held the write lock of ${file} for over a second`)] : [])
    ]
    return { problems, isReadable: damage === undefined } satisfies Found
  }).pipe(
    Effect.catchTags({
      UnsupportedVersion: ({ message }) => Effect.succeed(only("newer-version", message)),
      StoreUnavailable: (error) => Effect.succeed(only(kindOf(error), `${file}: ${error.detail}`))
    })
  )

/** Without a cause SQLite reads the file, and it is not as ours are. */
const kindOf = ({ cause, reason }: StoreUnavailable): keyof typeof remedies => {
  if (reason === "contention") return "locked"
  if (reason === "refused") return cause === null ? "foreign-database" : "not-a-database"
  return cause === null ? "lost-tables" : "damaged-file"
}

/** The first thing that SQLite finds wrong; it reads the whole file. https://www.sqlite.org/pragma.html#pragma_quick_check */
const quickCheck = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.mapError(
    sql.unsafe<{ readonly quick_check: string }>("PRAGMA quick_check(1)"),
    SqliteFile.toStoreUnavailable
  )
  return row === undefined || row.quick_check === "ok" ? undefined : row.quick_check
})

/** Tries for a second: a lock is held while somebody commits, and no longer. */
const isLocked = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const attempt = sql.withTransaction(Effect.void)
  return yield* attempt.pipe(
    Effect.provideService(SqlClient.BeginTransaction, "BEGIN IMMEDIATE"),
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 12 }),
    Effect.as(false),
    Effect.catchTag("SqlError", (error) => Effect.succeed(error.reason._tag === "LockTimeoutError"))
  )
})
