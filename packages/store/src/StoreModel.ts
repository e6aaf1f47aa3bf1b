/**
 * What the operations of a store take and give.
 *
 * @since 0.1.0
 */
import type { Batch, CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ConversationState, Status } from "@colloquy/session/ConversationState"
import type { Digest } from "@colloquy/session/Digest"
import type { BatchId, ConversationId, ProducerId } from "@colloquy/session/Ids"
import type { Tail } from "./StoreError.ts"

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
 * A line of the list of conversations; times are UTC in milliseconds.
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
