/**
 * Settings: put, get, remove and list, revisions, and who wins when several put at once.
 *
 * @since 0.1.0
 */
import type { SettingsId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { ConformanceCase } from "./Case.ts"
import { withTimeOfDay } from "./ClockCases.ts"
import { equal, fails, holds } from "./Expect.ts"
import { at } from "./Records.ts"
import { settingsInputCases } from "./SettingsInputCases.ts"
import { make, type SettingsScenario, type SettingsStores } from "./SettingsScenario.ts"
import { settingsTenantCases } from "./SettingsTenantCases.ts"

/** The put is refused for this, and what is there stays. */
const conflicts = (scenario: SettingsScenario, settings: unknown, expected: number, actual: number) =>
  Effect.gen(function* () {
    const before = yield* scenario.listed()
    const { _tag, message: _, ...told } = yield* fails(scenario.put(settings, expected), "SettingsConflict")
    yield* equal(
      "what is told",
      { _tag, ...told },
      {
        _tag: "SettingsConflict",
        settingsId: scenario.id(),
        expected,
        actual
      }
    )
    yield* equal("the settings of the case", yield* scenario.listed(), before)
  })

const putAll = (scenario: SettingsScenario, suffixes: ReadonlyArray<string>) =>
  Effect.forEach(suffixes, (suffix) => scenario.store.put({ settingsId: scenario.id(suffix), settings: { suffix } }), {
    discard: true
  })

const listedIds = (scenario: SettingsScenario, limit?: number) =>
  Effect.map(scenario.listed(limit), (listed) => listed.map(({ settingsId }) => settingsId))

const racers = Array.from({ length: 32 }, (_, racer) => racer)

/** All at once; what each was told. */
const race = <A, E>(put: (racer: number) => Effect.Effect<A, E>) =>
  Effect.forEach(racers, (racer) => Effect.result(put(racer)), { concurrency: "unbounded" })

const oneOfMany = (scenario: SettingsScenario, expected: number) =>
  Effect.gen(function* () {
    const results = yield* race((racer) => scenario.put({ racer }, expected))
    const winners = racers.filter((racer) => Result.isSuccess(results[racer]!))
    yield* equal("how many win", winners.length, 1)
    for (const result of results) {
      if (Result.isSuccess(result)) {
        yield* equal("what the winner is told", result.success, { revision: expected + 1 })
        continue
      }
      const { failure } = result
      yield* equal("what the others are told", failure._tag, "SettingsConflict")
      if (failure._tag === "SettingsConflict") yield* equal("the actual revision", failure.actual, expected + 1)
    }
    yield* equal("what is stored", yield* scenario.content(), { racer: winners[0] ?? -1 })
  })

const settingsCases: ReadonlyArray<ConformanceCase<SettingsStores>> = [
  make("settings: what was put, and when", (scenario) =>
    Effect.gen(function* () {
      const settings = { tone: "brief", model: { name: "large", temperature: 0.2 }, tools: ["search"] }
      yield* equal("what is told", yield* scenario.put(settings).pipe(withTimeOfDay(at)), { revision: 1 })
      yield* equal("what is stored", yield* scenario.store.get(scenario.id()), {
        settingsId: scenario.id(),
        settings,
        revision: 1,
        createdAt: at,
        updatedAt: at
      })
    })
  ),

  make("settings: a put replaces the whole, and each is a revision", (scenario) =>
    Effect.gen(function* () {
      for (const [i, settings] of [{ a: 1, b: { c: 1 } }, { b: { d: 2 } }, { b: { d: 2 } }, {}].entries()) {
        yield* equal("the revision", yield* scenario.put(settings), { revision: i + 1 })
        yield* equal("what is stored", yield* scenario.content(), settings)
      }
    })
  ),

  make("settings: the time of the first put stays, and fractions of a millisecond do not", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.put({ n: 1 }).pipe(withTimeOfDay(at + 0.5))
      for (const time of [at + 5_000, at, at - 60_000, 0]) {
        yield* scenario.put({ n: time }).pipe(withTimeOfDay(time + 0.25))
        const { createdAt, updatedAt } = yield* scenario.store.get(scenario.id())
        yield* equal("the times", { createdAt, updatedAt }, { createdAt: at, updatedAt: time })
      }
    })
  ),

  make("settings: an id that is not there", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.put({})
      const error = yield* fails(scenario.store.get(scenario.id("other")), "SettingsNotFound")
      yield* equal("the id that is named", error.settingsId, scenario.id("other"))
    })
  ),

  make("settings: nobody shares an object with the store", (scenario) =>
    Effect.gen(function* () {
      const tools = ["search"]
      yield* scenario.put({ tools })
      tools.push("delete")
      const got = yield* scenario.content()
      yield* equal("what is stored", got, { tools: ["search"] })
      Object.assign(got, { tools: [] })
      yield* equal("what is stored", yield* scenario.content(), { tools: ["search"] })
    })
  ),

  make("settings: a removal says whether they were there, and can be repeated", (scenario) =>
    Effect.gen(function* () {
      yield* putAll(scenario, ["it", "other"])
      for (const there of [true, false, false]) {
        yield* equal("whether they were there", yield* scenario.store.remove(scenario.id()), there)
        yield* fails(scenario.store.get(scenario.id()), "SettingsNotFound")
      }
      yield* equal("what is listed", yield* listedIds(scenario), [scenario.id("other")])
    })
  ),

  make("settings: removed ones are made anew, from revision 1", (scenario) =>
    Effect.gen(function* () {
      for (const [i, time] of [at, at + 1_000].entries()) {
        yield* scenario.put({ i }, 0).pipe(withTimeOfDay(time))
        yield* scenario.put({ i }).pipe(withTimeOfDay(time))
        const { createdAt, revision } = yield* scenario.store.get(scenario.id())
        yield* equal("what is there", { createdAt, revision }, { createdAt: time, revision: 2 })
        yield* scenario.store.remove(scenario.id())
      }
    })
  ),

  make("settings revision: what is expected is replaced, with equal content too", (scenario) =>
    Effect.gen(function* () {
      for (const [expected, settings] of [{ n: 1 }, { n: 2 }, { n: 2 }, { n: 1 }].entries()) {
        yield* equal("what is told", yield* scenario.put(settings, expected), { revision: expected + 1 })
        yield* equal("what is stored", yield* scenario.content(), settings)
      }
    })
  ),

  make("settings revision: none is expected where there is one", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.put({ n: 1 })
      yield* conflicts(scenario, { n: 2 }, 0, 1)
    })
  ),

  make("settings revision: one is expected where there is none", (scenario) =>
    Effect.gen(function* () {
      yield* conflicts(scenario, { n: 1 }, 1, 0)
      yield* scenario.put({ n: 1 })
      yield* scenario.store.remove(scenario.id())
      yield* conflicts(scenario, { n: 2 }, 1, 0)
    })
  ),

  make("settings revision: an old or a later one is expected", (scenario) =>
    Effect.gen(function* () {
      for (const n of [1, 2, 3]) yield* scenario.put({ n })
      for (const expected of [0, 1, 2, 4, 5, Number.MAX_SAFE_INTEGER]) {
        yield* conflicts(scenario, { n: 4 }, expected, 3)
      }
      // Content that is there, at a revision that this put could not have made.
      for (const expected of [0, 1, 4]) yield* conflicts(scenario, { n: 3 }, expected, 3)
    })
  ),

  make("settings revision: a put is repeated after its acknowledgement was lost", (scenario) =>
    Effect.gen(function* () {
      for (const expected of [0, 1]) {
        const first = yield* scenario.put({ a: expected, b: ["half\ud83d"] }, expected).pipe(withTimeOfDay(at))
        const stored = yield* scenario.store.get(scenario.id())
        const spelledOtherwise = { b: ["half\ufffd"], a: expected, c: undefined }
        yield* equal("what is told", yield* scenario.put(spelledOtherwise, expected), first)
        yield* equal("what is stored", yield* scenario.store.get(scenario.id()), stored)
      }
    })
  ),

  make("settings revision: a put is repeated after somebody else has put or removed", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.put({ n: 1 }, 0)
      yield* conflicts(scenario, { n: 2 }, 0, 1)
      yield* scenario.put({ n: 2 }, 1)
      yield* conflicts(scenario, { n: 1 }, 0, 2)
      yield* scenario.store.remove(scenario.id())
      yield* conflicts(scenario, { n: 2 }, 1, 0)
    })
  ),

  make("settings concurrency: of 32 first puts one wins, and 31 are told its revision", (scenario) =>
    oneOfMany(scenario, 0)
  ),

  make("settings concurrency: of 32 puts over one revision one wins, and 31 are told the next", (scenario) =>
    Effect.gen(function* () {
      for (const n of [1, 2, 3]) yield* scenario.put({ n })
      for (const expected of [3, 4]) yield* oneOfMany(scenario, expected)
    })
  ),

  make("settings concurrency: 32 who put the same are all told that it is there", (scenario) =>
    Effect.gen(function* () {
      const results = yield* race(() => scenario.put({ same: true }, 0))
      yield* equal(
        "what they are told",
        results,
        racers.map(() => Result.succeed({ revision: 1 }))
      )
    })
  ),

  make("settings concurrency: 32 who expect nothing each make a revision, and the last one stays", (scenario) =>
    Effect.gen(function* () {
      const revisions = (yield* race((racer) => scenario.put({ racer }))).map((result) =>
        Result.isSuccess(result) ? result.success.revision : 0
      )
      yield* equal(
        "the revisions",
        revisions.toSorted((a, b) => a - b),
        racers.map((racer) => racer + 1)
      )
      const { revision, settings } = yield* scenario.store.get(scenario.id())
      yield* equal(
        "what is stored",
        { revision, settings },
        {
          revision: 32,
          settings: { racer: revisions.indexOf(32) }
        }
      )
    })
  ),

  make("settings concurrency: of 32 removals one finds something", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.put({})
      const found = (yield* race(() => scenario.store.remove(scenario.id()))).filter(
        (result) => Result.isSuccess(result) && result.success
      )
      yield* equal("how many", found.length, 1)
    })
  ),

  make("settings concurrency: puts under different ids do not hinder each other", (scenario) =>
    Effect.gen(function* () {
      const settingsId = (racer: number) => scenario.id(`${racer}`)
      const results = yield* race((racer) =>
        scenario.store.put({ settingsId: settingsId(racer), settings: { racer }, expectedRevision: 0 })
      )
      yield* equal(
        "what they are told",
        results,
        racers.map(() => Result.succeed({ revision: 1 }))
      )
      for (const racer of racers) {
        const { settings } = yield* scenario.store.get(settingsId(racer))
        yield* equal("what is stored", settings, { racer })
      }
    })
  ),

  make("settings list: what they are, without their content", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.put({ n: 1 }).pipe(withTimeOfDay(at))
      yield* scenario.put({ n: 2 }).pipe(withTimeOfDay(at + 1))
      yield* equal("what is listed", yield* scenario.listed(), [
        { settingsId: scenario.id(), revision: 2, createdAt: at, updatedAt: at + 1 }
      ])
    })
  ),

  make("settings list: ids come in the order of their bytes", (scenario) =>
    Effect.gen(function* () {
      const suffixes = [" ", "10", "9", "A", "a", "aa", "b", "\u00e9", "\u4e2d", "\uff41", "\uffff", "\u{10000}", "😀"]
      yield* putAll(scenario, suffixes.toReversed())
      yield* equal(
        "the ids",
        yield* listedIds(scenario),
        suffixes.map((suffix) => scenario.id(suffix))
      )
    })
  ),

  make("settings list: goes on behind an id, whether that is there or not", (scenario) =>
    Effect.gen(function* () {
      yield* putAll(scenario, ["a", "b", "c", "d"])
      const page = (after: string, limit: number) =>
        Effect.map(Stream.runCollect(scenario.store.list({ after: scenario.id(after), limit })), (listed) =>
          listed.map(({ settingsId }) => settingsId)
        )
      const ids = (...suffixes: ReadonlyArray<string>) => suffixes.map((suffix) => scenario.id(suffix))
      yield* equal("the first page", yield* page("", 2), ids("a", "b"))
      yield* equal("behind an id that is there", yield* page("b", 2), ids("c", "d"))
      yield* equal("behind an id that is not there", yield* page("bb", 1), ids("c"))
      yield* equal("a page of none", yield* page("b", 0), [])
    })
  ),

  make("settings list: hundreds come whole, but for removed ones", (scenario) =>
    Effect.gen(function* () {
      const suffixes = Array.from({ length: 1_001 }, (_, i) => `${i + 1_000}`)
      yield* Effect.forEach(
        suffixes,
        (suffix) => scenario.store.put({ settingsId: scenario.id(suffix), settings: {} }),
        { concurrency: 50, discard: true }
      )
      const ids = suffixes.map((suffix) => scenario.id(suffix))
      yield* equal("the ids", yield* listedIds(scenario), ids)
      yield* equal("so many ids", yield* listedIds(scenario, 777), ids.slice(0, 777))
      for (const id of [ids[0]!, ids[499]!, ids[500]!]) yield* scenario.store.remove(id)
      yield* equal(
        "the ids that are left",
        yield* listedIds(scenario),
        ids.filter((_, i) => i !== 0 && i !== 499 && i !== 500)
      )
    })
  ),

  make("settings list: from the beginning has all, and each once", (scenario) =>
    Effect.gen(function* () {
      yield* putAll(scenario, ["a", "b"])
      const all = (yield* Stream.runCollect(scenario.store.list())).map(({ settingsId }) => settingsId)
      yield* equal("how often each is there", new Set(all).size, all.length)
      for (const suffix of ["a", "b"]) yield* holds(`${suffix} is there`, all.includes(scenario.id(suffix)), all)
      const encoder = new TextEncoder()
      const bytes = (id: SettingsId) => Buffer.from(encoder.encode(id))
      yield* equal(
        "the order",
        all.toSorted((a, b) => Buffer.compare(bytes(a), bytes(b))),
        all
      )
    })
  )
]

/**
 * What every store of settings must do; a list of its own, since a storage of conversations need not have any. Cases
 * have ids of their own, so all of them can run on one store, once.
 *
 * @category cases
 * @since 0.1.0
 */
export const settingsContract: ReadonlyArray<ConformanceCase<SettingsStores>> = [
  ...settingsCases,
  ...settingsInputCases,
  ...settingsTenantCases
]

/**
 * How many cases there are: a list that is shorter has lost some.
 *
 * @category cases
 * @since 0.1.0
 */
export const settingsContractSize = 89
