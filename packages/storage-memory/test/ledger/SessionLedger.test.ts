import { ConversationKey, LedgerMetrics, LedgerSettings, SessionLedger } from "@colloquy/ledger"
import { LedgerStore } from "@colloquy/ledger/LedgerStore"
import { AgentName } from "@colloquy/session/Ids"
import { MemoryStorage } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import { TestClock } from "effect/testing"
import { agent, failing, key, ledgerOver, turn } from "./given.ts"

const memory = ledgerOver(MemoryStorage.layer)

const recordAll = (...names: ReadonlyArray<string>) =>
  SessionLedger.SessionLedger.use(({ record }) => Effect.forEach(names, (name) => record(turn(name))))

const earlier = (fields: Partial<SessionLedger.EarlierRequest> = {}) =>
  SessionLedger.SessionLedger.use((ledger) => ledger.earlier({ agent, conversationKey: key, ...fields }))

const name = { agent, conversationKey: ConversationKey.ConversationKey.make(key) }

const stored = LedgerStore.use((store) => store.read(name))

const change = (settings: unknown) => LedgerSettings.LedgerSettings.use((service) => service.change(settings))

describe("a turn is told", () => {
  it.effect("of the earlier ones on its key, the last ones last", () =>
    Effect.gen(function* () {
      yield* recordAll("m1", "m2")
      const { text, whole } = yield* earlier()
      assert.strictEqual(whole, 2)
      assert.isBelow(text.indexOf("I did m1."), text.indexOf("I did m2."))
      assert.strictEqual((yield* earlier({ conversationKey: "slack:D2" })).text, "")
      assert.strictEqual((yield* earlier({ agent: AgentName.make("lead") })).text, "")
    }).pipe(Effect.provide(memory))
  )

  it.effect("of nothing at first", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* earlier(), { text: "", bytes: 0, whole: 0, condensed: 0, leftOut: 0 })
    }).pipe(Effect.provide(memory))
  )

  it.effect("not of those that the model is shown anyway", () =>
    Effect.gen(function* () {
      yield* recordAll("m1", "m2")
      const { text, whole } = yield* earlier({ visibleRuns: [turn("m2").runId] })
      assert.strictEqual(whole, 1)
      assert.notInclude(text, "I did m2.")
      const all = yield* earlier({ visibleRuns: [turn("m1").runId, turn("m2").runId] })
      assert.strictEqual(all.text, "")
    }).pipe(Effect.provide(memory))
  )

  it.effect("what it keeps, while the ledger goes on", () =>
    Effect.gen(function* () {
      yield* recordAll("m1")
      const frozen = yield* earlier()
      yield* recordAll("m2")
      yield* TestClock.adjust("1 hour")
      assert.notInclude(frozen.text, "I did m2.")
      assert.include((yield* earlier()).text, "I did m2.")
    }).pipe(Effect.provide(memory))
  )

  it.effect("in the order of recording when the clock steps back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 2, 4))
      yield* recordAll("m1")
      yield* TestClock.setTime(Date.UTC(2026, 2, 2))
      yield* recordAll("m2")
      const { text } = yield* earlier()
      assert.isBelow(text.indexOf("I did m1."), text.indexOf("I did m2."))
      assert.include(text, "age unknown")
    }).pipe(Effect.provide(memory))
  )

  it.effect("to a reviewer the replies that were given", () =>
    Effect.gen(function* () {
      const { record, replies } = yield* SessionLedger.SessionLedger
      yield* record(turn("m1"))
      yield* record(turn("m2", { delivery: "unsent" }))
      assert.deepStrictEqual(yield* replies({ agent, conversationKey: key }), ["I did m1."])
    }).pipe(Effect.provide(memory))
  )
})

describe("a turn is not recorded", () => {
  it.effect.each([
    ["a turn that waits for people", { status: "suspended" }, "suspended"],
    ["a crashed turn", { status: "crashed" }, "crashed"],
    ["a turn without a key", { conversationKey: undefined }, "no-key"],
    ["half a key", { conversationKey: "jira:" }, "not-a-key"],
    ["the other half", { conversationKey: ":POC-7" }, "not-a-key"],
    ["a key with control characters", { conversationKey: "jira:POC\u00007" }, "not-a-key"],
    ["a turn of an event", { conversationKey: "event:0b7e6c1e-52d1-4a7e-9f0c-000000000000" }, "event"],
    ["a turn without a work key", { workKey: "" }, "no-work-key"]
  ] as const)("%s", ([, fields, reason]) =>
    Effect.gen(function* () {
      const { record } = yield* SessionLedger.SessionLedger
      const outcome = yield* record(turn("m1", fields))
      assert.deepStrictEqual(outcome, SessionLedger.Outcome.Refused({ reason }))
      assert.strictEqual((yield* stored).entries.length, 0)
    }).pipe(Effect.provide(memory))
  )

  it.effect("but a failed one is, and one of a source that nobody knows", () =>
    Effect.gen(function* () {
      const { record } = yield* SessionLedger.SessionLedger
      const failed = yield* record(turn("m1", { decision: "failed", delivery: "unsent" }))
      const unknown = yield* record(turn("m2", { conversationKey: "desk:4711" }))
      assert.deepStrictEqual([failed._tag, unknown._tag], ["Recorded", "Recorded"])
      assert.include((yield* earlier()).text, "You did NOT reply.")
      assert.strictEqual((yield* earlier({ conversationKey: "desk:4711" })).whole, 1)
    }).pipe(Effect.provide(memory))
  )
})

describe("what a turn says", () => {
  it.effect("may be of any size, and of things that are no JSON", () =>
    Effect.gen(function* () {
      const { record } = yield* SessionLedger.SessionLedger
      const circle: { self?: unknown } = {}
      circle.self = circle
      const reply = "é".repeat(1024 * 1024)
      yield* record(
        turn("m1", {
          reply,
          trigger: "half\ud83d",
          calls: [
            {
              name: "post",
              arguments: { big: 10n, circle, date: new Date(0), gone: undefined, list: [1], "x\ud83d": "y\ud83d" },
              outcome: "success"
            },
            { name: "post", arguments: undefined, outcome: "success" }
          ]
        })
      )
      const { text } = yield* earlier()
      assert.include(text, reply)
      assert.include(text, "half\ufffd")
      assert.include(
        text,
        '- post({"big":[not JSON: $: bigint has no JSON form],"circle":[not JSON: json-depth: 65 is over the maximum of 64; store deeply nested JSON as text],"date":[not JSON: $: Date has no JSON form, encode it explicitly],"list":[1],"x\ufffd":"y\ufffd"}) → success\n- post([nothing]) → success'
      )
    }).pipe(Effect.provide(memory))
  )
})

describe("bounds", () => {
  it.effect.each([{ injectedMaxBytes: 0 }, { injectedMaxBytes: -1 }, { newestMaxBytes: 1.5 }])(
    "that are none are a fault of the program: %j",
    (bounds) =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(Effect.provide(earlier(), ledgerOver(MemoryStorage.layer, { bounds })))
        assert.isTrue(Exit.hasDies(exit))
      })
  )
})

describe("the switch", () => {
  it.effect("is live: off it neither reads nor writes, and leaves what is there", () =>
    Effect.gen(function* () {
      const { record } = yield* SessionLedger.SessionLedger
      yield* recordAll("m1")
      yield* change({ enabled: false })
      assert.strictEqual((yield* earlier()).text, "")
      assert.deepStrictEqual(yield* record(turn("m2")), SessionLedger.Outcome.Refused({ reason: "disabled" }))
      yield* change({ enabled: true, maxEntries: 1 })
      assert.include((yield* earlier()).text, "I did m1.")
      yield* recordAll("m3")
      const { text, whole } = yield* earlier()
      assert.strictEqual(whole, 1)
      assert.include(text, "(1 earlier turn is not shown.)")
    }).pipe(Effect.provide(memory))
  )

  it.effect("off does not touch a store that is down", () => {
    const { down, store } = failing()
    return Effect.gen(function* () {
      down.add("read").add("update")
      yield* change({ enabled: false })
      assert.strictEqual((yield* earlier()).text, "")
      assert.deepStrictEqual(yield* recordAll("m1"), [SessionLedger.Outcome.Refused({ reason: "disabled" })])
    }).pipe(Effect.provide(ledgerOver(store)))
  })
})

const counted = (operation: string) =>
  Effect.map(Metric.value(Metric.withAttributes(LedgerMetrics.failures, { operation })), ({ count }) => count)

describe("a store that fails", () => {
  it.effect("on writing stops no turn, and is counted", () => {
    const { down, store } = failing()
    return Effect.gen(function* () {
      const before = yield* counted("write")
      down.add("update")
      const [outcome] = yield* recordAll("m1")
      assert.strictEqual(outcome?._tag === "Failed" ? outcome.error._tag : outcome?._tag, "LedgerUnavailable")
      assert.strictEqual(yield* counted("write"), before + 1)
      down.clear()
      assert.strictEqual((yield* earlier()).text, "")
    }).pipe(Effect.provide(ledgerOver(store)))
  })

  it.effect("on reading is another answer than nothing", () => {
    const { down, store } = failing()
    return Effect.gen(function* () {
      const before = yield* counted("read")
      down.add("read")
      const error = yield* Effect.flip(earlier())
      assert.strictEqual(error._tag, "LedgerUnavailable")
      assert.strictEqual(yield* counted("read"), before + 1)
    }).pipe(Effect.provide(ledgerOver(store)))
  })

  it.effect("in one row hides no other one, and names it", () => {
    const { store, table } = failing()
    return Effect.gen(function* () {
      yield* recordAll("m1", "m2", "m3")
      const [ledgerName, ledger] = [...table.ledgers][0]!
      const rows = ledger.rows.map((row) => (row.workKey === "m2" ? { ...row, entry: '{"agent"' } : row))
      table.ledgers.set(ledgerName, { ...ledger, rows })
      const { entries, unreadable } = yield* stored
      assert.deepStrictEqual(
        entries.map(({ entry }) => entry.workKey),
        ["m1", "m3"]
      )
      assert.deepStrictEqual(
        unreadable.map(({ entryId, ordinal }) => [entryId, ordinal]),
        [["turn//m2-run-0000", 2]]
      )
      assert.strictEqual((yield* earlier()).whole, 2)
      // It does not keep others out, either.
      yield* recordAll("m4")
      assert.strictEqual((yield* earlier()).whole, 3)
    }).pipe(Effect.provide(ledgerOver(store)))
  })
})

describe("a hundred turns at once on one key", () => {
  it.effect("leave the last twenty, each whole", () =>
    Effect.gen(function* () {
      const { record } = yield* SessionLedger.SessionLedger
      const names = Array.from({ length: 100 }, (_, i) => `m${i}`)
      const outcomes = yield* Effect.forEach(names, (name) => record(turn(name)), { concurrency: "unbounded" })
      assert.isTrue(outcomes.every(({ _tag }) => _tag === "Recorded"))
      const { entries, gone } = yield* stored
      assert.deepStrictEqual([entries.length, gone], [20, 80])
      assert.strictEqual((yield* earlier()).leftOut, 80)
    }).pipe(Effect.provide(memory))
  )
})
