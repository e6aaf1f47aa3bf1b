import { assert, describe, it } from "@effect/vitest"
import { MemoryDatabase, MemorySettings } from "@colloquy/storage-memory"
import { SettingsDriver, type SettingsRow } from "@colloquy/store/SettingsDriver"
import * as SettingsStore from "@colloquy/store/SettingsStore"
import { describe as described, runSettings, settingsContract } from "@colloquy/store/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

type Driver = SettingsDriver["Service"]

/** A driver with one fault, and cases of the kit that must find it. */
interface Broken {
  readonly does: string
  readonly breakIt: (driver: Driver) => Partial<Driver>
  readonly found: ReadonlyArray<string>
}

/** Changes every row before it is put. */
const changing = (change: (row: SettingsRow) => SettingsRow) => (driver: Driver) => ({
  put: (row: SettingsRow, expected: number) => driver.put(change(row), expected)
})

const withoutTenant = (id: string) => id.slice(id.lastIndexOf("\u0001") + 1)

const broken: ReadonlyArray<Broken> = [
  {
    does: "ignores the revision that is expected",
    breakIt: (driver) => ({
      put: (row) =>
        Effect.flatMap(driver.get(row.settingsId), (found) =>
          driver.put(row, Option.match(found, { onNone: () => 0, onSome: ({ revision }) => revision }))
        ),
      // As a database that is far away, so that others come in between.
      get: (id) => Effect.tap(driver.get(id), () => Effect.yieldNow)
    }),
    found: [
      "settings concurrency: of 32 first puts one wins, and 31 are told its revision",
      "settings concurrency: of 32 puts over one revision one wins, and 31 are told the next"
    ]
  },
  {
    does: "loses NUL",
    breakIt: changing((row) => ({ ...row, settings: row.settings.replaceAll("\\u0000", "") })),
    found: ["settings unicode: NUL, as text and as a key"]
  },
  {
    does: "acknowledges before it writes",
    breakIt: (driver) => ({
      put: (row, expected) =>
        Effect.as(Effect.forkDetach(Effect.andThen(Effect.yieldNow, driver.put(row, expected))), "committed")
    }),
    found: ["settings: a put replaces the whole, and each is a revision"]
  },
  {
    does: "keeps what is removed",
    breakIt: () => ({ remove: () => Effect.succeed(true) }),
    found: ["settings: a removal says whether they were there, and can be repeated"]
  },
  {
    does: "lists ids in the order of UTF-16",
    breakIt: (driver) => ({
      list: (request) =>
        Effect.map(driver.list(request), (rows) => rows.toSorted((a, b) => (a.settingsId < b.settingsId ? -1 : 1)))
    }),
    found: ["settings list: ids come in the order of their bytes"]
  },
  {
    does: "lists from an id on, not behind it",
    breakIt: (driver) => ({
      list: ({ after, before, limit }) =>
        Effect.map(Effect.all([driver.get(after), driver.list({ after, before, limit })]), ([first, rows]) =>
          [...Option.toArray(first), ...rows].slice(0, limit)
        )
    }),
    found: ["settings list: goes on behind an id, whether that is there or not"]
  },
  {
    does: "forgets when they were made",
    breakIt: changing((row) => ({ ...row, createdAt: row.updatedAt })),
    found: ["settings: the time of the first put stays, and fractions of a millisecond do not"]
  },
  {
    does: "has one name for all tenants",
    breakIt: (driver) => ({
      get: (id) => driver.get(withoutTenant(id)),
      put: (row, expected) => driver.put({ ...row, settingsId: withoutTenant(row.settingsId) }, expected),
      remove: (id) => driver.remove(withoutTenant(id))
    }),
    found: ["settings tenants: no verb finds what is another's", "settings tenants: one id names settings of each"]
  }
]

const layerOf = ({ breakIt }: Broken) =>
  SettingsStore.layer.pipe(
    Layer.provide(
      Layer.sync(SettingsDriver, () => {
        const driver = MemorySettings.make(MemoryDatabase.make().settings)
        return { ...driver, ...breakIt(driver) }
      })
    )
  )

describe("the kit finds a driver of settings that", () => {
  for (const fault of broken) {
    it.live(
      fault.does,
      () =>
        Effect.gen(function* () {
          const { failed } = yield* runSettings(settingsContract, layerOf(fault), { timeLimit: "5 seconds" })
          assert.includeMembers(
            failed.map(({ name }) => name),
            [...fault.found]
          )
        }),
      60_000
    )
  }
})

describe("the kit finds a store of settings that", () => {
  /** Not the driver: the store itself is another's. */
  const careless = Layer.effect(
    SettingsStore.SettingsStore,
    SettingsStore.SettingsStore.useSync((store) => ({
      ...store,
      put: ({ settings, settingsId }) => store.put({ settingsId, settings })
    }))
  ).pipe(Layer.provideMerge(layerOf({ does: "nothing wrong", breakIt: () => ({}), found: [] })))

  it.live("takes every put for one that expects nothing", () =>
    Effect.gen(function* () {
      const cases = settingsContract.filter(({ name }) => name.startsWith("settings revision"))
      const report = yield* runSettings(cases, careless)
      assert.includeMembers(
        report.failed.map(({ name }) => name),
        [
          "settings revision: none is expected where there is one",
          "settings revision: a put is repeated after its acknowledgement was lost"
        ]
      )
      assert.strictEqual(report.notRun.length, settingsContract.length - cases.length)
      assert.include(described(report), "settings tenants: no verb finds")
    })
  )
})
