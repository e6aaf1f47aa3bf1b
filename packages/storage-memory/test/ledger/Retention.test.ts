import { LedgerMetrics, LedgerSettings, SessionLedger } from "@colloquy/ledger"
import { ConversationKey } from "@colloquy/ledger/ConversationKey"
import { LedgerStore, Tenants } from "@colloquy/ledger/LedgerStore"
import { TenantId } from "@colloquy/session/Ids"
import { MemoryStorage } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { TestClock } from "effect/testing"
import { agent, failing, key, ledgerOver, turn } from "./given.ts"

const withWorker = <A, E>(store: Layer.Layer<A | LedgerStore | Tenants, E>) =>
  Layer.provideMerge(SessionLedger.layerRetention(), ledgerOver(store))

const name = { agent, conversationKey: ConversationKey.make(key) }

const kept = LedgerStore.use((store) =>
  Effect.map(store.read(name), ({ entries }) => entries.map(({ entry }) => entry.workKey))
)

const record = (name: string) => SessionLedger.SessionLedger.use((ledger) => ledger.record(turn(name)))

const change = (settings: unknown) => LedgerSettings.LedgerSettings.use((service) => service.change(settings))

const counted = (metric: Metric.Counter<number>, attributes: { readonly [name: string]: string }) =>
  Effect.map(Metric.value(Metric.withAttributes(metric, attributes)), ({ count }) => count)

describe("the worker", () => {
  it.effect("sweeps what is past retention, every quarter of an hour, and counts it", () =>
    Effect.gen(function* () {
      const before = yield* counted(LedgerMetrics.removed, { cause: "swept" })
      yield* record("old")
      yield* TestClock.adjust("1 day")
      yield* record("new")
      yield* TestClock.adjust("29 days")
      assert.deepStrictEqual(yield* kept, ["old", "new"])
      yield* TestClock.adjust("15 minutes")
      assert.deepStrictEqual(yield* kept, ["new"])
      assert.strictEqual(yield* counted(LedgerMetrics.removed, { cause: "swept" }), before + 1)
      const { text } = yield* SessionLedger.SessionLedger.use((ledger) =>
        ledger.earlier({ agent, conversationKey: key })
      )
      assert.include(text, "(1 earlier turn is not shown.)")
    }).pipe(Effect.provide(withWorker(MemoryStorage.layer)))
  )

  it.effect("sweeps nothing that is younger than its own interval", () =>
    Effect.gen(function* () {
      yield* change({ retentionDays: 0.000_001 })
      yield* record("m1")
      yield* TestClock.adjust("14 minutes")
      yield* change({ retentionDays: 0.000_002 })
      assert.deepStrictEqual(yield* kept, ["m1"])
      yield* TestClock.adjust("15 minutes")
      yield* TestClock.adjust("15 minutes")
      assert.deepStrictEqual(yield* kept, [])
    }).pipe(Effect.provide(withWorker(MemoryStorage.layer)))
  )

  it.effect("goes by a change at once, and leaves everything alone while the switch is off", () =>
    Effect.gen(function* () {
      yield* record("m1")
      yield* TestClock.adjust("3 days")
      yield* change({ enabled: false, retentionDays: 1 })
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* kept, ["m1"])
      yield* change({ enabled: true })
      yield* Effect.yieldNow
      assert.deepStrictEqual(yield* kept, [])
    }).pipe(Effect.provide(withWorker(MemoryStorage.layer)))
  )

  it.effect("sweeps the ledgers of all tenants", () =>
    Effect.gen(function* () {
      const own = yield* Tenants.use((tenants) => Effect.succeed(tenants.store(TenantId.make("a"))))
      yield* record("m1")
      const { entries } = yield* LedgerStore.use((store) => store.read(name))
      for (const { entry } of entries) yield* own.record({ entry })
      yield* TestClock.adjust("31 days")
      assert.deepStrictEqual(yield* kept, [])
      assert.strictEqual((yield* own.read(name)).entries.length, 0)
    }).pipe(Effect.provide(withWorker(MemoryStorage.layer)))
  )

  it.effect("goes on after a sweep that failed, and counts it", () => {
    const { down, store } = failing()
    return Effect.gen(function* () {
      const before = yield* counted(LedgerMetrics.failures, { operation: "sweep" })
      yield* record("m1")
      yield* TestClock.adjust("30 days")
      down.add("remove")
      yield* TestClock.adjust("15 minutes")
      assert.strictEqual(yield* counted(LedgerMetrics.failures, { operation: "sweep" }), before + 1)
      assert.deepStrictEqual(yield* kept, ["m1"])
      down.clear()
      yield* TestClock.adjust("15 minutes")
      assert.deepStrictEqual(yield* kept, [])
    }).pipe(Effect.provide(withWorker(store)))
  })
})
