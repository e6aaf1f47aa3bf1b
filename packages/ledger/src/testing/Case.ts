/**
 * A case of the ledgers' conformance list: a name, and an effect that fails when a store does not keep that part of the
 * contract.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Formatter from "effect/Formatter"
import * as Schema from "effect/Schema"
import { LedgerStore, Tenants } from "../LedgerStore.ts"
import { Scenario } from "./Scenario.ts"

/**
 * A store does not keep the contract: what the case expected, and what it found.
 *
 * @category errors
 * @since 0.1.0
 */
export class LedgerViolation extends Schema.TaggedError<LedgerViolation>("@colloquy/ledger/LedgerViolation")(
  "LedgerViolation",
  { caseName: Schema.String, expected: Schema.String, found: Schema.String }
) {
  override get message() {
    return `${this.caseName}\n  expected ${this.expected}\n  found    ${this.found}`
  }
}

/**
 * What a case may use: the store, and those of tenants over the same database.
 *
 * @category models
 * @since 0.1.0
 */
export type LedgerStores = LedgerStore | Tenants

/**
 * One case. Whatever a store does wrong, dying included, is a violation.
 *
 * @category models
 * @since 0.1.0
 */
export interface LedgerCase {
  readonly name: string
  readonly run: Effect.Effect<void, LedgerViolation, LedgerStores>
}

/**
 * A case from what it does in its scenario. Every failure and defect of the body is a violation.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (name: string, body: (scenario: Scenario) => Effect.Effect<void, unknown>): LedgerCase => ({
  name,
  run: Effect.gen(function* () {
    yield* body(new Scenario(name, yield* LedgerStore, yield* Tenants))
  }).pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.fail(violation(name, Cause.squash(cause)))
    )
  )
})

/**
 * `found` is structurally equal to `expected`; `what` names it.
 *
 * @category expectations
 * @since 0.1.0
 */
export const equal = <A>(what: string, found: A, expected: A): Effect.Effect<void, Unmet> =>
  Effect.suspend(() =>
    Equal.equals(found, expected)
      ? Effect.void
      : Effect.fail(new Unmet({ expected: `${what}: ${show(expected)}`, found: show(found) }))
  )

/**
 * The store refuses this; gives what it was refused for.
 *
 * @category expectations
 * @since 0.1.0
 */
export const refused = <A, E extends { readonly _tag: string }>(
  effect: Effect.Effect<A, E>,
  what: "entry" | "max-entries" | "alias"
): Effect.Effect<void, Unmet> =>
  Effect.flatMap(Effect.exit(effect), (exit) => {
    const error = exit._tag === "Failure" ? Cause.squash(exit.cause) : undefined
    const isIt = typeof error === "object" && error !== null && "what" in error && error.what === what
    return isIt ? Effect.void : Effect.fail(new Unmet({ expected: `a refusal (${what})`, found: show(exit) }))
  })

// --- internal ---

class Unmet extends Data.TaggedError("Unmet")<{ readonly expected: string; readonly found: string }> {}

const violation = (caseName: string, error: unknown): LedgerViolation =>
  error instanceof Unmet
    ? new LedgerViolation({ caseName, expected: error.expected, found: error.found })
    : new LedgerViolation({ caseName, expected: "no failure", found: show(error) })

const shownCharacters = 600

const show = (value: unknown): string => {
  const text = value instanceof Error ? `${value.name}: ${value.message}` : Formatter.format(value)
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters).toWellFormed()}…`
}
