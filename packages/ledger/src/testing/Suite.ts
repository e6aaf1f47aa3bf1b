/**
 * The cases of ledgers as a suite of vitest.
 *
 * @since 0.1.0
 */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { LedgerStores } from "./Case.ts"
import { ledgerContract, ledgerContractSize } from "./Contract.ts"

/**
 * Runs every case on one store, with the system's clock.
 *
 * **Example** (A whole test file)
 *
 * ```ts
 * import { ledgerSuite } from "@colloquy/ledger/testing/Suite"
 *
 * ledgerSuite("my ledgers", MyStorage.layer)
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const ledgerSuite = <E>(name: string, layer: Layer.Layer<LedgerStores, E>): void =>
  withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })(name, (it) => {
    for (const { name, run } of ledgerContract) it.effect(name, () => run, 60_000)

    it.effect(`all ${ledgerContractSize} cases`, () =>
      Effect.sync(() => assert.strictEqual(ledgerContract.length, ledgerContractSize, "the list has another length"))
    )
  })
