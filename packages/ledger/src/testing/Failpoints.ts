/**
 * Stores of ledgers that die on each side of every durable write: what is there afterwards is what was there before, or all
 * of what was being written, and a retry completes it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import { type Failpoint, Failpoints, writes } from "../Failpoints.ts"
import { equal, type LedgerStores, type LedgerViolation, make } from "./Case.ts"
import { look, ways } from "./FailpointWays.ts"

/**
 * A case for storages that can be built again over the same rows, as after a restart.
 *
 * @category models
 * @since 0.1.0
 */
export interface LedgerFailpointCase {
  readonly name: string
  readonly point: Failpoint
  /** What makes the write, and may be repeated; for a process of its own that dies at the point. */
  readonly act: Effect.Effect<void, LedgerViolation, LedgerStores>
  /**
   * Builds the storage several times; what it is over stays. `dying` does the act and dies of it, and says whether it has
   * died at the point (default: in this process).
   */
  readonly run: <E, E2 = never, R2 = never>(
    storage: Layer.Layer<LedgerStores, E>,
    dying?: Effect.Effect<boolean, E2, R2>
  ) => Effect.Effect<void, LedgerViolation | E | E2, R2>
}

/**
 * One case for each side of each write. A point that is never reached fails its case.
 *
 * @category cases
 * @since 0.1.0
 */
export const ledgerFailpointCases: ReadonlyArray<LedgerFailpointCase> = writes.flatMap((write) =>
  (["before", "after"] as const).map((side): LedgerFailpointCase => {
    const point: Failpoint = `${write}.${side}`
    const name = `failpoint: ledger ${point}`
    const { act, prepare, visible } = ways[write]
    const acting = make(name, act).run
    return {
      name,
      point,
      act: acting,
      run: <E, E2 = never, R2 = never>(
        storage: Layer.Layer<LedgerStores, E>,
        dying?: Effect.Effect<boolean, E2, R2>
      ) => {
        const onStore = <A>(effect: Effect.Effect<A, LedgerViolation, LedgerStores>) =>
          Effect.provide(effect, Layer.fresh(storage))
        const expect = (what: string, found: unknown, expected: unknown) =>
          onStore(make(name, () => equal(what, found, expected)).run)
        const seen = Effect.suspend(() => {
          let found: ReadonlyArray<string> = []
          const looking = make(name, (scenario) => Effect.map(look(scenario), (all) => (found = all))).run
          return Effect.map(onStore(looking), () => found)
        })
        return Effect.gen(function* () {
          yield* onStore(make(name, prepare).run)
          const before = yield* seen
          yield* expect(`${point} is reached`, yield* dying ?? dyingHere(point, acting, storage), true)
          const between = yield* seen
          yield* onStore(acting)
          const after = yield* seen
          const isDone = !Equal.equals(between, before)
          if (visible) yield* expect("whether dying has left it done", isDone, side === "after")
          if (isDone) yield* expect("what is there after dying", between, after)
          if (visible) yield* expect("whether a retry does it", Equal.equals(after, before), false)
        })
      }
    }
  })
)

// --- internal ---

/** From the point on it writes nothing more, whatever its finalizers try. */
const dyingHere = <E>(
  point: Failpoint,
  act: LedgerFailpointCase["act"],
  storage: Layer.Layer<LedgerStores, E>
): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    let isDead = false
    const points = Layer.succeed(Failpoints, (reached) =>
      Effect.suspend(() => {
        isDead ||= reached === point
        return isDead ? Effect.die(new Error(`died at ${point}`)) : Effect.void
      })
    )
    const acting = Effect.provide(act, Layer.fresh(Layer.provide(storage, points)))
    return Effect.map(Effect.isFailure(acting), (died) => died && isDead)
  })
