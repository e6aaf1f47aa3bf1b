/**
 * Archives as lines: taken from a store, given another id, altered, or made from nothing.
 *
 * @since 0.1.0
 */
import { type Batch, encodePayload } from "@colloquy/session/CanonicalRecord"
import * as Digest from "@colloquy/session/Digest"
import { type ConversationId, ProducerId } from "@colloquy/session/Ids"
import * as Upcast from "@colloquy/session/Upcast"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Archive from "../Archive.ts"
import type { ReadError } from "../StoreError.ts"
import { at } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

/**
 * The lines of an archive, without line ends.
 *
 * @category models
 * @since 0.1.0
 */
export type Lines = ReadonlyArray<string>

/**
 * The archive of a conversation.
 *
 * @category constructors
 * @since 0.1.0
 */
export const exported = (
  scenario: Scenario,
  conversationId: ConversationId = scenario.id(),
  through?: number
): Effect.Effect<Lines, ReadError> => Stream.runCollect(scenario.store.exportLines({ conversationId, through }))

/**
 * The archive under another conversation id, which nothing in it is bound to.
 *
 * @category altering
 * @since 0.1.0
 */
export const under = (conversationId: ConversationId, lines: Lines): Lines =>
  altered(lines, 1, (line) => ("header" in line ? { header: { ...line.header, conversationId } } : line))

/**
 * The archive with one line changed. Lines count from 1.
 *
 * @category altering
 * @since 0.1.0
 */
export const altered = (lines: Lines, line: number, change: (line: Archive.Line) => Archive.Line): Lines =>
  lines.map((text, i) => (i === line - 1 ? Archive.encodeLine(change(decode(text))) : text))

/**
 * One record of an archive changed; other lines stay as they are.
 *
 * @category altering
 * @since 0.1.0
 */
export const withRecord = (
  lines: Lines,
  line: number,
  change: (record: Archive.ArchivedRecord) => Partial<Archive.ArchivedRecord>
): Lines =>
  altered(lines, line, (old) => ("record" in old ? { record: { ...old.record, ...change(old.record) } } : old))

/**
 * One batch of an archive changed; other lines stay as they are.
 *
 * @category altering
 * @since 0.1.0
 */
export const withBatch = (
  lines: Lines,
  line: number,
  change: (batch: Archive.ArchivedBatch) => Partial<Archive.ArchivedBatch>
): Lines => altered(lines, line, (old) => ("batch" in old ? { batch: { ...old.batch, ...change(old.batch) } } : old))

/**
 * The header of an archive changed.
 *
 * @category altering
 * @since 0.1.0
 */
export const withHeader = (lines: Lines, change: (header: Archive.Header) => Partial<Archive.Header>): Lines =>
  altered(lines, 1, (old) => ("header" in old ? { header: { ...old.header, ...change(old.header) } } : old))

/**
 * What is made for an archive that no store has written. `payloads` replaces the texts of all records.
 *
 * @category models
 * @since 0.1.0
 */
export interface Made {
  readonly epoch?: number
  readonly schemaVersion?: number
  readonly payloads?: (encoded: string, sequence: number) => string
}

/**
 * An archive of these batches whose digests are all right, whatever else is wrong with it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const made = (conversationId: ConversationId, batches: ReadonlyArray<Batch>, options: Made = {}): Lines => {
  const { epoch = 1, payloads = (encoded) => encoded, schemaVersion = Upcast.currentVersion } = options
  const lines: Array<string> = []
  let tail = Digest.empty
  let sequence = 0
  for (const { batchId, records } of batches) {
    const first = sequence + 1
    const archived = records.map(({ at, payload, recordId }): Archive.ArchivedRecord => {
      const text = payloads(Result.getOrThrow(encodePayload(payload)), ++sequence)
      const salt = sequence.toString(16).padStart(2 * Digest.saltBytes, "0")
      const digest = Digest.record(bytesOf(salt), schemaVersion, text)
      return { sequence, recordId, at, schemaVersion, salt, digest, payload: text }
    })
    const content = Digest.content(batchId, archived)
    tail = Digest.tail(tail, content)
    lines.push(Archive.encodeLine({ batch: { batchId, first, last: sequence, epoch, producerId, content, tail } }))
    lines.push(...archived.map((record) => Archive.encodeLine({ record })))
  }
  const { format, version } = Archive
  const header = { conversationId, epoch, records: sequence, tail, createdAt: at, updatedAt: at }
  return [Archive.encodeLine({ header: { format, version, ...header } }), ...lines]
}

/**
 * Reads a line that is known to be right.
 *
 * @category reading
 * @since 0.1.0
 */
export const decode = (text: string): Archive.Line => Result.getOrThrow(Archive.decodeLine(JSON.parse(text)))

/**
 * Checks an archive from its lines alone, with nothing of the store's reader: the tail it reaches, and its records.
 *
 * @category reading
 * @since 0.1.0
 */
export const follow = (lines: Lines): { readonly tail: Digest.Digest; readonly records: number } => {
  const batches: Array<{ readonly batch: Archive.ArchivedBatch; readonly records: Array<Archive.ArchivedRecord> }> = []
  for (const line of lines.map(decode)) {
    if ("batch" in line) batches.push({ batch: line.batch, records: [] })
    if ("record" in line) batches.at(-1)?.records.push(line.record)
  }
  let tail = Digest.empty
  let count = 0
  for (const { batch, records } of batches) {
    const digests = records.map(({ payload, recordId, salt, schemaVersion }) => ({
      recordId,
      digest: Digest.record(bytesOf(salt ?? ""), schemaVersion, payload)
    }))
    tail = Digest.tail(tail, Digest.content(batch.batchId, digests))
    count += records.length
  }
  return { tail, records: count }
}

// --- internal ---

const producerId = ProducerId.make("elsewhere")

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))
