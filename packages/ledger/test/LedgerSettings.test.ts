import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as LedgerSettings from "../src/LedgerSettings.ts"

const { defaults } = LedgerSettings

/** The settings that configuration gives. */
const read = (config: unknown) =>
  Effect.flatMap(LedgerSettings.LedgerSettings, ({ current }) => current).pipe(
    Effect.provide(Layer.provide(LedgerSettings.layerConfig, ConfigProvider.layer(ConfigProvider.fromUnknown(config))))
  )

describe("settings of the ledger", () => {
  it.effect("are whole without being given any", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* LedgerSettings.decode({}), defaults)
      assert.deepStrictEqual(yield* LedgerSettings.decode({ retentionDays: 0.5 }), { ...defaults, retentionDays: 0.5 })
    })
  )

  it.effect.each([
    { maxEntries: 0 },
    { maxEntries: -1 },
    { maxEntries: 1.5 },
    { maxEntries: "20" },
    { retentionDays: 0 },
    { retentionDays: -30 },
    { retentionDays: Number.POSITIVE_INFINITY },
    { enabled: "yes" },
    { max_entries: 20 },
    null,
    "on"
  ])("refuse %j", (settings) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(LedgerSettings.decode(settings))
      assert.strictEqual(error._tag, "InvalidLedgerSettings")
      assert.notInclude(error.message, "\n")
      const layer = LedgerSettings.layerWith(settings)
      assert.strictEqual((yield* Effect.flip(Effect.scoped(Layer.build(layer))))._tag, "InvalidLedgerSettings")
    })
  )

  it.effect("are the defaults where nobody gives any, and then cannot fail", () =>
    Effect.gen(function* () {
      const layer: Layer.Layer<LedgerSettings.LedgerSettings> = LedgerSettings.layer
      assert.deepStrictEqual(
        yield* Effect.provide(
          LedgerSettings.LedgerSettings.use(({ current }) => current),
          layer
        ),
        defaults
      )
    })
  )

  it.effect("change while they are in use, and stay as they are when a change is refused", () =>
    Effect.gen(function* () {
      const settings = yield* LedgerSettings.LedgerSettings
      yield* settings.change({ enabled: false })
      assert.strictEqual((yield* Effect.flip(settings.change({ maxEntries: 0 })))._tag, "InvalidLedgerSettings")
      assert.deepStrictEqual(yield* settings.current, { ...defaults, enabled: false, maxEntries: 5 })
    }).pipe(Effect.provide(LedgerSettings.layerWith({ maxEntries: 5 })))
  )

  it.effect("follow a source, past what it has wrong", () =>
    Effect.gen(function* () {
      const ref = yield* SubscriptionRef.make(defaults)
      const settings = LedgerSettings.make(ref)
      yield* LedgerSettings.follow(
        settings,
        Stream.fromIterable<unknown>([{ maxEntries: 3 }, { maxEntries: 0 }, { enabled: false }])
      )
      const last = yield* Stream.runHead(Stream.filter(settings.changes, ({ enabled }) => !enabled))
      assert.deepStrictEqual(last._tag === "Some" ? last.value : undefined, {
        ...defaults,
        maxEntries: 3,
        enabled: false
      })
    })
  )

  it.effect("come from configuration", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read({}), defaults)
      const given = { conversationSession: { enabled: "false", maxEntries: "7" } }
      assert.deepStrictEqual(yield* read(given), { ...defaults, enabled: false, maxEntries: 7 })
      const refused = yield* Effect.flip(read({ conversationSession: { maxEntries: "0" } }))
      assert.strictEqual(refused._tag, "InvalidLedgerSettings")
    })
  )
})
