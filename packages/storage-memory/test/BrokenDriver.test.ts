import { assert, describe, it } from "@effect/vitest"
import { MemoryDatabase, MemoryDriver } from "@colloquy/storage-memory"
import { type Commit, ConversationDriver } from "@colloquy/store/ConversationDriver"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import { contract, run } from "@colloquy/store/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"

type Driver = ConversationDriver["Service"]

/** A driver with one fault, and cases of the kit that must find it, among those that begin with one of these words. */
interface Broken {
  readonly does: string
  readonly breakIt: (driver: Driver) => Partial<Driver>
  readonly found: ReadonlyArray<string>
  readonly among: ReadonlyArray<string>
}

/** Changes every commit before it is made. */
const changing = (change: (commit: Commit) => Commit) => (driver: Driver) => ({
  commit: (commit: Commit) => driver.commit(change(commit))
})

const broken: ReadonlyArray<Broken> = [
  {
    does: "drops the last record of a batch",
    breakIt: changing(({ records = [], ...commit }) => ({
      ...commit,
      records: records.length > 1 ? records.slice(0, -1) : records
    })),
    found: ["read: everything in order", "export: the chain follows from the lines alone"],
    among: ["read: everything", "export: the chain"]
  },
  {
    does: "ignores who may write",
    breakIt: changing((commit) => {
      if (commit.guard === "absent") return commit
      const { epoch: _, producerId: __, ...guard } = commit.guard
      return { ...commit, guard }
    }),
    found: ["order of checks: fence alone", "materialize: a takeover fences the former owner"],
    among: ["order of checks", "materialize"]
  },
  {
    does: "ignores where the log ends",
    breakIt: (driver) => ({
      commit: (commit) =>
        Effect.flatMap(driver.head(commit.conversationId), (head) => {
          if (commit.guard === "absent" || Option.isNone(head)) return driver.commit(commit)
          const { sequence, tail } = head.value
          const shift = sequence - (commit.guard.sequence ?? sequence)
          return driver.commit({
            ...commit,
            guard: { ...commit.guard, sequence, tail },
            head: { ...commit.head, sequence: (commit.head.sequence ?? sequence) + shift },
            batches: (commit.batches ?? []).map((row) => ({
              ...row,
              first: row.first + shift,
              last: row.last + shift
            })),
            records: (commit.records ?? []).map((row) => ({ ...row, sequence: row.sequence + shift }))
          })
        })
    }),
    found: [
      "order of checks: tail alone",
      "concurrency: of 32 appends at one tail one wins, and 31 are told the real tail"
    ],
    among: ["order of checks", "concurrency: of 32"]
  },
  {
    does: "acknowledges before it writes",
    breakIt: (driver) => ({
      commit: (commit) =>
        Effect.as(Effect.forkDetach(Effect.andThen(Effect.yieldNow, driver.commit(commit))), "committed")
    }),
    found: ["tail: is that of the last append, every time", "append: a later batch follows without a gap"],
    among: ["tail", "append"]
  },
  {
    does: "forgets the ids of calls",
    breakIt: changing((commit) => ({ ...commit, callIds: [] })),
    found: ["call ids: those that the log has declared", "import: batches, record ids and call ids are recognised"],
    among: ["call ids", "import: batches"]
  },
  {
    does: "gives pages out of order",
    breakIt: (driver) => ({
      records: (range) =>
        Effect.map(driver.records(range), ({ batches, records }) => ({ batches, records: records.toReversed() }))
    }),
    found: ["read: everything in order", "read: a record is the same in every part and direction"],
    among: ["read"]
  },
  {
    does: "forgets a batch id after a hundred others",
    breakIt: (driver) => ({
      batch: (id, batchId) =>
        Effect.map(Effect.all([driver.head(id), driver.batch(id, batchId)]), ([head, batch]) =>
          Option.filter(batch, ({ last }) => Option.isSome(head) && head.value.sequence - last < 100)
        )
    }),
    found: ["replay: after a thousand other batches"],
    among: ["replay"]
  },
  {
    does: "takes a record id twice",
    breakIt: (driver) => {
      let taken = 0
      return changing((commit) => ({
        ...commit,
        records: (commit.records ?? []).map((row) => ({ ...row, recordId: `${row.recordId}#${taken++}` }))
      }))(driver)
    },
    found: ["order of checks: identity alone", "import refuses: two records with one id"],
    among: ["order of checks: identity", "import refuses: two records"]
  },
  {
    does: "lists ids in the order of UTF-16",
    breakIt: (driver) => ({
      list: (request) =>
        Effect.map(driver.list(request), (heads) =>
          heads.toSorted((a, b) => (a.conversationId < b.conversationId ? -1 : 1))
        )
    }),
    found: ["list: ids come in the order of their bytes"],
    among: ["list"]
  },
  {
    does: "keeps every checkpoint",
    breakIt: changing(Struct.omit(["keepCheckpoints"])),
    found: ["checkpoint: the newest four are kept, whatever the order they are saved in"],
    among: ["checkpoint"]
  },
  {
    does: "loses NUL in a payload",
    breakIt: changing((commit) => ({
      ...commit,
      records: (commit.records ?? []).map((row) => ({ ...row, payload: row.payload.replaceAll("\\u0000", "") }))
    })),
    found: ["unicode: NUL, as text and as a key"],
    among: ["unicode"]
  },
  {
    does: "shows what is being staged",
    breakIt: (driver) => ({
      head: (id) =>
        Effect.map(Effect.all([driver.head(id), driver.head(`\u0000staged/${id}`)]), ([head, staged]) =>
          Option.orElse(head, () => staged)
        )
    }),
    found: ["large import: shows nothing before its last line"],
    among: ["large import: shows"]
  }
]

const layerOf = ({ breakIt }: Broken) =>
  ConversationStore.layer().pipe(
    Layer.provide(
      Layer.sync(ConversationDriver, () => {
        const driver = MemoryDriver.make(MemoryDatabase.make())
        return { ...driver, ...breakIt(driver) }
      })
    )
  )

describe("the kit finds a driver that", () => {
  for (const fault of broken) {
    it.live(
      fault.does,
      () =>
        Effect.gen(function* () {
          const cases = contract.filter(({ name }) => fault.among.some((word) => name.startsWith(word)))
          assert.isNotEmpty(cases)
          const { failed } = yield* run(cases, layerOf(fault), { timeLimit: "5 seconds" })
          assert.includeMembers(
            failed.map(({ name }) => name),
            [...fault.found]
          )
        }),
      60_000
    )
  }
})
