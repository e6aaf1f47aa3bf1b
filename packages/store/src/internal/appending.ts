/**
 * Who may write, and what is written: materialize and append, with the checks in their order.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Digest from "@colloquy/session/Digest"
import type { ConversationId, ProducerId } from "@colloquy/session/Ids"
import type * as Upcast from "@colloquy/session/Upcast"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { BatchRow, Commit, Head, RecordRow } from "../ConversationDriver.ts"
import { AppendConflict, type AppendError, ConversationErased, InvalidEpoch, type Tail } from "../StoreError.ts"
import type * as Model from "../StoreModel.ts"
import type { Context } from "./context.ts"
import { emptyTail, fenced, findHead, tailOf } from "./heads.ts"
import * as Rows from "./rows.ts"

export const make = ({ driver, salt, steps, wakeups }: Context) => {
  const materialize = Effect.fn("ConversationStore.materialize")(function* (request: Model.MaterializeRequest) {
    const { conversationId, producerId } = request
    if (request.epoch !== undefined && !(Number.isSafeInteger(request.epoch) && request.epoch >= 0)) {
      return yield* new InvalidEpoch({ conversationId, epoch: String(request.epoch) })
    }
    // Each turn commits, fails, or finds that somebody else has moved the epoch on.
    while (true) {
      const head = Option.getOrUndefined(yield* driver.head(conversationId))
      if (head?.erased === true) return yield* new ConversationErased({ conversationId })
      const epoch = request.epoch ?? (head?.epoch ?? 0) + 1
      const tail: Tail = head === undefined ? emptyTail : tailOf(head)
      if (head !== undefined && epoch <= head.epoch) {
        if (epoch === head.epoch && producerId === head.producerId) return { tail, epoch }
        return yield* fenced(head, { epoch, producerId })
      }
      const now = yield* Rows.now
      const result = yield* driver.commit(
        head === undefined
          ? { conversationId, guard: "absent", head: newHead(now, epoch, producerId) }
          : {
              conversationId,
              guard: { epoch: head.epoch, producerId: head.producerId },
              head: { epoch, producerId }
            }
      )
      if (result === "committed") {
        // Between the look and the commit the former owner may have appended.
        if (head === undefined) return { tail, epoch }
        const taken = yield* Effect.catchTag(findHead(driver, conversationId), "ConversationNotFound", Effect.die)
        return { tail: tailOf(taken), epoch }
      }
    }
  })

  /** Appends a batch, and changes what else is given in the same commit. */
  const appendWith = (request: Model.AppendRequest, also: Also): Effect.Effect<Model.Appended, AppendError> =>
    Effect.suspend(() => {
      const encoded = Rows.encodeBatch(request.conversationId, request.batch)
      return Result.isFailure(encoded) ? Effect.fail(encoded.failure) : place(request, also, encoded.success, 1)
    })

  // Without a generator: every append comes through here once, and seldom twice.
  const place = (
    request: Model.AppendRequest,
    also: Also,
    encoded: Rows.EncodedBatch,
    attempt: number
  ): Effect.Effect<Model.Appended, AppendError> =>
    Clock.clockWith((clock) => {
      const { conversationId, epoch, expectedTail, producerId } = request
      const { payloads, records, row } = Rows.placeBatch(encoded, { after: expectedTail, epoch, producerId, salt })
      const { callIds, ...derived } = Rows.derive(payloads)
      const commit = driver.commit({
        ...also,
        conversationId,
        guard: { sequence: expectedTail.sequence, tail: Digest.toBytes(expectedTail.digest), epoch, producerId },
        head: { sequence: row.last, tail: row.tail, updatedAt: Rows.nowOf(clock), ...derived, ...also.head },
        batches: [row],
        records,
        callIds
      })
      // Woken whatever the exit: an interrupted commit may have happened, and a wake-up is only a hint.
      const woken = Effect.onExit(commit, () => {
        wakeups.notify(conversationId)
        return Effect.void
      })
      return Effect.flatMap(woken, (result) =>
        result === "committed"
          ? Effect.succeed(appended(conversationId, row, records, false, epoch, steps))
          : refused(request, also, encoded, attempt)
      )
    })

  /** Finds out why, in the order of the checks. When nothing is wrong any more, the next attempt commits. */
  const refused = Effect.fnUntraced(function* (
    request: Model.AppendRequest,
    also: Also,
    encoded: Rows.EncodedBatch,
    attempt: number
  ): Effect.fn.Return<Model.Appended, AppendError> {
    const replay = yield* explain(request, encoded)
    if (Option.isSome(replay)) return replay.value
    if (attempt < maxRefusals) return yield* place(request, also, encoded, attempt + 1)
    const { batchId } = request.batch
    return yield* Effect.die(new Error(`the driver refuses batch ${batchId}, and nothing is wrong with it`))
  })

  /** The replay of a refused append, or its error; nothing when it should be tried again. */
  const explain = Effect.fnUntraced(function* (request: Model.AppendRequest, encoded: Rows.EncodedBatch) {
    const { batch, conversationId, epoch, expectedTail, producerId } = request
    const { batchId } = batch
    const head = yield* findHead(driver, conversationId)
    const stored = Option.getOrUndefined(yield* driver.batch(conversationId, batchId))
    const tail = tailOf(head)
    if (stored !== undefined) {
      const { records } = yield* driver.records(Rows.rangeOf(conversationId, stored))
      if (Rows.isSameBatch(encoded, stored, records)) {
        // Looked at again behind the batch: whoever has appended it in between has taken over.
        const { epoch } = yield* findHead(driver, conversationId)
        return Option.some(appended(conversationId, stored, records, true, epoch, steps))
      }
      return yield* new AppendConflict({ conversationId, batchId, reason: "batch-content", tail })
    }
    if (head.epoch !== epoch || head.producerId !== producerId) return yield* fenced(head, { epoch, producerId })
    if (tail.sequence !== expectedTail.sequence || tail.digest !== expectedTail.digest) {
      return yield* new AppendConflict({ conversationId, batchId, reason: "tail", tail })
    }
    const ids = batch.records.map(({ recordId }) => recordId)
    const repeated = ids.find((id, i) => ids.indexOf(id) !== i)
    const known = repeated ?? ids.find(isIn(yield* driver.recordIds(conversationId, ids)))
    if (known === undefined) return Option.none<Model.Appended>()
    return yield* new AppendConflict({ conversationId, batchId, reason: "record-identity", tail, recordId: known })
  })

  return { materialize, appendWith, append: (request: Model.AppendRequest) => appendWith(request, {}) }
}

// --- internal ---

/** What is changed in the commit of a batch. */
type Also = Pick<Commit, "replaced" | "keepCheckpoints"> & { readonly head?: Commit["head"] }

/** A refusal without a reason means that somebody moved the log back and forth between two looks: once is rare. */
const maxRefusals = 16

const newHead = (now: number, epoch: number, producerId: ProducerId): Omit<Head, "conversationId"> => ({
  sequence: 0,
  tail: Digest.toBytes(Digest.empty),
  epoch,
  producerId,
  status: "idle",
  title: null,
  createdAt: now,
  updatedAt: now,
  erased: false,
  forkedFrom: null
})

const isIn = (known: ReadonlyArray<string>) => (id: string) => known.includes(id)

const appended = (
  conversationId: ConversationId,
  row: BatchRow,
  rows: ReadonlyArray<RecordRow>,
  replayed: boolean,
  epoch: number,
  steps: Upcast.Steps
): Model.Appended => {
  let records: ReadonlyArray<CanonicalRecord> | undefined
  return {
    first: row.first,
    last: row.last,
    tail: { sequence: row.last, digest: Digest.fromBytes(row.tail) },
    replayed,
    epoch,
    // What was just written, or read and compared, decodes: a failure is a defect.
    records: () =>
      (records ??= rows.map((record) => Result.getOrThrow(Rows.readRecord(conversationId, record, row, steps, false))))
  }
}
