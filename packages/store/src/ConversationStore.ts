/**
 * The fenced, idempotent store contract of conversations, over an encoded driver.
 *
 * An append is atomic, bound by digests to everything before it, idempotent by its batch id, checked against the expected
 * tail, and fenced by the producer's epoch. The order of its checks is the same over every driver: shape and limits,
 * unknown or erased, replay, fence, tail, identity; then it writes, and only then it acknowledges.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { Status } from "@colloquy/session/ConversationState"
import type { BatchId, ConversationId, TenantId } from "@colloquy/session/Ids"
import type { LimitExceeded } from "@colloquy/session/Limits"
import type { EraserFailed } from "@colloquy/session/Seams"
import type { UnsupportedVersion } from "@colloquy/session/Upcast"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { Archive } from "./Archive.ts"
import type { ConversationDriver } from "./ConversationDriver.ts"
import * as Front from "./internal/front.ts"
import type {
  AlreadyExists,
  AppendError,
  CheckpointRejected,
  ConversationErased,
  ConversationNotFound,
  CorruptRecord,
  FenceRejected,
  ImportRejected,
  InvalidBatch,
  InvalidEpoch,
  NotABoundary,
  ReadError,
  StoreUnavailable
} from "./StoreError.ts"
import type {
  AppendRequest,
  Appended,
  Checkpoint,
  EraseError,
  EraseRequest,
  ErasureReport,
  ExportRequest,
  ForkRequest,
  ImportBatchesRequest,
  Imported,
  Materialized,
  MaterializeRequest,
  Options,
  Position,
  ReadRequest,
  Redaction,
  RedactRequest,
  SaveCheckpointRequest,
  StoredBatch,
  Summary
} from "./StoreModel.ts"
import type { Report } from "./Verification.ts"

/**
 * The store of conversations.
 *
 * Every operation may fail with `StoreUnavailable`. Interrupting one leaves nothing half-written; an interrupted append
 * may have happened, which its batch id tells.
 *
 * @category services
 * @since 0.1.0
 */
export class ConversationStore extends Context.Service<
  ConversationStore,
  {
    /** Whose conversations these are; undefined in the store that belongs to no tenant. */
    readonly tenant: TenantId | undefined
    /**
     * Creates a conversation if it is absent, as an empty log, and says who may write.
     *
     * Without `epoch` the producer takes over: the epoch rises by one, atomically. With one: lower is fenced; equal does
     * nothing for the producer that holds it and is fenced for any other; higher is raised to. `FenceRejected`: somebody
     * else is the owner; stop.
     */
    readonly materialize: (
      request: MaterializeRequest
    ) => Effect.Effect<Materialized, InvalidEpoch | FenceRejected | ConversationErased | StoreUnavailable>
    /**
     * Appends a batch: all of its records, or none. Idempotent by the batch id, for ever: a batch that is in the log is
     * confirmed whatever tail or epoch the request names. See {@link AppendError} for what the caller does about each.
     */
    readonly append: (request: AppendRequest) => Effect.Effect<Appended, AppendError>
    /** Records in order, in constant memory. A conversation that does not exist, or a damaged record, ends the stream. */
    readonly read: (request: ReadRequest) => Stream.Stream<CanonicalRecord, ReadError>
    /**
     * Every record after `after`, exactly once and in order, with no gap between what was there and what comes. Does
     * not end by itself.
     */
    readonly observe: (request: {
      readonly conversationId: ConversationId
      readonly after: number
    }) => Stream.Stream<CanonicalRecord, ReadError>
    /** Where the log ends and who may write, strongly consistent with append. */
    readonly tail: (request: {
      readonly conversationId: ConversationId
    }) => Effect.Effect<Position, ConversationNotFound | ConversationErased | StoreUnavailable>
    /** A batch by its id: what a producer asks after a lost acknowledgement. */
    readonly batch: (request: {
      readonly conversationId: ConversationId
      readonly batchId: BatchId
    }) => Effect.Effect<Option.Option<StoredBatch>, ConversationNotFound | ConversationErased | StoreUnavailable>
    /** Those of these tool-call ids that the log has declared at any time; from an index. */
    readonly hasCallIds: (request: {
      readonly conversationId: ConversationId
      readonly callIds: ReadonlyArray<string>
    }) => Effect.Effect<ReadonlySet<string>, ConversationNotFound | ConversationErased | StoreUnavailable>
    /** A consistent snapshot as one value: through the last batch that ends at or before `through`. */
    readonly export: (request: ExportRequest) => Effect.Effect<Archive, ReadError>
    /** The same snapshot as lines of NDJSON, in constant memory. */
    readonly exportLines: (request: ExportRequest) => Stream.Stream<string, ReadError>
    /**
     * Takes one archive from its lines: all or nothing. A log that equals or extends it is left as it is.
     *
     * The conversation comes in unchanged, open runs and epoch included, with no owner. Blank lines are skipped.
     */
    readonly import: <E, R>(
      lines: Stream.Stream<string, E, R>
    ) => Effect.Effect<Imported, ImportRejected | ConversationErased | UnsupportedVersion | StoreUnavailable | E, R>
    /** Takes several archives, one after the other in the lines; each all or nothing. */
    readonly importAll: <E, R>(
      lines: Stream.Stream<string, E, R>
    ) => Stream.Stream<Imported, ImportRejected | ConversationErased | UnsupportedVersion | StoreUnavailable | E, R>
    /**
     * Takes a log from elsewhere that has no digests yet: all or nothing. What the stored conversation has already is
     * recognised by batch ids and content; what it lacks is appended while nobody owns it. Any other history is
     * `ImportRejected` (diverged, with line 0).
     */
    readonly importBatches: (
      request: ImportBatchesRequest
    ) => Effect.Effect<
      Imported,
      LimitExceeded | InvalidBatch | ImportRejected | FenceRejected | ConversationErased | StoreUnavailable
    >
    /**
     * A new conversation with the records up to `at`: the same salts and digests, then one record that says so. It is
     * idle and owned by nobody; what was open is closed by that record. All or nothing. `NotABoundary`: choose one of the
     * places that it names. `AlreadyExists`: choose another id.
     */
    readonly fork: (
      request: ForkRequest
    ) => Effect.Effect<
      Materialized,
      | ConversationNotFound
      | ConversationErased
      | AlreadyExists
      | NotABoundary
      | CorruptRecord
      | UnsupportedVersion
      | StoreUnavailable
    >
    /**
     * Removes the payloads of records, and of summaries that stand for them: a fenced append of one record that says so,
     * and in the same commit the payloads, their salts and all checkpoints go. Ids, digests and facts stay, and the chain
     * still verifies. Idempotent by its batch id, as append is; a repeated call does what was left undone.
     */
    readonly redact: (
      request: RedactRequest
    ) => Effect.Effect<Redaction, AppendError | CorruptRecord | UnsupportedVersion | EraserFailed>
    /**
     * Removes a conversation's words: payloads, salts, title, checkpoints and call ids, and what the registered
     * `Erasers` hold. Envelopes and digests stay; a tombstone fences every producer and blocks the id for ever. Idempotent,
     * and restartable: repeat it after a failure or a crash.
     */
    readonly erase: (request: EraseRequest) => Effect.Effect<ErasureReport, EraseError>
    /** Keeps only the newest checkpoints of a conversation; none with 0. They are disposable. */
    readonly pruneCheckpoints: (request: {
      readonly conversationId: ConversationId
      readonly keep: number
    }) => Effect.Effect<void, ConversationNotFound | ConversationErased | StoreUnavailable>
    /**
     * Keeps a snapshot of the reducer's state at the end of a batch. Fenced; the last writer of a sequence wins; the
     * newest four stay. A checkpoint is disposable: a failure loses nothing.
     */
    readonly saveCheckpoint: (
      request: SaveCheckpointRequest
    ) => Effect.Effect<
      void,
      CheckpointRejected | FenceRejected | ConversationNotFound | ConversationErased | StoreUnavailable
    >
    /**
     * The newest usable snapshot. One of another state version, with a digest that is not the log's, or that does not
     * decode is skipped with a log line; without any, the caller replays from the beginning.
     */
    readonly loadCheckpoint: (request: {
      readonly conversationId: ConversationId
      readonly atOrBefore?: number | undefined
    }) => Effect.Effect<Option.Option<Checkpoint>, ConversationNotFound | ConversationErased | StoreUnavailable>
    /**
     * What `list` says of one conversation: its status, title, tail and times, strongly consistent with append. Costs
     * one row, however many conversations and records there are.
     */
    readonly summary: (request: {
      readonly conversationId: ConversationId
    }) => Effect.Effect<Summary, ConversationNotFound | ConversationErased | StoreUnavailable>
    /** Conversations in the byte order of their ids; from an index, not from logs. */
    readonly list: (request?: {
      readonly after?: ConversationId | undefined
      readonly limit?: number | undefined
      readonly status?: Status | undefined
    }) => Stream.Stream<Summary, StoreUnavailable>
    /**
     * Reads a whole log and checks every digest, the chain, and the reducer's rules. Damage is reported, not thrown; the
     * check goes on behind it.
     */
    readonly verify: (request: {
      readonly conversationId: ConversationId
    }) => Effect.Effect<Report, ConversationNotFound | ConversationErased | UnsupportedVersion | StoreUnavailable>
  }
>()("@colloquy/store/ConversationStore") {}

/**
 * The stores of tenants, over one database. Provided together with {@link ConversationStore}.
 *
 * @category services
 * @since 0.1.0
 */
export class Tenants extends Context.Service<
  Tenants,
  {
    /** The store in which every verb sees only this tenant's conversations. */
    readonly store: (tenant: TenantId) => ConversationStore["Service"]
    /**
     * The tenants that have conversations, or had some that are erased, in the byte order of their ids: for operators, who
     * look after a whole database. Costs one look into an index for each.
     */
    readonly list: Stream.Stream<TenantId, StoreUnavailable>
  }
>()("@colloquy/store/ConversationStore/Tenants") {}

/**
 * The store over a driver, and those of its tenants. Adapters provide it with their own; few programs need it directly.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<ConversationStore | Tenants, never, ConversationDriver> =>
  Layer.effectContext(
    Effect.map(Front.make(options), ({ store, tenant, tenants }) =>
      Context.make(ConversationStore, ConversationStore.of(store)).pipe(
        Context.add(Tenants, Tenants.of({ store: tenant, list: tenants }))
      )
    )
  )

/**
 * A store in which every verb sees only one tenant's conversations: another tenant's id is answered as not found, and
 * the same id of two tenants names two conversations.
 *
 * **Example** (One tenant of a file)
 *
 * ```ts
 * ConversationStore.withTenant(TenantId.make("acme")).pipe(Layer.provide(SqliteStorage.layer({ filename })))
 * ```
 *
 * **Gotchas**
 *
 * A layer is built once for all who name it: `Conversations.layer` over two tenants' stores would be the first one's writers
 * for both. What stands over a tenant's store is built for that tenant alone, by `Layer.fresh` around all of it; what
 * tenants share, the database and the model, stays outside.
 *
 * **Example** (A runtime for each tenant of one database)
 *
 * ```ts
 * const runtimeOf = (tenant: TenantId) =>
 *   Layer.fresh(AgentRuntime.layer.pipe(Layer.provideMerge(ConversationStore.withTenant(tenant))))
 *
 * const tenants = yield* LayerMap.make(runtimeOf, { idleTimeToLive: "1 hour" })
 *
 * yield* AgentRuntime.run(desk, "Where is A1?", { conversationId: "ticket-42" }).pipe(
 *   Effect.provide(tenants.get(TenantId.make("acme")))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const withTenant = (tenant: TenantId): Layer.Layer<ConversationStore, never, Tenants> =>
  Layer.effect(
    ConversationStore,
    Tenants.useSync((tenants) => tenants.store(tenant))
  )
