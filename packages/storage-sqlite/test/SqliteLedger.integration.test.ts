import { LedgerSettings, SessionLedger } from "@colloquy/ledger"
import { LedgerStore } from "@colloquy/ledger/LedgerStore"
import { RunId } from "@colloquy/session/Ids"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { batch, conversationId, takeOver } from "./conversations.ts"
import { newFile } from "./files.ts"
import { entryOf } from "./ledgers.ts"
import { connected, value } from "./opened.ts"

/** The stores of one process, for the scope. */
const opened = (filename: string) => Layer.build(Layer.fresh(SqliteStorage.layer({ filename })))

const ledgersOf = (filename: string) => Effect.map(opened(filename), (context) => Context.get(context, LedgerStore))

const { agent, conversationKey } = entryOf("any")
const name = { agent, conversationKey }

const idsOf = (store: LedgerStore["Service"]) =>
  Effect.map(store.read(name), ({ entries }) => entries.map(({ entry }) => entry.entryId))

/** Whether any file beside the database has these bytes. */
const isAnywhere = (filename: string, marker: string): boolean =>
  readdirSync(dirname(filename)).some((file) => readFileSync(join(dirname(filename), file), "latin1").includes(marker))

const marker = "distinctive-marker"

/** An entry with the marker wherever words can be. */
const marked = entryOf("marked", {
  conversationId,
  trigger: marker,
  intent: marker,
  reply: `${marker} `.repeat(1_000),
  triggerIds: [marker]
})

describe("ledgers in a SQLite file", () => {
  it.live("are there when it is opened again", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const before = yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* ledgersOf(filename)
          for (const name of ["a", "b", "c"]) yield* store.record({ entry: entryOf(name), maxEntries: 2 })
          const account = { covers: ["entry b"], lines: ["- b"], text: "It was done." }
          yield* store.saveAccount(name, account)
          return yield* store.read(name)
        })
      )
      assert.deepStrictEqual([before.entries.length, before.gone], [2, 1])
      assert.deepStrictEqual(yield* (yield* ledgersOf(filename)).read(name), before)
    })
  )

  it.live("have one row for each piece of work, whoever writes to the file, and any number without a work key", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* ledgersOf(filename)
      yield* store.record({ entry: entryOf("a") })
      const database = yield* connected(filename)
      const insert = (ordinal: number, workKey: string) =>
        database.exec(
          `INSERT INTO ledger_entries SELECT ledger, ${ordinal}, 'entry ${ordinal}', '${workKey}', attempts, meta,
            conversation, at, sources, entry FROM ledger_entries LIMIT 1`
        )
      assert.throws(() => insert(2, "a"), /UNIQUE constraint failed/)
      insert(3, "")
      insert(4, "")
      assert.strictEqual(value(database, "SELECT count(*) FROM ledger_entries"), 3)
      const plan =
        "EXPLAIN QUERY PLAN SELECT 1 FROM ledger_entries WHERE ledger = 1 AND work_key = 'a' AND work_key <> ''"
      assert.include(String(Object.values(database.prepare(plan).get() ?? {})), "ledger_entries_work")
    })
  )

  it.live("take a hundred turns at once from two processes", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const stores = [yield* ledgersOf(filename), yield* ledgersOf(filename)]
      const told = yield* Effect.forEach(
        Array.from({ length: 100 }, (_, i) => i),
        (i) => stores[i % 2]!.record({ entry: entryOf(`${i % 25}`, { entryId: `entry ${i}` }), maxEntries: 30 }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(told.filter(({ _tag }) => _tag === "Inserted").length, 25)
      for (const store of stores) {
        const { entries, gone } = yield* store.read(name)
        assert.deepStrictEqual([entries.length, gone], [25, 0])
        assert.deepStrictEqual([...new Set(entries.map(({ attempts }) => attempts))], [4])
      }
    })
  )

  it.live("keep the block of a turn frozen while another process records", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const [ours, others] = [SqliteStorage.layer({ filename }), yield* ledgersOf(filename)]
      yield* Effect.gen(function* () {
        const ledger = yield* SessionLedger.SessionLedger
        yield* others.record({ entry: entryOf("a") })
        const { text } = yield* ledger.earlier(name)
        yield* others.record({ entry: entryOf("b") })
        assert.notInclude(text, "I did b.")
        assert.include((yield* ledger.earlier(name)).text, "I did b.")
      }).pipe(
        Effect.provide(
          SessionLedger.layer().pipe(Layer.provide(LedgerSettings.layer), Layer.provideMerge(Layer.fresh(ours)))
        )
      )
    })
  )

  it.live("leave no byte of what is erased with its conversation", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const context = yield* opened(filename)
      const [conversations, ledgers] = [Context.get(context, ConversationStore), Context.get(context, LedgerStore)]
      yield* (yield* takeOver(conversations))(batch("b", 2))
      yield* ledgers.record({ entry: marked })
      yield* ledgers.record({ entry: entryOf("other") })
      yield* ledgers.saveAccount(name, { covers: ["entry marked"], lines: [marker], text: marker })
      const begun = { entryId: "begun", conversationId, runId: RunId.make(marker), at: 0 }
      yield* ledgers.begin(name, begun)
      assert.isTrue(isAnywhere(filename, marker))
      const { bytes, removed } = yield* conversations.erase({ conversationId })
      assert.strictEqual(bytes, "gone")
      assert.deepInclude(removed, { "ledger.entries": 1, "ledger.accounts": 1, "ledger.begun": 1 })
      assert.isFalse(isAnywhere(filename, marker))
      assert.deepStrictEqual(yield* idsOf(ledgers), ["entry other"])
    })
  )

  it.live("leave no byte of what is erased by its key or its agent, or is trimmed and then cut", () =>
    Effect.gen(function* () {
      for (const what of [{ conversationKey }, { agent }, { conversationId }]) {
        const filename = yield* newFile
        const ledgers = yield* ledgersOf(filename)
        yield* ledgers.record({ entry: marked })
        yield* ledgers.record({ entry: entryOf("other"), maxEntries: "agent" in what ? 1 : 2 })
        assert.strictEqual((yield* ledgers.erase(what)).bytes, "gone")
        assert.isFalse(isAnywhere(filename, marker))
      }
    })
  )

  it.live("leave no byte of a turn whose place in the file another one has taken, once the log of pages is cut", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const ledgers = yield* ledgersOf(filename)
      yield* ledgers.record({ entry: marked })
      yield* ledgers.record({ entry: entryOf("other"), maxEntries: 1 })
      const { bytes, removed } = yield* ledgers.erase({ conversationId })
      assert.deepStrictEqual([removed.entries, bytes], [0, "gone"])
      assert.isFalse(isAnywhere(filename, marker))
      assert.deepStrictEqual(yield* idsOf(ledgers), ["entry other"])
      assert.strictEqual(value(yield* connected(filename), "PRAGMA integrity_check"), "ok")
    })
  )

  it.live("say that bytes are pending while another connection reads, and let them go when it is repeated", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const ledgers = yield* ledgersOf(filename)
      yield* ledgers.record({ entry: marked })
      const reader = yield* connected(filename)
      reader.exec("BEGIN")
      assert.strictEqual(value(reader, "SELECT count(*) FROM ledger_entries"), 1)
      const first = yield* ledgers.erase({ conversationKey })
      assert.deepStrictEqual([first.removed.entries, first.bytes], [1, "pending"])
      assert.isTrue(isAnywhere(filename, marker))
      assert.deepStrictEqual(yield* idsOf(ledgers), [])
      reader.exec("COMMIT")
      const second = yield* ledgers.erase({ conversationKey })
      assert.deepStrictEqual([second.removed.entries, second.bytes], [0, "gone"])
      assert.isFalse(isAnywhere(filename, marker))
    })
  )

  it.live("leave no byte over a client of somebody else that overwrites nothing by itself", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* Effect.gen(function* () {
        const ledgers = yield* LedgerStore
        yield* ledgers.record({ entry: marked })
        yield* ledgers.record({ entry: entryOf("other") })
        assert.strictEqual((yield* ledgers.erase({ conversationId })).bytes, "gone")
        assert.isFalse(isAnywhere(filename, marker))
        assert.deepStrictEqual(yield* idsOf(ledgers), ["entry other"])
      }).pipe(Effect.provide(Layer.provide(SqliteStorage.layerClient(), SqliteClient.layer({ filename }))))
    })
  )

  it.live("name a row that was damaged, and show the others", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* ledgersOf(filename)
      for (const name of ["a", "b", "c"]) yield* store.record({ entry: entryOf(name) })
      ;(yield* connected(filename)).exec(`UPDATE ledger_entries SET entry = '{"agent"', meta = '' WHERE ordinal = 2`)
      const { entries, unreadable } = yield* store.read(name)
      assert.deepStrictEqual(
        entries.map(({ entry }) => entry.entryId),
        ["entry a", "entry c"]
      )
      assert.deepStrictEqual(
        unreadable.map(({ entryId }) => entryId),
        ["entry b"]
      )
      // What cannot be read stands in nobody's way.
      yield* store.record({ entry: entryOf("b", { entryId: "entry b2" }) })
      assert.deepStrictEqual(yield* idsOf(store), ["entry a", "entry c", "entry b2"])
    })
  )

  it.live("say what a file that is held cannot do", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const context = yield* Layer.build(Layer.fresh(SqliteStorage.layer({ filename, busyTimeout: "20 millis" })))
      const store = Context.get(context, LedgerStore)
      yield* store.record({ entry: entryOf("a") })
      const database = yield* connected(filename)
      database.exec("BEGIN IMMEDIATE")
      const error = yield* Effect.flip(store.record({ entry: entryOf("b") }))
      assert.deepInclude(error._tag === "LedgerUnavailable" ? { ...error } : {}, {
        reason: "contention",
        retryable: true
      })
      database.exec("ROLLBACK")
      yield* store.record({ entry: entryOf("b") })
      assert.deepStrictEqual(yield* idsOf(store), ["entry a", "entry b"])
    })
  )

  it.live("are copied with the file", () =>
    Effect.gen(function* () {
      const [filename, destination] = [yield* newFile, yield* newFile]
      yield* (yield* ledgersOf(filename)).record({ entry: entryOf("a") })
      yield* SqliteStorage.backup({ filename, destination })
      assert.deepStrictEqual(yield* idsOf(yield* ledgersOf(destination)), ["entry a"])
    })
  )
})
