import { Migrations, SqliteFile } from "@colloquy/storage-sqlite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import { writeFileSync } from "node:fs"
import { newFile } from "./files.ts"
import { copyOf } from "./released.ts"

const { schemaVersion } = Migrations

/** Works on a file as its only user, who has not asked for anything of it. */
const on = <A, E>(filename: string, work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(SqliteFile.open(filename), (client) => Effect.provideService(work, SqlClient.SqlClient, client)).pipe(
    Effect.scoped,
    Effect.provide(Reactivity.layer)
  )

describe("Migrations", () => {
  it.effect("say of which version an older file is, and from which to which they brought it", () =>
    Effect.gen(function* () {
      const filename = yield* copyOf("v1")
      const older = { state: "older", found: 1, supported: schemaVersion } as const
      assert.deepStrictEqual(yield* on(filename, Migrations.inspect), older)
      assert.deepStrictEqual(yield* on(filename, Migrations.inspect), older, "looking changes nothing")
      assert.deepStrictEqual(yield* on(filename, Migrations.migrate), { from: 1, to: schemaVersion })
      const current = { state: "current", found: schemaVersion, supported: schemaVersion } as const
      assert.deepStrictEqual(yield* on(filename, Migrations.inspect), current)
      assert.deepStrictEqual(yield* on(filename, Migrations.migrate), { from: schemaVersion, to: schemaVersion })
    })
  )

  it.effect("bring an empty file from no version", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const empty = { state: "empty", found: 0, supported: schemaVersion } as const
      assert.deepStrictEqual(yield* on(filename, Migrations.inspect), empty)
      assert.deepStrictEqual(yield* on(filename, Migrations.migrate), { from: 0, to: schemaVersion })
    })
  )

  it.effect("fail in the words of the store where SQLite cannot read the file, with its error as the cause", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      writeFileSync(filename, "these are my notes".repeat(100))
      const error = yield* Effect.flip(on(filename, Migrations.inspect))
      if (error._tag !== "StoreUnavailable") return assert.fail(`failed with ${error._tag}`)
      assert.deepStrictEqual([error.reason, error.retryable], ["refused", false])
      assert.isNotNull(error.cause)
    })
  )
})

describe("SqliteFile.toStoreUnavailable", () => {
  it.effect("says of a lock that somebody else holds that trying again helps", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const write = SqlClient.SqlClient.use((client) => client.unsafe("CREATE TABLE t (x)")).pipe(
        Effect.mapError(SqliteFile.toStoreUnavailable)
      )
      const held = SqlClient.SqlClient.use((client) => client.withTransaction(Effect.flip(on(filename, write)))).pipe(
        Effect.provideService(SqlClient.BeginTransaction, "BEGIN IMMEDIATE")
      )
      const error = yield* on(filename, held)
      assert.deepStrictEqual([error.reason, error.retryable], ["contention", true])
    })
  )
})
