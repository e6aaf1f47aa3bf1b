import { assert, describe, it } from "@effect/vitest"
import { type Decided, LedgerDriver, type LedgerId, type LedgerState } from "@colloquy/ledger/LedgerDriver"
import * as LedgerStore from "@colloquy/ledger/LedgerStore"
import { ledgerContract, run } from "@colloquy/ledger/testing"
import { MemoryLedger } from "@colloquy/storage-memory"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

type Driver = LedgerDriver["Service"]

/** A driver with one fault, and cases of the list that must find it. */
interface Broken {
  readonly does: string
  readonly breakIt: (driver: Driver, table: MemoryLedger.LedgerTable) => Partial<Driver>
  readonly found: ReadonlyArray<string>
}

const rowsOf = (table: MemoryLedger.LedgerTable, { agent, conversationKey, tenant }: LedgerId) =>
  table.ledgers.get([tenant, conversationKey, agent].join("\u0000"))?.rows ?? []

/** Decides as the front does, then otherwise. */
const deciding =
  (change: <A>(decided: Decided<A>, state: LedgerState, table: MemoryLedger.LedgerTable, id: LedgerId) => Decided<A>) =>
  (driver: Driver, table: MemoryLedger.LedgerTable): Partial<Driver> => ({
    update: (id, decide) => driver.update(id, (state) => change(decide(state), state, table, id))
  })

const broken: ReadonlyArray<Broken> = [
  {
    does: "has no unique index, and reads before it writes",
    breakIt: (driver, table) => ({
      update: (id, decide) =>
        Effect.gen(function* () {
          const rows = rowsOf(table, id)
          const counter = rows.at(-1)?.ordinal ?? 0
          // As a database that is far away, so that others come in between.
          yield* Effect.yieldNow
          const decided = decide({ counter, rows })
          yield* Effect.yieldNow
          return yield* driver.update(id, (state) => {
            const { insert } = decided.change ?? {}
            if (insert === undefined) return decided
            // The memory has an index: what it would refuse goes in under a key that only looks the same.
            const workKey = `${insert.workKey}${" ".repeat(state.counter)}`
            return {
              ...decided,
              change: { ...decided.change, insert: { ...insert, workKey, ordinal: state.counter + 1 } }
            }
          })
        })
    }),
    found: ["concurrency: a hundred turns at once on one work key are one entry"]
  },
  {
    does: "trims by the clock",
    breakIt: deciding((decided, _, table, id) => {
      const { change } = decided
      if (change?.insert === undefined || (change.gone ?? 0) === 0) return decided
      const oldest = [...rowsOf(table, id)].toSorted((a, b) => a.at - b.at).slice(0, change.gone)
      return { ...decided, change: { ...change, remove: oldest.map(({ ordinal }) => ordinal) } }
    }),
    found: ["trim: the oldest by the counter go, whatever the clock says"]
  },
  {
    does: "takes all entries without a work key for one",
    breakIt: deciding((decided, { rows }) =>
      decided.change?.insert?.workKey === "" && rows.some(({ workKey }) => workKey === "")
        ? { value: decided.value }
        : decided
    ),
    found: ["record: entries without a work key are distinct, and each is there once"]
  },
  {
    does: "orders by the clock",
    breakIt: (driver) => ({
      read: (id) =>
        Effect.map(driver.read(id), ({ rows, ...others }) => ({
          ...others,
          rows: rows.toSorted((a, b) => a.at - b.at)
        }))
    }),
    found: ["record: the order is that of recording, whatever the clock says"]
  },
  {
    does: "keeps an account of what is gone",
    breakIt: (driver) => ({
      update: (id, decide) =>
        driver.update(id, ({ counter, rows }) => {
          const decided = decide({ counter, rows })
          return decided.change?.account === null
            ? { ...decided, change: { ...decided.change, account: undefined } }
            : decided
        })
    }),
    found: ["account: stays when a turn is trimmed, goes when one is replaced"]
  },
  {
    does: "erases what was made of a conversation and leaves what was begun in it",
    breakIt: (driver) => ({
      remove: (removal) =>
        removal.by === "conversation"
          ? driver.remove({ ...removal, records: removal.records ?? ["r1"] })
          : driver.remove(removal)
    }),
    found: ["erase: what was made of a conversation, in whatever ledger"]
  },
  {
    does: "keeps what it knew of a turn that is revised",
    breakIt: deciding((decided) => {
      const { change } = decided
      if (change?.revise === undefined) return decided
      const { attempts, meta, ordinal } = change.revise
      return { ...decided, change: { ...change, revise: { attempts, meta, ordinal } } }
    }),
    found: ["revise: what is known now stands at the turn's place, and what tells of it as it was goes"]
  },
  {
    does: "has one ledger for all tenants",
    breakIt: (driver) => ({
      update: (id, decide) => driver.update({ ...id, tenant: "" }, decide),
      read: (id) => driver.read({ ...id, tenant: "" })
    }),
    found: ["tenants: no verb finds what is another's", "tenants: one work key is a piece of work of each"]
  }
]

const layerOf = ({ breakIt }: Broken) =>
  LedgerStore.layer.pipe(
    Layer.provide(
      Layer.sync(LedgerDriver, () => {
        const table = MemoryLedger.makeTable()
        const driver = MemoryLedger.make(table)
        return { ...driver, ...breakIt(driver, table) }
      })
    )
  )

describe("the list finds a driver of ledgers that", () => {
  for (const fault of broken) {
    it.live(fault.does, () =>
      Effect.gen(function* () {
        const { failed } = yield* run(ledgerContract, layerOf(fault))
        assert.includeMembers(
          failed.map(({ name }) => name),
          [...fault.found]
        )
      })
    )
  }

  it.live("and finds nothing in one that has no fault", () =>
    Effect.gen(function* () {
      const report = yield* run(ledgerContract, layerOf({ does: "", breakIt: () => ({}), found: [] }))
      assert.deepStrictEqual(report, { passed: ledgerContract.length, failed: [] })
    })
  )
})
