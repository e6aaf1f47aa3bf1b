/**
 * Recording: what stands for what, what is pushed out, and in which order.
 *
 * @since 0.1.0
 */
import { RecordId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import { Value } from "../LedgerEntry.ts"
import { Recorded } from "../LedgerModel.ts"
import { equal, type LedgerCase, make, refused } from "./Case.ts"
import { at } from "./Scenario.ts"

const failed = { decision: "failed", delivery: "unsent" as const }

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const recordCases: ReadonlyArray<LedgerCase> = [
  make("record: an entry comes back whole", (scenario) =>
    Effect.gen(function* () {
      const entry = scenario.entry("a", {
        conversationId: scenario.conversationId(),
        trigger: "NUL \u0000, a line\u2028end, 🚲 and \u202e",
        triggerIds: ["m1", "m2"],
        intent: "",
        calls: [
          {
            name: "post",
            arguments: [
              { name: "body", value: Value.cases.Condensed.make({ text: "short" }) },
              { name: "id", value: Value.cases.Whole.make({ text: "7" }) }
            ],
            outcome: "error",
            error: Value.cases.Named.make({ bytes: 5_039, digest: "00ff" }),
            readOnly: false
          },
          {
            name: "look",
            arguments: [{ value: Value.cases.Absent.make({ reason: "removed" }) }],
            outcome: "unknown",
            readOnly: true
          }
        ],
        completedWork: "It landed.",
        blockedOn: "No access.",
        sources: [RecordId.make("r1"), RecordId.make("r2")]
      })
      yield* equal("what is told", yield* scenario.store.record({ entry }), Recorded.Inserted({ trimmed: 0 }))
      const { account, entries, gone, unreadable } = yield* scenario.store.read(scenario.ledger())
      yield* equal("what is stored", entries, [{ ordinal: 1, attempts: 1, entry }])
      yield* equal("what else is there", { account, gone, unreadable }, { account: undefined, gone: 0, unreadable: [] })
    })
  ),

  make("record: a ledger that nobody has written to has nothing", (scenario) =>
    Effect.gen(function* () {
      const { entries, gone } = yield* scenario.store.read(scenario.ledger())
      yield* equal("what is there", { entries, gone }, { entries: [], gone: 0 })
    })
  ),

  make("record: a reply of two megabytes", (scenario) =>
    Effect.gen(function* () {
      const reply = "é".repeat(1024 * 1024)
      yield* scenario.store.record({ entry: scenario.entry("a", { reply }) })
      const { entries } = yield* scenario.store.read(scenario.ledger())
      yield* equal("the reply", entries[0]?.entry.reply === reply, true)
    })
  ),

  make("record: the order is that of recording, whatever the clock says", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.recordAll(["a", "b", "c"].map((name, i) => scenario.entry(name, { at: at - i * 86_400_000 })))
      yield* equal("the order", yield* scenario.ids(), ["entry a", "entry b", "entry c"])
    })
  ),

  make("record: the same entry again is there once", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.recordAll([scenario.entry("a"), scenario.entry("b")])
      const told = yield* scenario.store.record({ entry: scenario.entry("a") })
      yield* equal("what is told", told, Recorded.Duplicate({ of: "entry a", attempts: 1 }))
      yield* equal("the ledger", yield* scenario.ids(), ["entry a", "entry b"])
    })
  ),

  make("record: of one work key the first of equals stays, and counts the others", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.recordAll([scenario.entry("a"), scenario.entry("b")])
      const again = scenario.entry("a", { entryId: "entry a2", reply: "again" })
      const told = yield* scenario.store.record({ entry: again })
      yield* equal("what is told", told, Recorded.Duplicate({ of: "entry a", attempts: 2 }))
      yield* equal("told again", yield* scenario.store.record({ entry: again }), told)
      const { entries } = yield* scenario.store.read(scenario.ledger())
      yield* equal(
        "the ledger",
        entries.map(({ attempts, entry }) => [entry.entryId, attempts]),
        [
          ["entry a", 2],
          ["entry b", 1]
        ]
      )
    })
  ),

  make("record: a better outcome replaces, is the newest, and keeps the count", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.recordAll([scenario.entry("a", failed), scenario.entry("b")])
      const told = yield* scenario.store.record({ entry: scenario.entry("a", { entryId: "entry a2" }) })
      yield* equal("what is told", told, Recorded.Replaced({ entryIds: ["entry a"], attempts: 2, trimmed: 0 }))
      const { entries, gone } = yield* scenario.store.read(scenario.ledger())
      yield* equal(
        "the ledger",
        entries.map(({ attempts, entry }) => [entry.entryId, attempts]),
        [
          ["entry b", 1],
          ["entry a2", 2]
        ]
      )
      yield* equal("what is gone", gone, 0)
      const back = yield* scenario.store.record({ entry: scenario.entry("a", failed) })
      yield* equal("the replaced one again", back, Recorded.Duplicate({ of: "entry a2", attempts: 2 }))
    })
  ),

  make("record: a worse outcome replaces nothing", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.store.record({ entry: scenario.entry("a") })
      const told = yield* scenario.store.record({ entry: scenario.entry("a", { ...failed, entryId: "entry a2" }) })
      yield* equal("what is told", told, Recorded.Duplicate({ of: "entry a", attempts: 2 }))
      yield* equal("the ledger", yield* scenario.ids(), ["entry a"])
    })
  ),

  make("record: entries without a work key are distinct, and each is there once", (scenario) =>
    Effect.gen(function* () {
      const keyless = ["a", "b", "c"].map((name) => scenario.entry(name, { workKey: "" }))
      for (const _ of [1, 2]) yield* scenario.recordAll(keyless)
      yield* equal("the ledger", yield* scenario.ids(), ["entry a", "entry b", "entry c"])
    })
  ),

  make("record: other agents and other keys have ledgers of their own", (scenario) =>
    Effect.gen(function* () {
      const places = [scenario.ledger(), scenario.ledger({ agent: "other" }), scenario.ledger({ key: "other" })]
      for (const [i, place] of places.entries()) {
        yield* scenario.store.record({ entry: scenario.entry("a", { ...place, reply: `reply ${i}` }) })
      }
      for (const [i, place] of places.entries()) {
        const { entries } = yield* scenario.store.read(place)
        yield* equal(
          "the replies",
          entries.map(({ entry }) => entry.reply),
          [`reply ${i}`]
        )
      }
    })
  ),

  make("triggers: who answered all of them and more stands for those who answered some", (scenario) =>
    Effect.gen(function* () {
      const entries = [
        scenario.entry("a", { triggerIds: ["m1"] }),
        scenario.entry("b", { triggerIds: ["m3"] }),
        scenario.entry("c", { triggerIds: ["m2"] })
      ]
      yield* scenario.recordAll(entries)
      const all = scenario.entry("all", { triggerIds: ["m2", "m1"] })
      const told = yield* scenario.store.record({ entry: all })
      yield* equal(
        "what is told",
        told,
        Recorded.Replaced({ entryIds: ["entry a", "entry c"], attempts: 3, trimmed: 0 })
      )
      yield* equal("the ledger", yield* scenario.ids(), ["entry b", "entry all"])
    })
  ),

  make("triggers: who answered some of them adds nothing", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.store.record({ entry: scenario.entry("all", { triggerIds: ["m1", "m2"] }) })
      const told = yield* scenario.store.record({ entry: scenario.entry("a", { triggerIds: ["m1"] }) })
      yield* equal("what is told", told, Recorded.Duplicate({ of: "entry all", attempts: 2 }))
    })
  ),

  make("triggers: a failure stands for no success", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.store.record({ entry: scenario.entry("a", { triggerIds: ["m1"] }) })
      yield* scenario.store.record({ entry: scenario.entry("all", { ...failed, triggerIds: ["m1", "m2"] }) })
      yield* scenario.store.record({ entry: scenario.entry("b", { triggerIds: ["m2"] }) })
      yield* equal("the ledger", yield* scenario.ids(), ["entry a", "entry all", "entry b"])
    })
  ),

  make("triggers: an entry without a work key is stood for by nobody", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.recordAll([
        scenario.entry("a", { workKey: "", triggerIds: ["m1"] }),
        scenario.entry("all", { triggerIds: ["m1", "m2"] }),
        scenario.entry("b", { workKey: "", triggerIds: ["m2"] })
      ])
      yield* equal("the ledger", yield* scenario.ids(), ["entry a", "entry all", "entry b"])
    })
  ),

  make("trim: the oldest by the counter go, whatever the clock says", (scenario) =>
    Effect.gen(function* () {
      const names = ["a", "b", "c", "d", "e"]
      yield* scenario.recordAll(
        names.map((name, i) => scenario.entry(name, { at: at - i * 1_000 })),
        3
      )
      yield* equal("the ledger", yield* scenario.ids(), ["entry c", "entry d", "entry e"])
      yield* equal("what is gone", (yield* scenario.store.read(scenario.ledger())).gone, 2)
    })
  ),

  make("trim: twenty are kept, or as many as are asked for", (scenario) =>
    Effect.gen(function* () {
      const entries = Array.from({ length: 23 }, (_, i) => scenario.entry(`${i}`))
      yield* scenario.recordAll(entries)
      const first = yield* scenario.ids()
      yield* equal("the ledger", [first.length, first[0]], [20, "entry 3"])
      const told = yield* scenario.store.record({ entry: scenario.entry("last"), maxEntries: 2 })
      yield* equal("what is told", told, Recorded.Inserted({ trimmed: 19 }))
      yield* equal("the ledger", yield* scenario.ids(), ["entry 22", "entry last"])
      yield* equal("what is gone", (yield* scenario.store.read(scenario.ledger())).gone, 22)
    })
  ),

  make("trim: what is replaced makes room", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.recordAll([scenario.entry("a"), scenario.entry("b", failed)], 2)
      yield* scenario.store.record({ entry: scenario.entry("b", { entryId: "entry b2" }), maxEntries: 2 })
      yield* equal("the ledger", yield* scenario.ids(), ["entry a", "entry b2"])
    })
  ),

  make("trim: a limit that is no whole number of at least one is refused", (scenario) =>
    Effect.gen(function* () {
      for (const maxEntries of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        yield* refused(scenario.store.record({ entry: scenario.entry("a"), maxEntries }), "max-entries")
      }
      yield* equal("the ledger", yield* scenario.ids(), [])
    })
  ),

  make("revise: what is known now stands at the turn's place, and what tells of it as it was goes", (scenario) =>
    Effect.gen(function* () {
      const { store } = scenario
      const conversationId = scenario.conversationId()
      yield* scenario.recordAll([
        scenario.entry("a", { conversationId }),
        scenario.entry("a", { entryId: "entry a2" }),
        scenario.entry("b")
      ])
      yield* store.saveAccount(scenario.ledger(), { covers: ["entry a"], lines: ["- a"], text: "It replied." })
      const sources = [RecordId.make("report")]
      const known = scenario.entry("a", { conversationId, delivery: "unsent", decision: "blocked", sources })
      for (const _ of ["once", "again"]) yield* equal("what is told", yield* store.revise(known), true)
      const { account, entries } = yield* store.read(scenario.ledger())
      yield* equal("the account", account, undefined)
      yield* equal("the first one", entries[0], { ordinal: 1, attempts: 2, entry: known })
      yield* equal("the ledger", yield* scenario.ids(), ["entry a", "entry b"])
      // It is compared, and erased, as what it is now.
      yield* equal("told of the repeated one", (yield* store.record({ entry: known }))._tag, "Duplicate")
      const better = scenario.entry("a", { entryId: "entry a3", conversationId })
      yield* equal("told of a better one", (yield* store.record({ entry: better }))._tag, "Replaced")
      yield* equal("told of what it was", (yield* store.record({ entry: known }))._tag, "Duplicate")
      yield* equal("once more", yield* store.revise(known), false)
      yield* store.revise({ ...better, sources })
      yield* store.erase({ conversationId, records: sources })
      yield* equal("the ledger", yield* scenario.ids(), ["entry b"])
    })
  ),

  make("revise: of a turn that has no entry nothing is written", (scenario) =>
    Effect.gen(function* () {
      yield* equal("what is told", yield* scenario.store.revise(scenario.entry("a")), false)
      yield* equal("the list", yield* scenario.listed(), [])
      yield* scenario.store.record({ entry: scenario.entry("a") })
      yield* equal("of another", yield* scenario.store.revise(scenario.entry("b", { workKey: "a" })), false)
      yield* equal("the ledger", yield* scenario.ids(), ["entry a"])
    })
  ),

  make("concurrency: a hundred turns at once are each recorded", (scenario) =>
    Effect.gen(function* () {
      const entries = Array.from({ length: 100 }, (_, i) => scenario.entry(`${i}`))
      yield* Effect.forEach(entries, (entry) => scenario.store.record({ entry, maxEntries: 100 }), {
        concurrency: "unbounded",
        discard: true
      })
      const ledger = yield* scenario.store.read(scenario.ledger())
      const ids = ledger.entries.map(({ entry }) => entry.entryId)
      yield* equal("how many", [new Set(ids).size, ledger.gone], [100, 0])
      const ordinals = ledger.entries.map(({ ordinal }) => ordinal)
      yield* equal(
        "the ordinals",
        ordinals,
        Array.from({ length: 100 }, (_, i) => i + 1)
      )
    })
  ),

  make("concurrency: a hundred turns at once leave the last twenty, and count the others", (scenario) =>
    Effect.gen(function* () {
      const entries = Array.from({ length: 100 }, (_, i) => scenario.entry(`${i}`))
      yield* Effect.forEach(entries, (entry) => scenario.store.record({ entry }), {
        concurrency: "unbounded",
        discard: true
      })
      const ledger = yield* scenario.store.read(scenario.ledger())
      yield* equal("how many", [ledger.entries.length, ledger.gone], [20, 80])
    })
  ),

  make("concurrency: a hundred turns at once on one work key are one entry", (scenario) =>
    Effect.gen(function* () {
      const entries = Array.from({ length: 100 }, (_, i) => scenario.entry("it", { entryId: `entry ${i}` }))
      const told = yield* Effect.forEach(entries, (entry) => scenario.store.record({ entry }), {
        concurrency: "unbounded"
      })
      yield* equal("how many are new", told.filter(({ _tag }) => _tag === "Inserted").length, 1)
      const { entries: left } = yield* scenario.store.read(scenario.ledger())
      yield* equal(
        "how many",
        left.map(({ attempts }) => attempts),
        [100]
      )
    })
  )
]
