/**
 * The same work by hand on `node:sqlite`: prepared statements, the same tables and pragmas, plain JSON, no digests.
 */
import { DatabaseSync } from "node:sqlite"
import { batch, batchSize } from "./Workload.ts"

export interface Limit {
  readonly append: (n: number) => void
  readonly read: () => number
  readonly close: () => void
}

export const open = (filename: string, synchronous: "FULL" | "NORMAL"): Limit => {
  const db = new DatabaseSync(filename)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
  db.exec(`
    CREATE TABLE heads (id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, tail BLOB NOT NULL) STRICT;
    CREATE TABLE batches (conversation INTEGER, last INTEGER, batch_id TEXT, tail BLOB, PRIMARY KEY (conversation, last))
      STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX batches_id ON batches (conversation, batch_id);
    CREATE TABLE records (conversation INTEGER, sequence INTEGER, record_id TEXT, at INTEGER, salt BLOB, digest BLOB,
      payload TEXT, PRIMARY KEY (conversation, sequence)) STRICT;
    CREATE UNIQUE INDEX records_id ON records (conversation, record_id);
    INSERT INTO heads VALUES (1, 0, x'00');
  `)
  const begin = db.prepare("BEGIN IMMEDIATE")
  const head = db.prepare("UPDATE heads SET sequence = ?, tail = ? WHERE id = 1 AND sequence = ?")
  const insertBatch = db.prepare("INSERT INTO batches VALUES (1, ?, ?, ?)")
  const insertRecords = db.prepare(
    `INSERT INTO records VALUES ${Array(batchSize).fill("(1, ?, ?, ?, ?, ?, ?)").join(", ")}`
  )
  const commit = db.prepare("COMMIT")
  const select = db.prepare(
    "SELECT sequence, record_id, at, payload FROM records WHERE conversation = 1 ORDER BY sequence"
  )
  select.setReturnArrays(true)
  const salt = new Uint8Array(16)
  const digest = new Uint8Array(32)
  return {
    append: (n) => {
      const { batchId, records } = batch(n)
      const values = records.flatMap(({ at, payload, recordId }, i) => [
        n * batchSize + i + 1,
        recordId,
        at,
        salt,
        digest,
        JSON.stringify(payload)
      ])
      begin.run()
      head.run((n + 1) * batchSize, digest, n * batchSize)
      insertBatch.run((n + 1) * batchSize, batchId, digest)
      insertRecords.run(...values)
      commit.run()
    },
    read: () => {
      let count = 0
      for (const row of select.all()) {
        const values: ReadonlyArray<unknown> = Object.values(row)
        if (typeof values[3] === "string" && JSON.parse(values[3]) !== null) count++
      }
      return count
    },
    close: () => db.close()
  }
}
