import { assert, describe, it } from "@effect/vitest"
import { Migrations, SqliteStorage } from "@colloquy/storage-sqlite"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { readFileSync } from "node:fs"
import { batch, conversationId, opened, producerId, sequences, takeOver } from "./conversations.ts"
import { newFile } from "./files.ts"
import { bytes, connected, value } from "./opened.ts"

const pragma = (name: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql.unsafe<{ readonly [column: string]: unknown }>(`PRAGMA ${name}`)
    return Object.values(row ?? {})[0]
  })

class Other extends Context.Service<Other, ConversationStore["Service"]>()("test/Other") {}

const occurrences = (content: string, marker: string): number => content.split(marker).length - 1

describe("a file", () => {
  it.effect("carries the marks of ours, and is in WAL mode", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* Effect.scoped(opened({ filename }))
      const database = yield* connected(filename)
      assert.strictEqual(value(database, "PRAGMA application_id"), Migrations.applicationId)
      assert.strictEqual(value(database, "PRAGMA user_version"), Migrations.schemaVersion)
      assert.strictEqual(value(database, "PRAGMA journal_mode"), "wal")
      assert.strictEqual(value(database, "PRAGMA integrity_check"), "ok")
      assert.strictEqual(value(database, "SELECT count(*) FROM colloquy_migrations"), Migrations.schemaVersion)
    })
  )

  for (const [synchronous, expected] of [
    [undefined, 2],
    ["full", 2],
    ["normal", 1]
  ] as const) {
    it.effect(
      `is written with synchronous ${synchronous ?? "left out"} as ${expected}, and never waits in SQLite`,
      () =>
        Effect.gen(function* () {
          const filename = yield* newFile
          yield* Effect.gen(function* () {
            assert.strictEqual(yield* pragma("synchronous"), expected)
            assert.strictEqual(yield* pragma("busy_timeout"), 0)
            assert.strictEqual(yield* pragma("foreign_keys"), 1)
            assert.strictEqual(yield* pragma("secure_delete"), 1)
            assert.strictEqual(yield* pragma("journal_mode"), "wal")
          }).pipe(Effect.provide(SqliteStorage.layerFile({ filename, synchronous })))
        })
    )
  }

  it.effect("is the same after it was closed and opened again", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const before = yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* opened({ filename })
          const append = yield* takeOver(store)
          yield* append(batch("created"))
          yield* append(batch("b", 40))
          return yield* store.export({ conversationId })
        })
      )
      const store = yield* opened({ filename })
      assert.deepStrictEqual(yield* store.export({ conversationId }), before)
      const { digest, epoch, sequence } = yield* store.tail({ conversationId })
      assert.deepStrictEqual({ digest, epoch, sequence }, { digest: before.header.tail, epoch: 1, sequence: 41 })
      const again = { conversationId, producerId, epoch, batch: batch("b", 40), expectedTail: { sequence: 0, digest } }
      assert.isTrue((yield* store.append(again)).replayed)
      yield* (yield* takeOver(store))(batch("c"))
      assert.deepStrictEqual((yield* store.verify({ conversationId })).faults, [])
    })
  )

  it.effect("holds one copy of each payload", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const markers = ["a-small-marker", "a-large-marker"]
      yield* Effect.scoped(
        Effect.gen(function* () {
          const append = yield* takeOver(yield* opened({ filename }))
          yield* append(batch("created"))
          yield* append(batch("small", 1, markers[0]))
          yield* append(batch("large", 1, markers[1] + "x".repeat(100_000)))
        })
      )
      // The last connection has closed: everything is in the file itself.
      assert.strictEqual(bytes(`${filename}-wal`), "")
      const content = readFileSync(filename, "latin1")
      assert.deepStrictEqual(
        markers.map((marker) => occurrences(content, marker)),
        [1, 1]
      )
    })
  )

  it.effect("grows with its content, not with the number of appends behind it", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* opened({ filename, synchronous: "normal" })
      const append = yield* takeOver(store)
      yield* append(batch("created"))
      const sizes: Array<number> = []
      const database = yield* connected(filename)
      for (let n = 1; n <= 900; n++) {
        yield* append(batch(`b/${n}`, 1, "x".repeat(1_000)))
        if (n % 300 === 0) sizes.push(Number(value(database, "SELECT sum(length(payload)) FROM records")))
      }
      const pages = Number(value(database, "PRAGMA page_count")) * Number(value(database, "PRAGMA page_size"))
      assert.isBelow(pages, 2 * sizes[2]!)
      assert.approximately(sizes[2]! - sizes[1]!, sizes[1]! - sizes[0]!, 1_000)
    })
  )
})

describe("layers", () => {
  it.effect("take their options from configuration", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const storage = SqliteStorage.layerConfig({ filename: Config.String("FILE") })
      const provider = ConfigProvider.layer(ConfigProvider.fromUnknown({ FILE: filename }))
      const use = Effect.flatMap(ConversationStore, (store) =>
        Effect.flatMap(takeOver(store), (append) => append(batch("b")))
      )
      yield* Effect.provide(use, Layer.provide(storage, provider))
      assert.deepStrictEqual(yield* sequences(yield* opened({ filename })), [1])
    })
  )

  it.effect("share the connection of a client with others", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE theirs (id TEXT)`
        const store = yield* ConversationStore
        yield* (yield* takeOver(store))(batch("b", 2))
        yield* sql`INSERT INTO theirs VALUES ('x')`
        // Their transaction and ours wait for each other in one process; nobody is told of a lock.
        const append = yield* takeOver(store)
        const theirs = sql.withTransaction(Effect.andThen(sql`INSERT INTO theirs VALUES ('y')`, Effect.yieldNow))
        yield* Effect.all([theirs, append(batch("c")), theirs], { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* sequences(store), [1, 2, 3])
        assert.lengthOf(yield* sql`SELECT id FROM theirs`, 3)
      }).pipe(Effect.provide(Layer.provideMerge(SqliteStorage.layerClient(), SqliteStorage.layerFile({ filename }))))
    })
  )

  it.effect("keep conversations in memory under the name :memory:", () =>
    Effect.gen(function* () {
      const store = yield* opened({ filename: ":memory:" })
      yield* (yield* takeOver(store))(batch("b", 3))
      assert.deepStrictEqual(yield* sequences(store), [1, 2, 3])
    })
  )

  it.effect("of two files in one program make the tables of both", () =>
    Effect.gen(function* () {
      const layerOther = Layer.effect(Other, ConversationStore).pipe(
        Layer.provide(SqliteStorage.layer({ filename: yield* newFile }))
      )
      const context = yield* Layer.build(Layer.merge(SqliteStorage.layer({ filename: yield* newFile }), layerOther))
      for (const store of [Context.get(context, ConversationStore), Context.get(context, Other)]) {
        yield* (yield* takeOver(store))(batch("b", 2))
        assert.deepStrictEqual(yield* sequences(store), [1, 2])
      }
    })
  )

  it.effect("work over a client of somebody else", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const client = SqliteClient.layer({ filename })
      const use = Effect.gen(function* () {
        const store = yield* ConversationStore
        yield* (yield* takeOver(store))(batch("b", 3))
        assert.deepStrictEqual(yield* sequences(store), [1, 2, 3])
      })
      yield* Effect.provide(use, Layer.provide(SqliteStorage.layerClient(), client))
    })
  )
})
