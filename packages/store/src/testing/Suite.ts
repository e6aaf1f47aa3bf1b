/**
 * The conformance kit as a vitest suite. In a module of its own: nothing else of the kit needs vitest.
 *
 * @since 0.1.0
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { Stores } from "./Case.ts"
import { contract, contractSize } from "./Contract.ts"
import { settingsContract, settingsContractSize } from "./SettingsCases.ts"
import type { SettingsStores } from "./SettingsScenario.ts"

/**
 * Runs every case of the contract on one store, with the system's clock.
 *
 * **Example** (A whole test file)
 *
 * ```ts
 * import { suite } from "@colloquy/store/testing/Suite"
 *
 * suite("my storage", MyStorage.layer)
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const suite = <E>(name: string, layer: Layer.Layer<Stores, E>): void =>
  withLayer(layer, { excludeTestServices: true, timeout: hookTimeout })(name, (it) => {
    for (const { name, run } of contract) it.effect(name, () => run, caseTimeoutMillis)

    it.effect(`all ${contractSize} cases`, () =>
      Effect.sync(() => assert.strictEqual(contract.length, contractSize, "the kit has another number of cases"))
    )
  })

/**
 * Runs every case of settings on one store, with the system's clock.
 *
 * @category running
 * @since 0.1.0
 */
export const settingsSuite = <E>(name: string, layer: Layer.Layer<SettingsStores, E>): void =>
  withLayer(layer, { excludeTestServices: true, timeout: hookTimeout })(name, (it) => {
    for (const { name, run } of settingsContract) it.effect(name, () => run, caseTimeoutMillis)

    it.effect(`all ${settingsContractSize} cases`, () =>
      Effect.sync(() =>
        assert.strictEqual(settingsContract.length, settingsContractSize, "the kit has another number of cases")
      )
    )
  })

// --- internal ---

const hookTimeout = "1 minute"
const caseTimeoutMillis = 60_000
