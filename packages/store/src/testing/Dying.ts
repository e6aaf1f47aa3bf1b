/**
 * A store that dies at a failpoint: what is there afterwards is what was there before, or all of what was being written,
 * and a retry completes it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { type Failpoint, Failpoints } from "../Failpoints.ts"
import type { ConformanceViolation } from "./Case.ts"
import { equal, holds } from "./Expect.ts"

/**
 * How a write comes about, in scenarios of one kind.
 *
 * @category models
 * @since 0.1.0
 */
export interface Way<S> {
  /** What is there before. */
  readonly prepare: (scenario: S) => Effect.Effect<unknown, unknown, Scope.Scope>
  /** What makes the write, and may be repeated. */
  readonly act: (scenario: S) => Effect.Effect<unknown, unknown, Scope.Scope>
  /** Whether a reader sees everything of the act with this write, and nothing of it without. */
  readonly visible: boolean
}

/**
 * What the cases need of a kind of storage.
 *
 * @category models
 * @since 0.1.0
 */
export interface Storage<S, E> {
  /** Everything of the scenario that can be read. */
  readonly look: (scenario: S) => Effect.Effect<ReadonlyArray<string>, unknown, Scope.Scope>
  /** Builds the store with these failpoints, and runs a case on it. */
  readonly run: (
    name: string,
    body: (scenario: S) => Effect.Effect<void, unknown, Scope.Scope>,
    points: Layer.Layer<never>
  ) => Effect.Effect<void, ConformanceViolation | E>
}

/**
 * Dies at the point, looks, tries again, and looks again. A point that is never reached is a violation.
 *
 * @category cases
 * @since 0.1.0
 */
export const dyingAt = Effect.fnUntraced(function* <S, E>(
  point: Failpoint,
  { act, prepare, visible }: Way<S>,
  { look, run }: Storage<S, E>
) {
  const death = new Death()
  const onStore = <A>(body: (scenario: S) => Effect.Effect<A, unknown, Scope.Scope>, dies = false) =>
    Effect.gen(function* () {
      let found: Option.Option<A> = Option.none()
      yield* run(
        `failpoint: ${point}`,
        (scenario) =>
          Effect.map(body(scenario), (value) => {
            found = Option.some(value)
          }),
        Layer.succeed(Failpoints, dies ? death.at(point) : undefined)
      )
      return yield* Effect.orDie(Effect.fromOption(found))
    })
  const expect = (what: string, found: unknown, expected: unknown) => onStore(() => equal(what, found, expected))
  const isBefore = point.endsWith(".before")

  yield* onStore(prepare)
  const before = yield* onStore(look)
  const died = yield* Effect.isFailure(onStore(act, true))
  yield* onStore(() => holds(`${point} is reached`, died && death.happened, "it is not"))
  const between = yield* onStore(look)
  if (isBefore && visible) yield* expect("what is there after dying", between, before)
  yield* onStore(act)
  const after = yield* onStore(look)
  if (!isBefore && visible) yield* expect("what is there after dying", between, after)
  if (!Equal.equals(between, before)) yield* expect("what is there after dying", between, after)
  if (visible) yield* onStore(() => holds("a retry does it", !Equal.equals(after, before), after))
})

// --- internal ---

/** A process that ends at a point: from there on it writes nothing more, whatever its finalizers try. */
class Death {
  happened = false

  at(point: Failpoint) {
    return (reached: Failpoint) =>
      Effect.suspend(() => {
        this.happened ||= reached === point
        return this.happened ? Effect.die(new Error(`died at ${point}`)) : Effect.void
      })
  }
}
