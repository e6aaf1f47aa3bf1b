import { SettingsId } from "@colloquy/session/Ids"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { SettingsStore } from "@colloquy/store/SettingsStore"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { batch, conversationId, takeOver } from "./conversations.ts"
import { newFile } from "./files.ts"
import { connected } from "./opened.ts"

const settingsId = SettingsId.make("desk")

/** The stores of one process, for the scope. */
const opened = (filename: string) => Layer.build(Layer.fresh(SqliteStorage.layer({ filename })))

const settingsOf = (filename: string) => Effect.map(opened(filename), (context) => Context.get(context, SettingsStore))

describe("settings in a SQLite file", () => {
  it.live("are there when it is opened again", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const settings = { tone: "kurz\u0000 & 🚲", tools: ["search"] }
      const before = yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* settingsOf(filename)
          yield* store.put({ settingsId, settings: {} })
          yield* store.put({ settingsId, settings, expectedRevision: 1 })
          return yield* store.get(settingsId)
        })
      )
      const store = yield* settingsOf(filename)
      assert.deepStrictEqual(yield* store.get(settingsId), before)
      assert.deepStrictEqual(before.settings, settings)
      assert.deepStrictEqual(yield* store.put({ settingsId, settings, expectedRevision: 1 }), { revision: 2 })
    })
  )

  it.live("have one winner for each revision when two processes put", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const stores = [yield* settingsOf(filename), yield* settingsOf(filename)]
      for (let expectedRevision = 0; expectedRevision < 20; expectedRevision++) {
        const results = yield* Effect.forEach(
          stores.flatMap((store) => [store, store]),
          (store, racer) => Effect.result(store.put({ settingsId, settings: { racer }, expectedRevision })),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(results.filter(Result.isSuccess), 1)
        for (const result of results) {
          if (Result.isFailure(result)) assert.strictEqual(result.failure._tag, "SettingsConflict")
        }
      }
      yield* Effect.forEach(
        Array.from({ length: 40 }, (_, n) => n),
        (n) => stores[n % 2]!.put({ settingsId, settings: { n } }),
        { concurrency: "unbounded", discard: true }
      )
      for (const store of stores) assert.strictEqual((yield* store.get(settingsId)).revision, 60)
    })
  )

  it.live("stay when conversations are erased", () =>
    Effect.gen(function* () {
      const context = yield* opened(yield* newFile)
      const [conversations, settings] = [Context.get(context, ConversationStore), Context.get(context, SettingsStore)]
      yield* (yield* takeOver(conversations))(batch("b", 2))
      const same = SettingsId.make(conversationId)
      yield* settings.put({ settingsId: same, settings: { tone: "brief" } })
      const before = yield* settings.get(same)
      yield* conversations.erase({ conversationId, cascade: true })
      assert.deepStrictEqual(yield* settings.get(same), before)
    })
  )

  it.live("are copied with the file", () =>
    Effect.gen(function* () {
      const [filename, destination] = [yield* newFile, yield* newFile]
      yield* (yield* settingsOf(filename)).put({ settingsId, settings: { tone: "brief" } })
      yield* SqliteStorage.backup({ filename, destination })
      assert.deepStrictEqual((yield* (yield* settingsOf(destination)).get(settingsId)).settings, { tone: "brief" })
    })
  )

  it.live("that were damaged in the file are refused, and can be put again", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* settingsOf(filename)
      yield* store.put({ settingsId, settings: { tone: "brief" } })
      ;(yield* connected(filename)).exec(`UPDATE settings SET settings = '{"tone"'`)
      const error = yield* Effect.flip(store.get(settingsId))
      assert.strictEqual(error._tag === "StoreUnavailable" ? error.reason : error._tag, "damaged")
      assert.deepStrictEqual(yield* store.put({ settingsId, settings: {} }), { revision: 2 })
    })
  )

  it.live("work over a client of somebody else", () =>
    Effect.gen(function* () {
      const client = SqliteClient.layer({ filename: yield* newFile })
      yield* Effect.gen(function* () {
        const store = yield* SettingsStore
        yield* store.put({ settingsId, settings: { n: 1 }, expectedRevision: 0 })
        yield* store.put({ settingsId, settings: { n: 2 }, expectedRevision: 1 })
        const { actual } = yield* Effect.flip(
          Effect.catchTag(
            store.put({ settingsId, settings: { n: 3 }, expectedRevision: 0 }),
            ["InvalidSettings", "LimitExceeded", "StoreUnavailable"],
            Effect.die
          )
        )
        assert.strictEqual(actual, 2)
        assert.strictEqual((yield* Stream.runCollect(store.list())).length, 1)
        assert.deepStrictEqual([yield* store.remove(settingsId), yield* store.remove(settingsId)], [true, false])
      }).pipe(Effect.provide(Layer.provide(SqliteStorage.layerClient(), client)))
    })
  )
})
