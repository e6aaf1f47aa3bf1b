import * as Digest from "@colloquy/session/Digest"
import { assert, describe, it } from "@effect/vitest"
import { DatabaseSync } from "node:sqlite"
import * as StoredRows from "../../src/internal/storedRows.ts"
import { asRows } from "../../src/internal/session.ts"

const salt = Uint8Array.from({ length: Digest.saltBytes }, (_, i) => 255 - i)

/** The row of a record, as the driver reads it from the columns that it is stored in. */
const read = (record: { readonly salt: Uint8Array | null; readonly version: number; readonly payload: string }) => {
  const digest = Digest.recordBytes(record.salt ?? new Uint8Array(), 1, record.payload)
  const database = new DatabaseSync(":memory:")
  const select = database.prepare(
    `SELECT ${StoredRows.recordColumns} FROM (SELECT 7 AS sequence, 'r' AS record_id, -1 AS at, ? AS version, ? AS salt,
      ? AS digest, ? AS payload)`
  )
  select.setReturnArrays(true)
  const [row] = asRows(select.all(record.version, record.salt, digest, record.payload))
  database.close()
  return { row: StoredRows.decodeRecord(row!), digest }
}

const payloads = [
  "",
  "{}",
  '{"_tag":"Custom"}',
  "naïve 東京 \u{1f600} \u0000 \\u0000 \ufeff",
  "\ufeff",
  "中".repeat(70_000)
]

describe("a record that is read in one piece", () => {
  for (const payload of payloads) {
    it(`has its columns: ${JSON.stringify(payload.slice(0, 30))}`, () => {
      const { digest, row } = read({ salt, version: 1, payload })
      assert.strictEqual(row.payload, payload)
      assert.deepStrictEqual([row.sequence, row.recordId, row.at, row.schemaVersion], [7, "r", -1, 1])
      assert.deepStrictEqual([...row.salt!], [...salt])
      assert.deepStrictEqual([...row.digest], [...digest])
    })

    it(`is what its digest is of: ${JSON.stringify(payload.slice(0, 30))}`, () => {
      for (const version of [0, 1, 258, 2 ** 32 - 1]) {
        const { row } = read({ salt, version, payload })
        assert.strictEqual(Digest.recordInOnePiece(row.hashed!), Digest.record(salt, version, payload))
      }
    })
  }

  it("has no salt where that was removed", () => {
    const { row } = read({ salt: null, version: 1, payload: '{"_tag":"Redacted"}' })
    assert.isNull(row.salt)
    assert.strictEqual(row.payload, '{"_tag":"Redacted"}')
  })

  it("has the salt that is stored, however long that is", () => {
    for (const stored of [new Uint8Array(), salt.subarray(1), new Uint8Array(17)]) {
      const { row } = read({ salt: stored, version: 1, payload: "{}" })
      assert.deepStrictEqual([...row.salt!], [...stored])
      assert.strictEqual(row.payload, "{}")
    }
  })
})
