/**
 * The one writer of a conversation in a process: it holds the epoch, follows the tail, and keeps the reducer's state and
 * the visible records at hand.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import { type ConversationState, stateVersion } from "@colloquy/session/ConversationState"
import { derive } from "@colloquy/session/DerivedId"
import { BatchId, type ConversationId, type ProducerId, RecordId, type TenantId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import type { EraserFailed } from "@colloquy/session/Seams"
import type { UnsupportedVersion } from "@colloquy/session/Upcast"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { ConversationStore } from "./ConversationStore.ts"
import { now } from "./internal/rows.ts"
import type { Appended, Redaction, RedactRequest } from "./StoreModel.ts"
import * as WriterMetrics from "./WriterMetrics.ts"
import { type AppendError, FenceRejected, type ReadError, type StoreUnavailable, type Tail } from "./StoreError.ts"

/**
 * Records to append together. A batch without an id gets one of its place in the log, and records without ids get those of
 * their batch. A runtime that must be recognised after a crash derives its own from what the records are.
 *
 * @category models
 * @since 0.1.0
 */
export interface Draft {
  readonly batchId?: BatchId | undefined
  readonly records: ReadonlyArray<{
    readonly recordId?: RecordId | undefined
    readonly payload: Payload.Written
  }>
}

/**
 * What appending through a writer fails with: a record that breaks a rule of the log (nothing was written), or what the
 * store says. After `FenceRejected` the writer stays stopped: somebody else has taken the conversation over.
 *
 * @category errors
 * @since 0.1.0
 */
export type WriteError = AppendError | Conversation.IllegalRecord | ReadError

/**
 * @category models
 * @since 0.1.0
 */
export interface Writer {
  /** Whose conversation it is; undefined in the store that belongs to no tenant. */
  readonly tenant: TenantId | undefined
  readonly conversationId: ConversationId
  readonly producerId: ProducerId
  readonly epoch: number
  /** The state behind the last record that this writer knows. */
  readonly state: () => ConversationState
  /** Somebody else has taken the conversation over; every append fails with `FenceRejected`. */
  readonly isStopped: () => boolean
  /** The records of the visible window, in order. The array grows as records are appended. */
  readonly records: () => ReadonlyArray<CanonicalRecord>
  readonly tail: () => Tail
  /**
   * Appends payloads as one batch, and gives the records as they are stored. Batches of one writer are appended one after
   * the other. Contention is retried under the same batch id; a batch that is in the log already gives its records.
   */
  readonly append: (
    draft: Draft | ReadonlyArray<Payload.Written>
  ) => Effect.Effect<ReadonlyArray<CanonicalRecord>, WriteError>
  /**
   * Removes the payloads of records; see `ConversationStore.redact`. The records at hand are read again, so that nothing
   * of them is shown any more.
   */
  readonly redact: (
    request: Pick<RedactRequest, "sequences" | "reason" | "author">
  ) => Effect.Effect<Redaction, WriteError | EraserFailed>
  /** What a model is shown now. */
  readonly prompt: (options?: ConversationPrompt.Options) => ConversationPrompt.Projection
  /** Whether the log has a batch of this id. */
  readonly hasBatch: (batchId: BatchId) => Effect.Effect<boolean, ReadError>
  /**
   * Makes sure that `state` and `records` are what the log has: after an append of which nobody knows whether it happened
   * they may not be. Does nothing otherwise.
   */
  readonly settle: Effect.Effect<void, WriteError>
  /** Ids of calls that the conversation has declared at any time. */
  readonly usedCallIds: (callIds: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, ReadError>
}

/**
 * How often the state is kept as a checkpoint: after so many records, and at the end of each run.
 *
 * @category constants
 * @since 0.1.0
 */
export const checkpointEvery = 64

/**
 * Takes a conversation over and loads what a writer needs: the newest checkpoint and the visible records behind it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  store: ConversationStore["Service"],
  conversationId: ConversationId,
  producerId: ProducerId
) {
  const materialized = yield* store.materialize({ conversationId, producerId }).pipe(
    // The store chooses the epoch, so there is none to be invalid.
    Effect.catchTag("InvalidEpoch", Effect.die),
    Effect.retry(retryPolicy)
  )
  const { epoch } = materialized
  const loaded = yield* load(store, conversationId, materialized.tail)
  const exclusive = Semaphore.makeUnsafe(1)

  let { records, state } = loaded
  let tail = materialized.tail
  let checkpointAt = loaded.checkpointAt
  let stopped: FenceRejected | undefined
  // An append failed without saying whether it happened.
  let uncertain = false

  const stop = (fence: FenceRejected) => {
    stopped = fence
    return Effect.fail(fence)
  }

  /** A store that did not answer may have written all the same. */
  const noteFailure = (error: WriteError | EraserFailed) => {
    uncertain = error._tag === "StoreUnavailable" || error._tag === "EraserFailed"
    if (error._tag === "FenceRejected") stopped = error
    const metric = error._tag === "FenceRejected" ? WriterMetrics.fences : WriterMetrics.conflicts
    const isRefusal = error._tag === "FenceRejected" || error._tag === "AppendConflict"
    return isRefusal ? Metric.update(metric, 1) : Effect.void
  }

  /** Takes in records that are in the log and not yet in the state. */
  const absorb = Effect.fnUntraced(function* (fresh: ReadonlyArray<CanonicalRecord>, end: Tail) {
    if (fresh.some(({ payload }) => payload._tag === "ContentRedacted")) {
      // The records at hand have what was removed, and the state may have digests that it could be guessed from.
      ;({ checkpointAt, records, state } = yield* load(store, conversationId, end))
      tail = end
      return
    }
    const next = yield* Effect.fromResult(Conversation.replay(state, fresh))
    const moved = next.window.visibleFrom !== state.window.visibleFrom
    state = next
    tail = end
    records.push(...fresh)
    if (moved) records = visible(next, records)
  })

  /** After an append of which nobody knows: reads what the log has more than the state. */
  const settle = Effect.gen(function* () {
    const position = yield* store.tail({ conversationId })
    if (position.epoch !== epoch || position.producerId !== producerId) return yield* stop(fenceOf(position))
    if (position.sequence > tail.sequence) {
      yield* absorb(yield* Stream.runCollect(store.read({ conversationId, after: tail.sequence })), position)
    }
    uncertain = false
  })

  const fenceOf = (actual: { readonly epoch: number; readonly producerId: ProducerId | null }) =>
    new FenceRejected({
      conversationId,
      actual: { epoch: actual.epoch, producerId: actual.producerId },
      attempted: { epoch, producerId }
    })

  /** Refuses what would break a rule of the log before it is stored. */
  const check = (candidates: ReadonlyArray<Payload.Written>) =>
    Conversation.replay(
      state,
      candidates.map((payload, i) => ({
        conversationId,
        sequence: tail.sequence + 1 + i,
        recordId: candidateRecord,
        batchId: candidateBatch,
        at: 0,
        epoch,
        producerId,
        schemaVersion: 1,
        digest: tail.digest,
        payload
      }))
    )

  const saveCheckpoint = (ended: boolean) =>
    Effect.suspend(() => {
      if (!ended && tail.sequence - checkpointAt < checkpointEvery) return Effect.void
      const { digest, sequence } = tail
      checkpointAt = sequence
      return store.saveCheckpoint({ conversationId, sequence, digest, stateVersion, state, epoch, producerId }).pipe(
        // A checkpoint is disposable: without it the next load reads more records.
        Effect.catch((error) => Effect.logDebug(`no checkpoint at ${sequence} of ${conversationId}: ${error.message}`))
      )
    })

  /** After a failure that says nothing: the batch's records if it is in the log all the same. */
  const lookUp = Effect.fnUntraced(function* (batchId: BatchId, failure: StoreUnavailable) {
    yield* Effect.mapError(settle, () => failure)
    const found = records.filter((record) => record.batchId === batchId)
    return found.length === 0 ? yield* failure : found
  })

  const append = Effect.fnUntraced(function* (draft: Draft | ReadonlyArray<Payload.Written>) {
    if (stopped !== undefined) return yield* stopped
    if (uncertain) yield* settle
    const at = yield* now
    const drafted: Draft = "records" in draft ? draft : { records: draft.map((payload) => ({ payload })) }
    const batchId = drafted.batchId ?? BatchId.make(derive(`e${epoch}`, `s${tail.sequence}`))
    const batch = {
      batchId,
      records: drafted.records.map(({ payload, recordId }, i) => ({
        recordId: recordId ?? RecordId.make(derive(batchId, String(i))),
        at,
        payload
      }))
    }
    const legal = check(batch.records.map(({ payload }) => payload))
    if (Result.isFailure(legal)) {
      // A repeated batch breaks rules (its run has started already) and is in the log all the same.
      const known = yield* store.batch({ conversationId, batchId: batch.batchId })
      if (Option.isNone(known)) return yield* legal.failure
    }
    uncertain = true
    const fresh = yield* Effect.retry(
      store.append({ conversationId, batch, expectedTail: tail, epoch, producerId }),
      retryPolicy
    ).pipe(
      Effect.trackDuration(WriterMetrics.appends),
      // A new owner that did the same work has used the same batch ids: to this one it is a fence.
      Effect.catchTag("AppendConflict", (conflict) =>
        Effect.flatMap(store.tail({ conversationId }), (position) =>
          Effect.fail(position.epoch === epoch && position.producerId === producerId ? conflict : fenceOf(position))
        )
      ),
      Effect.tapError(noteFailure),
      Effect.flatMap(take),
      Effect.catchTag("StoreUnavailable", (failure) => lookUp(batch.batchId, failure))
    )
    yield* saveCheckpoint(fresh.some(({ payload }) => payload._tag === "RunEnded" || payload._tag === "RunSuspended"))
    return fresh
  })

  /** Takes in what was appended, or recognised. */
  const take = Effect.fnUntraced(function* (appended: Appended) {
    // The batch is in the log, but somebody else has taken over since: nothing more may run here.
    if (appended.epoch !== epoch) return yield* stop(fenceOf(yield* store.tail({ conversationId })))
    const fresh = appended.records()
    if (appended.replayed) yield* Metric.update(WriterMetrics.replays, 1)
    if (appended.first === tail.sequence + 1) yield* absorb(fresh, appended.tail)
    uncertain = false
    return fresh
  })

  const redact = Effect.fnUntraced(function* (request: Pick<RedactRequest, "sequences" | "reason" | "author">) {
    if (stopped !== undefined) return yield* stopped
    if (uncertain) yield* settle
    const batchId = BatchId.make(derive(`e${epoch}`, `s${tail.sequence}`, "redaction"))
    uncertain = true
    const report = yield* Effect.retry(
      store.redact({ ...request, conversationId, batchId, expectedTail: tail, epoch, producerId }),
      retryPolicy
    ).pipe(
      Effect.tapError(noteFailure),
      // It may have happened all the same, and then nothing of it may be shown; if this fails, the next append asks.
      Effect.tapError(() => (uncertain ? Effect.ignore(settle) : Effect.void))
    )
    if (report.epoch !== epoch) return yield* stop(fenceOf(yield* store.tail({ conversationId })))
    if (report.first === tail.sequence + 1) yield* absorb(report.records(), report.tail)
    uncertain = false
    return report
  })

  const writer: Writer = {
    tenant: store.tenant,
    conversationId,
    producerId,
    epoch,
    state: () => state,
    records: () => records,
    tail: () => tail,
    isStopped: () => stopped !== undefined,
    append: (draft) => exclusive.withPermit(append(draft)),
    redact: (request) => exclusive.withPermit(redact(request)),
    prompt: (options) => ConversationPrompt.project(state, records, options),
    hasBatch: (batchId) =>
      Effect.map(Effect.retry(store.batch({ conversationId, batchId }), retryPolicy), Option.isSome),
    settle: exclusive.withPermit(Effect.suspend(() => (uncertain ? settle : Effect.void))),
    usedCallIds: (callIds) => Effect.retry(store.hasCallIds({ conversationId, callIds }), retryPolicy)
  }
  return writer
})

/**
 * The state of a conversation at its tail, and its visible records: one checkpoint, and what is visible behind it.
 *
 * @category loading
 * @since 0.1.0
 */
export const load = Effect.fnUntraced(function* (
  store: ConversationStore["Service"],
  conversationId: ConversationId,
  tail: Tail
): Effect.fn.Return<
  {
    readonly state: ConversationState
    readonly records: Array<CanonicalRecord>
    readonly checkpointAt: number
  },
  ReadError | Conversation.IllegalRecord | UnsupportedVersion | StoreUnavailable
> {
  const checkpoint = Option.getOrUndefined(yield* store.loadCheckpoint({ conversationId, atOrBefore: tail.sequence }))
  let state = checkpoint?.state ?? Conversation.initial(conversationId)
  const { pinned, visibleFrom } = state.window
  const checkpointAt = state.sequence
  let records: Array<CanonicalRecord> = []
  for (const sequence of pinned.filter((pinned) => pinned < visibleFrom)) {
    records.push(...(yield* Stream.runCollect(store.read({ conversationId, after: sequence - 1, through: sequence }))))
  }
  const range = { conversationId, after: visibleFrom - 1, through: tail.sequence }
  yield* Stream.runForEachArray(store.read(range), (page) => {
    for (const record of page) {
      records.push(record)
      if (record.sequence <= checkpointAt) continue
      const next = Conversation.evolve(state, record)
      if (Result.isFailure(next)) return Effect.fail(next.failure)
      const moved = next.success.window.visibleFrom !== state.window.visibleFrom
      state = next.success
      if (moved) records = visible(state, records)
    }
    return Effect.void
  })
  return { state, records, checkpointAt }
})

// --- internal ---

const retryPolicy = {
  while: (error: { readonly _tag: string; readonly retryable?: boolean }) =>
    error._tag === "StoreUnavailable" && error.retryable === true,
  schedule: Schedule.exponential("20 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 6 }))
}

const candidateRecord = RecordId.make("candidate")
const candidateBatch = BatchId.make("candidate")

const visible = ({ window }: ConversationState, records: ReadonlyArray<CanonicalRecord>): Array<CanonicalRecord> =>
  records.filter(({ sequence }) => sequence >= window.visibleFrom || window.pinned.includes(sequence))
