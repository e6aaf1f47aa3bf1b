/**
 * Names for both sides of every durable write of a store, for tests that let it die there.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreUnavailable } from "./StoreError.ts"

/**
 * The durable writes of conversations, by the verb that makes them.
 *
 * **Details**
 *
 * - `import` and `fork` are of logs that fit into one commit; larger ones are written in parts, and adopted by the last
 *   commit.
 * - `import.extend` appends what a log from elsewhere has more.
 * - `discard` removes what was staged.
 * - `erase.close` takes the conversation from its owner, `erase.empty` removes its content.
 * - `scrub` makes the bytes of removed content go.
 *
 * @category names
 * @since 0.1.0
 */
export const writes = [
  "materialize",
  "append",
  "redact",
  "checkpoint.save",
  "checkpoint.prune",
  "import",
  "import.extend",
  "fork",
  "staging.part",
  "staging.adopt",
  "discard",
  "erase.close",
  "erase.empty",
  "scrub"
] as const

/**
 * @category names
 * @since 0.1.0
 */
export type Write = (typeof writes)[number]

/**
 * The durable writes of settings, apart: a storage of conversations need not have any.
 *
 * @category names
 * @since 0.1.0
 */
export const settingsWrites = ["settings.put", "settings.remove"] as const

/**
 * @category names
 * @since 0.1.0
 */
export type SettingsWrite = (typeof settingsWrites)[number]

/**
 * One side of a write: before anything of it is written, or after all of it is durable and before anybody is told.
 *
 * @category names
 * @since 0.1.0
 */
export type Failpoint = `${Write | SettingsWrite}.${"before" | "after"}`

/**
 * All failpoints of conversations.
 *
 * @category names
 * @since 0.1.0
 */
export const failpoints: ReadonlyArray<Failpoint> = writes.flatMap((write): ReadonlyArray<Failpoint> => [
  `${write}.before`,
  `${write}.after`
])

/**
 * All failpoints of settings.
 *
 * @category names
 * @since 0.1.0
 */
export const settingsFailpoints: ReadonlyArray<Failpoint> = settingsWrites.flatMap(
  (write): ReadonlyArray<Failpoint> => [`${write}.before`, `${write}.after`]
)

/**
 * What a store runs at each failpoint; read when the store is built. Nothing by default, which costs nothing: the
 * driver is used as it is.
 *
 * **Example** (Dying before an append is written)
 *
 * ```ts
 * Layer.provide(
 *   storage,
 *   Layer.succeed(Failpoints, (point) => (point === "append.before" ? Effect.die("crash") : Effect.void))
 * )
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export const Failpoints = Context.Reference<((point: Failpoint) => Effect.Effect<void, StoreUnavailable>) | undefined>(
  "@colloquy/store/Failpoints",
  { defaultValue: () => undefined }
)
