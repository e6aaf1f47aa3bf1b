/**
 * Logs as archives, out and in, and logs from elsewhere.
 */
import * as Digest from "@colloquy/session/Digest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Archive from "../Archive.ts"
import type { BatchRow, Head, Page, RecordRow } from "../ConversationDriver.ts"
import { ImportRejected, type ReadError } from "../StoreError.ts"
import type * as Model from "../StoreModel.ts"
import { archiveBatch, archiveRecord } from "./archive.ts"
import type { Context } from "./context.ts"
import { emptyTail, findHead, tailOf } from "./heads.ts"
import { importBatches, Importer } from "./importer.ts"
import { pages } from "./pages.ts"
import * as Rows from "./rows.ts"

export const make = ({ driver, salt, steps, wakeups }: Context) => {
  /** The header of a snapshot and its pages. */
  const snapshot = Effect.fnUntraced(function* (request: Model.ExportRequest) {
    const { conversationId } = request
    const head = yield* findHead(driver, conversationId)
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
    const intact = Stream.mapEffect(pages(driver, range), (page) => {
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
        Stream.tap(({ conversationId }) => Effect.sync(() => wakeups.notify(conversationId))),
        Stream.ensuring(Effect.suspend(importer.abandon))
      )
    })

  const importOne = Effect.fnUntraced(function* <E, R>(lines: Stream.Stream<string, E, R>) {
    const importer = new Importer(driver, steps, false)
    let line = 0
    const imported = yield* Stream.runForEach(lines, (text) => {
      line++
      return importer.read(text)
    }).pipe(Effect.andThen(Effect.suspend(importer.end)), Effect.ensuring(Effect.suspend(importer.abandon)))
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

  return { export: exportAll, exportLines, import: importOne, importAll, importBatches: importForeign }
}

// --- internal ---

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
