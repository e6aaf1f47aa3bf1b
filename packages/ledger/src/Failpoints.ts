/**
 * Names for both sides of every durable write of ledgers, for tests that let a store die there.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { LedgerUnavailable } from "./LedgerError.ts"

/**
 * The durable writes, by the driver's verb. `update` records a turn with all that it replaces and pushes out, or keeps an
 * account; `remove` erases or sweeps; `scrub` makes the bytes of what was erased go.
 *
 * @category names
 * @since 0.1.0
 */
export const writes = ["update", "begin", "settle", "remove", "scrub", "alias"] as const

/**
 * @category names
 * @since 0.1.0
 */
export type Write = (typeof writes)[number]

/**
 * One side of a write: before anything of it is written, or after all of it is durable and before anybody is told.
 *
 * @category names
 * @since 0.1.0
 */
export type Failpoint = `${Write}.${"before" | "after"}`

/**
 * All of them.
 *
 * @category names
 * @since 0.1.0
 */
export const failpoints: ReadonlyArray<Failpoint> = writes.flatMap((write): ReadonlyArray<Failpoint> => [
  `${write}.before`,
  `${write}.after`
])

/**
 * What a store of ledgers runs at each failpoint; read when the store is built. Nothing by default, which costs nothing:
 * the driver is used as it is.
 *
 * @category services
 * @since 0.1.0
 */
export const Failpoints = Context.Reference<((point: Failpoint) => Effect.Effect<void, LedgerUnavailable>) | undefined>(
  "@colloquy/ledger/Failpoints",
  { defaultValue: () => undefined }
)
