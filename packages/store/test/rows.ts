/** Rows and lines as a store would write them, with salts that are the same every time. */
import { type Batch, encodePayload } from "@colloquy/session/CanonicalRecord"
import * as Digest from "@colloquy/session/Digest"
import { BatchId, ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import * as Archive from "@colloquy/store/Archive"
import type { Head } from "@colloquy/store/ConversationDriver"
import * as Result from "effect/Result"
import * as Rows from "../src/internal/rows.ts"

export const conversationId = ConversationId.make("conversation")
const producerId = ProducerId.make("producer")

export const head: Head = {
  conversationId,
  sequence: 0,
  tail: Digest.toBytes(Digest.empty),
  epoch: 1,
  producerId: null,
  status: "idle",
  title: null,
  createdAt: 0,
  updatedAt: 0,
  erased: false,
  forkedFrom: null
}

export const batch = (id: string, ...data: ReadonlyArray<unknown>): Batch => ({
  batchId: BatchId.make(id),
  records: data.map((data, i) => ({
    recordId: RecordId.make(`${id}/${i}`),
    at: 0,
    payload: { _tag: "Custom", name: "note", data }
  }))
})

/** The batches at their places, one behind the other. */
export const placed = (...batches: ReadonlyArray<Batch>): ReadonlyArray<Rows.PlacedBatch> => {
  const placed: Array<Rows.PlacedBatch> = []
  let n = 0
  const salt = () => new Uint8Array(Digest.saltBytes).fill(++n)
  for (const each of batches) {
    const after = placed.at(-1)?.tail ?? { sequence: 0, digest: Digest.empty }
    const encoded = Result.getOrThrow(Rows.encodeBatch(conversationId, each))
    placed.push(Rows.placeBatch(encoded, { after, epoch: 1, producerId, salt }))
  }
  return placed
}

/** An archive of these batches, line by line. */
export const lines = (...batches: ReadonlyArray<Batch>): ReadonlyArray<string> => {
  const all = placed(...batches)
  const { digest, sequence } = all.at(-1)?.tail ?? { sequence: 0, digest: Digest.empty }
  return [
    Archive.encodeLine({
      header: {
        format: Archive.format,
        version: Archive.version,
        conversationId,
        epoch: 1,
        records: sequence,
        tail: digest,
        createdAt: 0,
        updatedAt: 0
      }
    }),
    ...all.flatMap(({ records, row }) => [
      Archive.encodeLine({
        batch: {
          batchId: BatchId.make(row.batchId),
          first: row.first,
          last: row.last,
          epoch: row.epoch,
          producerId,
          content: Digest.fromBytes(row.content),
          tail: Digest.fromBytes(row.tail)
        }
      }),
      ...records.map((record) =>
        Archive.encodeLine({
          record: {
            sequence: record.sequence,
            recordId: RecordId.make(record.recordId),
            at: record.at,
            schemaVersion: record.schemaVersion,
            salt: record.salt === null ? null : Buffer.from(record.salt).toString("hex"),
            digest: Digest.fromBytes(record.digest),
            payload: record.payload
          }
        })
      )
    ])
  ]
}

export const payloadOf = (data: unknown): string =>
  Result.getOrThrow(encodePayload({ _tag: "Custom", name: "note", data }))
