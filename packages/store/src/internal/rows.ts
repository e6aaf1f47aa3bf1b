/**
 * From batches to rows, and back from rows to records.
 */
import { type Batch, type CanonicalRecord, decodePayload, encodePayload } from "@colloquy/session/CanonicalRecord"
import type { Status } from "@colloquy/session/ConversationState"
import * as Digest from "@colloquy/session/Digest"
import type { BatchId, ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import { LimitExceeded, maxBatchBytes, maxBatchRecords } from "@colloquy/session/Limits"
import * as Payload from "@colloquy/session/Payload"
import { byteLength } from "@colloquy/session/Text"
import * as Upcast from "@colloquy/session/Upcast"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { BatchRow, Range, RecordRow } from "../ConversationDriver.ts"
import { CorruptRecord, InvalidBatch } from "../StoreError.ts"

/** Whole milliseconds: not every clock has a whole number of them, and a time is stored as one. */
export const nowOf = (clock: Clock.Clock): number => Math.floor(clock.currentTimeMillisUnsafe())

export const now = Clock.clockWith((clock) => Effect.succeed(nowOf(clock)))

/** A batch whose records are checked and encoded, before it has a place in a log. */
export interface EncodedBatch {
  readonly batch: Batch
  readonly texts: ReadonlyArray<string>
}

/** What the store's own indexes need to know of a batch. */
export interface Derived {
  readonly status?: Status
  readonly title?: string
  readonly callIds: ReadonlyArray<string>
}

/** Check 1: shape and limits, without any I/O. */
export const encodeBatch = (
  conversationId: ConversationId,
  batch: Batch
): Result.Result<EncodedBatch, InvalidBatch | LimitExceeded> => {
  const { batchId, records } = batch
  if (records.length === 0) {
    return Result.fail(new InvalidBatch({ conversationId, batchId, reason: "a batch has at least one record" }))
  }
  if (records.length > maxBatchRecords) {
    return Result.fail(new LimitExceeded({ limit: "batch-records", maximum: maxBatchRecords, actual: records.length }))
  }
  const texts: Array<string> = []
  let units = 0
  for (const { at, payload, recordId } of records) {
    if (!Number.isSafeInteger(at) || Math.abs(at) > 8.64e15) {
      return Result.fail(
        new InvalidBatch({ conversationId, batchId, recordId, reason: `at is ${at}, not milliseconds since 1970` })
      )
    }
    const text = encodePayload(payload)
    if (Result.isFailure(text)) {
      return Result.fail(
        text.failure._tag === "InvalidPayload"
          ? new InvalidBatch({ conversationId, batchId, recordId, reason: text.failure.message })
          : text.failure
      )
    }
    texts.push(text.success)
    units += text.success.length
  }
  if (units * 3 > maxBatchBytes) {
    const actual = texts.reduce((sum, text) => sum + byteLength(text), 0)
    if (actual > maxBatchBytes) {
      return Result.fail(new LimitExceeded({ limit: "batch-bytes", maximum: maxBatchBytes, actual }))
    }
  }
  return Result.succeed({ batch, texts })
}

/** A batch at its place in a log: its rows, the payloads in them, and the tail behind it. */
export interface PlacedBatch {
  readonly row: BatchRow
  readonly records: ReadonlyArray<RecordRow>
  readonly payloads: ReadonlyArray<Payload.Payload>
  readonly tail: { readonly sequence: number; readonly digest: Digest.Digest }
}

/** The rows of a batch at a place in the log. */
export const placeBatch = (
  encoded: EncodedBatch,
  place: {
    readonly after: { readonly sequence: number; readonly digest: Digest.Digest }
    readonly epoch: number
    readonly producerId: ProducerId
    readonly salt: () => Uint8Array
  }
): PlacedBatch => {
  const { batch, texts } = encoded
  const records = texts.map((payload, i): RecordRow => {
    const { at, recordId } = batch.records[i]!
    const salt = place.salt()
    return {
      sequence: place.after.sequence + 1 + i,
      recordId,
      at,
      schemaVersion: Upcast.currentVersion,
      salt,
      digest: Digest.recordBytes(salt, Upcast.currentVersion, payload),
      payload
    }
  })
  const content = Digest.contentBytes(batch.batchId, records)
  const tail = Digest.tailBytes(Digest.toBytes(place.after.digest), content)
  const row: BatchRow = {
    batchId: batch.batchId,
    first: place.after.sequence + 1,
    last: place.after.sequence + texts.length,
    epoch: place.epoch,
    producerId: place.producerId,
    content,
    tail
  }
  const payloads = batch.records.map(({ payload }) => payload)
  return { row, records, payloads, tail: { sequence: row.last, digest: Digest.fromBytes(tail) } }
}

/**
 * Whether a batch is the one that is stored. Records whose payload was removed are recognised by their ids alone.
 */
export const isSameBatch = (encoded: EncodedBatch, row: BatchRow, stored: ReadonlyArray<RecordRow>): boolean => {
  const { batch, texts } = encoded
  return (
    row.last - row.first + 1 === texts.length &&
    stored.length === texts.length &&
    stored.every(({ digest, recordId, salt, schemaVersion }, i) => {
      if (recordId !== batch.records[i]!.recordId) return false
      return salt === null || Digest.equals(Digest.recordBytes(salt, schemaVersion, texts[i]!), digest)
    })
  )
}

/** Where the records of a batch stand. */
export const rangeOf = (conversationId: ConversationId, row: BatchRow): Range => ({
  conversationId,
  after: row.first - 1,
  through: row.last,
  limit: row.last - row.first + 1,
  reverse: false
})

/** The parts of the indexes that these payloads change. */
export const derive = (payloads: Iterable<Payload.Payload>): Derived => {
  let status: Status | undefined
  let title: string | undefined
  const callIds: Array<string> = []
  for (const payload of payloads) {
    const facts = Payload.legible(payload)
    switch (facts._tag) {
      case "RunStarted":
      case "RunResumed":
        status = "unfinished"
        break
      case "RunSuspended":
        status = "awaiting-approval"
        break
      case "RunEnded":
      case "Forked":
        status = "idle"
        break
      case "ConversationCreated":
      case "MetadataChanged":
        if (payload._tag === facts._tag) title = payload.title?.toWellFormed() ?? title
        break
      case "ModelResponded":
        for (const { callId } of "content" in facts ? Payload.declaredCalls(facts.content) : facts.calls) {
          callIds.push(callId)
        }
        break
    }
  }
  return { ...(status === undefined ? {} : { status }), ...(title === undefined ? {} : { title }), callIds }
}

/** The conversations that these records have started; a record that cannot be read starts none. */
export const childrenOf = (rows: ReadonlyArray<RecordRow>, steps: Upcast.Steps): ReadonlyArray<ConversationId> =>
  rows.flatMap(({ payload, schemaVersion }) => {
    if (!payload.includes("BackgroundStarted")) return []
    const decoded = decodePayload(schemaVersion, payload, steps)
    if (Result.isFailure(decoded)) return []
    const facts = Payload.legible(decoded.success)
    return facts._tag === "BackgroundStarted" ? [facts.conversationId] : []
  })

/** A record from its row and its batch's, or what is wrong with it. */
export const readRecord = (
  conversationId: ConversationId,
  row: RecordRow,
  batch: BatchRow,
  steps: Upcast.Steps,
  verify: boolean
): Result.Result<CanonicalRecord, CorruptRecord | Upcast.UnsupportedVersion> => {
  const damaged = (reason: string) => Result.fail(corrupt(conversationId, row.sequence, reason))
  const payload = decodePayload(row.schemaVersion, row.payload, steps)
  if (Result.isFailure(payload)) {
    return payload.failure._tag === "InvalidPayload" ? damaged(payload.failure.reason) : Result.fail(payload.failure)
  }
  if ((row.salt === null) !== (payload.success._tag === "Redacted")) {
    return damaged("a payload without its salt, or a salt without its payload")
  }
  const record = joinRecord(conversationId, row, batch, payload.success)
  if (verify && row.salt !== null && payloadDigest(row, row.salt) !== record.digest) {
    return damaged("the payload does not have the digest it was stored with")
  }
  return Result.succeed(record)
}

/** The digest that the payload of a row has, whatever digest it was stored with. */
export const payloadDigest = ({ hashed, payload, schemaVersion }: RecordRow, salt: Uint8Array): Digest.Digest =>
  hashed === undefined ? Digest.record(salt, schemaVersion, payload) : Digest.recordInOnePiece(hashed)

/** A record of its row, its batch's row and its decoded payload. */
export const joinRecord = (
  conversationId: ConversationId,
  row: RecordRow,
  batch: BatchRow,
  payload: Payload.Payload
): CanonicalRecord => ({
  conversationId,
  sequence: row.sequence,
  recordId: brandRecordId(row.recordId),
  batchId: brandBatchId(batch.batchId),
  at: row.at,
  epoch: batch.epoch,
  producerId: brandProducerId(batch.producerId),
  schemaVersion: row.schemaVersion,
  digest: Digest.fromBytes(row.digest),
  payload
})

/**
 * The records of an ascending or descending page up to the first that cannot be read, and what is wrong with that. The
 * page must begin with the record `first`: a record that is not there is damage like one that cannot be read.
 */
export const readPage = (
  conversationId: ConversationId,
  page: { readonly records: ReadonlyArray<RecordRow>; readonly batches: ReadonlyArray<BatchRow> },
  first: number,
  reverse: boolean,
  steps: Upcast.Steps,
  verify: boolean
): {
  readonly records: ReadonlyArray<CanonicalRecord>
  readonly failure: CorruptRecord | Upcast.UnsupportedVersion | undefined
} => {
  const records: Array<CanonicalRecord> = []
  const { batches } = page
  let place = 0
  let next = first
  if (page.records.length === 0) return { records, failure: corrupt(conversationId, next, "the record is missing") }
  for (const row of page.records) {
    if (row.sequence !== next) return { records, failure: corrupt(conversationId, next, "the record is missing") }
    next += reverse ? -1 : 1
    while (batches[place] !== undefined && batches[place]!.last < row.sequence) place++
    while (place > 0 && batches[place - 1]!.last >= row.sequence) place--
    const batch = batches[place]
    const record =
      batch === undefined || batch.first > row.sequence
        ? Result.fail(corrupt(conversationId, row.sequence, "the record's batch is missing"))
        : readRecord(conversationId, row, batch, steps, verify)
    if (Result.isFailure(record)) return { records, failure: record.failure }
    records.push(record.success)
  }
  return { records, failure: undefined }
}

// --- internal ---

const corrupt = (conversationId: ConversationId, sequence: number, reason: string) =>
  new CorruptRecord({ conversationId, sequence, lastGood: sequence - 1, reason })

// Ids were checked when they were written; a check on every read would cost as much as the rest of the envelope.
const brandRecordId = (id: string) => id as RecordId
/** Likewise of an id that the driver gives. */
export const brandConversationId = (id: string) => id as ConversationId
const brandBatchId = (id: string) => id as BatchId
const brandProducerId = (id: string) => id as ProducerId
