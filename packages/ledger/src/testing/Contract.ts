/**
 * All cases of ledgers, and a runner for them without a test framework.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { type LedgerCase, type LedgerStores, LedgerViolation } from "./Case.ts"
import { keepingCases } from "./KeepingCases.ts"
import { recordCases } from "./RecordCases.ts"

/**
 * What every store of ledgers must do. Cases have names of their own, so all of them can run on one store, once.
 *
 * @category cases
 * @since 0.1.0
 */
export const ledgerContract: ReadonlyArray<LedgerCase> = [...recordCases, ...keepingCases]

/**
 * How many cases there are: a list that is shorter has lost some.
 *
 * @category cases
 * @since 0.1.0
 */
export const ledgerContractSize = 42

/**
 * What came of a run, in the order of the cases.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  readonly passed: number
  readonly failed: ReadonlyArray<{ readonly name: string; readonly message: string }>
}

/**
 * Runs cases, one after the other, on one store that is built for all of them. One that does not end within a minute of the
 * context's clock has failed.
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E>(
  cases: ReadonlyArray<LedgerCase>,
  layer: Layer.Layer<LedgerStores, E>
): Effect.Effect<Report, E> =>
  Effect.forEach(cases, (each) => Effect.result(limited(each))).pipe(
    Effect.map((results) => {
      const failed = results.flatMap((result) =>
        Result.isFailure(result) ? [{ name: result.failure.caseName, message: result.failure.message }] : []
      )
      return { passed: cases.length - failed.length, failed }
    }),
    Effect.provide(layer)
  )

// --- internal ---

const limited = ({ name, run }: LedgerCase) =>
  Effect.timeoutOrElse(run, {
    duration: "1 minute",
    orElse: () =>
      Effect.fail(new LedgerViolation({ caseName: name, expected: "an end", found: "nothing within a minute" }))
  })
