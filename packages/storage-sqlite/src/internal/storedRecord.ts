/**
 * How a record is read: its digest, salt, version and payload come as one piece of bytes, cut here.
 *
 * `node:sqlite` gives 1 KB of bytes in half the time of the same text, and from the salt on they are what the digest is of.
 */
import * as Digest from "@colloquy/session/Digest"
import type { RecordRow } from "@colloquy/store/ConversationDriver"
import { Buffer } from "node:buffer"
import type { Row } from "./script.ts"

/** The columns of {@link decode}. There is no big-endian number in SQL: the version is filled in. */
export const columns = `sequence, record_id, at, version, length(salt),
  CAST(digest || ifnull(salt, '') || '1234' || payload AS BLOB)`

export const decode = (row: Row): RecordRow => {
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

// --- internal ---

const bytesOf = ({ buffer, byteLength, byteOffset }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)
