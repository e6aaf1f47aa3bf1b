/**
 * What a watcher of a conversation is shown, and the place of each thing in it.
 *
 * @since 0.1.0
 */
import { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { RunId, ToolCallId } from "@colloquy/session/Ids"
import * as Schema from "effect/Schema"

/**
 * How far a watcher has seen: everything stored through `sequence`, and of the response that `runId` is being given at
 * `step` so many UTF-16 code units of text and of reasoning.
 *
 * @category models
 * @since 0.1.0
 */
export const Cursor = Schema.Struct({
  sequence: Schema.Natural,
  runId: Schema.optionalKey(RunId),
  step: Schema.optionalKey(Schema.Natural),
  text: Schema.optionalKey(Schema.Natural),
  reasoning: Schema.optionalKey(Schema.Natural)
})
/** @since 0.1.0 */
export interface Cursor extends Schema.Schema.Type<typeof Cursor> {}

/**
 * A piece of a response that is coming.
 *
 * @category models
 * @since 0.1.0
 */
export interface Piece {
  readonly cursor: Cursor
  readonly runId: RunId
  readonly step: number
  readonly offset: number
  readonly text: string
}

const piece = { cursor: Cursor, runId: RunId, step: Schema.Natural, offset: Schema.Natural, text: Schema.String }

/**
 * An update of a conversation. Its JSON is the value itself, so that it can be sent to a page.
 *
 * `cursor` is the place behind it: a watcher that joins there misses nothing.
 *
 * - `Recorded`: a record, as it stands in the log; `stored` is false while the store has not taken it.
 * - `Text`, `Reasoning`: the next piece of a response that is coming, several deltas at a time; `offset` is where it
 *   starts. Once the response is recorded, the record stands for all of them.
 * - `Reset`: what came of this step is void.
 * - `ToolProgress`: a preliminary result; the next one, or the record of the result, stands for it.
 * - `CannotShrink`: a request is too large by our estimate, and nothing of it can be compacted.
 * - `Gap`: the watcher was too slow, and updates are missing: reload what is stored behind `cursor.sequence`.
 *
 * @category models
 * @since 0.1.0
 */
export const LiveUpdate = Schema.TaggedUnion({
  Recorded: { cursor: Cursor, record: CanonicalRecord, stored: Schema.Boolean },
  Text: piece,
  Reasoning: piece,
  Reset: { cursor: Cursor, runId: RunId, step: Schema.Natural },
  ToolProgress: { cursor: Cursor, runId: RunId, callId: ToolCallId, name: Schema.String, result: Schema.Unknown },
  CannotShrink: { cursor: Cursor, runId: RunId, tokens: Schema.Natural, reason: Schema.String },
  Gap: { cursor: Cursor }
})
/** @since 0.1.0 */
export type LiveUpdate = typeof LiveUpdate.Type
