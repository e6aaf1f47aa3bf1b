import { SettingsId, TenantId } from "@colloquy/session/Ids"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { Failpoints } from "@colloquy/store/Failpoints"
import * as SettingsStore from "@colloquy/store/SettingsStore"
import { StoreUnavailable } from "@colloquy/store/StoreError"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { batch, conversationId, takeOver } from "./given.ts"

const settingsId = SettingsId.make("desk")

const lost = new StoreUnavailable({ reason: "connection", retryable: true, detail: "lost", cause: null })

const messageOf = <E extends Error>(effect: Effect.Effect<unknown, E>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

describe("settings in memory", () => {
  it.effect("have nothing to do with a conversation of the same id, erased or not", () =>
    Effect.gen(function* () {
      const conversations = yield* ConversationStore
      const settings = yield* SettingsStore.SettingsStore
      yield* conversations.append((yield* takeOver(conversations))(batch("b")))
      const same = SettingsId.make(conversationId)
      yield* settings.put({ settingsId: same, settings: { tone: "brief" } })
      const before = yield* settings.get(same)
      yield* conversations.erase({ conversationId, cascade: true })
      assert.deepStrictEqual(yield* settings.get(same), before)
      assert.isTrue(yield* settings.remove(same))
      assert.deepStrictEqual(yield* Stream.runCollect(settings.list()), [])
    }).pipe(Effect.provide(MemoryStorage.layer))
  )

  it.effect("are confirmed when their acknowledgement was lost", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const put = (expectedRevision: number) =>
        SettingsStore.SettingsStore.use((store) =>
          store.put({ settingsId, settings: { tone: "brief" }, expectedRevision })
        )
      const storage = MemoryStorage.layerWith({ database })
      const unlucky = Layer.provide(
        storage,
        Layer.succeed(Failpoints, (point) => (point === "settings.put.after" ? Effect.fail(lost) : Effect.void))
      )
      assert.strictEqual(yield* Effect.flip(Effect.provide(put(0), unlucky)), lost)
      assert.deepStrictEqual(yield* Effect.provide(put(0), storage), { revision: 1 })
      assert.strictEqual(database.settings.row(settingsId)?.settings, `{"tone":"brief"}`)
    })
  )

  it.effect("of one tenant, as a layer", () =>
    Effect.gen(function* () {
      const storage = MemoryStorage.layerWith({ database: MemoryDatabase.make() })
      const ofTenant = (tenant: string) => Layer.provide(SettingsStore.withTenant(TenantId.make(tenant)), storage)
      const put = SettingsStore.SettingsStore.use((store) => store.put({ settingsId, settings: {} }))
      const get = SettingsStore.SettingsStore.use((store) => store.get(settingsId))
      yield* Effect.provide(put, ofTenant("acme"))
      assert.strictEqual((yield* Effect.provide(get, ofTenant("acme"))).revision, 1)
      for (const layer of [ofTenant("other"), storage]) {
        assert.strictEqual((yield* Effect.flip(Effect.provide(get, layer)))._tag, "SettingsNotFound")
      }
    })
  )

  it.effect("that somebody has damaged are refused, and can be put again", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      yield* Effect.gen(function* () {
        const store = yield* SettingsStore.SettingsStore
        for (const [i, settings] of ["", "{", "[]", "null", "1"].entries()) {
          const times = { createdAt: 0, updatedAt: 0 }
          database.settings.put({ settingsId, revision: 2 * i + 1, settings, ...times }, 2 * i)
          const error = yield* Effect.flip(store.get(settingsId))
          assert.strictEqual(error._tag === "StoreUnavailable" ? error.reason : error._tag, "damaged")
          assert.include(error.message, "desk")
          yield* store.put({ settingsId, settings: { i } })
          assert.deepStrictEqual((yield* store.get(settingsId)).settings, { i })
        }
      }).pipe(Effect.provide(MemoryStorage.layerWith({ database })))
    })
  )

  it.effect("say what is wrong, and what to do", () =>
    Effect.gen(function* () {
      const store = yield* SettingsStore.SettingsStore
      assert.strictEqual(
        yield* messageOf(store.get(settingsId)),
        "there are no settings desk: put them first, or correct the id"
      )
      assert.include(yield* messageOf(store.put({ settingsId, settings: { at: new Date(0) } })), "$.at: Date")
      assert.include(yield* messageOf(store.put({ settingsId, settings: {}, expectedRevision: 3 })), "are not there")
      yield* store.put({ settingsId, settings: {} })
      assert.include(yield* messageOf(store.put({ settingsId, settings: {}, expectedRevision: 3 })), "at revision 1")
    }).pipe(Effect.provide(MemoryStorage.layer))
  )
})
