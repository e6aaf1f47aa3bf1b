import { ConversationId, SettingsId } from "@colloquy/session/Ids"
import { LedgerStore } from "@colloquy/ledger/LedgerStore"
import { Conversations } from "@colloquy/store"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { SettingsStore } from "@colloquy/store/SettingsStore"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { opened } from "./conversations.ts"
import { newFile } from "./files.ts"
import { entryOf } from "./ledgers.ts"
import { archiveOf, copyOf } from "./released.ts"

const desk = ConversationId.make("desk/42")

describe("a file of release 1", () => {
  it.effect("is opened, lists what it has, and exports the lines that it exported then", () =>
    Effect.gen(function* () {
      const store = yield* opened({ filename: yield* copyOf("v1") })
      const list = yield* Stream.runCollect(store.list())
      assert.deepStrictEqual(
        list.map(({ conversationId, status, tail, title }) => [conversationId, title, status, tail.sequence]),
        [
          ["desk/42", "Räder & 🚲", "idle", 8],
          ["desk/42/fork", "Räder & 🚲", "idle", 8]
        ]
      )
      assert.deepStrictEqual(yield* Stream.runCollect(store.exportLines({ conversationId: desk })), archiveOf("v1"))
      for (const { conversationId } of list) {
        const { faults } = yield* store.verify({ conversationId })
        assert.deepStrictEqual(faults, [])
      }
      const gone = ConversationId.make("gone")
      assert.strictEqual((yield* Effect.flip(store.tail({ conversationId: gone })))._tag, "ConversationErased")
    })
  )

  it.effect("is written on: prompt, next record, redaction and erasure as in a new one", () =>
    Effect.gen(function* () {
      const filename = yield* copyOf("v1")
      yield* Effect.gen(function* () {
        const { open } = yield* Conversations.Conversations
        const writer = yield* open(desk)
        const { prompt } = writer.prompt()
        const shown = JSON.stringify(prompt.content)
        assert.include(shown, "It is on its way.")
        assert.notInclude(shown, "Kim")
        yield* writer.append([{ _tag: "Custom", name: "note", data: "by a later release" }])
        yield* writer.redact({ sequences: [9], reason: "once more" })
        const store = yield* ConversationStore
        const { faults, records } = yield* store.verify({ conversationId: desk })
        assert.deepStrictEqual([faults, records], [[], 10])
        const { copies } = yield* store.erase({ conversationId: desk })
        assert.deepStrictEqual<ReadonlyArray<string>>(copies.forks, ["desk/42/fork"])
      }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(Conversations.layer, SqliteStorage.layer({ filename }))))
      const left = yield* opened({ filename })
      assert.strictEqual((yield* Stream.runCollect(left.list())).length, 1)
    })
  )

  it.effect("gets a place for settings, and keeps them", () =>
    Effect.gen(function* () {
      const filename = yield* copyOf("v1")
      const settingsId = SettingsId.make("desk")
      const use = <A, E>(body: (settings: SettingsStore["Service"]) => Effect.Effect<A, E>) =>
        Effect.provide(Effect.flatMap(SettingsStore, body), Layer.fresh(SqliteStorage.layer({ filename })))
      yield* use((settings) => settings.put({ settingsId, settings: { tone: "brief" } }))
      const { revision, settings } = yield* use((settings) => settings.get(settingsId))
      assert.deepStrictEqual({ revision, settings }, { revision: 1, settings: { tone: "brief" } })
      const store = yield* opened({ filename })
      assert.deepStrictEqual(yield* Stream.runCollect(store.exportLines({ conversationId: desk })), archiveOf("v1"))
    })
  )

  it.effect("gets a place for ledgers, and keeps them", () =>
    Effect.gen(function* () {
      const filename = yield* copyOf("v1")
      const use = <A, E>(body: (ledgers: LedgerStore["Service"]) => Effect.Effect<A, E>) =>
        Effect.provide(Effect.flatMap(LedgerStore, body), Layer.fresh(SqliteStorage.layer({ filename })))
      yield* use((ledgers) => ledgers.record({ entry: entryOf("m1") }))
      const { entries } = yield* use((ledgers) => ledgers.read(entryOf("m1")))
      assert.deepStrictEqual(
        entries.map(({ entry }) => entry),
        [entryOf("m1")]
      )
      const store = yield* opened({ filename })
      assert.deepStrictEqual(yield* Stream.runCollect(store.exportLines({ conversationId: desk })), archiveOf("v1"))
    })
  )

  it.effect("has archives that go into a new file, and come out the same", () =>
    Effect.gen(function* () {
      const store = yield* opened({ filename: yield* newFile })
      const { imported } = yield* store.import(Stream.fromIterable(archiveOf("v1")))
      assert.isTrue(imported)
      assert.deepStrictEqual(yield* Stream.runCollect(store.exportLines({ conversationId: desk })), archiveOf("v1"))
    })
  )
})
