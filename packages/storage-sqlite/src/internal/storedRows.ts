/**
 * How records and their batches are read: what is bytes of a row comes in one piece, and is cut here.
 *
 * `node:sqlite` gives 1 KB of bytes in half the time of the same text, and each piece costs as much as all numbers of a row.
 * Of a record they are its digest, and then what the digest is of: salt, version and payload.
 */
import * as Digest from "@colloquy/session/Digest"
import type { BatchRow, RecordRow } from "@colloquy/store/ConversationDriver"
import { Buffer } from "node:buffer"
import type { Row } from "./script.ts"

/** The columns of {@link decodeRecord}. SQL has no number as four bytes: the version is filled in there. */
export const recordColumns = `sequence, record_id, at, version, length(salt),
  CAST(digest || ifnull(salt, '') || '1234' || payload AS BLOB)`

// The tables are STRICT: a column has the type it was declared with.
export const decodeRecord = (row: Row): RecordRow => {
  const schemaVersion = row[3] as number
  const saltBytes = row[4] as number | null
  const stored = bytesOf(row[5] as Uint8Array)
  const version = Digest.bytes + (saltBytes ?? 0)
  // Not `writeUInt32BE`, which throws: a version that is out of range is for the reader to refuse.
  stored[version] = schemaVersion >>> 24
  stored[version + 1] = schemaVersion >>> 16
  stored[version + 2] = schemaVersion >>> 8
  stored[version + 3] = schemaVersion
  return {
    sequence: row[0] as number,
    recordId: row[1] as string,
    at: row[2] as number,
    schemaVersion,
    salt: saltBytes === null ? null : stored.subarray(Digest.bytes, version),
    digest: stored.subarray(0, Digest.bytes),
    payload: stored.toString("utf8", version + 4),
    hashed: stored.subarray(Digest.bytes)
  }
}

/** The columns of {@link decodeBatch}. */
export const batchColumns = "batch_id, first, last, epoch, producer, CAST(content || tail AS BLOB)"

export const decodeBatch = (row: Row): BatchRow => {
  const digests = bytesOf(row[5] as Uint8Array)
  return {
    batchId: row[0] as string,
    first: row[1] as number,
    last: row[2] as number,
    epoch: row[3] as number,
    producerId: row[4] as string,
    content: digests.subarray(0, Digest.bytes),
    tail: digests.subarray(Digest.bytes)
  }
}

// --- internal ---

const bytesOf = ({ buffer, byteLength, byteOffset }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)
