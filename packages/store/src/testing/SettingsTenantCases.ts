/**
 * Tenants of settings: every verb sees one tenant's settings alone; another's id is one that is not there.
 *
 * @since 0.1.0
 */
import { SettingsId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ConformanceCase } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { make, type SettingsScenario, type SettingsStores } from "./SettingsScenario.ts"

/** The three who share a database: two tenants, and the store without any. */
const places = (scenario: SettingsScenario): ReadonlyArray<readonly [name: string, place: SettingsScenario]> => [
  ["a tenant", scenario.tenant("a")],
  ["a tenant whose name begins with the other's", scenario.tenant("ab")],
  ["the store without a tenant", scenario]
]

/** Nobody has any of the case but one of them. */
const onlyOne = (scenario: SettingsScenario) =>
  Effect.forEach(places(scenario), ([name, place], i) =>
    Effect.gen(function* () {
      yield* place.put({ whose: name })
      const others = places(scenario).filter((_, other) => other !== i)
      for (const [other, elsewhere] of others) {
        yield* fails(elsewhere.store.get(elsewhere.id()), "SettingsNotFound")
        yield* equal(`what ${other} removes`, yield* elsewhere.store.remove(elsewhere.id()), false)
        yield* equal(`what ${other} lists`, yield* elsewhere.listed(), [])
        const { actual } = yield* fails(elsewhere.put({}, 1), "SettingsConflict")
        yield* equal(`the revision for ${other}`, actual, 0)
      }
      yield* equal("what is stored", yield* place.content(), { whose: name })
      yield* equal("what is removed", yield* place.store.remove(place.id()), true)
    })
  )

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const settingsTenantCases: ReadonlyArray<ConformanceCase<SettingsStores>> = [
  make("settings tenants: no verb finds what is another's", (scenario) => Effect.asVoid(onlyOne(scenario))),

  make("settings tenants: one id names settings of each", (scenario) =>
    Effect.gen(function* () {
      for (const [n, [name, place]] of places(scenario).entries()) {
        yield* equal("the revision", yield* place.put({ name }, 0), { revision: 1 })
        for (let more = 0; more < n; more++) yield* place.put({ name, more })
      }
      for (const [n, [, place]] of places(scenario).entries()) {
        const [listed] = yield* place.listed()
        yield* equal("what is listed", [listed?.settingsId, listed?.revision], [place.id(), n + 1])
      }
      const [, [other, elsewhere]] = [places(scenario)[0]!, places(scenario)[1]!]
      yield* elsewhere.store.remove(elsewhere.id())
      for (const [name, place] of places(scenario)) {
        if (name === other) yield* fails(place.store.get(place.id()), "SettingsNotFound")
        else yield* equal("the settings of the others", (yield* place.store.get(place.id())).settingsId, place.id())
      }
    })
  ),

  make("settings tenants: first puts of one id at once are each a first one", (scenario) =>
    Effect.gen(function* () {
      const told = yield* Effect.forEach(places(scenario), ([name, place]) => place.put({ name }, 0), {
        concurrency: "unbounded"
      })
      yield* equal("what they are told", told, [{ revision: 1 }, { revision: 1 }, { revision: 1 }])
    })
  ),

  make("settings tenants: a whole list has what is one's own, from the first to the last", (scenario) =>
    Effect.gen(function* () {
      for (const [name, place] of places(scenario)) {
        for (const suffix of ["a", "b", "c"]) {
          yield* place.store.put({ settingsId: place.id(`${name} ${suffix}`), settings: {} })
        }
      }
      for (const [name, place] of places(scenario).slice(0, 2)) {
        const whole = yield* Stream.runCollect(place.store.list())
        yield* equal(
          "the ids",
          whole.map(({ settingsId }) => settingsId),
          ["a", "b", "c"].map((suffix) => place.id(`${name} ${suffix}`))
        )
      }
    })
  ),

  make("settings tenants: a list that begins at a text which is no id shows nothing of theirs", (scenario) =>
    Effect.gen(function* () {
      const [a, b] = [scenario.tenant("a"), scenario.tenant("ab")]
      for (const place of [a, b]) yield* place.put({})
      for (const text of ["", "\u0000", "\u0001"]) {
        const after = SettingsId.make(text, { disableChecks: true })
        const all = yield* Stream.runCollect(scenario.store.list({ after }))
        yield* equal(
          "what the store without a tenant lists",
          all.filter(({ settingsId }) => settingsId.endsWith(scenario.id())),
          []
        )
        yield* equal("what a tenant lists", (yield* Stream.runCollect(a.store.list({ after }))).length, 1)
      }
    })
  )
]
