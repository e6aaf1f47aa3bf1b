/**
 * The rules of a store, written once over the encoded driver.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import {
  ConversationState,
  stateVersion as currentStateVersion,
  type Status
} from "@colloquy/session/ConversationState"
import * as Digest from "@colloquy/session/Digest"
import { BatchId, ConversationId, ProducerId } from "@colloquy/session/Ids"
import * as Upcast from "@colloquy/session/Upcast"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Archive from "../Archive.ts"
import {
  type BatchRow,
  ConversationDriver,
  type Head,
  type Page,
  type Range,
  type RecordRow
} from "../ConversationDriver.ts"
import { Salts } from "../Salts.ts"
import {
  AppendConflict,
  type AppendError,
  CheckpointRejected,
  ConversationErased,
  ConversationNotFound,
  FenceRejected,
  ImportRejected,
  type ReadError,
  type StoreUnavailable,
  type Tail
} from "../StoreError.ts"
import type * as Model from "../StoreModel.ts"
import { archiveBatch, archiveRecord } from "./archive.ts"
import { importBatches, Importer } from "./importer.ts"
import * as Rows from "./rows.ts"
import { Verifier } from "./verify.ts"
import * as Wakeups from "./wakeups.ts"

export const make = Effect.fnUntraced(function* (options: Model.Options) {
  const driver = yield* ConversationDriver
  const salt = yield* Salts
  const steps = yield* Upcast.Upcasts
  const keepCheckpoints = options.keepCheckpoints ?? 4
  const wakeups = Wakeups.make()
  yield* Effect.forkScoped(Stream.runForEach(driver.changes, () => Effect.sync(wakeups.notifyAll)))

  const findHead = (conversationId: ConversationId) =>
    Effect.flatMap(
      driver.head(conversationId),
      (head): Effect.Effect<Head, ConversationNotFound | ConversationErased> => {
        if (Option.isNone(head)) return Effect.fail(new ConversationNotFound({ conversationId }))
        return head.value.erased ? Effect.fail(new ConversationErased({ conversationId })) : Effect.succeed(head.value)
      }
    )

  const materialize = Effect.fn("ConversationStore.materialize")(function* (request: Model.MaterializeRequest) {
    const { conversationId, producerId } = request
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
        const taken = yield* Effect.catchTag(findHead(conversationId), "ConversationNotFound", Effect.die)
        return { tail: tailOf(taken), epoch }
      }
    }
  })

  const append = Effect.fnUntraced(function* (request: Model.AppendRequest) {
    const { batch, conversationId, epoch, expectedTail, producerId } = request
    const encoded = yield* Effect.fromResult(Rows.encodeBatch(conversationId, batch))
    for (let attempt = 0; attempt < maxRefusals; attempt++) {
      const placed = Rows.placeBatch(encoded, { after: expectedTail, epoch, producerId, salt })
      const updatedAt = yield* Rows.now
      const { callIds, ...derived } = Rows.derive(placed.payloads)
      // Woken whatever the exit: an interrupted commit may have happened, and a wake-up is only a hint.
      const result = yield* Effect.ensuring(
        driver.commit({
          conversationId,
          guard: { sequence: expectedTail.sequence, tail: Digest.toBytes(expectedTail.digest), epoch, producerId },
          head: { sequence: placed.row.last, tail: placed.row.tail, updatedAt, ...derived },
          batches: [placed.row],
          records: placed.records,
          callIds
        }),
        Effect.sync(() => wakeups.notify(conversationId))
      )
      if (result === "committed") {
        return appended(conversationId, placed.row, placed.records, false, epoch, steps)
      }
      // Refused: find out why, in the order of the checks. When nothing is wrong any more, the next turn commits.
      const replay = yield* explain(request, encoded)
      if (Option.isSome(replay)) return replay.value
    }
    return yield* Effect.die(new Error(`the driver refuses batch ${batch.batchId}, and nothing is wrong with it`))
  })

  /** The replay of a refused append, or its error; nothing when it should be tried again. */
  const explain = Effect.fnUntraced(function* (request: Model.AppendRequest, encoded: Rows.EncodedBatch) {
    const { batch, conversationId, epoch, expectedTail, producerId } = request
    const { batchId } = batch
    const head = yield* findHead(conversationId)
    const stored = Option.getOrUndefined(yield* driver.batch(conversationId, batchId))
    const tail = tailOf(head)
    if (stored !== undefined) {
      const { records } = yield* driver.records(Rows.rangeOf(conversationId, stored))
      if (Rows.isSameBatch(encoded, stored, records)) {
        return Option.some(appended(conversationId, stored, records, true, head.epoch, steps))
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

  /** Pages of a range, sized so that a page of large payloads stays small. */
  const pages = (range: Omit<Range, "limit">, limit: number): Stream.Stream<Page, StoreUnavailable> =>
    Stream.paginate({ ...range, left: limit, size: firstPage }, (from) =>
      Effect.map(
        driver.records({ ...from, limit: Math.min(from.left, from.size) }),
        (page): readonly [ReadonlyArray<Page>, Option.Option<typeof from>] => {
          const last = page.records.at(-1)
          const left = from.left - page.records.length
          const edge = from.reverse ? from.after + 1 : from.through
          if (last === undefined || left <= 0 || last.sequence === edge) return [[page], Option.none()]
          const size = nextPage(page)
          const rest = from.reverse ? { through: last.sequence - 1 } : { after: last.sequence }
          return [[page], Option.some({ ...from, ...rest, left, size })]
        }
      )
    )

  const read = (request: Model.ReadRequest): Stream.Stream<CanonicalRecord, ReadError> =>
    Stream.unwrap(
      Effect.map(findHead(request.conversationId), (head) => {
        const { conversationId, limit = Infinity, reverse = false, verify = true } = request
        const after = Math.max(0, request.after ?? 0)
        const through = Math.min(request.through ?? head.sequence, head.sequence)
        if (after >= through || limit <= 0) return Stream.empty
        let next = reverse ? through : after + 1
        return pages({ conversationId, after, through, reverse }, limit).pipe(
          Stream.flatMap((page) => {
            const { failure, records } = Rows.readPage(conversationId, page, next, reverse, steps, verify)
            next += reverse ? -records.length : records.length
            const good = Stream.fromIterable(records)
            return failure === undefined ? good : Stream.concat(good, Stream.fail(failure))
          })
        )
      })
    )

  const observe = (request: { readonly conversationId: ConversationId; readonly after: number }) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const { conversationId } = request
        const wakeup = yield* wakeups.subscribe(conversationId)
        const next = (after: number) =>
          Effect.gen(function* () {
            while (true) {
              // Closed before the look: a commit that the look misses opens it again.
              wakeup.closeUnsafe()
              const head = yield* findHead(conversationId)
              if (head.sequence > after) {
                const range = { conversationId, after, through: head.sequence, limit: observedPage, reverse: false }
                const page = yield* driver.records(range)
                const { failure, records } = Rows.readPage(conversationId, page, after + 1, false, steps, true)
                if (failure !== undefined && records.length === 0) return yield* failure
                return [records, Option.some(records.at(-1)?.sequence ?? after)] as const
              }
              yield* wakeup.await
            }
          })
        return Stream.paginate(Math.max(0, request.after), next)
      })
    )

  const tail = Effect.fnUntraced(function* ({ conversationId }: { readonly conversationId: ConversationId }) {
    const head = yield* findHead(conversationId)
    return { ...tailOf(head), epoch: head.epoch, producerId: ownerOf(head) }
  })

  const batch = Effect.fnUntraced(function* (request: {
    readonly conversationId: ConversationId
    readonly batchId: BatchId
  }) {
    const head = yield* findHead(request.conversationId)
    const row = yield* driver.batch(head.conversationId, request.batchId)
    return Option.map(row, storedBatch)
  })

  const hasCallIds = Effect.fnUntraced(function* (request: {
    readonly conversationId: ConversationId
    readonly callIds: ReadonlyArray<string>
  }) {
    const { callIds, conversationId } = request
    yield* findHead(conversationId)
    return new Set(callIds.length === 0 ? [] : yield* driver.callIds(conversationId, callIds))
  })

  /** The header of a snapshot and its pages. */
  const snapshot = Effect.fnUntraced(function* (request: Model.ExportRequest) {
    const { conversationId } = request
    const head = yield* findHead(conversationId)
    const end = yield* boundary(head, request.through ?? head.sequence)
    const header: Archive.Header = {
      format: Archive.format,
      version: Archive.version,
      conversationId,
      epoch: head.epoch,
      records: end.sequence,
      tail: end.digest,
      createdAt: head.createdAt,
      updatedAt: head.updatedAt
    }
    const range = { conversationId, after: 0, through: end.sequence, reverse: false }
    let next = 1
    // A copy of a damaged log could not be imported: better to be told now.
    const intact = Stream.mapEffect(pages(range, Infinity), (page) => {
      const { failure, records } = Rows.readPage(conversationId, page, next, false, steps, true)
      next += records.length
      return failure === undefined ? Effect.succeed(page) : Effect.fail(failure)
    })
    return { header, pages: end.sequence === 0 ? Stream.empty : intact }
  })

  /** The end of the last batch that ends at or before a sequence. */
  const boundary = Effect.fnUntraced(function* (head: Head, through: number) {
    if (through >= head.sequence) return tailOf(head)
    if (through <= 0) return emptyTail
    const { conversationId } = head
    const range = { conversationId, after: through - 1, through, limit: 1, reverse: false }
    const batch = (yield* driver.records(range)).batches[0]
    if (batch === undefined) return emptyTail
    if (batch.last === through) return { sequence: through, digest: Digest.fromBytes(batch.tail) }
    const before = Option.getOrUndefined(yield* driver.batchEndingAt(conversationId, batch.first - 1))
    return before === undefined ? emptyTail : { sequence: before.last, digest: Digest.fromBytes(before.tail) }
  })

  const exportLines = (request: Model.ExportRequest): Stream.Stream<string, ReadError> =>
    Stream.unwrap(
      Effect.map(snapshot(request), ({ header, pages }) =>
        Stream.concat(
          Stream.succeed(Archive.encodeLine({ header })),
          Stream.flattenIterable(Stream.map(pages, pageLines))
        )
      )
    )

  const exportAll = Effect.fn("ConversationStore.export")(function* (request: Model.ExportRequest) {
    const { header, pages } = yield* snapshot(request)
    const batches: Array<Archive.ArchivedBatch & { readonly records: Array<Archive.ArchivedRecord> }> = []
    yield* Stream.runForEach(pages, (page) =>
      Effect.sync(() => {
        for (const { batch, record } of joined(page)) {
          if (batches.at(-1)?.batchId !== batch.batchId) batches.push({ ...archiveBatch(batch), records: [] })
          batches.at(-1)!.records.push(archiveRecord(record))
        }
      })
    )
    return { header, batches }
  })

  const importAll = <E, R>(lines: Stream.Stream<string, E, R>) =>
    Stream.suspend(() => {
      const importer = new Importer(driver, steps, true)
      return Stream.concat(
        Stream.mapEffect(lines, importer.read),
        Stream.fromEffect(Effect.suspend(importer.end))
      ).pipe(
        Stream.filterMap(Result.fromOption(() => undefined)),
        Stream.tap(({ conversationId }) => Effect.sync(() => wakeups.notify(conversationId)))
      )
    })

  const importOne = Effect.fnUntraced(function* <E, R>(lines: Stream.Stream<string, E, R>) {
    const importer = new Importer(driver, steps, false)
    let line = 0
    yield* Stream.runForEach(lines, (text) => {
      line++
      return importer.read(text)
    })
    const imported = yield* importer.end()
    if (Option.isSome(imported)) {
      wakeups.notify(imported.value.conversationId)
      return imported.value
    }
    return yield* new ImportRejected({ reason: "format", line, detail: "there is no archive in the lines" })
  })

  const importForeign = (request: Model.ImportBatchesRequest) =>
    Effect.ensuring(
      importBatches(driver, salt, request),
      Effect.sync(() => wakeups.notify(request.conversationId))
    )

  const saveCheckpoint = Effect.fnUntraced(function* (request: Model.SaveCheckpointRequest) {
    const { conversationId, digest, epoch, producerId, sequence, state, stateVersion } = request
    const head = yield* findHead(conversationId)
    const reject = (reason: CheckpointRejected["reason"]) =>
      new CheckpointRejected({ conversationId, sequence, reason })
    if (head.epoch !== epoch || head.producerId !== producerId) return yield* fenced(head, { epoch, producerId })
    if (state.conversationId !== conversationId) return yield* reject("other-conversation")
    if (sequence > head.sequence) return yield* reject("ahead-of-tail")
    const row = Option.getOrUndefined(yield* driver.batchEndingAt(conversationId, sequence))
    if (row === undefined) return yield* reject("inside-a-batch")
    if (Digest.fromBytes(row.tail) !== digest || state.sequence !== sequence) return yield* reject("other-digest")
    const result = yield* driver.commit({
      conversationId,
      guard: { epoch, producerId },
      head: {},
      checkpoint: { sequence, digest: row.tail, stateVersion, state: JSON.stringify(state) },
      keepCheckpoints
    })
    if (result === "refused") return yield* fenced(yield* findHead(conversationId), { epoch, producerId })
  })

  const loadCheckpoint = Effect.fnUntraced(function* (request: {
    readonly conversationId: ConversationId
    readonly atOrBefore?: number | undefined
  }) {
    const { conversationId } = request
    const head = yield* findHead(conversationId)
    const rows = yield* driver.checkpoints(conversationId, Math.min(request.atOrBefore ?? Infinity, head.sequence))
    for (const row of rows) {
      const { sequence } = row
      const skip = (reason: string) =>
        Effect.logDebug(`checkpoint ${sequence} of ${conversationId} is not used: ${reason}`)
      if (row.stateVersion !== currentStateVersion) {
        yield* skip(`state version ${row.stateVersion}, this release reads ${currentStateVersion}`)
        continue
      }
      const boundary = Option.getOrUndefined(yield* driver.batchEndingAt(conversationId, sequence))
      const digest = Digest.fromBytes(row.digest)
      if (boundary === undefined || Digest.fromBytes(boundary.tail) !== digest) {
        yield* skip("its digest is not the log's")
        continue
      }
      const state = decodeState(row.state)
      if (Result.isFailure(state)) {
        yield* skip(state.failure.message)
        continue
      }
      if (state.success.conversationId !== conversationId || state.success.sequence !== sequence) {
        yield* skip("it is of another place")
        continue
      }
      const { stateVersion } = row
      return Option.some<Model.Checkpoint>({ sequence, digest, stateVersion, state: state.success })
    }
    return Option.none<Model.Checkpoint>()
  })

  const list = (
    request: {
      readonly after?: ConversationId | undefined
      readonly limit?: number | undefined
      readonly status?: Status | undefined
    } = {}
  ): Stream.Stream<Model.Summary, StoreUnavailable> => {
    const { limit = Infinity, status } = request
    const heads = Stream.paginate<string, Head, StoreUnavailable, never>(request.after ?? "", (after) =>
      Effect.map(driver.list({ after, limit: listPage, status }), (heads) => {
        const last = heads.at(-1)
        return [heads, last === undefined || heads.length < listPage ? Option.none() : Option.some(last.conversationId)]
      })
    )
    return heads.pipe(
      Stream.filter((head) => !head.erased),
      Stream.map(summaryOf),
      Number.isFinite(limit) ? Stream.take(limit) : (all) => all
    )
  }

  const verify = Effect.fn("ConversationStore.verify")(function* (request: {
    readonly conversationId: ConversationId
  }) {
    const { conversationId } = request
    const head = yield* findHead(conversationId)
    const verifier = new Verifier(conversationId, steps)
    if (head.sequence > 0) {
      const range = { conversationId, after: 0, through: head.sequence, reverse: false }
      yield* Stream.runForEach(pages(range, Infinity), (page) => Effect.fromResult(verifier.read(page)))
    }
    return verifier.report(head)
  })

  return {
    materialize,
    append: (request: Model.AppendRequest): Effect.Effect<Model.Appended, AppendError> => append(request),
    read,
    observe,
    tail,
    batch,
    hasCallIds,
    export: exportAll,
    exportLines,
    import: importOne,
    importAll,
    importBatches: importForeign,
    saveCheckpoint,
    loadCheckpoint,
    list,
    verify
  }
})

// --- internal ---

/** A refusal without a reason means that somebody moved the log back and forth between two looks: once is rare. */
const maxRefusals = 16
const firstPage = 64
const largestPage = 512
const pageBytes = 2 * 1024 * 1024
const observedPage = 256
const listPage = 500

/** Twice the last page, unless payloads like its own would make that large. */
const nextPage = ({ records }: Page): number => {
  const bytes = records.reduce((sum, { payload }) => sum + payload.length, 1)
  const fitting = Math.floor((pageBytes * records.length) / bytes)
  return Math.max(1, Math.min(largestPage, fitting, records.length * 4))
}

const emptyTail: Tail = { sequence: 0, digest: Digest.empty }

const tailOf = (head: Head): Tail => ({ sequence: head.sequence, digest: Digest.fromBytes(head.tail) })

const ownerOf = (head: Head): ProducerId | null => (head.producerId === null ? null : ProducerId.make(head.producerId))

const newHead = (now: number, epoch: number, producerId: ProducerId): Omit<Head, "conversationId"> => ({
  sequence: 0,
  tail: Digest.toBytes(Digest.empty),
  epoch,
  producerId,
  status: "idle",
  title: null,
  createdAt: now,
  updatedAt: now,
  erased: false
})

const fenced = (head: Head, attempted: { readonly epoch: number; readonly producerId: ProducerId }) =>
  new FenceRejected({
    conversationId: ConversationId.make(head.conversationId),
    actual: { epoch: head.epoch, producerId: ownerOf(head) },
    attempted
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

const storedBatch = (row: BatchRow): Model.StoredBatch => ({
  batchId: BatchId.make(row.batchId),
  first: row.first,
  last: row.last,
  epoch: row.epoch,
  producerId: ProducerId.make(row.producerId),
  contentDigest: Digest.fromBytes(row.content),
  tail: { sequence: row.last, digest: Digest.fromBytes(row.tail) }
})

const summaryOf = (head: Head): Model.Summary => ({
  conversationId: ConversationId.make(head.conversationId),
  status: head.status,
  ...(head.title === null ? {} : { title: head.title }),
  tail: tailOf(head),
  epoch: head.epoch,
  createdAt: head.createdAt,
  updatedAt: head.updatedAt
})

/** Each record of an ascending page with its batch; the page is known to be whole. */
const joined = function* (page: Page): Generator<{ readonly batch: BatchRow; readonly record: RecordRow }> {
  let place = 0
  for (const record of page.records) {
    while (page.batches[place] !== undefined && page.batches[place]!.last < record.sequence) place++
    const batch = page.batches[place]
    if (batch !== undefined) yield { batch, record }
  }
}

const pageLines = function* (page: Page): Generator<string> {
  for (const { batch, record } of joined(page)) {
    if (record.sequence === batch.first) yield Archive.encodeLine({ batch: archiveBatch(batch) })
    yield Archive.encodeLine({ record: archiveRecord(record) })
  }
}

const decodeState = Schema.decodeUnknownResult(Schema.fromJsonString(ConversationState))
