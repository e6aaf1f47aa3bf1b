/**
 * A conversation as a file: NDJSON whose chain can be verified from the file alone.
 *
 * The first line is a header with the tail that the rest must reach, then each batch is a line with its digests, followed
 * by a line for each of its records. A payload stands as the text that is stored, byte for byte; nothing encodes it again.
 *
 * @since 0.1.0
 */
import { Digest } from "@colloquy/session/Digest"
import { BatchId, ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import * as Schema from "effect/Schema"

/**
 * The name in every header.
 *
 * @category constants
 * @since 0.1.0
 */
export const format = "colloquy-conversation"

/**
 * The version of the format that is written.
 *
 * @category constants
 * @since 0.1.0
 */
export const version = 1

// What a clock can give: https://tc39.es/ecma262/#sec-time-values-and-time-range
const Instant = Schema.Int.check(Schema.isBetween({ minimum: -8.64e15, maximum: 8.64e15 }))
// Each takeover counts one: far more than there can be, far less than an integer can hold.
const Epoch = Schema.Natural.check(Schema.isLessThanOrEqualTo(2 ** 40))

/**
 * @category models
 * @since 0.1.0
 */
export const Header = Schema.Struct({
  format: Schema.Literal(format),
  version: Schema.Natural,
  conversationId: ConversationId,
  epoch: Epoch,
  records: Schema.Natural,
  tail: Digest,
  createdAt: Instant,
  updatedAt: Instant
})
/** @since 0.1.0 */
export interface Header extends Schema.Schema.Type<typeof Header> {}

/**
 * A record of an archive. `salt` is hex of 16 bytes, or null where the payload was removed.
 *
 * @category models
 * @since 0.1.0
 */
export const ArchivedRecord = Schema.Struct({
  sequence: Schema.Natural,
  recordId: RecordId,
  at: Instant,
  schemaVersion: Schema.Natural,
  salt: Schema.NullOr(Schema.String.check(Schema.isPattern(/^[0-9a-f]{32}$/))),
  digest: Digest,
  payload: Schema.String
})
/** @since 0.1.0 */
export interface ArchivedRecord extends Schema.Schema.Type<typeof ArchivedRecord> {}

/**
 * A batch of an archive, without its records.
 *
 * @category models
 * @since 0.1.0
 */
export const ArchivedBatch = Schema.Struct({
  batchId: BatchId,
  first: Schema.Natural,
  last: Schema.Natural,
  epoch: Epoch,
  producerId: ProducerId,
  content: Digest,
  tail: Digest
})
/** @since 0.1.0 */
export interface ArchivedBatch extends Schema.Schema.Type<typeof ArchivedBatch> {}

/**
 * One line of an archive.
 *
 * @category models
 * @since 0.1.0
 */
export const Line = Schema.Union([
  Schema.Struct({ header: Header }),
  Schema.Struct({ batch: ArchivedBatch }),
  Schema.Struct({ record: ArchivedRecord })
])
/** @since 0.1.0 */
export type Line = typeof Line.Type

/**
 * A whole archive as one value.
 *
 * @category models
 * @since 0.1.0
 */
export interface Archive {
  readonly header: Header
  readonly batches: ReadonlyArray<ArchivedBatch & { readonly records: ReadonlyArray<ArchivedRecord> }>
}

/**
 * The lines of an archive, in order; without line ends.
 *
 * @category encoding
 * @since 0.1.0
 */
export const toLines = function* (archive: Archive): Generator<string> {
  yield encodeLine({ header: archive.header })
  for (const { records, ...batch } of archive.batches) {
    yield encodeLine({ batch })
    for (const record of records) yield encodeLine({ record })
  }
}

/**
 * Whether a line begins an archive of ours; for telling it from other formats.
 *
 * @category reading
 * @since 0.1.0
 */
export const isHeader = (line: string): boolean => line.startsWith(`{"header":{"format":"${format}"`)

/**
 * Writes one line, without a line end.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encodeLine = (line: Line): string => JSON.stringify(line)

/**
 * Reads one line.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeLine = Schema.decodeUnknownResult(Line)
