/**
 * Settings as rows in memory, and the encoded driver over them.
 *
 * @since 0.1.0
 */
import type { CommitResult } from "@colloquy/store/ConversationDriver"
import { SettingsDriver, type SettingsRow } from "@colloquy/store/SettingsDriver"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as IdOrder from "./internal/idOrder.ts"

/**
 * The rows of settings by their ids, those of tenants included.
 *
 * @category models
 * @since 0.1.0
 */
export interface SettingsTable {
  readonly row: (settingsId: string) => SettingsRow | undefined
  /** The rows of the ids behind `after` and before `before`, in the order of their UTF-8 bytes. */
  readonly between: (after: string, before: string | undefined) => ReadonlyArray<SettingsRow>
  /** Writes over the row of this revision; with 0, where there is none. */
  readonly put: (row: SettingsRow, expected: number) => CommitResult
  /** Whether there was a row. */
  readonly remove: (settingsId: string) => boolean
}

/**
 * An empty table.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeTable = (): SettingsTable => {
  const rows = new Map<string, SettingsRow>()
  const order = IdOrder.make(() => rows.keys())
  return {
    row: (id) => rows.get(id),
    between: (after, before) => order.between(after, before).map((id) => rows.get(id)!),
    put: (row, expected) => {
      const actual = rows.get(row.settingsId)?.revision ?? 0
      if (actual !== expected) return "refused"
      if (actual === 0) order.changed()
      rows.set(row.settingsId, row)
      return "committed"
    },
    remove: (id) => {
      order.changed()
      return rows.delete(id)
    }
  }
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (table: SettingsTable): SettingsDriver["Service"] =>
  SettingsDriver.of({
    get: (id) => Effect.sync(() => Option.fromUndefinedOr(table.row(id))),
    put: (row, expected) => Effect.sync(() => table.put(row, expected)),
    remove: (id) => Effect.sync(() => table.remove(id)),
    list: ({ after, before, limit }) => Effect.sync(() => table.between(after, before).slice(0, limit))
  })
