/**
 * Runs cases without a test framework.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { type ConformanceCase, ConformanceViolation, type Stores } from "./Case.ts"
import { contract } from "./Contract.ts"

/**
 * What came of a run. `notRun` names the cases of the contract that were not among those to run.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  readonly passed: number
  readonly failed: ReadonlyArray<{ readonly name: string; readonly message: string }>
  readonly names: ReadonlyArray<string>
  readonly notRun: ReadonlyArray<string>
}

/**
 * Runs cases, one after the other, on one store that is built for all of them.
 *
 * **Details**
 *
 * A case that does not end within `timeLimit` of the context's clock (default one minute) has failed: a store that
 * loses a record keeps an observer waiting for ever. The order of `failed` and `names` is that of the cases.
 *
 * **Example** (All cases, on a store of your own)
 *
 * ```ts
 * import { contract, describe, run } from "@colloquy/store/testing"
 * import { Effect } from "effect"
 *
 * Effect.runPromise(run(contract, MyStorage.layer)).then((report) => console.log(describe(report)))
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E>(
  cases: ReadonlyArray<ConformanceCase>,
  layer: Layer.Layer<Stores, E>,
  options: { readonly timeLimit?: Duration.Input | undefined } = {}
): Effect.Effect<Report, E> =>
  Effect.forEach(cases, (each) => Effect.result(limited(each, options.timeLimit ?? "1 minute"))).pipe(
    Effect.provide(layer),
    Effect.map((results) => {
      const failed = results.flatMap((result) =>
        Result.isFailure(result) ? [{ name: result.failure.caseName, message: result.failure.message }] : []
      )
      const names = cases.map(({ name }) => name)
      const notRun = contract.map(({ name }) => name).filter((name) => !names.includes(name))
      return { passed: names.length - failed.length, failed, names, notRun }
    })
  )

/**
 * The report as text: a line for each failure, and one that says which cases did not run.
 *
 * @category showing
 * @since 0.1.0
 */
export const describe = ({ failed, names, notRun, passed }: Report): string =>
  [
    ...failed.map(({ message }) => `FAILED ${message}`),
    `cases: ${names.length} ran, ${passed} passed, ${failed.length} failed`,
    `did not run: ${notRun.length === 0 ? "none" : notRun.join("; ")}`
  ].join("\n")

// --- internal ---

const limited = ({ name, run }: ConformanceCase, timeLimit: Duration.Input) =>
  Effect.timeoutOrElse(run, {
    duration: timeLimit,
    orElse: () =>
      Effect.fail(
        new ConformanceViolation({
          caseName: name,
          expected: "an end",
          found: `nothing within ${Duration.format(Duration.fromInputUnsafe(timeLimit))}`
        })
      )
  })
