import { assert, describe, it } from "@effect/vitest"
import { type Batch, encodePayload } from "@colloquy/session/CanonicalRecord"
import * as Digest from "@colloquy/session/Digest"
import { AgentName, ApprovalId, RunId } from "@colloquy/session/Ids"
import { maxBatchRecords } from "@colloquy/session/Limits"
import * as Payload from "@colloquy/session/Payload"
import * as Usage from "@colloquy/session/Usage"
import * as Result from "effect/Result"
import type { RecordRow } from "@colloquy/store/ConversationDriver"
import * as Rows from "../../src/internal/rows.ts"
import { batch, conversationId, placed } from "../rows.ts"

const encode = (batch: Batch) => Rows.encodeBatch(conversationId, batch)

const failure = (batch: Batch) => {
  const encoded = encode(batch)
  return Result.isFailure(encoded) ? encoded.failure : assert.fail("it was encoded")
}

describe("the encoding of a batch", () => {
  it("is of canonical payloads, in order", () => {
    const { texts } = Result.getOrThrow(encode(batch("b", { z: 1, a: 2 }, "two")))
    assert.deepStrictEqual(texts, [
      `{"_tag":"Custom","data":{"a":2,"z":1},"name":"note"}`,
      `{"_tag":"Custom","data":"two","name":"note"}`
    ])
  })

  it("names the record that is at fault", () => {
    const refused = failure(batch("b", 1, undefined, 3))
    assert.strictEqual(
      refused._tag === "InvalidBatch" ? refused.recordId : undefined,
      batch("b", 1, 2).records[1]?.recordId
    )
    assert.include(refused.message, "record b/1")
  })

  it("counts records before it looks at them", () => {
    const many = batch("b", ...Array.from({ length: maxBatchRecords + 1 }, () => undefined))
    assert.strictEqual(failure(many)._tag, "LimitExceeded")
  })
})

describe("a stored batch", () => {
  const [stored] = placed(batch("b", "one", "two"))
  const isSame = (other: Batch, records: ReadonlyArray<RecordRow> = stored!.records) =>
    Rows.isSameBatch(Result.getOrThrow(encode(other)), stored!.row, records)

  it("is recognised by its ids and its content", () => {
    assert.isTrue(isSame(batch("b", "one", "two")))
    assert.isFalse(isSame(batch("b", "one", "three")))
    assert.isFalse(isSame(batch("b", "one")))
    assert.isFalse(isSame(batch("b", "one", "two", "three")))
    assert.isFalse(isSame({ ...batch("c", "one", "two"), batchId: batch("b").batchId }))
  })

  it("is recognised by its ids alone where a payload was removed", () => {
    const redacted = stored!.records.map((row, i) => (i === 1 ? { ...row, salt: null, payload: "{}" } : row))
    assert.isTrue(isSame(batch("b", "one", "anything"), redacted))
    assert.isFalse(isSame(batch("b", "other", "two"), redacted))
  })

  it("is not recognised by a part of its records", () => {
    assert.isFalse(isSame(batch("b", "one", "two"), stored!.records.slice(1)))
  })
})

describe("what the indexes know", () => {
  const run = { runId: RunId.make("r"), mode: "execute" }
  const agent = AgentName.make("agent")
  const started: Payload.Written = { _tag: "RunStarted", ...run, agent }
  const suspended: Payload.Written = { _tag: "RunSuspended", ...run, approvalIds: [ApprovalId.make("a")] }
  const ended: Payload.Written = { _tag: "RunEnded", ...run, outcome: "completed", usage: Usage.empty }
  const created: Payload.Written = { _tag: "ConversationCreated", title: "first" }
  const renamed: Payload.Written = { _tag: "MetadataChanged", title: "second" }
  const called: Payload.Written = {
    _tag: "ModelResponded",
    runId: run.runId,
    step: 1,
    agent,
    finishReason: "tool-calls",
    content: [
      { type: "text", text: "looking" },
      { type: "tool-call", id: "c1", name: "search", params: {} },
      { type: "tool-call", id: "c2", name: "search", params: {}, providerExecuted: true }
    ]
  }

  it("is the last status and title, and every declared call", () => {
    assert.deepStrictEqual(Rows.derive([created, started, called]), {
      status: "unfinished",
      title: "first",
      callIds: ["c1", "c2"]
    })
    assert.deepStrictEqual(Rows.derive([suspended, renamed]), {
      status: "awaiting-approval",
      title: "second",
      callIds: []
    })
    assert.deepStrictEqual(Rows.derive([ended, { _tag: "MetadataChanged" }]), { status: "idle", callIds: [] })
    assert.deepStrictEqual(Rows.derive([]), { callIds: [] })
  })

  it("is the same of a redacted log, without its titles", () => {
    const redacted = [created, started, called].map(Payload.redact)
    assert.deepStrictEqual(Rows.derive(redacted), { status: "unfinished", callIds: ["c1", "c2"] })
  })
})

const redacted = (payload: Payload.Payload) => JSON.stringify(Payload.redact(payload))

describe("a page", () => {
  const all = placed(batch("a", 1), batch("b", 2, 3), batch("c", 4, 5, 6))
  const records = all.flatMap(({ records }) => records)
  const batches = all.map(({ row }) => row)
  const read = (rows: ReadonlyArray<RecordRow>, first: number, reverse = false, verify = true) => {
    const { failure, records } = Rows.readPage(
      conversationId,
      { records: rows, batches },
      first,
      reverse,
      new Map(),
      verify
    )
    return {
      read: records.map(({ batchId, sequence }) => `${batchId}${sequence}`),
      damage: failure?._tag === "CorruptRecord" ? [failure.sequence, failure.lastGood] : failure?._tag
    }
  }
  const damaged = (sequence: number) =>
    records.map((row) => (row.sequence === sequence ? { ...row, payload: row.payload.replace("note", "NOTE") } : row))

  it("gives each record with its batch, in either direction", () => {
    const whole = ["a1", "b2", "b3", "c4", "c5", "c6"]
    assert.deepStrictEqual(read(records, 1), { read: whole, damage: undefined })
    assert.deepStrictEqual(read(records.toReversed(), 6, true), { read: whole.toReversed(), damage: undefined })
    assert.deepStrictEqual(read(records.slice(2, 4), 3), { read: ["b3", "c4"], damage: undefined })
  })

  it("ends before the first record that cannot be read", () => {
    assert.deepStrictEqual(read(damaged(3), 1), { read: ["a1", "b2"], damage: [3, 2] })
    assert.deepStrictEqual(read(damaged(3).toReversed(), 6, true), { read: ["c6", "c5", "c4"], damage: [3, 2] })
  })

  it("finds a changed payload that still decodes only where digests are checked", () => {
    assert.deepStrictEqual(read(damaged(3), 1, false, false).damage, undefined)
  })

  it("ends before the first record that is missing, doubled or out of order", () => {
    const without = (sequence: number) => records.filter((row) => row.sequence !== sequence)
    assert.deepStrictEqual(read(without(1), 1), { read: [], damage: [1, 0] })
    assert.deepStrictEqual(read(without(4), 1), { read: ["a1", "b2", "b3"], damage: [4, 3] })
    assert.deepStrictEqual(read(without(4).toReversed(), 6, true), { read: ["c6", "c5"], damage: [4, 3] })
    assert.deepStrictEqual(read([], 7), { read: [], damage: [7, 6] })
    assert.deepStrictEqual(read([...records.slice(0, 2), ...records.slice(1)], 1), {
      read: ["a1", "b2"],
      damage: [3, 2]
    })
  })

  it("needs the batch of each record", () => {
    const page = { records, batches: batches.slice(0, 2) }
    const { failure, records: good } = Rows.readPage(conversationId, page, 1, false, new Map(), true)
    assert.deepStrictEqual(
      good.map(({ sequence }) => sequence),
      [1, 2, 3]
    )
    assert.include(failure?.message, "batch is missing")
  })

  it("reads a redacted record, and refuses one half of a redaction", () => {
    const payload: Payload.Written = { _tag: "Custom", name: "note", data: 2 }
    const change = (fields: Partial<RecordRow>) =>
      records.map((row) => (row.sequence === 2 ? { ...row, ...fields } : row))
    assert.isUndefined(read(change({ payload: redacted(payload), salt: null }), 1).damage)
    assert.deepStrictEqual(read(change({ salt: null }), 1).damage, [2, 1])
    assert.deepStrictEqual(read(change({ payload: redacted(payload) }), 1).damage, [2, 1])
  })

  it("says so where a record is of a newer version", () => {
    const newer = records.map((row) => (row.sequence === 5 ? { ...row, schemaVersion: 2 } : row))
    assert.deepStrictEqual(read(newer, 1), { read: ["a1", "b2", "b3", "c4"], damage: "UnsupportedVersion" })
  })

  it("reads a record of an older version by the steps that are given", () => {
    const text = `{"_tag":"Note","data":1}`
    const salt = new Uint8Array(Digest.saltBytes)
    const digest = Digest.toBytes(Digest.record(salt, 0, text))
    const older = { ...records[0]!, schemaVersion: 0, payload: text, salt, digest }
    const steps = new Map([
      [0, () => JSON.parse(Result.getOrThrow(encodePayload({ _tag: "Custom", name: "old", data: 1 })))]
    ])
    const page = { records: [older], batches }
    const { failure, records: read } = Rows.readPage(conversationId, page, 1, false, steps, true)
    assert.isUndefined(failure)
    assert.deepStrictEqual(read[0]?.payload, { _tag: "Custom", name: "old", data: 1 })
    assert.strictEqual(read[0]?.schemaVersion, 0)
  })
})
