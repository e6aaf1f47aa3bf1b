/**
 * The tables of a file, their version, and the marks that tell our files from others.
 *
 * @since 0.1.0
 */
import { UnsupportedVersion } from "@colloquy/session/Upcast"
import { StoreUnavailable } from "@colloquy/store/StoreError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isBusy, lockSchedule, translate } from "./internal/connections.ts"

/**
 * The version of the tables that this release writes.
 *
 * @category constants
 * @since 0.1.0
 */
export const schemaVersion = 3

/**
 * The `application_id` of our files: "Clqy". See https://www.sqlite.org/pragma.html#pragma_application_id
 *
 * @category constants
 * @since 0.1.0
 */
export const applicationId = 0x436c7179

/**
 * Which tables a file has: none (`empty`), those of an older release (`older`), or this release's (`current`).
 *
 * @category models
 * @since 0.1.0
 */
export interface Inspected {
  readonly state: "empty" | "older" | "current"
  /** The version of its tables; 0 for none. */
  readonly found: number
  /** The version that this release writes: {@link schemaVersion}. */
  readonly supported: number
}

/**
 * What came of a migration: the versions before and after it, which are equal where there was nothing to do.
 *
 * @category models
 * @since 0.1.0
 */
export interface Migrated {
  readonly from: number
  readonly to: number
}

/**
 * Refuses a file of something else, or of a newer release, before anything is written; then brings an empty file or an
 * older one of ours up to date.
 *
 * **Details**
 *
 * Everything happens in one IMMEDIATE transaction: of several processes that open a file at once, one migrates and the
 * others find it done. `StoreUnavailable` with the reason `refused`: choose another file. `UnsupportedVersion`: update.
 *
 * @category migrating
 * @since 0.1.0
 */
export const migrate: Effect.Effect<Migrated, StoreUnavailable | UnsupportedVersion, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const before = yield* inspect
    if (before.state === "current") return nothingToDo
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        // Somebody else may have migrated while this one waited for the lock.
        const { found, state } = yield* inspect
        if (state === "current") return nothingToDo
        yield* run
        yield* sql.unsafe(`PRAGMA application_id = ${applicationId}`)
        yield* sql.unsafe(`PRAGMA user_version = ${schemaVersion}`)
        return { from: found, to: schemaVersion }
      })
    )
  }
).pipe(
  Effect.provideService(SqlClient.BeginTransaction, "BEGIN IMMEDIATE"),
  Effect.retry({ while: isBusy, schedule: lockSchedule(Duration.seconds(30)) }),
  Effect.mapError((error) => (error._tag === "SqlError" || error._tag === "MigrationError" ? translate(error) : error))
)

/**
 * Looks at the marks of a file without changing it, and refuses one that is not ours or is newer.
 *
 * **Details**
 *
 * `StoreUnavailable` without a cause is a file that SQLite reads: of something else (`refused`), or one of ours that has
 * lost tables (`damaged`). With one it is what SQLite says of it.
 *
 * @category migrating
 * @since 0.1.0
 */
export const inspect: Effect.Effect<Inspected, StoreUnavailable | UnsupportedVersion, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const [found] = yield* Effect.mapError(sql.unsafe<Marks>(selectMarks, [JSON.stringify(tableNames)]), translate)
    const { encoding, mark, missing, objects, version } = found ?? emptyMarks
    if (encoding !== textEncoding) {
      return yield* refused(`the file keeps text as ${encoding}, and payloads are read as ${textEncoding}`)
    }
    if (mark === 0 && objects === 0) return inspected("empty", 0)
    if (mark !== applicationId) {
      return yield* refused(`the file is a SQLite database of something else (application_id ${mark})`)
    }
    if (version > schemaVersion) {
      return yield* new UnsupportedVersion({ what: "the database file", found: version, supported: schemaVersion })
    }
    if (version < schemaVersion) return inspected("older", version)
    if (missing === null) return inspected("current", version)
    return yield* new StoreUnavailable({
      reason: "damaged",
      retryable: false,
      detail: `the file has lost tables (${missing}); restore a backup`,
      cause: null
    })
  }
)

// --- internal ---

const inspected = (state: Inspected["state"], found: number): Inspected => ({ state, found, supported: schemaVersion })

const nothingToDo: Migrated = { from: schemaVersion, to: schemaVersion }

const refused = (why: string) =>
  new StoreUnavailable({
    reason: "refused",
    retryable: false,
    detail: `${why}; choose another file`,
    cause: null
  })

// Ids compare bytewise (BINARY is the default collation). Payloads are text that the database never parses. Rows of a
// batch stand once: their producer and epoch are the batch's.
const tables = [
  `CREATE TABLE conversations (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    sequence INTEGER NOT NULL,
    tail BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    producer TEXT,
    status TEXT NOT NULL,
    title TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    erased INTEGER NOT NULL,
    forked_from TEXT
  ) STRICT`,
  "CREATE INDEX conversations_status ON conversations (status, id)",
  "CREATE INDEX conversations_forks ON conversations (forked_from) WHERE forked_from IS NOT NULL",
  `CREATE TABLE batches (
    conversation INTEGER NOT NULL,
    last INTEGER NOT NULL,
    first INTEGER NOT NULL,
    batch_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    producer TEXT NOT NULL,
    content BLOB NOT NULL,
    tail BLOB NOT NULL,
    PRIMARY KEY (conversation, last)
  ) STRICT, WITHOUT ROWID`,
  "CREATE UNIQUE INDEX batches_id ON batches (conversation, batch_id)",
  `CREATE TABLE records (
    conversation INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    record_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    salt BLOB,
    digest BLOB NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (conversation, sequence)
  ) STRICT`,
  "CREATE UNIQUE INDEX records_id ON records (conversation, record_id)",
  `CREATE TABLE call_ids (
    conversation INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    PRIMARY KEY (conversation, call_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE checkpoints (
    conversation INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    digest BLOB NOT NULL,
    state_version INTEGER NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (conversation, sequence)
  ) STRICT`
]

// The text comes last: a list of settings does not read through it.
const settings = `CREATE TABLE settings (
    id TEXT NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    settings TEXT NOT NULL
  ) STRICT`

// One piece of work has one row: the index of work keys leaves out the empty one, under which any number may stand. A turn
// that has begun is known before its ledger has a row, so it is named by what names that. Begun turns and aliases are few,
// and erasing an agent is rare: they have no indexes beside their keys, which every file would pay a page for.
const ledgers = [
  `CREATE TABLE ledgers (
    key INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    conversation_key TEXT NOT NULL,
    agent TEXT NOT NULL,
    counter INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    account TEXT,
    UNIQUE (tenant, conversation_key, agent)
  ) STRICT`,
  `CREATE TABLE ledger_entries (
    ledger INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    entry_id TEXT NOT NULL,
    work_key TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    meta TEXT NOT NULL,
    conversation TEXT,
    at INTEGER NOT NULL,
    sources TEXT NOT NULL,
    entry TEXT NOT NULL,
    PRIMARY KEY (ledger, ordinal)
  ) STRICT`,
  "CREATE UNIQUE INDEX ledger_entries_id ON ledger_entries (ledger, entry_id)",
  "CREATE UNIQUE INDEX ledger_entries_work ON ledger_entries (ledger, work_key) WHERE work_key <> ''",
  "CREATE INDEX ledger_entries_conversation ON ledger_entries (conversation) WHERE conversation IS NOT NULL",
  "CREATE INDEX ledger_entries_at ON ledger_entries (at)",
  `CREATE TABLE ledger_begun (
    tenant TEXT NOT NULL,
    conversation_key TEXT NOT NULL,
    agent TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    run_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation_key, agent, entry_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE ledger_aliases (
    tenant TEXT NOT NULL,
    alias TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (tenant, alias)
  ) STRICT, WITHOUT ROWID`
]

const tableNames = [
  "conversations",
  "batches",
  "records",
  "call_ids",
  "checkpoints",
  "settings",
  "ledgers",
  "ledger_entries",
  "ledger_begun",
  "ledger_aliases"
]

// Payloads are read as bytes. https://www.sqlite.org/pragma.html#pragma_encoding
const textEncoding = "UTF-8"

interface Marks {
  readonly encoding: string
  readonly mark: number
  readonly version: number
  readonly objects: number
  readonly missing: string | null
}

const emptyMarks: Marks = { encoding: textEncoding, mark: 0, version: 0, objects: 0, missing: null }

// One statement, so one snapshot: between two, another process may have migrated, and an empty file would seem foreign.
const selectMarks = `SELECT
  (SELECT encoding FROM pragma_encoding) AS encoding,
  (SELECT application_id FROM pragma_application_id) AS mark,
  (SELECT user_version FROM pragma_user_version) AS version,
  (SELECT count(*) FROM sqlite_master) AS objects,
  (SELECT group_concat(value, ', ') FROM json_each(?) WHERE value NOT IN (SELECT name FROM sqlite_master)) AS missing`

const run = Migrator.make({})({
  table: "colloquy_migrations",
  loader: Migrator.fromRecord({
    "0001_conversations": Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const table of tables) yield* sql.unsafe(table)
    }),
    "0002_settings": Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(settings)
    }),
    "0003_ledgers": Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const table of ledgers) yield* sql.unsafe(table)
    })
  })
})
