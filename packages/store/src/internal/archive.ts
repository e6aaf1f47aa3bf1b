/**
 * Between stored rows and the lines of an archive, in both directions.
 */
import { Buffer } from "node:buffer"
import { decodePayload } from "@colloquy/session/CanonicalRecord"
import * as Digest from "@colloquy/session/Digest"
import { BatchId, ProducerId, RecordId } from "@colloquy/session/Ids"
import { maxBatchRecords, maxPayloadBytes } from "@colloquy/session/Limits"
import type * as Payload from "@colloquy/session/Payload"
import { byteLength } from "@colloquy/session/Text"
import * as Upcast from "@colloquy/session/Upcast"
import * as Result from "effect/Result"
import { type ArchivedBatch, type ArchivedRecord, decodeLine, type Header, type Line, version } from "../Archive.ts"
import type { BatchRow, RecordRow } from "../ConversationDriver.ts"
import { ImportRejected } from "../StoreError.ts"

export const archiveBatch = (row: BatchRow): ArchivedBatch => ({
  batchId: BatchId.make(row.batchId),
  first: row.first,
  last: row.last,
  epoch: row.epoch,
  producerId: ProducerId.make(row.producerId),
  content: Digest.fromBytes(row.content),
  tail: Digest.fromBytes(row.tail)
})

export const archiveRecord = (row: RecordRow): ArchivedRecord => ({
  sequence: row.sequence,
  recordId: RecordId.make(row.recordId),
  at: row.at,
  schemaVersion: row.schemaVersion,
  salt: row.salt === null ? null : Buffer.from(row.salt).toString("hex"),
  digest: Digest.fromBytes(row.digest),
  payload: row.payload
})

/** A batch that was read whole and verified. */
interface VerifiedBatch {
  readonly row: BatchRow
  readonly records: ReadonlyArray<RecordRow>
  readonly payloads: ReadonlyArray<Payload.Payload>
}

/** What a line completed. */
export type Step =
  | { readonly _tag: "Began"; readonly header: Header }
  | { readonly _tag: "Batch"; readonly batch: VerifiedBatch }
  | { readonly _tag: "Nothing" }

type Refusal = ImportRejected | Upcast.UnsupportedVersion

/**
 * Reads an archive line by line and verifies it on the way: digests of records and batches, the chain, the order,
 * limits. `line` is 1-based. One reader reads one archive.
 */
export class ArchiveReader {
  private header: Header | undefined
  private batch: ArchivedBatch | undefined
  private records: Array<RecordRow> = []
  private payloads: Array<Payload.Payload> = []
  private sequence = 0
  private epoch = 0
  private tail: Digest.Digest = Digest.empty
  private readonly steps: Upcast.Steps

  constructor(steps: Upcast.Steps) {
    this.steps = steps
  }

  read(text: string, line: number): Result.Result<Step, Refusal> {
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      return this.refuse("torn", line, "the line is not JSON: it was cut, or damaged")
    }
    const decoded = decodeLine(json)
    if (Result.isFailure(decoded)) return this.refuse("format", line, describe(json))
    return this.readLine(decoded.success, line)
  }

  /** What is missing when the lines end, or nothing. */
  end(line: number): Refusal | undefined {
    const { header } = this
    if (header === undefined) return refusal("format", line, "there is no header", undefined)
    if (this.batch !== undefined || this.sequence < header.records) {
      return this.refusal("torn", line, `it ends after record ${this.sequence}; the header names ${header.records}`)
    }
    if (this.sequence > header.records || this.tail !== header.tail) {
      return this.refusal("altered", line, "the chain does not end at the header's tail")
    }
    return undefined
  }

  private readLine(line: Line, at: number): Result.Result<Step, Refusal> {
    if ("header" in line) return this.begin(line.header, at)
    if (this.header === undefined) return this.refuse("format", at, "an archive begins with a header")
    return "batch" in line ? this.beginBatch(line.batch, at) : this.readRecord(line.record, at)
  }

  private begin(header: Header, line: number): Result.Result<Step, Refusal> {
    if (this.header !== undefined)
      return this.refuse("format", line, "a second header; import several archives with importAll")
    if (header.version > version) {
      return Result.fail(
        new Upcast.UnsupportedVersion({ what: "the archive", found: header.version, supported: version })
      )
    }
    this.header = header
    return Result.succeed({ _tag: "Began", header })
  }

  private beginBatch(batch: ArchivedBatch, line: number): Result.Result<Step, Refusal> {
    if (this.batch !== undefined)
      return this.refuse("altered", line, `records of batch ${this.batch.batchId} are missing`)
    if (batch.first !== this.sequence + 1 || batch.last < batch.first) {
      return this.refuse("altered", line, `a batch from ${batch.first} to ${batch.last} after record ${this.sequence}`)
    }
    if (batch.last - batch.first + 1 > maxBatchRecords) {
      return this.refuse("invalid", line, `a batch has at most ${maxBatchRecords} records`)
    }
    if (batch.epoch > this.header!.epoch) {
      return this.refuse("altered", line, `epoch ${batch.epoch} is over the header's ${this.header!.epoch}`)
    }
    if (batch.epoch < this.epoch) {
      return this.refuse("altered", line, `epoch ${batch.epoch} after epoch ${this.epoch}: epochs never fall`)
    }
    this.batch = batch
    this.epoch = batch.epoch
    this.records = []
    this.payloads = []
    return nothing
  }

  private readRecord(record: ArchivedRecord, line: number): Result.Result<Step, Refusal> {
    const { batch } = this
    if (batch === undefined) return this.refuse("altered", line, `record ${record.sequence} is outside of a batch`)
    if (record.sequence !== this.sequence + 1) {
      return this.refuse("altered", line, `record ${record.sequence} after ${this.sequence}`)
    }
    if (record.payload.length * 3 > maxPayloadBytes && byteLength(record.payload) > maxPayloadBytes) {
      return this.refuse("invalid", line, `the payload is over ${maxPayloadBytes} bytes`)
    }
    const payload = decodePayload(record.schemaVersion, record.payload, this.steps)
    if (Result.isFailure(payload)) {
      if (payload.failure._tag === "UnsupportedVersion") return Result.fail(payload.failure)
      return this.refuse("invalid", line, payload.failure.message)
    }
    const salt = record.salt === null ? null : Buffer.from(record.salt, "hex")
    if ((salt === null) !== (payload.success._tag === "Redacted")) {
      return this.refuse("altered", line, "a payload without its salt, or a salt without its payload")
    }
    if (salt !== null && Digest.record(salt, record.schemaVersion, record.payload) !== record.digest) {
      return this.refuse("altered", line, `record ${record.sequence} does not have its digest`)
    }
    const { at, payload: text, recordId, schemaVersion, sequence } = record
    this.records.push({
      sequence,
      recordId,
      at,
      schemaVersion,
      salt,
      digest: Digest.toBytes(record.digest),
      payload: text
    })
    this.payloads.push(payload.success)
    this.sequence = sequence
    return sequence === batch.last ? this.endBatch(batch, line) : nothing
  }

  private endBatch(batch: ArchivedBatch, line: number): Result.Result<Step, Refusal> {
    const content = Digest.content(
      batch.batchId,
      this.records.map(({ digest, recordId }) => ({
        recordId: RecordId.make(recordId),
        digest: Digest.fromBytes(digest)
      }))
    )
    const tail = Digest.tail(this.tail, content)
    if (content !== batch.content || tail !== batch.tail) {
      return this.refuse("altered", line, `batch ${batch.batchId} does not have its digest`)
    }
    this.tail = tail
    this.batch = undefined
    const row: BatchRow = { ...batch, content: Digest.toBytes(content), tail: Digest.toBytes(tail) }
    return Result.succeed({ _tag: "Batch", batch: { row, records: this.records, payloads: this.payloads } })
  }

  private refusal(reason: ImportRejected["reason"], line: number, detail: string): ImportRejected {
    return refusal(reason, line, detail, this.header)
  }

  private refuse(reason: ImportRejected["reason"], line: number, detail: string) {
    return Result.fail(this.refusal(reason, line, detail))
  }
}

const nothing = Result.succeed<Step>({ _tag: "Nothing" })

const refusal = (reason: ImportRejected["reason"], line: number, detail: string, header: Header | undefined) =>
  new ImportRejected({
    reason,
    line,
    detail,
    ...(header === undefined ? {} : { conversationId: header.conversationId })
  })

const describe = (json: unknown): string => {
  const keys = typeof json === "object" && json !== null ? Object.keys(json).join(", ") : typeof json
  return `the line is no header, batch or record of an archive (it has: ${keys.slice(0, 100)})`
}
