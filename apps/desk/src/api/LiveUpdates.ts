/**
 * The updates of a conversation as they go over the wire.
 */
import { Cursor } from "@colloquy/capabilities/LiveUpdate"
import { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { RunId, ToolCallId } from "@colloquy/session/Ids"
import * as Schema from "effect/Schema"

const piece = { cursor: Cursor, runId: RunId, step: Schema.Natural, offset: Schema.Natural, text: Schema.String }

/** See `LiveUpdate` of `@colloquy/capabilities`. */
export const LiveUpdate = Schema.TaggedUnion({
  Recorded: { cursor: Cursor, record: CanonicalRecord, stored: Schema.Boolean },
  Text: piece,
  Reasoning: piece,
  Reset: { cursor: Cursor, runId: RunId, step: Schema.Natural },
  ToolProgress: { cursor: Cursor, runId: RunId, callId: ToolCallId, name: Schema.String, result: Schema.Unknown },
  CannotShrink: { cursor: Cursor, runId: RunId, tokens: Schema.Natural, reason: Schema.String },
  Gap: { cursor: Cursor }
})
