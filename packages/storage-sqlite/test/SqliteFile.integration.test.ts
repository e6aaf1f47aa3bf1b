import { assert, describe, it } from "@effect/vitest"
import { Migrations } from "@colloquy/storage-sqlite"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { batch, opened, sequences, takeOver } from "./conversations.ts"
import { directory, newFile } from "./files.ts"
import { bytes, names } from "./opened.ts"

/** Opening the file fails, and leaves it and everything beside it as it was. */
const refuses = Effect.fnUntraced(function* (filename: string) {
  const before = { content: bytes(filename), names: names(dirname(filename)) }
  const error = yield* Effect.flip(Effect.scoped(opened({ filename })))
  assert.deepStrictEqual({ content: bytes(filename), names: names(dirname(filename)) }, before)
  return error
})

const refusedWith = Effect.fnUntraced(function* (filename: string, detail: string) {
  const error = yield* refuses(filename)
  if (error._tag !== "StoreUnavailable") return assert.fail(`failed with ${error._tag}`)
  assert.strictEqual(error.reason, "refused")
  assert.isFalse(error.retryable)
  assert.include(error.message, detail)
})

const made = (filename: string, ...statements: ReadonlyArray<string>) =>
  Effect.sync(() => {
    const database = new DatabaseSync(filename)
    for (const statement of statements) database.exec(statement)
    database.close()
  })

/** A file of ours with a conversation in it. */
const ours = (filename: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* (yield* takeOver(yield* opened({ filename })))(batch("b", 2))
    })
  )

/** The immutable attribute holds for root too, which a permission bit does not. */
const immutable = (filename: string) =>
  Effect.acquireRelease(
    Effect.sync(() => execFileSync("chattr", ["+i", filename], { stdio: "ignore" })),
    () => Effect.sync(() => execFileSync("chattr", ["-i", filename], { stdio: "ignore" }))
  )

const cannotFreeze = ((): boolean => {
  try {
    Effect.runSync(
      Effect.scoped(
        Effect.gen(function* () {
          const filename = yield* newFile
          writeFileSync(filename, "")
          yield* immutable(filename)
        })
      )
    )
    return false
  } catch {
    return true
  }
})()

const conversationTables = ["conversations", "batches", "records", "call_ids", "checkpoints"]
const ledgerTables = ["ledgers", "ledger_entries", "ledger_begun", "ledger_aliases"]
const tables = [...conversationTables, "settings", ...ledgerTables]

describe("a file that is not ours", () => {
  it.effect("a database of something else is refused, and unchanged", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* made(filename, "CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('theirs')")
      yield* refusedWith(filename, "choose another file")
    })
  )

  it.effect("a database of something else in WAL mode is refused, and unchanged", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* made(filename, "PRAGMA journal_mode = WAL", "CREATE TABLE conversations (id TEXT)")
      yield* refusedWith(filename, "choose another file")
    })
  )

  it.effect("an empty database with the mark of something else is refused, and unchanged", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* made(filename, "PRAGMA application_id = 1196444487")
      yield* refusedWith(filename, "application_id 1196444487")
    })
  )

  it.effect("a database that keeps text in another encoding is refused, and unchanged", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* made(filename, "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE theirs (id TEXT)", "DROP TABLE theirs")
      yield* refusedWith(filename, "UTF-16le")
    })
  )

  it.effect("a file that is no database is refused, and unchanged", () =>
    Effect.gen(function* () {
      for (const content of ["some text", "x".repeat(10_000), `SQLite format 3\u0000${"x".repeat(5_000)}`]) {
        const filename = yield* newFile
        writeFileSync(filename, content)
        yield* refusedWith(filename, "not a SQLite database")
      }
    })
  )

  it.effect("a directory is refused", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      mkdirSync(filename)
      const error = yield* Effect.flip(Effect.scoped(opened({ filename })))
      assert.strictEqual(error._tag === "StoreUnavailable" ? error.reason : error._tag, "refused")
      assert.include(error.message, "cannot be opened")
    })
  )

  it.effect("a path without its directory is refused", () =>
    Effect.gen(function* () {
      const filename = join(yield* directory, "missing", "conversations.db")
      const error = yield* Effect.flip(Effect.scoped(opened({ filename })))
      assert.strictEqual(error._tag === "StoreUnavailable" ? error.reason : error._tag, "refused")
      assert.include(error.message, "check the path")
    })
  )

  it.effect("an empty file becomes ours", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      writeFileSync(filename, "")
      yield* ours(filename)
      assert.deepStrictEqual(yield* sequences(yield* opened({ filename })), [1, 2])
    })
  )
})

describe("a file of ours", () => {
  it.effect("of a newer release is refused, and unchanged", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* ours(filename)
      yield* made(filename, `PRAGMA user_version = ${Migrations.schemaVersion + 1}`)
      const error = yield* refuses(filename)
      if (error._tag !== "UnsupportedVersion") return assert.fail(`failed with ${error._tag}`)
      assert.strictEqual(error.found, Migrations.schemaVersion + 1)
      assert.strictEqual(error.supported, Migrations.schemaVersion)
    })
  )

  it.effect("that has lost a table is refused, and unchanged", () =>
    Effect.gen(function* () {
      for (const table of tables) {
        const filename = yield* newFile
        yield* ours(filename)
        yield* made(filename, `DROP TABLE ${table}`)
        const error = yield* refuses(filename)
        assert.strictEqual(error._tag === "StoreUnavailable" ? error.reason : error._tag, "damaged")
        assert.include(error.message, table)
      }
    })
  )

  it.effect.skipIf(cannotFreeze)(
    `that may not be written says so${cannotFreeze ? " (skipped: the file system has no immutable files)" : ""}`,
    () =>
      Effect.gen(function* () {
        const filename = yield* newFile
        yield* ours(filename)
        yield* immutable(filename)
        const append = Effect.flatMap(opened({ filename }), (store) =>
          Effect.flatMap(takeOver(store), (append) => append(batch("c")))
        )
        const error = yield* Effect.flip(Effect.scoped(append))
        assert.strictEqual(error._tag === "StoreUnavailable" ? error.reason : error._tag, "read-only")
        assert.isFalse(error._tag === "StoreUnavailable" && error.retryable)
      })
  )
})
