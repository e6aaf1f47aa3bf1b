/**
 * Takes words out of logs: of single records, or of whole conversations. Envelopes and digests stay, so that the chain
 * still verifies and nobody can be born again under the same id.
 */
import { CanonicalJson, type CanonicalRecord, Payload, type Seams } from "@colloquy/session"
import { derive } from "@colloquy/session/DerivedId"
import { type ConversationId, RecordId } from "@colloquy/session/Ids"
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
import { isStaged, stagedIdOf } from "./staging.ts"

type Record_ = CanonicalRecord.CanonicalRecord

export const make = (
  { driver, erasers, steps, wakeups }: Context,
  { appendWith }: Pick<ReturnType<typeof makeAppending>, "appendWith">
) => {
  /** Records behind `after`, as they can be read; a damaged one ends it. */
  const readFrom = (conversationId: ConversationId, after: number, through: number) => {
    if (after >= through) return Stream.empty
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

  const isThere = (id: string) => Effect.map(driver.head(id), (head) => Option.isSome(head) && !head.value.erased)

  const redact = Effect.fn("ConversationStore.redact")(function* (request: Model.RedactRequest) {
    const { author, batchId, conversationId, epoch, expectedTail, producerId, reason } = request
    const invalid = (reason: string) => new InvalidBatch({ conversationId, batchId, reason })
    const wanted = new Set(request.sequences)
    if (wanted.size === 0) return yield* invalid("name at least one record to redact")
    const head = yield* findHead(driver, conversationId)
    const absent = request.sequences.find((sequence) => !isPlace(sequence, head.sequence))
    if (absent !== undefined) {
      return yield* invalid(`the log has the records 1 to ${head.sequence}; ${absent} is not there`)
    }
    const first = request.sequences.reduce((least, sequence) => Math.min(least, sequence))
    // A repeated request is the one that is stored if it says the same of the log as it stood then.
    const stored = Option.getOrUndefined(yield* driver.batch(conversationId, batchId))
    const through = stored === undefined ? Math.min(head.sequence, expectedTail.sequence) : stored.first - 1
    const found: Array<Record_> = []
    let summarised = false
    yield* Stream.runForEach(readFrom(conversationId, first - 1, through), (record) =>
      Effect.sync(() => {
        // A summary was made of the one before it, too.
        const summary = isSummary(record, summarised ? 0 : first)
        if (!wanted.has(record.sequence) && !summary) return
        found.push(record)
        summarised ||= isSummary(record, 0)
      })
    )
    const payload: Payload.ContentRedacted = {
      _tag: "ContentRedacted",
      sequences: [...new Set([...found.map(({ sequence }) => sequence), ...wanted])].toSorted((a, b) => a - b),
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
    children.delete(conversationId)
    return yield* Effect.filter([...children], isThere)
  })

  /** Forks that are there. What forks and imports that were cut off have staged is nobody's, and goes. */
  const findForks = Effect.fnUntraced(function* (conversationId: ConversationId) {
    const forks: Array<ConversationId> = []
    for (const id of yield* driver.forks(conversationId)) {
      if (isStaged(id)) yield* driver.discard(id)
      else if (yield* isThere(id)) forks.push(Rows.brandConversationId(id))
    }
    return forks
  })

  /** Takes the conversation from whoever writes to it; gives it as it stands then: what is found in it is all there is. */
  const close = Effect.fnUntraced(function* (conversationId: ConversationId) {
    while (true) {
      const head = Option.getOrUndefined(yield* driver.head(conversationId))
      if (head === undefined) return yield* new ConversationNotFound({ conversationId })
      const { epoch, erased, producerId, sequence, tail } = head
      if (erased) return head
      const closed = yield* driver.commit({
        conversationId,
        guard: { sequence, tail, epoch, producerId },
        head: { epoch: epoch + 1, producerId: null }
      })
      if (closed === "committed") return head
    }
  })

  const erase = (request: Model.EraseRequest) => eraseOne(request, new Set())

  /** `begun`: those whose erasure this one is a part of; a conversation may have started one that holds a copy of it. */
  const eraseOne = Effect.fn("ConversationStore.erase")(function* (
    { cascade = false, conversationId }: Model.EraseRequest,
    begun: Set<ConversationId>
  ): Effect.fn.Return<Model.ErasureReport, Model.EraseError> {
    begun.add(conversationId)
    const head = yield* close(conversationId)
    const forks = yield* findForks(conversationId)
    const children = head.erased ? [] : yield* findChildren(conversationId, head.sequence)
    // Copies before the original: an erasure that was cut off finds them again.
    const cascaded: Array<Model.ErasureReport> = []
    if (cascade) {
      for (const copy of [...forks, ...children]) {
        if (!begun.has(copy)) cascaded.push(yield* eraseOne({ conversationId: copy, cascade }, begun))
      }
    }
    const asked = yield* askErasers({ conversationId, cascade })
    const { callIds, checkpoints, records } = yield* driver.erase(conversationId, yield* Rows.now)
    yield* driver.discard(stagedIdOf(conversationId))
    // Once more: one may have been made since.
    const left = (yield* findForks(conversationId)).filter((id) => !begun.has(id))
    wakeups.notify(conversationId)
    const bytes: Scrubbed = yield* driver.scrub
    return {
      conversationId,
      alreadyErased: head.erased,
      removed: { records, checkpoints, callIds, ...asked.removed },
      bytes,
      copies: { forks: left, children: cascade ? [] : children, tables: asked.copies },
      cascaded
    }
  })

  return { redact, erase }
}

// --- internal ---

const isPlace = (sequence: number, last: number): boolean =>
  Number.isSafeInteger(sequence) && sequence >= 1 && sequence <= last

/** A summary that stands for a record, or for a later one. */
const isSummary = ({ payload }: Record_, first: number): boolean => {
  const facts = Payload.legible(payload)
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
