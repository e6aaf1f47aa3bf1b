/**
 * What a watcher of a conversation is shown, and the place of each thing in it.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ToolCallId } from "@colloquy/session/Ids"
import { RunId } from "@colloquy/session/Ids"
import * as Data from "effect/Data"
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
 * An update of a conversation. `cursor` is the place behind it: a watcher that joins there misses nothing.
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
export type LiveUpdate = Data.TaggedEnum<{
  Recorded: { readonly cursor: Cursor; readonly record: CanonicalRecord; readonly stored: boolean }
  Text: Piece
  Reasoning: Piece
  Reset: { readonly cursor: Cursor; readonly runId: RunId; readonly step: number }
  ToolProgress: {
    readonly cursor: Cursor
    readonly runId: RunId
    readonly callId: ToolCallId
    readonly name: string
    readonly result: unknown
  }
  CannotShrink: { readonly cursor: Cursor; readonly runId: RunId; readonly tokens: number; readonly reason: string }
  Gap: { readonly cursor: Cursor }
}>

/**
 * Constructors and matchers of {@link LiveUpdate}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const LiveUpdate = Data.taggedEnum<LiveUpdate>()

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
