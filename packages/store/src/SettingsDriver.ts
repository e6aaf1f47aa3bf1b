/**
 * What an adapter implements to keep settings: rows in, rows out, and one guarded write.
 *
 * A driver holds no rule of its own. Ids are plain text here, compared byte by byte: those of a tenant have a prefix that
 * no caller can make. The text of the settings is canonical JSON that a driver never reads.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { CommitResult } from "./ConversationDriver.ts"
import type { StoreUnavailable } from "./StoreError.ts"

/**
 * The row of settings, but for their text; times are UTC in milliseconds.
 *
 * @category rows
 * @since 0.1.0
 */
export interface SettingsHead {
  readonly settingsId: string
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
}

/**
 * @category rows
 * @since 0.1.0
 */
export interface SettingsRow extends SettingsHead {
  readonly settings: string
}

/**
 * The encoded storage of settings.
 *
 * @category services
 * @since 0.1.0
 */
export class SettingsDriver extends Context.Service<
  SettingsDriver,
  {
    /** The row of an id, strongly consistent with `put` and `remove`. */
    readonly get: (settingsId: string) => Effect.Effect<Option.Option<SettingsRow>, StoreUnavailable>
    /**
     * Writes the row over the one that has this revision; with 0, where there is none. Otherwise `refused`, and nothing
     * is written. Durable as the adapter's options say before it answers.
     */
    readonly put: (row: SettingsRow, expected: number) => Effect.Effect<CommitResult, StoreUnavailable>
    /** Whether there was a row. Durable as the adapter's options say before it answers. */
    readonly remove: (settingsId: string) => Effect.Effect<boolean, StoreUnavailable>
    /** Rows whose id comes behind `after` and before `before`, in byte order, without their text. */
    readonly list: (request: {
      readonly after: string
      readonly before: string | undefined
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<SettingsHead>, StoreUnavailable>
  }
>()("@colloquy/store/SettingsDriver") {}
