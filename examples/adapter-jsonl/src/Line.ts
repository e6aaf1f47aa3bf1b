/**
 * A line of a conversation's file: one commit without its guard, as JSON with bytes in hex. Replayed in order, the lines
 * of a file give the conversation's rows.
 */
import type { MemoryDatabase } from "@colloquy/storage-memory"
import { Status } from "@colloquy/session/ConversationState"
import type { Commit } from "@colloquy/store/ConversationDriver"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"

const Bytes = Schema.Uint8ArrayFromHex

const Head = Schema.Struct({
  sequence: Schema.Natural,
  tail: Bytes,
  epoch: Schema.Natural,
  producerId: Schema.NullOr(Schema.String),
  status: Status,
  title: Schema.NullOr(Schema.String),
  createdAt: Schema.Int,
  updatedAt: Schema.Int,
  erased: Schema.Boolean,
  forkedFrom: Schema.NullOr(Schema.String)
})

const BatchRow = Schema.Struct({
  batchId: Schema.String,
  first: Schema.Natural,
  last: Schema.Natural,
  epoch: Schema.Natural,
  producerId: Schema.String,
  content: Bytes,
  tail: Bytes
})

const RecordRow = Schema.Struct({
  sequence: Schema.Natural,
  recordId: Schema.String,
  at: Schema.Int,
  schemaVersion: Schema.Natural,
  salt: Schema.NullOr(Bytes),
  digest: Bytes,
  payload: Schema.String
})

const CheckpointRow = Schema.Struct({
  sequence: Schema.Natural,
  digest: Bytes,
  stateVersion: Schema.Natural,
  state: Schema.String
})

/** No line has `replaced` or `adopt`: such a commit rewrites the file. */
const Line = Schema.Struct({
  conversationId: Schema.String,
  head: Head.mapFields(Struct.map(Schema.optionalKey)),
  batches: Schema.optionalKey(Schema.Array(BatchRow)),
  records: Schema.optionalKey(Schema.Array(RecordRow)),
  callIds: Schema.optionalKey(Schema.Array(Schema.String)),
  checkpoint: Schema.optionalKey(CheckpointRow),
  keepCheckpoints: Schema.optionalKey(Schema.Natural)
})
export interface Line extends Schema.Schema.Type<typeof Line> {}

const Text = Schema.fromJsonString(Line)

/** The line with its end. JSON escapes every line feed and every NUL, so the only ones in a file are not content. */
export const encode = (line: Line): string => `${encodeText(line)}\n`
const encodeText = Schema.encodeSync(Text)

export const decode = Schema.decodeUnknownResult(Text)

/** Whether the lines so far began with a whole head. */
export const isWhole = ({ head }: MemoryDatabase.Rows): boolean => isHead(head)
const isHead = Schema.is(Head)

/** The line of a commit that only adds. */
export const fromCommit = (commit: Commit): Line => Struct.omit(commit, ["guard", "replaced", "adopt"])

/** The shortest lines that give these rows, and nothing of what they were before. */
export const fromRows = function* (rows: MemoryDatabase.Rows): Generator<Line> {
  const { conversationId, ...head } = rows.head
  yield { conversationId, head, callIds: [...rows.callIds] }
  for (const batch of rows.batches) {
    yield { conversationId, head: {}, batches: [batch], records: rows.records.slice(batch.first - 1, batch.last) }
  }
  for (const checkpoint of rows.checkpoints) yield { conversationId, head: {}, checkpoint }
}

/** False when the line does not follow what is there. */
export const replay = (database: MemoryDatabase.MemoryDatabase, line: Line): boolean => {
  const guard = database.rows(line.conversationId) === undefined ? "absent" : {}
  return database.commit({ ...line, guard }) === "committed"
}
