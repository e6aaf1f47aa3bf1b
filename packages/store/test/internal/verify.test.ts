import { assert, describe, it } from "@effect/vitest"
import type { Batch } from "@colloquy/session/CanonicalRecord"
import * as Digest from "@colloquy/session/Digest"
import { BatchId, RecordId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type { BatchRow, Head, RecordRow } from "@colloquy/store/ConversationDriver"
import * as Result from "effect/Result"
import { Verifier } from "../../src/internal/verify.ts"
import { batch, conversationId, head, placed } from "../rows.ts"

const created: Batch = {
  batchId: BatchId.make("a"),
  records: [{ recordId: RecordId.make("a/0"), at: 0, payload: { _tag: "ConversationCreated" } }]
}

const log = placed(created, batch("b", 2, 3), batch("c", 4, 5))
const records = log.flatMap(({ records }) => records)
const batches = log.map(({ row }) => row)
const end: Head = { ...head, sequence: 5, tail: batches.at(-1)!.tail }

/** What is found in these rows, read in pages of so many records. */
const faults = (
  rows: {
    readonly records?: ReadonlyArray<RecordRow>
    readonly batches?: ReadonlyArray<BatchRow>
    readonly head?: Head
  },
  pageSize = 2
) => {
  const verifier = new Verifier(conversationId, new Map())
  const all = rows.records ?? records
  for (let start = 0; start < all.length; start += pageSize) {
    const page = all.slice(start, start + pageSize)
    const touched = (rows.batches ?? batches).filter(({ first, last }) =>
      page.some(({ sequence }) => sequence >= first && sequence <= last)
    )
    const read = verifier.read({ records: page, batches: touched })
    if (Result.isFailure(read)) return [read.failure._tag]
  }
  return verifier.report(rows.head ?? end).faults.map(({ reason, sequence }) => `${sequence} ${reason}`)
}

const changed = (sequence: number, change: (row: RecordRow) => Partial<RecordRow>) =>
  records.map((row) => (row.sequence === sequence ? { ...row, ...change(row) } : row))

const changedBatch = (id: string, change: Partial<BatchRow>) =>
  batches.map((row) => (row.batchId === id ? { ...row, ...change } : row))

const other = Digest.toBytes(Digest.text("other"))

describe("the check of a log", () => {
  it("finds nothing in a whole one, whatever the pages", () => {
    for (const size of [1, 2, 3, 5, 100]) assert.deepStrictEqual(faults({}, size), [])
  })

  it("finds nothing in an empty one", () => {
    assert.deepStrictEqual(faults({ records: [], batches: [], head }), [])
  })

  it("finds a changed payload, salt or record digest", () => {
    assert.deepStrictEqual(faults({ records: changed(3, () => ({ payload: "{}" })) }), ["3 record-digest"])
    assert.deepStrictEqual(faults({ records: changed(3, () => ({ salt: new Uint8Array(16) })) }), ["3 record-digest"])
    assert.deepStrictEqual(faults({ records: changed(3, () => ({ digest: other })) }), [
      "3 record-digest",
      "3 batch-digest"
    ])
  })

  it("finds a record whose digest was mended with it by the digest of its batch", () => {
    const mended = changed(3, ({ payload, salt, schemaVersion }) => {
      const text = payload.replace("3", "4")
      return { payload: text, digest: Digest.toBytes(Digest.record(salt!, schemaVersion, text)) }
    })
    assert.deepStrictEqual(faults({ records: mended }), ["3 batch-digest"])
  })

  it("finds a batch whose digest was mended with it by the chain", () => {
    assert.deepStrictEqual(faults({ batches: changedBatch("b", { content: other }) }), [
      "3 batch-digest",
      "3 tail-digest"
    ])
    assert.deepStrictEqual(faults({ batches: changedBatch("b", { tail: other }) }), ["3 tail-digest", "5 tail-digest"])
  })

  it("finds a chain that does not end where the conversation says", () => {
    assert.deepStrictEqual(faults({ head: { ...end, tail: other } }), ["5 tail-digest"])
  })

  it("finds a record id that was changed", () => {
    assert.deepStrictEqual(faults({ records: changed(2, () => ({ recordId: "x" })) }), ["3 batch-digest"])
  })

  it("finds missing records at every place", () => {
    for (const { sequence } of records) {
      const found = faults({ records: records.filter((row) => row.sequence !== sequence) })
      assert.include(found, `${sequence} record-missing`)
    }
    assert.include(faults({ records: records.slice(0, 3) }), "4 record-missing")
    assert.include(faults({ records: [], batches: [] }), "1 record-missing")
  })

  it("finds a missing batch", () => {
    const found = faults({ batches: batches.filter(({ batchId }) => batchId !== "b") })
    assert.includeMembers(found, ["2 batch-missing", "3 batch-missing"])
  })

  it("finds a payload that is intact, and that nobody can read", () => {
    const text = `{"_tag":"Costume","name":"x"}`
    const unreadable = changed(3, ({ salt, schemaVersion }) => ({
      payload: text,
      digest: Digest.toBytes(Digest.record(salt!, schemaVersion, text))
    }))
    assert.deepStrictEqual(faults({ records: unreadable }), ["3 payload-unreadable", "3 batch-digest"])
  })

  it("goes on behind damage, and finds the next one", () => {
    const twice = changed(2, () => ({ payload: "{}" })).map((row) =>
      row.sequence === 5 ? { ...row, payload: "{}" } : row
    )
    assert.deepStrictEqual(faults({ records: twice }), ["2 record-digest", "5 record-digest"])
  })

  it("finds nothing where a payload was removed by rule", () => {
    const redacted = changed(3, ({ payload }) => ({
      payload: JSON.stringify(Payload.redact(JSON.parse(payload))),
      salt: null
    }))
    assert.deepStrictEqual(faults({ records: redacted }), [])
  })

  it("ends at a record of a newer version", () => {
    assert.deepStrictEqual(faults({ records: changed(3, () => ({ schemaVersion: 9 })) }), ["UnsupportedVersion"])
  })
})
