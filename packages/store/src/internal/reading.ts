/**
 * Everything that looks: records, tails, batches, call ids, lists, and the check of a whole log.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { Status } from "@colloquy/session/ConversationState"
import * as Digest from "@colloquy/session/Digest"
import { BatchId, ConversationId, ProducerId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { BatchRow, Head, Range } from "../ConversationDriver.ts"
import type { ReadError, StoreUnavailable } from "../StoreError.ts"
import type * as Model from "../StoreModel.ts"
import type { Context } from "./context.ts"
import { findHead, ownerOf, tailOf } from "./heads.ts"
import { firstPage, nextPage, pages, parts } from "./pages.ts"
import * as Rows from "./rows.ts"
import { Verifier } from "./verify.ts"

export const make = ({ driver, steps, wakeups }: Context) => {
  /**
   * The good records at the beginning of a range. Fails where already the first one is damaged: who goes on behind the
   * good ones comes to that.
   */
  const readPart = (conversationId: ConversationId, range: Omit<Range, "conversationId">, verify: boolean) =>
    Effect.flatMap(driver.records({ ...range, conversationId }), (page) => {
      const first = range.reverse ? range.through : range.after + 1
      const { failure, records } = Rows.readPage(conversationId, page, first, range.reverse, steps, verify)
      if (failure !== undefined && records.length === 0) return Effect.fail(failure)
      return Effect.succeed({ records, items: records, size: nextPage(page) })
    })

  const read = (request: Model.ReadRequest): Stream.Stream<CanonicalRecord, ReadError> =>
    Stream.unwrap(
      Effect.map(findHead(driver, request.conversationId), (head) => {
        const { conversationId, limit = Infinity, reverse = false, verify = true } = request
        const after = Math.max(0, request.after ?? 0)
        const through = Math.min(request.through ?? head.sequence, head.sequence)
        if (after >= through || limit <= 0) return Stream.empty
        const range = { conversationId, after, through, reverse }
        return parts(range, limit, (part) => readPart(conversationId, part, verify))
      })
    )

  const observe = (request: { readonly conversationId: ConversationId; readonly after: number }) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const { conversationId } = request
        const wakeup = yield* wakeups.subscribe(conversationId)
        const next = ({ after, limit }: { readonly after: number; readonly limit: number }) =>
          Effect.gen(function* () {
            while (true) {
              // Closed before the look: a commit that the look misses opens it again.
              wakeup.closeUnsafe()
              const head = yield* findHead(driver, conversationId)
              if (head.sequence > after) {
                const range = { after, through: head.sequence, limit, reverse: false }
                const { records, size } = yield* readPart(conversationId, range, true)
                return [records, Option.some({ after: records.at(-1)?.sequence ?? after, limit: size })] as const
              }
              yield* wakeup.await
            }
          })
        return Stream.paginate({ after: Math.max(0, request.after), limit: firstPage }, next)
      })
    )

  const tail = Effect.fnUntraced(function* ({ conversationId }: { readonly conversationId: ConversationId }) {
    const head = yield* findHead(driver, conversationId)
    return { ...tailOf(head), epoch: head.epoch, producerId: ownerOf(head) }
  })

  const summary = ({ conversationId }: { readonly conversationId: ConversationId }) =>
    Effect.map(findHead(driver, conversationId), summaryOf)

  const batch = Effect.fnUntraced(function* (request: {
    readonly conversationId: ConversationId
    readonly batchId: BatchId
  }) {
    const head = yield* findHead(driver, request.conversationId)
    const row = yield* driver.batch(head.conversationId, request.batchId)
    return Option.map(row, storedBatch)
  })

  const hasCallIds = Effect.fnUntraced(function* (request: {
    readonly conversationId: ConversationId
    readonly callIds: ReadonlyArray<string>
  }) {
    const { callIds, conversationId } = request
    yield* findHead(driver, conversationId)
    return new Set(callIds.length === 0 ? [] : yield* driver.callIds(conversationId, callIds))
  })

  const list = (
    request: {
      readonly after?: ConversationId | undefined
      readonly limit?: number | undefined
      readonly status?: Status | undefined
    } = {}
  ): Stream.Stream<Model.Summary, StoreUnavailable> => {
    const { limit = Infinity, status } = request
    const heads = Stream.paginate<string, Head, StoreUnavailable, never>(request.after ?? beforeAnyId, (after) =>
      Effect.map(driver.list({ after, before: undefined, limit: listPage, status }), (heads) => {
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
    const head = yield* findHead(driver, conversationId)
    const verifier = new Verifier(conversationId, steps)
    if (head.sequence > 0) {
      const range = { conversationId, after: 0, through: head.sequence, reverse: false }
      yield* Stream.runForEach(pages(driver, range), (page) => Effect.fromResult(verifier.read(page)))
    }
    return verifier.report(head)
  })

  return { read, observe, tail, summary, batch, hasCallIds, list, verify }
}

// --- internal ---

const listPage = 500
// No id has a control character; rows that are staged, or of a tenant, begin with one.
const beforeAnyId = "\u001f"

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
