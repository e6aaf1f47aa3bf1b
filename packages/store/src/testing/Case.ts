/**
 * A case of the conformance kit: a name, and an effect that fails when a store does not keep that part of the contract.
 *
 * Cases are data: an adapter's author runs them all, a test of the kit runs them on a broken store. The ids of a case
 * begin with its name, so that all cases can run on one store, in any order and at once.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { ConversationStore, Tenants } from "../ConversationStore.ts"
import { show, Unmet } from "./Expect.ts"
import { Scenario } from "./Scenario.ts"

/**
 * A store does not keep the contract: what the case expected, and what it found.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConformanceViolation extends Schema.TaggedError<ConformanceViolation>(
  "@colloquy/store/ConformanceViolation"
)("ConformanceViolation", { caseName: Schema.String, expected: Schema.String, found: Schema.String }) {
  override get message() {
    return `${this.caseName}\n  expected ${this.expected}\n  found    ${this.found}`
  }
}

/**
 * What a case may use: the store, and the stores of tenants over the same database.
 *
 * @category models
 * @since 0.1.0
 */
export type Stores = ConversationStore | Tenants

/**
 * One case. Whatever a store does wrong, dying included, is a violation.
 *
 * @category models
 * @since 0.1.0
 */
export interface ConformanceCase<R = Stores> {
  readonly name: string
  readonly run: Effect.Effect<void, ConformanceViolation, R>
}

/**
 * A case from what it does in its scenario. Every failure and defect of the body is a violation.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  name: string,
  body: (scenario: Scenario) => Effect.Effect<void, unknown, Scope.Scope>
): ConformanceCase =>
  judged(
    name,
    Effect.flatMap(Effect.all([ConversationStore, Tenants]), ([store, tenants]) =>
      Effect.scoped(body(new Scenario(name, store, tenants)))
    )
  )

/**
 * A case from all that it does. Every failure and defect is a violation.
 *
 * @category constructors
 * @since 0.1.0
 */
export const judged = <R>(name: string, body: Effect.Effect<void, unknown, R>): ConformanceCase<R> => ({
  name,
  run: Effect.catchCause(body, (cause) =>
    Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.fail(violation(name, Cause.squash(cause)))
  )
})

// --- internal ---

const violation = (caseName: string, error: unknown): ConformanceViolation =>
  error instanceof Unmet
    ? new ConformanceViolation({ caseName, expected: error.expected, found: error.found })
    : new ConformanceViolation({ caseName, expected: "no failure", found: show(error) })
