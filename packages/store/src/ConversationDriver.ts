/**
 * What an adapter implements: rows in, rows out, and one guarded commit.
 *
 * A driver holds no rule of its own. Checks, codecs, digests, notification and retry are written once, above it; what
 * the guard must compare is data. Ids are plain text here, compared byte by byte: an id that no caller can make (it
 * begins with NUL) names rows that are being staged.
 *
 * @since 0.1.0
 */
import type { Status } from "@colloquy/session/ConversationState"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { StoreUnavailable } from "./StoreError.ts"

/**
 * The row of a conversation. `tail` has 32 bytes; times are UTC in milliseconds.
 *
 * @category rows
 * @since 0.1.0
 */
export interface Head {
  readonly conversationId: string
  readonly sequence: number
  readonly tail: Uint8Array
  readonly epoch: number
  readonly producerId: string | null
  readonly status: Status
  readonly title: string | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly erased: boolean
  /** The id that this log was forked from, if it was. */
  readonly forkedFrom: string | null
}

/**
 * The row of a batch: records `first` to `last`, its content digest, and the tail digest after it.
 *
 * @category rows
 * @since 0.1.0
 */
export interface BatchRow {
  readonly batchId: string
  readonly first: number
  readonly last: number
  readonly epoch: number
  readonly producerId: string
  readonly content: Uint8Array
  readonly tail: Uint8Array
}

/**
 * The row of a record. `salt` has 16 bytes, or is null where the payload was removed.
 *
 * A driver that reads salt, version and payload in one piece, as {@link Digest.recordBytes} hashes them, gives that as
 * `hashed` too: nobody has to put them together again. Nothing is ever written from it.
 *
 * @category rows
 * @since 0.1.0
 */
export interface RecordRow {
  readonly sequence: number
  readonly recordId: string
  readonly at: number
  readonly schemaVersion: number
  readonly salt: Uint8Array | null
  readonly digest: Uint8Array
  readonly payload: string
  readonly hashed?: Uint8Array
}

/**
 * The row of a checkpoint; `state` is JSON.
 *
 * @category rows
 * @since 0.1.0
 */
export interface CheckpointRow {
  readonly sequence: number
  readonly digest: Uint8Array
  readonly stateVersion: number
  readonly state: string
}

/**
 * A part of a log: the records after `after` and through `through`, at most `limit`, ascending unless `reverse`.
 *
 * @category requests
 * @since 0.1.0
 */
export interface Range {
  readonly conversationId: string
  readonly after: number
  readonly through: number
  readonly limit: number
  readonly reverse: boolean
}

/**
 * Records in the order asked for, and ascending all batches that they belong to.
 *
 * @category rows
 * @since 0.1.0
 */
export interface Page {
  readonly records: ReadonlyArray<RecordRow>
  readonly batches: ReadonlyArray<BatchRow>
}

/**
 * What must be true of the stored head for a commit to happen: that there is none, or that each named field is equal.
 *
 * @category requests
 * @since 0.1.0
 */
export type Guard =
  | "absent"
  | {
      readonly sequence?: number
      readonly tail?: Uint8Array
      readonly epoch?: number
      readonly producerId?: string | null
    }

/**
 * One atomic change of one conversation: if the guard holds and no row exists already, everything is written.
 *
 * **Details**
 *
 * - `head`: the fields that change; all of them with the guard `absent`, but `title`.
 * - `batches`, `records`: new rows, which go on where the log ends: sequences have no gaps, and each record is in the
 *   batch from `first` to `last` around it. A batch id, record id or sequence that exists refuses the commit.
 * - `callIds`: added to the index of declared calls; those that are there stay.
 * - `replaced`: payloads of records that are there; they lose their salt, and keep their digest. Nothing else marks a
 *   redaction: what was replaced, and the checkpoints that `keepCheckpoints: 0` drops, must be gone for good, see `scrub`.
 * - `checkpoint`: written over one of the same sequence.
 * - `keepCheckpoints`: then only so many of the newest stay.
 * - `adopt`: with the guard `absent`, the rows staged under this id become the conversation's, if they end at the
 *   sequence and tail of `head`; otherwise the commit is refused.
 *
 * @category requests
 * @since 0.1.0
 */
export interface Commit {
  readonly conversationId: string
  readonly guard: Guard
  readonly head: Partial<Omit<Head, "conversationId">>
  readonly batches?: ReadonlyArray<BatchRow>
  readonly records?: ReadonlyArray<RecordRow>
  readonly callIds?: ReadonlyArray<string>
  readonly replaced?: ReadonlyArray<{ readonly sequence: number; readonly payload: string }>
  readonly checkpoint?: CheckpointRow
  readonly keepCheckpoints?: number
  readonly adopt?: string
}

/**
 * `refused`: the guard did not hold, or a row exists already. Nothing was written; the front finds out which.
 *
 * @category requests
 * @since 0.1.0
 */
export type CommitResult = "committed" | "refused"

/**
 * How many rows an erasure has emptied or removed.
 *
 * @category rows
 * @since 0.1.0
 */
export interface Erased {
  readonly records: number
  readonly checkpoints: number
  readonly callIds: number
}

/**
 * Whether the bytes of what was erased or redacted are gone from the storage: `pending` while somebody who reads keeps an
 * old state of it alive.
 *
 * @category rows
 * @since 0.1.0
 */
export const Scrubbed = Schema.Literals(["gone", "pending"])
/** @since 0.1.0 */
export type Scrubbed = typeof Scrubbed.Type

/**
 * The encoded storage of conversations.
 *
 * @category services
 * @since 0.1.0
 */
export class ConversationDriver extends Context.Service<
  ConversationDriver,
  {
    /** The conversation's row, strongly consistent with commits. */
    readonly head: (conversationId: string) => Effect.Effect<Option.Option<Head>, StoreUnavailable>
    /** A batch by its id. */
    readonly batch: (
      conversationId: string,
      batchId: string
    ) => Effect.Effect<Option.Option<BatchRow>, StoreUnavailable>
    /** The batch whose last record has this sequence. */
    readonly batchEndingAt: (
      conversationId: string,
      sequence: number
    ) => Effect.Effect<Option.Option<BatchRow>, StoreUnavailable>
    /** Records, and the batches that they belong to. */
    readonly records: (range: Range) => Effect.Effect<Page, StoreUnavailable>
    /** Those of these record ids that the log has. */
    readonly recordIds: (
      conversationId: string,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    /** Those of these call ids that were ever declared in the log. */
    readonly callIds: (
      conversationId: string,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    /** Checkpoints at or before a sequence, newest first. */
    readonly checkpoints: (
      conversationId: string,
      atOrBefore: number
    ) => Effect.Effect<ReadonlyArray<CheckpointRow>, StoreUnavailable>
    /** Conversations whose id comes behind `after` and before `before`, in byte order, erased ones included. */
    readonly list: (request: {
      readonly after: string
      readonly before: string | undefined
      readonly limit: number
      readonly status: Status | undefined
    }) => Effect.Effect<ReadonlyArray<Head>, StoreUnavailable>
    /** All or nothing, and durable as the adapter's options say, before it answers. */
    readonly commit: (commit: Commit) => Effect.Effect<CommitResult, StoreUnavailable>
    /** The ids of the logs that were forked from one, in byte order. */
    readonly forks: (conversationId: string) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    /**
     * Empties a conversation, in one transaction: payloads become empty text, salts, title, checkpoints and call ids go;
     * ids and digests stay; the head is erased, owned by nobody, with its epoch raised by one. Nothing is emptied twice.
     */
    readonly erase: (conversationId: string, updatedAt: number) => Effect.Effect<Erased, StoreUnavailable>
    /** Makes the bytes of what was emptied or replaced go, as far as the storage can. */
    readonly scrub: Effect.Effect<Scrubbed, StoreUnavailable>
    /** Removes every row of an id, in one transaction; for what an import has staged and does not use. */
    readonly discard: (conversationId: string) => Effect.Effect<void, StoreUnavailable>
    /** A hint that somebody else (another process) may have committed. The front wakes its observers; they read. */
    readonly changes: Stream.Stream<void>
  }
>()("@colloquy/store/ConversationDriver") {}
