/**
 * The encoded driver of settings over their table in a SQLite file.
 *
 * @since 0.1.0
 */
import type { CommitResult } from "@colloquy/store/ConversationDriver"
import { SettingsDriver, type SettingsHead, type SettingsRow } from "@colloquy/store/SettingsDriver"
import * as Option from "effect/Option"
import type { Connections, Outcome } from "./internal/connections.ts"
import type { Row, Script } from "./internal/script.ts"

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (connections: Connections): SettingsDriver["Service"] =>
  SettingsDriver.of({
    get: (id) =>
      connections.read(function* (): Script<Option.Option<SettingsRow>> {
        const [row] = yield { sql: `SELECT ${headColumns}, settings FROM settings WHERE id = ?`, parameters: [id] }
        return row === undefined ? Option.none() : Option.some({ ...decodeHead(row), settings: row[4] as string })
      }),
    put: (row, expected) => connections.write(() => put(row, expected), "refused"),
    remove: (id) =>
      connections.write(function* (): Script<Outcome<boolean>> {
        const [row] = yield { sql: "DELETE FROM settings WHERE id = ? RETURNING revision", parameters: [id] }
        return { commit: row !== undefined, value: row !== undefined }
      }, false),
    list: ({ after, before = null, limit }) =>
      connections.read(function* (): Script<ReadonlyArray<SettingsHead>> {
        return (yield { sql: selectHeads, parameters: [after, before, before, limit] }).map(decodeHead)
      })
  })

// --- internal ---

/** One statement changes the row that is expected, and gives its revision, or changes nothing. */
const put = function* (row: SettingsRow, expected: number): Script<Outcome<CommitResult>> {
  const { createdAt, revision, settings, settingsId, updatedAt } = row
  const [written] = yield expected === 0
    ? { sql: insert, parameters: [settingsId, revision, createdAt, updatedAt, settings] }
    : { sql: update, parameters: [revision, createdAt, updatedAt, settings, settingsId, expected] }
  return written === undefined ? { commit: false, value: "refused" } : { commit: true, value: "committed" }
}

const headColumns = "id, revision, created_at, updated_at"
const insert = `INSERT INTO settings (${headColumns}, settings) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING RETURNING revision`
const update = `UPDATE settings SET revision = ?, created_at = ?, updated_at = ?, settings = ?
  WHERE id = ? AND revision = ? RETURNING revision`
const selectHeads = `SELECT ${headColumns} FROM settings WHERE id > ? AND (? IS NULL OR id < ?) ORDER BY id LIMIT ?`

// The table is STRICT: a column has the type it was declared with.
const decodeHead = (row: Row): SettingsHead => ({
  settingsId: row[0] as string,
  revision: row[1] as number,
  createdAt: row[2] as number,
  updatedAt: row[3] as number
})
