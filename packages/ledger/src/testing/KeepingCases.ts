/**
 * What is kept beside the entries, and how all of it goes: accounts, begun turns, aliases, lists, erasing, sweeping, tenants.
 *
 * @since 0.1.0
 */
import { RecordId, RunId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import { ConversationKey } from "../ConversationKey.ts"
import { equal, type LedgerCase, make, refused } from "./Case.ts"
import { at, type Scenario } from "./Scenario.ts"

const accountOf = (...covers: ReadonlyArray<string>) => ({
  covers,
  lines: covers.map((id) => `- ${id}`),
  text: "In all."
})

const begun = (scenario: Scenario, name: string, time = at) => ({
  entryId: `entry ${name}`,
  conversationId: scenario.conversationId(name),
  runId: RunId.make(`run ${name}`),
  at: time
})

const accountIn = (scenario: Scenario) => Effect.map(scenario.store.read(scenario.ledger()), ({ account }) => account)

/** The turns that have begun and are not recorded, the last ones first. */
const unrecorded = (scenario: Scenario) =>
  Effect.gen(function* () {
    const others = yield* scenario.store.begin(scenario.ledger(), begun(scenario, "look"))
    yield* scenario.store.settle(scenario.ledger(), ["entry look"])
    return others.map(({ entryId }) => entryId)
  })

const sources = (...ids: ReadonlyArray<string>) => ids.map((id) => RecordId.make(id))

const nothing = { entries: 0, accounts: 0, begun: 0, aliases: 0 }

/** The three who share a database: two tenants, and the store without any. */
const places = (scenario: Scenario): ReadonlyArray<Scenario> => [scenario.tenant("a"), scenario.tenant("ab"), scenario]

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const keepingCases: ReadonlyArray<LedgerCase> = [
  make("account: is kept in place of the one before", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.recordAll([scenario.entry("a"), scenario.entry("b")])
      for (const account of [accountOf("entry a"), accountOf("entry a", "entry b")]) {
        yield* equal("what is told", yield* scenario.store.saveAccount(scenario.ledger(), account), true)
        yield* equal("the account", yield* accountIn(scenario), account)
      }
    })
  ),

  make("account: is not kept of entries that are not there", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.store.record({ entry: scenario.entry("a") })
      for (const account of [accountOf("entry a", "entry b"), accountOf()]) {
        yield* equal("what is told", yield* scenario.store.saveAccount(scenario.ledger(), account), false)
      }
      yield* equal("the account", yield* accountIn(scenario), undefined)
    })
  ),

  make("account: stays when a turn is trimmed, goes when one is replaced", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.recordAll([scenario.entry("a"), scenario.entry("b", { decision: "failed" })], 2)
      const account = accountOf("entry a", "entry b")
      yield* scenario.store.saveAccount(scenario.ledger(), account)
      yield* scenario.store.record({ entry: scenario.entry("c"), maxEntries: 2 })
      yield* equal("the account", yield* accountIn(scenario), account)
      yield* scenario.store.record({ entry: scenario.entry("b", { entryId: "entry b2" }), maxEntries: 2 })
      yield* equal("the account", yield* accountIn(scenario), undefined)
    })
  ),

  make("begun: the others of the ledger come, the last ones first, each once", (scenario) =>
    Effect.gen(function* () {
      const ledger = scenario.ledger()
      for (const name of ["a", "b", "a", "c"]) yield* scenario.store.begin(ledger, begun(scenario, name))
      const others = yield* scenario.store.begin(ledger, begun(scenario, "d"))
      yield* equal("the others", others, [begun(scenario, "c"), begun(scenario, "b"), begun(scenario, "a")])
      const two = yield* scenario.store.begin(ledger, begun(scenario, "d"), 2)
      yield* equal("two of them", two.length, 2)
      yield* scenario.store.begin(scenario.ledger({ agent: "other" }), begun(scenario, "e"))
      yield* equal("one's own", yield* unrecorded(scenario), ["entry d", "entry c", "entry b", "entry a"])
    })
  ),

  make("begun: one that is recorded or settled does not come again", (scenario) =>
    Effect.gen(function* () {
      for (const name of ["a", "b", "c", "d"]) yield* scenario.store.begin(scenario.ledger(), begun(scenario, name))
      yield* scenario.store.record({ entry: scenario.entry("a") })
      yield* scenario.store.record({ entry: scenario.entry("b", { workKey: "a" }) })
      yield* scenario.store.settle(scenario.ledger(), ["entry c", "entry unknown"])
      yield* equal("what is left", yield* unrecorded(scenario), ["entry d"])
    })
  ),

  make("list: what they are, in the order of their keys, then of their agents", (scenario) =>
    Effect.gen(function* () {
      const keys = ["10", "9", "a", "é", "\uffff", "😀"]
      for (const key of keys.toReversed()) {
        yield* scenario.store.record({ entry: scenario.entry("a", { ...scenario.ledger({ key }), at }) })
        yield* scenario.store.record({
          entry: scenario.entry("a", { ...scenario.ledger({ key, agent: "b" }), at: at + 1 })
        })
      }
      yield* scenario.store.record({ entry: scenario.entry("b", scenario.ledger({ key: "a" })), maxEntries: 1 })
      yield* equal(
        "what is listed",
        yield* scenario.listed(),
        keys.flatMap((key) => [
          { ...scenario.ledger({ key, agent: "b" }), entries: 1, gone: 0, lastAt: at + 1 },
          { ...scenario.ledger({ key }), entries: 1, gone: key === "a" ? 1 : 0, lastAt: at }
        ])
      )
    })
  ),

  make("list: goes on behind a ledger, and hundreds come whole", (scenario) =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 401 }, (_, i) => `${i + 1_000}`)
      yield* Effect.forEach(
        keys,
        (key) => scenario.store.record({ entry: scenario.entry("a", scenario.ledger({ key })) }),
        { concurrency: 20, discard: true }
      )
      const listed = yield* scenario.listed()
      yield* equal(
        "the keys",
        listed.map(({ conversationKey }) => conversationKey),
        keys.map((key) => scenario.key(key))
      )
    })
  ),

  make("erase: the ledgers of a key, of all agents, with everything beside them", (scenario) =>
    Effect.gen(function* () {
      const other = scenario.ledger({ agent: "other" })
      yield* scenario.recordAll([
        scenario.entry("a"),
        scenario.entry("b"),
        scenario.entry("c", other),
        scenario.entry("d", scenario.ledger({ key: "else" }))
      ])
      yield* scenario.store.saveAccount(scenario.ledger(), accountOf("entry a"))
      yield* scenario.store.begin(other, begun(scenario, "e"))
      yield* scenario.store.alias({ alias: scenario.key("alias"), of: scenario.key() })
      const what = { conversationKey: scenario.key() }
      const told = yield* scenario.store.erase(what)
      yield* equal("what is told", told.removed, { entries: 3, accounts: 1, begun: 1, aliases: 1 })
      yield* equal("told again", (yield* scenario.store.erase(what)).removed, nothing)
      yield* equal(
        "what is left",
        (yield* scenario.listed()).map(({ conversationKey }) => conversationKey),
        [scenario.key("else")]
      )
      yield* scenario.store.record({ entry: scenario.entry("a") })
      const { account, entries, gone } = yield* scenario.store.read(scenario.ledger())
      yield* equal("a new one", [account, entries[0]?.ordinal, gone], [undefined, 1, 0])
    })
  ),

  make("erase: all ledgers of an agent, and no other's", (scenario) =>
    Effect.gen(function* () {
      const other = scenario.ledger({ agent: "other" })
      yield* scenario.recordAll([
        scenario.entry("a"),
        scenario.entry("b", scenario.ledger({ key: "else" })),
        scenario.entry("c", other)
      ])
      yield* scenario.store.begin(scenario.ledger(), begun(scenario, "e"))
      const told = yield* scenario.store.erase({ agent: scenario.agent() })
      yield* equal("what is told", told.removed, { ...nothing, entries: 2, begun: 1 })
      yield* equal("the other's", yield* scenario.ids(other), ["entry c"])
      yield* equal("one's own", yield* scenario.ids(), [])
    })
  ),

  make("erase: what was made of a conversation, in whatever ledger", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.conversationId()
      const other = scenario.ledger({ key: "other" })
      yield* scenario.recordAll([
        scenario.entry("a", { conversationId }),
        scenario.entry("b", { conversationId: scenario.conversationId("else") }),
        scenario.entry("c"),
        scenario.entry("d", { ...other, conversationId })
      ])
      yield* scenario.store.saveAccount(scenario.ledger(), accountOf("entry b"))
      yield* scenario.store.begin(scenario.ledger(), { ...begun(scenario, "e"), conversationId })
      const told = yield* scenario.store.erase({ conversationId })
      yield* equal("what is told", told.removed, { ...nothing, entries: 2, accounts: 1, begun: 1 })
      const { account, entries, gone } = yield* scenario.store.read(scenario.ledger())
      yield* equal(
        "what is left",
        entries.map(({ entry }) => entry.entryId),
        ["entry b", "entry c"]
      )
      // It may tell of what is gone.
      yield* equal("what is beside it", { account, gone }, { account: undefined, gone: 1 })
      yield* equal("the ledger that it was all of", yield* scenario.ids(other), [])
    })
  ),

  make("erase: what was made of single records", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.conversationId()
      yield* scenario.recordAll([
        scenario.entry("a", { conversationId, sources: sources("r1", "r2") }),
        scenario.entry("b", { conversationId, sources: sources("r3") }),
        scenario.entry("c", { conversationId: scenario.conversationId("else"), sources: sources("r1") })
      ])
      yield* scenario.store.begin(scenario.ledger(), { ...begun(scenario, "e"), conversationId })
      const told = yield* scenario.store.erase({ conversationId, records: sources("r0", "r2") })
      yield* equal("what is told", told.removed, { ...nothing, entries: 1 })
      yield* equal("what is left", yield* scenario.ids(), ["entry b", "entry c"])
    })
  ),

  make("sweep: what is from before a time goes, and no more", (scenario) =>
    Effect.gen(function* () {
      const own = scenario.tenant("swept")
      yield* own.recordAll([
        own.entry("new", { at: at + 1 }),
        own.entry("old", { at: at - 1 }),
        own.entry("edge", { at }),
        own.entry("gone", { ...own.ledger({ key: "gone" }), at: 0 })
      ])
      yield* own.store.saveAccount(own.ledger(), accountOf("entry new"))
      yield* own.store.alias({ alias: own.key("alias"), of: own.key("gone") })
      yield* own.store.begin(own.ledger(), begun(own, "e", at - 1))
      yield* own.store.begin(own.ledger(), begun(own, "f", at))
      yield* equal("what is told", yield* own.store.sweep(at), { entries: 2, accounts: 1, begun: 1, aliases: 1 })
      yield* equal("told again", yield* own.store.sweep(at), nothing)
      const { account, entries, gone } = yield* own.store.read(own.ledger())
      yield* equal(
        "what is left",
        entries.map(({ entry }) => entry.entryId),
        ["entry new", "entry edge"]
      )
      yield* equal("what is beside it", { account, gone }, { account: undefined, gone: 1 })
      yield* equal("the ledgers", (yield* own.listed()).length, 1)
    })
  ),

  make("alias: a key that stands for another one has its ledgers", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.store.record({ entry: scenario.entry("a") })
      const [alias, further] = [scenario.key("alias"), scenario.key("further")]
      yield* scenario.store.alias({ alias, of: scenario.key() })
      yield* scenario.store.alias({ alias: further, of: alias })
      for (const key of ["alias", "further"]) {
        yield* scenario.store.record({ entry: scenario.entry(key, scenario.ledger({ key })) })
        yield* scenario.store.record({
          entry: scenario.entry("a", { ...scenario.ledger({ key }), entryId: `again ${key}` })
        })
      }
      for (const key of ["it", "alias", "further"]) {
        const ids = yield* scenario.ids(scenario.ledger({ key }))
        yield* equal("the ledger", ids, ["entry a", "entry alias", "entry further"])
      }
      yield* equal("how many ledgers", (yield* scenario.listed()).length, 1)
    })
  ),

  make("alias: what stood for the alias stands for what that stands for", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.store.alias({ alias: scenario.key("c"), of: scenario.key("b") })
      yield* scenario.store.alias({ alias: scenario.key("b"), of: scenario.key() })
      yield* scenario.store.record({ entry: scenario.entry("a", scenario.ledger({ key: "c" })) })
      yield* equal("the ledger", yield* scenario.ids(), ["entry a"])
    })
  ),

  make("alias: what has entries of its own, or is the same, stands for nothing", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.store.record({ entry: scenario.entry("a") })
      yield* refused(scenario.store.alias({ alias: scenario.key(), of: scenario.key("other") }), "alias")
      yield* refused(scenario.store.alias({ alias: scenario.key(), of: scenario.key() }), "alias")
      yield* scenario.store.alias({ alias: scenario.key("other"), of: scenario.key() })
      yield* refused(scenario.store.alias({ alias: scenario.key(), of: scenario.key("other") }), "alias")
      yield* equal("the ledger", yield* scenario.ids(), ["entry a"])
    })
  ),

  make("names: half a key, and one with control characters, name nothing", (scenario) =>
    Effect.gen(function* () {
      for (const text of ["", "jira", "jira:", ":POC-7", "jira:\u0000", "Jira:POC-7", "jira@:POC-7"]) {
        const conversationKey = ConversationKey.make(text, { disableChecks: true })
        const ledger = { agent: scenario.agent(), conversationKey }
        yield* refused(scenario.store.record({ entry: scenario.entry("a", ledger) }), "entry")
        yield* equal("what is there", (yield* scenario.store.read(ledger)).entries, [])
        yield* refused(scenario.store.alias({ alias: conversationKey, of: scenario.key() }), "alias")
      }
    })
  ),

  make("tenants: no verb finds what is another's", (scenario) =>
    Effect.gen(function* () {
      const conversationId = scenario.conversationId()
      for (const [i, place] of places(scenario).entries()) {
        for (const other of places(scenario).slice(i)) yield* equal("what others read", yield* other.ids(), [])
        yield* place.store.record({ entry: place.entry("a", { conversationId }) })
        yield* place.store.begin(place.ledger(), begun(place, "e"))
      }
      const [a, ab] = [scenario.tenant("a"), scenario.tenant("ab")]
      yield* equal("what is erased", (yield* a.store.erase({ conversationId })).removed, { ...nothing, entries: 1 })
      yield* equal("the others'", [yield* ab.ids(), yield* scenario.ids()], [["entry a"], ["entry a"]])
      yield* equal("what is erased", (yield* ab.store.erase({ agent: ab.agent() })).removed, {
        ...nothing,
        entries: 1,
        begun: 1
      })
      yield* equal("the others'", [yield* ab.ids(), yield* scenario.ids()], [[], ["entry a"]])
      yield* equal("what a tenant lists", yield* a.listed(), [])
      yield* equal("the begun turn of a tenant", yield* unrecorded(a), ["entry e"])
      yield* a.store.alias({ alias: a.key("alias"), of: a.key() })
      yield* equal("an alias of another tenant", yield* scenario.ids(scenario.ledger({ key: "alias" })), [])
    })
  ),

  make("tenants: one work key is a piece of work of each", (scenario) =>
    Effect.gen(function* () {
      for (const place of places(scenario)) {
        const told = yield* place.store.record({ entry: place.entry("a") })
        yield* equal("what is told", told._tag, "Inserted")
      }
    })
  ),

  make("tenants: a sweep of all is one of each", (scenario) =>
    Effect.gen(function* () {
      for (const place of places(scenario)) {
        yield* place.recordAll([place.entry("old", { at: 500 }), place.entry("new")])
      }
      yield* equal("what is told", yield* scenario.tenants.sweep(501), { ...nothing, entries: 3 })
      for (const place of places(scenario)) yield* equal("what is left", yield* place.ids(), ["entry new"])
    })
  )
]
