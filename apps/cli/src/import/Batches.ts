/**
 * From a transcript to the batches of a log, with a report of what was renamed and repaired. Pure: the same transcript
 * gives the same ids, batches and payloads every time; only times that the transcript lacks come from outside.
 */
import { type Batch, encodePayload, InvalidPayload, type NewRecord } from "@colloquy/session/CanonicalRecord"
import { derive } from "@colloquy/session/DerivedId"
import { BatchId, type ConversationId } from "@colloquy/session/Ids"
import { type LimitExceeded, maxBatchBytes, maxBatchRecords } from "@colloquy/session/Limits"
import { byteLength } from "@colloquy/session/Text"
import type { Renamed } from "@colloquy/session/ToolCalls"
import * as Result from "effect/Result"
import { type Group, LogBuilder } from "./LogBuilder.ts"
import type { RepairCount } from "./Repair.ts"
import type { Place, Transcript } from "./Transcript.ts"

/** A transcript as a log. */
export interface Conversion {
  readonly conversationId: ConversationId
  readonly batches: ReadonlyArray<Batch>
  readonly renamedCallIds: ReadonlyArray<Renamed>
  readonly repairs: ReadonlyArray<RepairCount>
}

/** Something that no record can hold, and where it stands. */
export interface Unstorable {
  readonly place: Place
  readonly cause: LimitExceeded | InvalidPayload
}

/**
 * Converts a transcript. `now` (UTC milliseconds) is the time of what has none in the transcript.
 *
 * The first batch, `created`, holds the creation alone; then each run is a batch, or several where the limits of a batch
 * ask for it, cut between records. Fails for what is larger than a record may be or no valid one: a store finds nothing
 * else wrong with the batches themselves.
 */
export const toBatches = (
  transcript: Transcript,
  target: { readonly conversationId: ConversationId; readonly now: number }
): Result.Result<Conversion, Unstorable> => {
  const builder = new LogBuilder(transcript, target.now)
  const batches: Array<Batch> = []
  for (const group of builder.groups) {
    const packed = pack(group)
    if (Result.isFailure(packed)) return Result.fail(packed.failure)
    batches.push(...packed.success)
  }
  return Result.succeed({
    conversationId: target.conversationId,
    batches,
    renamedCallIds: builder.calls.renamed,
    repairs: builder.repairs.all()
  })
}

// --- internal ---

const pack = ({ drafts, parts }: Group): Result.Result<ReadonlyArray<Batch>, Unstorable> => {
  const batches: Array<{ readonly batchId: BatchId; readonly records: Array<NewRecord> }> = []
  let bytes = 0
  for (const { place, ...record } of drafts) {
    if (!Number.isSafeInteger(record.at)) {
      return Result.fail({ place, cause: new InvalidPayload({ reason: `its time is ${record.at}` }) })
    }
    const text = encodePayload(record.payload)
    if (Result.isFailure(text)) return Result.fail({ place, cause: text.failure })
    const size = byteLength(text.success)
    const open = batches.at(-1)
    if (open !== undefined && open.records.length < maxBatchRecords && bytes + size <= maxBatchBytes) {
      open.records.push(record)
      bytes += size
    } else {
      batches.push({ batchId: batchIdOf(parts, batches.length + 1), records: [record] })
      bytes = size
    }
  }
  return Result.succeed(batches)
}

/** A group's first batch has the id of the group. */
const batchIdOf = (parts: Group["parts"], part: number): BatchId => {
  const [first = "", ...rest] = part === 1 ? parts : [...parts, "part", String(part)]
  return BatchId.make(derive(first, ...rest))
}
