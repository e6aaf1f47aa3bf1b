/**
 * Checks a log row by row, in constant memory; damage is collected, and the check goes on behind it.
 */
import { decodePayload } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import type { ConversationState } from "@colloquy/session/ConversationState"
import * as Digest from "@colloquy/session/Digest"
import type { ConversationId } from "@colloquy/session/Ids"
import type * as Upcast from "@colloquy/session/Upcast"
import * as Result from "effect/Result"
import type { BatchRow, Head, Page, RecordRow } from "../ConversationDriver.ts"
import type { Fault, Report } from "../Verification.ts"
import * as Rows from "./rows.ts"

export class Verifier {
  private readonly conversationId: ConversationId
  private readonly steps: Upcast.Steps
  private readonly faults: Array<Fault> = []
  private state: ConversationState
  private tail: Uint8Array = Digest.toBytes(Digest.empty)
  private sequence = 0
  private batches = 0
  private records = 0
  private open: { readonly row: BatchRow; readonly records: Array<RecordRow> } | undefined

  constructor(conversationId: ConversationId, steps: Upcast.Steps) {
    this.conversationId = conversationId
    this.steps = steps
    this.state = Conversation.initial(conversationId)
  }

  /** Reads the next page, ascending. A record of a newer version ends the check. */
  read(page: Page): Result.Result<void, Upcast.UnsupportedVersion> {
    let place = 0
    for (const row of page.records) {
      while (page.batches[place] !== undefined && page.batches[place]!.last < row.sequence) place++
      if (row.sequence !== this.sequence + 1) this.fault(this.sequence + 1, "record-missing")
      this.sequence = row.sequence
      this.records++
      const batch = page.batches[place]
      if (batch === undefined || batch.first > row.sequence) {
        this.fault(row.sequence, "batch-missing")
        continue
      }
      const read = this.readRecord(row, batch)
      if (Result.isFailure(read)) return read
      this.collect(row, batch)
    }
    return Result.succeed(undefined)
  }

  /** What was found, once every page was read. */
  report(head: Head): Report {
    if (this.open !== undefined) this.fault(this.open.row.last, "record-missing")
    else if (this.sequence < head.sequence) this.fault(this.sequence + 1, "record-missing")
    else if (!Digest.equals(this.tail, head.tail)) this.fault(head.sequence, "tail-digest")
    const { batches, conversationId, faults, records } = this
    return { conversationId, records, batches, faults }
  }

  private readRecord(row: RecordRow, batch: BatchRow): Result.Result<void, Upcast.UnsupportedVersion> {
    const intact = row.salt === null || Rows.payloadDigest(row, row.salt) === Digest.fromBytes(row.digest)
    if (!intact) this.fault(row.sequence, "record-digest")
    const payload = decodePayload(row.schemaVersion, row.payload, this.steps)
    if (Result.isFailure(payload)) {
      if (payload.failure._tag === "UnsupportedVersion") return Result.fail(payload.failure)
      if (intact) this.fault(row.sequence, "payload-unreadable")
      this.state = { ...this.state, sequence: row.sequence }
      return Result.succeed(undefined)
    }
    const record = Rows.joinRecord(this.conversationId, row, batch, payload.success)
    const { state, violations } = Conversation.replayLenient(this.state, [record])
    for (const { rule } of violations) if (rule !== "next-sequence") this.fault(row.sequence, rule)
    this.state = state
    return Result.succeed(undefined)
  }

  /** Checks the batch's digests once all of its records were read. */
  private collect(row: RecordRow, batch: BatchRow): void {
    if (this.open?.row.batchId !== batch.batchId) {
      if (this.open !== undefined) this.fault(this.open.row.last, "record-missing")
      this.open = { row: batch, records: [] }
    }
    this.open.records.push(row)
    if (row.sequence < batch.last) return
    const { records } = this.open
    this.open = undefined
    this.batches++
    if (!Digest.equals(Digest.contentBytes(batch.batchId, records), batch.content)) {
      this.fault(batch.last, "batch-digest")
    }
    if (!Digest.equals(Digest.tailBytes(this.tail, batch.content), batch.tail)) this.fault(batch.last, "tail-digest")
    this.tail = batch.tail
  }

  private fault(sequence: number, reason: Fault["reason"]): void {
    this.faults.push({ conversationId: this.conversationId, sequence, reason })
  }
}
