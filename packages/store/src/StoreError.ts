/**
 * What can go wrong with a store, the same for every adapter. Each error names the values and the way out.
 *
 * @since 0.1.0
 */
import { Digest } from "@colloquy/session/Digest"
import * as Ids from "@colloquy/session/Ids"
import type { LimitExceeded } from "@colloquy/session/Limits"
import type { UnsupportedVersion } from "@colloquy/session/Upcast"
import * as Schema from "effect/Schema"

const { BatchId, ConversationId, ProducerId, RecordId, SettingsId } = Ids

const error = "@colloquy/store"

/**
 * The end of a log: the last sequence (0 when there is none) and the digest there.
 *
 * @category models
 * @since 0.1.0
 */
export const Tail = Schema.Struct({ sequence: Schema.Natural, digest: Digest })
/** @since 0.1.0 */
export interface Tail extends Schema.Schema.Type<typeof Tail> {}

/**
 * Who may write: the epoch and the producer that holds it; nobody after an import.
 *
 * @category models
 * @since 0.1.0
 */
export const Fence = Schema.Struct({ epoch: Schema.Natural, producerId: Schema.NullOr(ProducerId) })
/** @since 0.1.0 */
export interface Fence extends Schema.Schema.Type<typeof Fence> {}

/**
 * No conversation has this id. Materialize it first, or correct the id.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConversationNotFound extends Schema.TaggedError<ConversationNotFound>(`${error}/ConversationNotFound`)(
  "ConversationNotFound",
  { conversationId: ConversationId }
) {
  override get message() {
    return `there is no conversation ${this.conversationId}: materialize it first, or correct the id`
  }
}

/**
 * The conversation was erased. Its id stays blocked; use another one.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConversationErased extends Schema.TaggedError<ConversationErased>(`${error}/ConversationErased`)(
  "ConversationErased",
  { conversationId: ConversationId }
) {
  override get message() {
    return `conversation ${this.conversationId} was erased and its id is blocked: use another id`
  }
}

/**
 * Whether an error says that a conversation is not there, or not any more.
 *
 * **Example** (No records, rather than an error)
 *
 * ```ts
 * Stream.catchIf(store.read({ conversationId }), StoreError.isAbsent, () => Stream.empty)
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const isAbsent = (error: unknown): error is ConversationNotFound | ConversationErased =>
  error instanceof ConversationNotFound || error instanceof ConversationErased

/**
 * The id is taken. Nothing was written; choose another one.
 *
 * @category errors
 * @since 0.1.0
 */
export class AlreadyExists extends Schema.TaggedError<AlreadyExists>(`${error}/AlreadyExists`)("AlreadyExists", {
  conversationId: ConversationId
}) {
  override get message() {
    return `there is a conversation ${this.conversationId} already: choose another id`
  }
}

/**
 * A log can only be cut between batches, and this place is inside of one, or not in the log. `before` and `after` are the
 * nearest places where it can.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotABoundary extends Schema.TaggedError<NotABoundary>(`${error}/NotABoundary`)("NotABoundary", {
  conversationId: ConversationId,
  sequence: Schema.Finite,
  before: Schema.optionalKey(Schema.Natural),
  after: Schema.optionalKey(Schema.Natural)
}) {
  override get message() {
    const way = this.after === undefined ? "it is not in the log" : `cut at ${this.before} or at ${this.after}`
    return `${this.conversationId} cannot be cut at ${this.sequence}: ${way}`
  }
}

/**
 * Somebody else may write. The producer stops; it runs nothing more for this conversation.
 *
 * @category errors
 * @since 0.1.0
 */
export class FenceRejected extends Schema.TaggedError<FenceRejected>(`${error}/FenceRejected`)("FenceRejected", {
  conversationId: ConversationId,
  actual: Fence,
  attempted: Fence
}) {
  override get message() {
    const { actual, attempted } = this
    return (
      `epoch ${actual.epoch} of ${this.conversationId} is held by ${actual.producerId ?? "nobody"}, ` +
      `not by ${attempted.producerId ?? "nobody"} at epoch ${attempted.epoch}: stop, or take over with materialize`
    )
  }
}

/**
 * An epoch is a natural number, and this is none. Nothing was written; take over without one, or pass the one you hold.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidEpoch extends Schema.TaggedError<InvalidEpoch>(`${error}/InvalidEpoch`)("InvalidEpoch", {
  conversationId: ConversationId,
  epoch: Schema.String
}) {
  override get message() {
    return `${this.epoch} is no epoch for ${this.conversationId}: pass a natural number, or none to take over`
  }
}

/**
 * The batch does not fit the log. Nothing was written.
 *
 * **Details**
 *
 * - `batch-content`: another batch with this id is in the log. The producer made one id twice: a fault of its own.
 * - `tail`: the log ends elsewhere, at `tail`. Read on from what is known, then append again.
 * - `record-identity`: `recordId` is in the log, or twice in the batch.
 *
 * @category errors
 * @since 0.1.0
 */
export class AppendConflict extends Schema.TaggedError<AppendConflict>(`${error}/AppendConflict`)("AppendConflict", {
  conversationId: ConversationId,
  batchId: BatchId,
  reason: Schema.Literals(["batch-content", "tail", "record-identity"]),
  tail: Tail,
  recordId: Schema.optionalKey(RecordId)
}) {
  override get message() {
    const what = {
      "batch-content": `another batch with this id is in the log: give each batch an id of its own`,
      tail: `the log ends at ${this.tail.sequence} (${this.tail.digest.slice(0, 12)}): read on, then append again`,
      "record-identity": `record ${this.recordId ?? "?"} is there already: give each record an id of its own`
    }
    return `batch ${this.batchId} does not fit ${this.conversationId}: ${what[this.reason]}`
  }
}

/**
 * The batch is not one: it is empty, or a record is not valid. Nothing was written; the caller mends the record.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidBatch extends Schema.TaggedError<InvalidBatch>(`${error}/InvalidBatch`)("InvalidBatch", {
  conversationId: ConversationId,
  batchId: BatchId,
  recordId: Schema.optionalKey(RecordId),
  reason: Schema.String
}) {
  override get message() {
    const where = this.recordId === undefined ? "" : ` record ${this.recordId}:`
    return `batch ${this.batchId} for ${this.conversationId}:${where} ${this.reason}`
  }
}

/**
 * The checkpoint does not fit the log. Nothing was written; a checkpoint is disposable, so nothing is lost.
 *
 * @category errors
 * @since 0.1.0
 */
export class CheckpointRejected extends Schema.TaggedError<CheckpointRejected>(`${error}/CheckpointRejected`)(
  "CheckpointRejected",
  {
    conversationId: ConversationId,
    sequence: Schema.Natural,
    reason: Schema.Literals(["ahead-of-tail", "inside-a-batch", "other-digest", "other-conversation"])
  }
) {
  override get message() {
    return `the checkpoint at ${this.sequence} of ${this.conversationId} is refused: ${this.reason}`
  }
}

/**
 * An archive, or a log from elsewhere, was not taken, and nothing of it was written. `line` is 1-based; 0 when what came
 * in has no lines.
 *
 * **Details**
 *
 * - `format`: not an archive of ours, or a newer one.
 * - `torn`: it ends too early, or a line is cut.
 * - `altered`: a digest does not verify, or lines are missing, doubled or in another order.
 * - `invalid`: a record is not valid, or over a limit.
 * - `diverged`: the stored conversation of this id has another history. Import under another id, or into another store.
 *
 * @category errors
 * @since 0.1.0
 */
export class ImportRejected extends Schema.TaggedError<ImportRejected>(`${error}/ImportRejected`)("ImportRejected", {
  reason: Schema.Literals(["format", "torn", "altered", "invalid", "diverged"]),
  line: Schema.Natural,
  conversationId: Schema.optionalKey(ConversationId),
  detail: Schema.String
}) {
  override get message() {
    const whose = this.conversationId === undefined ? "" : ` of ${this.conversationId}`
    const where = this.line === 0 ? "" : ` at line ${this.line}`
    return `the import${whose} is refused${where} (${this.reason}): ${this.detail}`
  }
}

/**
 * A stored record cannot be read: the file was damaged. `lastGood` is the record before it; a read from the beginning has
 * found everything through it intact.
 *
 * @category errors
 * @since 0.1.0
 */
export class CorruptRecord extends Schema.TaggedError<CorruptRecord>(`${error}/CorruptRecord`)("CorruptRecord", {
  conversationId: ConversationId,
  sequence: Schema.Natural,
  lastGood: Schema.Natural,
  reason: Schema.String
}) {
  override get message() {
    return (
      `record ${this.sequence} of ${this.conversationId} is damaged (${this.reason}); ` +
      `${this.lastGood} is the last one before it: verify the conversation, restore a backup, or export up to there`
    )
  }
}

/**
 * No settings have this id; nor can any, if the text is no id. Put them first, or correct the id.
 *
 * @category errors
 * @since 0.1.0
 */
export class SettingsNotFound extends Schema.TaggedError<SettingsNotFound>(`${error}/SettingsNotFound`)(
  "SettingsNotFound",
  { settingsId: Schema.String }
) {
  override get message() {
    return `there are no settings ${this.settingsId}: put them first, or correct the id`
  }
}

/**
 * The settings are at another revision than the caller expected; 0 stands for none. Nothing was written. Get them, decide
 * again, and put with the actual revision.
 *
 * @category errors
 * @since 0.1.0
 */
export class SettingsConflict extends Schema.TaggedError<SettingsConflict>(`${error}/SettingsConflict`)(
  "SettingsConflict",
  { settingsId: SettingsId, expected: Schema.Natural, actual: Schema.Natural }
) {
  override get message() {
    const is = this.actual === 0 ? "are not there" : `are at revision ${this.actual}`
    return `settings ${this.settingsId} ${is}, not at ${this.expected}: get them, decide again, and put with what is there`
  }
}

/**
 * What was to be put cannot be: nothing was written, and the caller mends it.
 *
 * **Details**
 *
 * - `id`: the text is no id; it has no more than 512 bytes and no control characters.
 * - `content`: the settings are not an object, or hold something that JSON cannot; the detail says where.
 * - `expected-revision`: it is not a natural number.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidSettings extends Schema.TaggedError<InvalidSettings>(`${error}/InvalidSettings`)(
  "InvalidSettings",
  {
    settingsId: Schema.String,
    reason: Schema.Literals(["id", "content", "expected-revision"]),
    detail: Schema.String
  }
) {
  override get message() {
    return `settings ${JSON.stringify(this.settingsId)} cannot be put (${this.reason}): ${this.detail}`
  }
}

/**
 * The database did not do it: somebody else holds it, the connection was lost, the disk is full, it may only be read.
 *
 * **Details**
 *
 * With `retryable` the same call may succeed later: retry it under the same batch id, not before `retryAfterMillis` if
 * that is given. A write that failed this way may have happened all the same; the batch id tells, and of settings the
 * expected revision.
 *
 * @category errors
 * @since 0.1.0
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>(`${error}/StoreUnavailable`)(
  "StoreUnavailable",
  {
    reason: Schema.Literals(["contention", "connection", "disk-full", "read-only", "damaged", "refused", "other"]),
    retryable: Schema.Boolean,
    retryAfterMillis: Schema.optionalKey(Schema.Natural),
    detail: Schema.String,
    cause: Schema.Defect()
  }
) {
  override get message() {
    return `the store is unavailable (${this.reason}): ${this.detail}`
  }
}

/**
 * What `append` fails with, in the order of its checks.
 *
 * @category errors
 * @since 0.1.0
 */
export type AppendError =
  | LimitExceeded
  | InvalidBatch
  | ConversationNotFound
  | ConversationErased
  | FenceRejected
  | AppendConflict
  | StoreUnavailable

/**
 * What reading fails with.
 *
 * @category errors
 * @since 0.1.0
 */
export type ReadError =
  | ConversationNotFound
  | ConversationErased
  | CorruptRecord
  | UnsupportedVersion
  | StoreUnavailable
