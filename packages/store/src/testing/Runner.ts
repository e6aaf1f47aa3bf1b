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
import { settingsContract } from "./SettingsCases.ts"
import type { SettingsStores } from "./SettingsScenario.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Of the context's clock (default one minute). */
  readonly timeLimit?: Duration.Input | undefined
}

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
  options: Options = {}
): Effect.Effect<Report, E> => Effect.provide(reported(cases, contract, options), layer)

/**
 * Runs cases of settings as {@link run} does those of conversations; `notRun` names those of the `settingsContract`.
 *
 * @category running
 * @since 0.1.0
 */
export const runSettings = <E>(
  cases: ReadonlyArray<ConformanceCase<SettingsStores>>,
  layer: Layer.Layer<SettingsStores, E>,
  options: Options = {}
): Effect.Effect<Report, E> => Effect.provide(reported(cases, settingsContract, options), layer)

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

const reported = <R>(
  cases: ReadonlyArray<ConformanceCase<R>>,
  whole: ReadonlyArray<ConformanceCase<R>>,
  { timeLimit = "1 minute" }: Options
): Effect.Effect<Report, never, R> =>
  Effect.map(
    Effect.forEach(cases, (each) => Effect.result(limited(each, timeLimit))),
    (results) => {
      const failed = results.flatMap((result) =>
        Result.isFailure(result) ? [{ name: result.failure.caseName, message: result.failure.message }] : []
      )
      const names = cases.map(({ name }) => name)
      const notRun = whole.map(({ name }) => name).filter((name) => !names.includes(name))
      return { passed: names.length - failed.length, failed, names, notRun }
    }
  )

const limited = <R>({ name, run }: ConformanceCase<R>, timeLimit: Duration.Input) =>
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
