/**
 * Stores of settings that die on each side of every durable write.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type SettingsWrite, settingsWrites } from "../Failpoints.ts"
import { dyingAt, type Way } from "./Dying.ts"
import { equal } from "./Expect.ts"
import type { FailpointCase } from "./Failpoints.ts"
import { make, type SettingsScenario, type SettingsStores } from "./SettingsScenario.ts"

/**
 * One case for each side of each write of settings. A point that is never reached fails its case.
 *
 * @category cases
 * @since 0.1.0
 */
export const settingsFailpointCases: ReadonlyArray<FailpointCase<SettingsStores>> = settingsWrites.flatMap((write) =>
  (["before", "after"] as const).map((side) => ({
    name: `failpoint: ${write}.${side}`,
    run: (storage) =>
      dyingAt(`${write}.${side}`, ways[write], {
        look,
        run: (name, body, points) => Effect.provide(make(name, body).run, Layer.fresh(Layer.provide(storage, points)))
      })
  }))
)

// --- internal ---

const look = (scenario: SettingsScenario) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    for (const { revision, settingsId } of yield* scenario.listed()) {
      const stored = yield* scenario.store.get(settingsId)
      yield* equal("the revision", stored.revision, revision)
      seen.push(`${settingsId} ${revision} ${JSON.stringify(stored.settings)}`)
    }
    return seen
  })

const ways: { readonly [write in SettingsWrite]: Way<SettingsScenario> } = {
  "settings.put": {
    prepare: (scenario) => scenario.put({ tone: "kind" }),
    // With what it expects, so that the repeated one is confirmed.
    act: (scenario) => scenario.put({ tone: "brief" }, 1),
    visible: true
  },
  "settings.remove": {
    prepare: (scenario) => scenario.put({ tone: "kind" }),
    act: (scenario) => scenario.store.remove(scenario.id()),
    visible: true
  }
}
