/**
 * The same work by hand on `node:sqlite`: the same tables and pragmas, prepared statements, plain JSON; no digests and no
 * checks, but the one on the head that orders writers.
 */
import { DatabaseSync } from "node:sqlite"
import { type Batch, batchSize } from "./Workload.ts"

export type Synchronous = "full" | "normal"

export interface Limit {
  /** Appends batches of three to a conversation, each in a transaction of its own. */
  readonly append: (conversation: number, batches: ReadonlyArray<Batch>) => void
  /** Reads and parses the last records of a conversation, or all; how many. */
  readonly read: (conversation: number, last?: number) => number
  readonly close: () => void
}

export const open = (filename: string, synchronous: Synchronous): Limit => {
  const db = new DatabaseSync(filename)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 4000; ${tables}`)
  const begin = db.prepare("BEGIN IMMEDIATE")
  const create = db.prepare(
    "INSERT INTO heads VALUES (?, ?, 0, x'00', 1, 'hand', 'idle', NULL, ?, ?) ON CONFLICT DO NOTHING"
  )
  const head = db.prepare("UPDATE heads SET sequence = ?, tail = ?, updated_at = ? WHERE key = ? AND sequence = ?")
  const insertBatch = db.prepare("INSERT INTO batches VALUES (?, ?, ?, ?, 1, 'hand', ?, ?)")
  const insertRecords = db.prepare(
    `INSERT INTO records VALUES ${Array(batchSize).fill("(?, ?, ?, ?, 1, ?, ?, ?)").join(", ")}`
  )
  const insertCall = db.prepare("INSERT INTO call_ids VALUES (?, ?) ON CONFLICT DO NOTHING")
  const commit = db.prepare("COMMIT")
  const sequence = db.prepare("SELECT sequence FROM heads WHERE key = ?")
  const select = db.prepare(
    `SELECT sequence, record_id, at, payload FROM records WHERE conversation = ? AND sequence > ? ORDER BY sequence
      LIMIT ${page}`
  )
  select.setReturnArrays(true)
  sequence.setReturnArrays(true)
  const salt = new Uint8Array(16).fill(7)
  const digest = new Uint8Array(32).fill(7)
  const sequences = new Map<number, number>()

  const start = (conversation: number, at: number): number => {
    create.run(conversation, `conversation-${conversation}`, at, at)
    return Number(sequence.get(conversation)?.[0] ?? 0)
  }

  return {
    append: (conversation, batches) => {
      for (const { batchId, records } of batches) {
        const { at } = records[0]!
        const after = sequences.get(conversation) ?? start(conversation, at)
        const last = after + records.length
        const values = records.flatMap(({ at, payload, recordId }, i) => [
          conversation,
          after + i + 1,
          recordId,
          at,
          salt,
          digest,
          JSON.stringify(payload)
        ])
        begin.run()
        head.run(last, digest, at, conversation, after)
        insertBatch.run(conversation, last, after + 1, batchId, digest, digest)
        insertRecords.run(...values)
        for (const { payload } of records) {
          if (payload._tag !== "ModelResponded") continue
          for (const part of payload.content) if (part.type === "tool-call") insertCall.run(conversation, part.id)
        }
        commit.run()
        sequences.set(conversation, last)
      }
    },
    read: (conversation, last) => {
      const end = Number(sequence.get(conversation)?.[0] ?? 0)
      let count = 0
      for (let after = last === undefined ? 0 : end - last; after < end; after += page) {
        for (const row of select.all(conversation, after)) {
          if (JSON.parse(String(row[3])) !== null) count++
        }
      }
      return count
    },
    close: () => db.close()
  }
}

// --- internal ---

/** Larger ones read no faster. */
const page = 500

const tables = `
  CREATE TABLE IF NOT EXISTS heads (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, sequence INTEGER NOT NULL, tail BLOB NOT NULL,
    epoch INTEGER NOT NULL, producer TEXT, status TEXT NOT NULL, title TEXT, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS batches (conversation INTEGER NOT NULL, last INTEGER NOT NULL, first INTEGER NOT NULL,
    batch_id TEXT NOT NULL, epoch INTEGER NOT NULL, producer TEXT NOT NULL, content BLOB NOT NULL, tail BLOB NOT NULL,
    PRIMARY KEY (conversation, last)) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX IF NOT EXISTS batches_id ON batches (conversation, batch_id);
  CREATE TABLE IF NOT EXISTS records (conversation INTEGER NOT NULL, sequence INTEGER NOT NULL, record_id TEXT NOT NULL,
    at INTEGER NOT NULL, version INTEGER NOT NULL, salt BLOB, digest BLOB NOT NULL, payload TEXT NOT NULL,
    PRIMARY KEY (conversation, sequence)) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS records_id ON records (conversation, record_id);
  CREATE TABLE IF NOT EXISTS call_ids (conversation INTEGER NOT NULL, call_id TEXT NOT NULL, PRIMARY KEY (conversation, call_id))
    STRICT, WITHOUT ROWID;`
