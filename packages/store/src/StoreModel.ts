/**
 * What the operations of a store take and give.
 *
 * @since 0.1.0
 */
import type { Batch, CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ConversationState, Status } from "@colloquy/session/ConversationState"
import type { Digest } from "@colloquy/session/Digest"
import { type BatchId, ConversationId, type ProducerId, type SettingsId } from "@colloquy/session/Ids"
import type { EraserFailed } from "@colloquy/session/Seams"
import * as Schema from "effect/Schema"
import { Scrubbed } from "./ConversationDriver.ts"
import { type ConversationNotFound, type StoreUnavailable, Tail } from "./StoreError.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface MaterializeRequest {
  readonly conversationId: ConversationId
  readonly producerId: ProducerId
  /** Without it the producer takes over: the epoch rises by one. */
  readonly epoch?: number | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Materialized {
  readonly tail: Tail
  readonly epoch: number
}

/**
 * @category models
 * @since 0.1.0
 */
export interface AppendRequest {
  readonly conversationId: ConversationId
  readonly batch: Batch
  readonly expectedTail: Tail
  readonly epoch: number
  readonly producerId: ProducerId
}

/**
 * What an append did: the places `first` to `last` of its records and the tail behind them. A replay gives those of the
 * original append, and the epoch that is current now.
 *
 * @category models
 * @since 0.1.0
 */
export interface Appended {
  readonly first: number
  readonly last: number
  readonly tail: Tail
  readonly replayed: boolean
  readonly epoch: number
  /** The records as a reader gets them, decoded from the stored bytes when they are first asked for. */
  readonly records: () => ReadonlyArray<CanonicalRecord>
}

/**
 * `after` is exclusive, `through` inclusive. Ascending unless `reverse`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReadRequest {
  readonly conversationId: ConversationId
  readonly after?: number | undefined
  readonly through?: number | undefined
  readonly limit?: number | undefined
  readonly reverse?: boolean | undefined
  /** Recomputes each record's digest (default true). Without it damage is found only where a payload does not decode. */
  readonly verify?: boolean | undefined
}

/**
 * The tail of a conversation, and who may write.
 *
 * @category models
 * @since 0.1.0
 */
export interface Position extends Tail {
  readonly epoch: number
  /** Null when nobody holds the epoch: an imported conversation that nobody has taken over. */
  readonly producerId: ProducerId | null
}

/**
 * A batch that is in the log.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredBatch {
  readonly batchId: BatchId
  readonly first: number
  readonly last: number
  readonly epoch: number
  readonly producerId: ProducerId
  readonly contentDigest: Digest
  readonly tail: Tail
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Checkpoint {
  readonly sequence: number
  readonly digest: Digest
  readonly stateVersion: number
  readonly state: ConversationState
}

/**
 * @category models
 * @since 0.1.0
 */
export interface SaveCheckpointRequest extends Checkpoint {
  readonly conversationId: ConversationId
  readonly epoch: number
  readonly producerId: ProducerId
}

/**
 * What the list of conversations says of one; times are UTC in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Summary {
  readonly conversationId: ConversationId
  readonly status: Status
  readonly title?: string
  readonly tail: Tail
  readonly epoch: number
  readonly createdAt: number
  readonly updatedAt: number
}

/**
 * What came of an archive: `imported` is false when the stored log equals or extends it already.
 *
 * @category models
 * @since 0.1.0
 */
export interface Imported {
  readonly conversationId: ConversationId
  readonly imported: boolean
  readonly tail: Tail
  readonly records: number
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ExportRequest {
  readonly conversationId: ConversationId
  readonly through?: number | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** How many checkpoints of a conversation are kept (default 4). */
  readonly keepCheckpoints?: number | undefined
}

/**
 * A whole log from elsewhere, in batches; `producerId` names what they are from in their records.
 *
 * @category models
 * @since 0.1.0
 */
export interface ImportBatchesRequest {
  readonly conversationId: ConversationId
  readonly producerId: ProducerId
  readonly batches: ReadonlyArray<Batch>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ForkRequest {
  readonly from: ConversationId
  /** The end of a batch (default: the tail). */
  readonly at?: number | undefined
  readonly into: ConversationId
  /** Who is recorded as having forked it (default `fork`). The fork is owned by nobody. */
  readonly producerId?: ProducerId | undefined
}

/**
 * What is removed: the payloads of these records, and of every summary that stands for one of them.
 *
 * @category models
 * @since 0.1.0
 */
export interface RedactRequest {
  readonly conversationId: ConversationId
  readonly sequences: ReadonlyArray<number>
  readonly reason: string
  readonly author?: string | undefined
  readonly batchId: BatchId
  readonly expectedTail: Tail
  readonly epoch: number
  readonly producerId: ProducerId
}

// How many rows went, or hold copies, by table.
const RowsByTable = Schema.Record(Schema.String, Schema.Natural)

/**
 * What a redaction did: the append of its record, all records that it removed, what others who hold data removed, and
 * whether the bytes are gone.
 *
 * @category models
 * @since 0.1.0
 */
export const RedactionReport = Schema.Struct({
  first: Schema.Natural,
  last: Schema.Natural,
  tail: Tail,
  replayed: Schema.Boolean,
  epoch: Schema.Natural,
  sequences: Schema.Array(Schema.Natural),
  removed: RowsByTable,
  bytes: Scrubbed
})
/** @since 0.1.0 */
export interface RedactionReport extends Schema.Schema.Type<typeof RedactionReport> {}

/**
 * A redaction as `redact` gives it: its report, and the record that it appended.
 *
 * @category models
 * @since 0.1.0
 */
export interface Redaction extends RedactionReport, Pick<Appended, "records"> {}

/**
 * @category models
 * @since 0.1.0
 */
export interface EraseRequest {
  readonly conversationId: ConversationId
  /** Forks of it, and conversations that it has started, are erased too. */
  readonly cascade?: boolean | undefined
}

const erasureFields = {
  conversationId: ConversationId,
  alreadyErased: Schema.Boolean,
  removed: RowsByTable,
  bytes: Scrubbed,
  copies: Schema.Struct({
    forks: Schema.Array(ConversationId),
    children: Schema.Array(ConversationId),
    tables: RowsByTable
  })
}

/**
 * What an erasure removed, by table; whether the bytes are gone; and who still holds copies.
 *
 * **Details**
 *
 * `copies` lists the forks of the conversation, the conversations that it has started, and the rows of others who hold
 * data (by table); with `cascade` they are erased, and `cascaded` holds their reports.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErasureReport extends Schema.Struct.Type<typeof erasureFields> {
  readonly cascaded: ReadonlyArray<ErasureReport>
}
/** @since 0.1.0 */
export const ErasureReport: Schema.Codec<ErasureReport, ErasureReportEncoded> = Schema.Struct({
  ...erasureFields,
  cascaded: Schema.Array(Schema.suspend(() => ErasureReport))
})

/**
 * {@link ErasureReport} as JSON.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErasureReportEncoded extends Schema.Struct.Encoded<typeof erasureFields> {
  readonly cascaded: ReadonlyArray<ErasureReportEncoded>
}

/**
 * @category errors
 * @since 0.1.0
 */
export type EraseError = ConversationNotFound | EraserFailed | StoreUnavailable

/**
 * A line of the list of settings; times are UTC in milliseconds, and inform only.
 *
 * @category models
 * @since 0.1.0
 */
export interface SettingsSummary {
  readonly settingsId: SettingsId
  /** How often they were written since they were not there: 1-based. */
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
}

/**
 * Settings as they are stored.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredSettings extends SettingsSummary {
  readonly settings: Schema.JsonObject
}

/**
 * @category models
 * @since 0.1.0
 */
export interface PutSettingsRequest {
  readonly settingsId: SettingsId
  /** An object that JSON can hold: checked when it is put, and kept as a payload is (see `CanonicalJson`). */
  readonly settings: unknown
  /** The revision that this is to replace: 0 when there must be none. Without it whatever is there is replaced. */
  readonly expectedRevision?: number | undefined
}
