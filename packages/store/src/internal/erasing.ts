/**
 * Takes words out of logs: of single records, or of whole conversations. Envelopes and digests stay, so that the chain
 * still verifies and nobody can be born again under the same id.
 */
import { CanonicalJson, type CanonicalRecord, Payload, type Seams } from "@colloquy/session"
import { type ConversationId, derive, RecordId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Commit, Scrubbed } from "../ConversationDriver.ts"
import { ConversationNotFound, InvalidBatch } from "../StoreError.ts"
import type * as Model from "../StoreModel.ts"
import type { make as makeAppending } from "./appending.ts"
import type { Context } from "./context.ts"
import { findHead } from "./heads.ts"
import { pages } from "./pages.ts"
import * as Rows from "./rows.ts"

type Record_ = CanonicalRecord.CanonicalRecord

export const make = (
  { driver, erasers, steps, wakeups }: Context,
  { appendWith }: Pick<ReturnType<typeof makeAppending>, "appendWith">
) => {
  /** Records behind `after`, as they can be read; a damaged one ends it. */
  const readFrom = (conversationId: ConversationId, after: number, through: number) => {
    let next = after + 1
    return Stream.flatMap(pages(driver, { conversationId, after, through, reverse: false }), (page) => {
      const { failure, records } = Rows.readPage(conversationId, page, next, false, steps, true)
      next += records.length
      const good = Stream.fromIterable(records)
      return failure === undefined ? good : Stream.concat(good, Stream.fail(failure))
    })
  }

  const askErasers = (erasure: Seams.Erasure) =>
    Effect.map(
      Effect.forEach(erasers, (eraser) =>
        Effect.map(eraser.erase(erasure), (erased) => [eraser.name, erased] as const)
      ),
      (answers) => ({
        removed: byTable(answers.map(([name, { removed }]) => [name, removed])),
        copies: byTable(answers.map(([name, { copies }]) => [name, copies]))
      })
    )

  const redact = Effect.fn("ConversationStore.redact")(function* (request: Model.RedactRequest) {
    const { author, batchId, conversationId, epoch, expectedTail, producerId, reason } = request
    const invalid = (reason: string) => new InvalidBatch({ conversationId, batchId, reason })
    const wanted = new Set(request.sequences)
    if (wanted.size === 0) return yield* invalid("name at least one record to redact")
    const head = yield* findHead(driver, conversationId)
    const last = Math.max(...wanted)
    const first = Math.min(...wanted)
    if (first < 1 || last > head.sequence) {
      return yield* invalid(`the log has the records 1 to ${head.sequence}; ${first < 1 ? first : last} is not there`)
    }
    const found: Array<Record_> = []
    yield* Stream.runForEach(
      readFrom(conversationId, first - 1, Math.min(head.sequence, expectedTail.sequence)),
      (record) =>
        Effect.sync(() => {
          if (wanted.has(record.sequence) || summarises(record, first)) found.push(record)
        })
    )
    const payload: Payload.ContentRedacted = {
      _tag: "ContentRedacted",
      sequences: found.map(({ sequence }) => sequence),
      reason,
      ...(author === undefined ? {} : { author })
    }
    const recordId = RecordId.make(derive("redaction", batchId))
    const batch = { batchId, records: [{ recordId, at: yield* Rows.now, payload }] }
    const replaced = found.flatMap(({ payload, sequence }) =>
      payload._tag === "Redacted" ? [] : [{ sequence, payload: encode(Payload.redact(payload)) }]
    )
    const isTitle = found.some(({ payload }) => titleOf(payload) !== undefined && titleOf(payload) === head.title)
    const titled: { readonly head?: Commit["head"] } = isTitle ? { head: { title: null } } : {}
    const appended = yield* appendWith(
      { conversationId, batch, expectedTail, epoch, producerId },
      { replaced, keepCheckpoints: 0, ...titled }
    )
    const records = found.map(({ recordId }) => recordId)
    const asked = yield* askErasers({ conversationId, records, cascade: true })
    return { ...appended, sequences: payload.sequences, removed: asked.removed, bytes: yield* driver.scrub }
  })

  /** Conversations that a log has started, as far as they are there. */
  const findChildren = Effect.fnUntraced(function* (conversationId: ConversationId, through: number) {
    const children = new Set<ConversationId>()
    yield* Stream.runForEach(pages(driver, { conversationId, after: 0, through, reverse: false }), (page) =>
      Effect.sync(() => {
        // A damaged record must not keep the others from being erased.
        for (const child of Rows.childrenOf(page.records, steps)) children.add(child)
      })
    )
    const there = yield* Effect.filter([...children], (id) =>
      Effect.map(driver.head(id), (head) => Option.isSome(head) && !head.value.erased)
    )
    return there
  })

  const erase = (request: Model.EraseRequest): ReturnType<typeof eraseOne> => eraseOne(request)

  const eraseOne = Effect.fn("ConversationStore.erase")(function* ({
    cascade = false,
    conversationId
  }: Model.EraseRequest): Effect.fn.Return<Model.ErasureReport, Model.EraseError> {
    const head = Option.getOrUndefined(yield* driver.head(conversationId))
    if (head === undefined) return yield* new ConversationNotFound({ conversationId })
    const now = yield* Rows.now
    if (!head.erased) {
      // First nobody may write any more: what is found now is all there is.
      const { epoch, producerId } = head
      yield* driver.commit({
        conversationId,
        guard: { epoch, producerId },
        head: { epoch: epoch + 1, producerId: null }
      })
    }
    const forks = (yield* driver.forks(conversationId)).map(Rows.brandConversationId)
    const children = head.erased ? [] : yield* findChildren(conversationId, head.sequence)
    const there = yield* Effect.filter(forks, (id) =>
      Effect.map(driver.head(id), (fork) => Option.isSome(fork) && !fork.value.erased)
    )
    // Copies before the original: an erasure that was cut off finds them again.
    const cascaded: Array<Model.ErasureReport> = []
    if (cascade)
      for (const copy of [...there, ...children]) cascaded.push(yield* erase({ conversationId: copy, cascade }))
    const asked = yield* askErasers({ conversationId, cascade })
    const { callIds, checkpoints, records } = yield* driver.erase(conversationId, now)
    wakeups.notify(conversationId)
    const bytes: Scrubbed = yield* driver.scrub
    return {
      conversationId,
      alreadyErased: head.erased,
      removed: { records, checkpoints, callIds, ...asked.removed },
      bytes,
      copies: { forks: cascade ? [] : there, children: cascade ? [] : children, tables: asked.copies },
      cascaded
    }
  })

  return { redact, erase }
}

// --- internal ---

/** A summary that stands for a record, or for one of those that are removed with it. */
const summarises = ({ payload }: Record_, first: number): boolean => {
  const facts = payload._tag === "Redacted" ? payload.facts : payload
  return facts._tag === "Compacted" && facts.kind === "summary" && facts.coversThrough >= first
}

const titleOf = (payload: Payload.Payload): string | undefined =>
  payload._tag === "ConversationCreated" || payload._tag === "MetadataChanged" ? payload.title : undefined

/** What is left of a payload is made of ids and enums that were stored before: it has a canonical form. */
const encode = (redacted: Payload.Redacted): string => Result.getOrThrow(CanonicalJson.encode(redacted))

const byTable = (
  answers: ReadonlyArray<readonly [name: string, tables: { readonly [table: string]: number }]>
): { readonly [table: string]: number } =>
  Object.fromEntries(
    answers.flatMap(([name, tables]) => Object.entries(tables).map(([table, count]) => [`${name}.${table}`, count]))
  )
