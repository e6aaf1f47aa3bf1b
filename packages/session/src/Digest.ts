/**
 * The digests that bind a log: of a record, of a batch's content, and of the log up to a batch.
 *
 * - `record = SHA-256(salt ‖ u32 schemaVersion ‖ payload bytes)`
 * - `content = SHA-256(u32 length ‖ batch id ‖ u32 count ‖ { u32 length ‖ record id ‖ record digest }…)`
 * - `tail_n = SHA-256(tail_{n-1} ‖ content_n)`; the empty log's tail is 32 zero bytes
 *
 * Numbers are big-endian. Time, epoch, producer and conversation are not hashed: a batch rebuilt after a crash, by
 * another owner and with another clock reading, is the same batch. After a payload and its salt are removed, the chain
 * over the kept record digests still verifies, and the digest gives nothing to guess the payload from.
 *
 * Digests are computed and stored as 32 bytes; the API shows them as lower-case hex.
 *
 * @since 0.1.0
 */
import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import type { BatchId, RecordId } from "./Ids.ts"
import { Digest } from "./Vocabulary.ts"

export { Digest }

/**
 * How long a digest is as bytes.
 *
 * @category limits
 * @since 0.1.0
 */
export const bytes = 32

/**
 * How many random bytes are drawn for each record at its first write.
 *
 * @category limits
 * @since 0.1.0
 */
export const saltBytes = 16

/**
 * The tail digest of a log without records.
 *
 * @category constants
 * @since 0.1.0
 */
export const empty: Digest = Digest.make("0".repeat(64))

/**
 * The digest of one record: of its stored payload text, under its salt and schema version.
 *
 * @category digests
 * @since 0.1.0
 */
export const recordBytes = (salt: Uint8Array, schemaVersion: number, payload: string): Uint8Array => {
  // A UTF-16 code unit is at most three UTF-8 bytes: small payloads are written without counting them first.
  const room = payload.length < 8192 ? payload.length * 3 : Buffer.byteLength(payload)
  const bytes = scratch(salt.length + 4 + room)
  bytes.set(salt)
  bytes.writeUInt32BE(schemaVersion, salt.length)
  const written = bytes.write(payload, salt.length + 4)
  return sha256(bytes.subarray(0, salt.length + 4 + written))
}

/**
 * The digest of a batch's content: of its id and its ordered records. It does not depend on the tail.
 *
 * @category digests
 * @since 0.1.0
 */
export const contentBytes = (
  batchId: string,
  records: ReadonlyArray<{ readonly recordId: string; readonly digest: Uint8Array }>
): Uint8Array => {
  const size = records.reduce((sum, { recordId }) => sum + 36 + recordId.length * 3, 8 + batchId.length * 3)
  const bytes = scratch(size)
  let offset = bytes.writeUInt32BE(records.length, writePrefixed(bytes, 0, batchId))
  for (const { digest, recordId } of records) {
    offset = writePrefixed(bytes, offset, recordId)
    bytes.set(digest, offset)
    offset += digest.length
  }
  return sha256(bytes.subarray(0, offset))
}

/**
 * The digest of a log after one more batch.
 *
 * @category digests
 * @since 0.1.0
 */
export const tailBytes = (previous: Uint8Array, contentDigest: Uint8Array): Uint8Array => {
  const bytes = scratch(64)
  bytes.set(previous)
  bytes.set(contentDigest, 32)
  return sha256(bytes.subarray(0, 64))
}

/**
 * {@link recordBytes} as hex.
 *
 * @category digests
 * @since 0.1.0
 */
export const record = (salt: Uint8Array, schemaVersion: number, payload: string): Digest =>
  fromBytes(recordBytes(salt, schemaVersion, payload))

/**
 * {@link record} of salt, version and payload that lie in one piece, in that order and without anything between them.
 *
 * @category digests
 * @since 0.1.0
 */
export const recordInOnePiece = (hashed: Uint8Array): Digest => brand(hash("sha256", hashed, "hex"))

/**
 * {@link contentBytes} of digests as hex, as hex.
 *
 * @category digests
 * @since 0.1.0
 */
export const content = (
  batchId: BatchId,
  records: ReadonlyArray<{ readonly recordId: RecordId; readonly digest: Digest }>
): Digest =>
  fromBytes(
    contentBytes(
      batchId,
      records.map(({ digest, recordId }) => ({ recordId, digest: toBytes(digest) }))
    )
  )

/**
 * {@link tailBytes} of digests as hex, as hex.
 *
 * @category digests
 * @since 0.1.0
 */
export const tail = (previous: Digest, contentDigest: Digest): Digest =>
  fromBytes(tailBytes(toBytes(previous), toBytes(contentDigest)))

/**
 * Whether two digests are the same bytes.
 *
 * @category digests
 * @since 0.1.0
 */
export const equals = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

/**
 * The digest of a text, for what is compared but not chained: parameters of a call, a set of tools, an input.
 *
 * @category digests
 * @since 0.1.0
 */
export const text = (value: string): Digest => brand(hash("sha256", value, "hex"))

/**
 * The 32 bytes of a digest, as databases store it.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toBytes = (digest: Digest): Uint8Array => Buffer.from(digest, "hex")

/**
 * A digest from its 32 stored bytes. Fewer or more bytes are a defect: an adapter checks its columns.
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromBytes = (bytes: Uint8Array): Digest => {
  if (bytes.byteLength !== 32) throw new RangeError(`a digest has 32 bytes, not ${bytes.byteLength}`)
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return brand(buffer.toString("hex"))
}

// --- internal ---

// One-shot hashing costs 1.6 µs per KB here; `createHash` costs three times that for small inputs. As text of one byte a
// character the result comes in half the time of a buffer, which would bring memory outside of the heap with it.
const sha256 = (data: Uint8Array): Uint8Array => Buffer.from(hash("sha256", data, "binary"), "latin1")

// What is hashed is put together in one place: nothing runs between writing it and hashing it.
let room = Buffer.allocUnsafeSlow(32 * 1024)
const scratch = (size: number): Buffer => {
  if (size <= room.length) return room
  return size <= maxScratch ? (room = Buffer.allocUnsafeSlow(size)) : Buffer.allocUnsafeSlow(size)
}
const maxScratch = 256 * 1024

/** Hex of 32 bytes is a digest by construction; checking the pattern again would cost more than the hash. */
const brand = (hex: string): Digest => hex as Digest

const writePrefixed = (bytes: Buffer, offset: number, text: string): number => {
  const written = bytes.write(text, offset + 4)
  bytes.writeUInt32BE(written, offset)
  return offset + 4 + written
}
