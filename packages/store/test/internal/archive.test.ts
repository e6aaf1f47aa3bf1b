import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { ArchiveReader } from "../../src/internal/archive.ts"
import type { ImportRejected } from "../../src/StoreError.ts"
import { batch, conversationId, lines, payloadOf, placed } from "../rows.ts"

const log = [batch("a", 1), batch("b", 2, 3)]
const archive = lines(...log)

/** Reads the lines to their end: the steps, or the first refusal. */
const read = (lines: ReadonlyArray<string>, steps: ConstructorParameters<typeof ArchiveReader>[0] = new Map()) => {
  const reader = new ArchiveReader(steps)
  const found = lines.map((line, i) => reader.read(line, i + 1))
  const refused = found.find(Result.isFailure)
  return {
    steps: found.filter(Result.isSuccess).map(({ success }) => success),
    refusal: refused?.failure ?? reader.end(lines.length)
  }
}

const bytes = (salt: Uint8Array | null) => (salt === null ? null : [...salt])

const refusal = (lines: ReadonlyArray<string>): Pick<ImportRejected, "reason" | "line"> => {
  const { refusal } = read(lines)
  if (refusal?._tag !== "ImportRejected") return assert.fail(`refused with ${refusal?._tag}`)
  return { reason: refusal.reason, line: refusal.line }
}

describe("the reader of an archive", () => {
  it("gives the header, then each batch once its last record was read", () => {
    const { refusal, steps } = read(archive)
    assert.isUndefined(refusal)
    assert.deepStrictEqual(
      steps.map(({ _tag }) => _tag),
      ["Began", "Nothing", "Batch", "Nothing", "Nothing", "Batch"]
    )
  })

  it("gives the rows that were exported", () => {
    const batches = read(archive).steps.flatMap((step) => (step._tag === "Batch" ? [step.batch] : []))
    const expected = placed(...log)
    assert.deepStrictEqual(
      batches.map(({ row }) => row),
      expected.map(({ row }) => row)
    )
    assert.deepStrictEqual(
      batches.map(({ payloads }) => payloads),
      expected.map(({ payloads }) => [...payloads])
    )
    assert.deepStrictEqual(
      batches.flatMap(({ records }) => records.map((record) => ({ ...record, salt: bytes(record.salt) }))),
      expected.flatMap(({ records }) => records.map((record) => ({ ...record, salt: bytes(record.salt) })))
    )
  })

  it("takes an archive without records", () => {
    assert.isUndefined(read(lines()).refusal)
  })

  it("names the conversation in a refusal once it knows it", () => {
    const refused = read(archive.slice(0, -1)).refusal
    assert.strictEqual(refused?._tag === "ImportRejected" ? refused.conversationId : undefined, conversationId)
    assert.include(refused?.message, "conversation")
    const headless = read(archive.slice(1)).refusal
    assert.isUndefined(headless?._tag === "ImportRejected" ? headless.conversationId : headless)
  })

  it("refuses an epoch that falls, or is over the header's", () => {
    const epochs = (...epochs: ReadonlyArray<number>) => {
      let next = 0
      return archive.map((line) => {
        const parsed = JSON.parse(line)
        if (parsed.header !== undefined) parsed.header.epoch = 2
        if (parsed.batch !== undefined) parsed.batch.epoch = epochs[next++]
        return JSON.stringify(parsed)
      })
    }
    assert.isUndefined(read(epochs(1, 2)).refusal)
    assert.deepStrictEqual(refusal(epochs(2, 1)), { reason: "altered", line: 4 })
    assert.deepStrictEqual(refusal(epochs(1, 3)), { reason: "altered", line: 4 })
  })

  it("refuses a line that is cut at any place", () => {
    const last = archive.at(-1)!
    for (let end = 1; end < last.length; end++) {
      assert.deepStrictEqual(refusal([...archive.slice(0, -1), last.slice(0, end)]), { reason: "torn", line: 6 })
    }
  })

  it("refuses a line in which any one character of a payload, salt or digest was changed", () => {
    const text = payloadOf(2)
    const line = archive[4]!
    const fields = JSON.parse(line).record
    for (const part of [JSON.stringify(text).slice(1, -1), fields.salt, fields.digest]) {
      const start = line.indexOf(part)
      for (let i = start; i < start + part.length; i++) {
        const changed = `${line.slice(0, i)}${line[i] === "0" ? "1" : "0"}${line.slice(i + 1)}`
        const { reason } = refusal(archive.map((other) => (other === line ? changed : other)))
        assert.include(["altered", "invalid", "torn"], reason)
      }
    }
  })

  it("refuses lines of another format by naming what they have", () => {
    const refused = read([`{"type":"message","text":"hi"}`]).refusal
    assert.include(refused?.message, "type, text")
    for (const odd of ["1", "null", `"text"`, "[]", "{}"]) {
      assert.deepStrictEqual(refusal([odd]), { reason: "format", line: 1 })
    }
  })

  it("brings a record of an older version up to date when it is read", () => {
    const older = archive.map((line) => line.replace(`"schemaVersion":1`, `"schemaVersion":0`))
    const unsupported = read(older).refusal
    assert.strictEqual(unsupported?._tag, "UnsupportedVersion")
  })
})
