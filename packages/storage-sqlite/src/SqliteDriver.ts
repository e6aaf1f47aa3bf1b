/**
 * The encoded driver over the tables of a SQLite file.
 *
 * @since 0.1.0
 */
import type { Status } from "@colloquy/session/ConversationState"
import {
  type BatchRow,
  type CheckpointRow,
  type Commit,
  type CommitResult,
  ConversationDriver,
  type Head,
  type RecordRow
} from "@colloquy/store/ConversationDriver"
import { maxBatchRecords } from "@colloquy/session/Limits"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import type * as Stream from "effect/Stream"
import type { Connections, Outcome, Reserved, Row, Value } from "./internal/connection.ts"

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (connections: Connections, changes: Stream.Stream<void>): ConversationDriver["Service"] => {
  const all = <A>(sql: string, parameters: ReadonlyArray<Value>, decode: (row: Row) => A) =>
    connections.read((connection) => Effect.map(connection.query(sql, parameters), (rows) => rows.map(decode)))
  const first = <A>(sql: string, parameters: ReadonlyArray<Value>, decode: (row: Row) => A) =>
    connections.read((connection) =>
      Effect.map(connection.query(sql, parameters), (rows) =>
        rows[0] === undefined ? Option.none() : Option.some(decode(rows[0]))
      )
    )
  return ConversationDriver.of({
    head: (id) => first(`SELECT ${headColumns} FROM conversations WHERE id = ?`, [id], decodeHead),
    batch: (id, batchId) =>
      first(`SELECT ${batchColumns} FROM batches WHERE ${ofConversation} AND batch_id = ?`, [id, batchId], decodeBatch),
    batchEndingAt: (id, sequence) =>
      first(`SELECT ${batchColumns} FROM batches WHERE ${ofConversation} AND last = ?`, [id, sequence], decodeBatch),
    records: ({ after, conversationId, limit, reverse, through }) =>
      connections.read((connection) =>
        Effect.gen(function* () {
          const order = reverse ? "DESC" : "ASC"
          const records = (yield* connection.query(
            `SELECT ${recordColumns} FROM records WHERE ${ofConversation} AND sequence > ? AND sequence <= ?
              ORDER BY sequence ${order} LIMIT ?`,
            [conversationId, after, through, Math.min(limit, Number.MAX_SAFE_INTEGER)]
          )).map(decodeRecord)
          if (records.length === 0) return { records, batches: [] }
          const ends = [records[0]!.sequence, records.at(-1)!.sequence]
          // A batch has at most so many records, so the one of the last record ends before this.
          const latest = Math.max(...ends) + maxBatchRecords
          const batches = yield* connection.query(
            `SELECT ${batchColumns} FROM batches WHERE ${ofConversation} AND last >= ? AND last < ? AND first <= ?
              ORDER BY last`,
            [conversationId, Math.min(...ends), latest, Math.max(...ends)]
          )
          return { records, batches: batches.map(decodeBatch) }
        })
      ),
    recordIds: (id, ids) => connections.read((connection) => existing(connection, "records", "record_id", id, ids)),
    callIds: (id, ids) => connections.read((connection) => existing(connection, "call_ids", "call_id", id, ids)),
    checkpoints: (id, atOrBefore) =>
      all(
        `SELECT ${checkpointColumns} FROM checkpoints WHERE ${ofConversation} AND sequence <= ? ORDER BY sequence DESC`,
        [id, atOrBefore],
        decodeCheckpoint
      ),
    list: ({ after, limit, status }) => {
      // No caller's id is before the first character behind NUL; staged ones are.
      const from = after === "" ? "\u0001" : after
      return status === undefined
        ? all(`SELECT ${headColumns} FROM conversations WHERE id > ? ORDER BY id LIMIT ?`, [from, limit], decodeHead)
        : all(
            `SELECT ${headColumns} FROM conversations WHERE status = ? AND id > ? ORDER BY id LIMIT ?`,
            [status, from, limit],
            decodeHead
          )
    },
    commit: (commit) => connections.write((connection) => write(connection, commit), clashed),
    changes
  })
}

// --- internal ---

const ofConversation = "conversation = (SELECT key FROM conversations WHERE id = ?)"

const headColumns = "id, sequence, tail, epoch, producer, status, title, created_at, updated_at, erased"
const batchColumns = "batch_id, first, last, epoch, producer, content, tail"
const recordColumns = "sequence, record_id, at, version, salt, digest, payload"
const checkpointColumns = "sequence, digest, state_version, state"

const clashed = (): CommitResult => "refused"

const refused: Outcome<CommitResult> = { commit: false, value: "refused" }
const committed: Outcome<CommitResult> = { commit: true, value: "committed" }

/** Guard and head are one statement: it changes the row it expects, and gives its key, or changes nothing. */
const write = Effect.fnUntraced(function* (connection: Reserved, commit: Commit) {
  if (commit.drop === true) yield* drop(connection, commit.conversationId)
  const { parameters, sql } = commit.guard === "absent" ? createHead(commit) : updateHead(commit, commit.guard)
  const [row] = yield* connection.query(sql, parameters)
  if (row === undefined) return refused
  const key = row[0] as number
  for (const batch of commit.batches ?? []) yield* connection.execute(insertBatch, [key, ...encodeBatch(batch)])
  const records = commit.records ?? []
  for (let start = 0; start < records.length; start += recordsPerInsert) {
    const part = records.slice(start, start + recordsPerInsert)
    yield* connection.execute(
      insertRecords(part.length),
      part.flatMap((record) => [key, ...encodeRecord(record)])
    )
  }
  for (const callId of commit.callIds ?? []) {
    yield* connection.execute("INSERT OR IGNORE INTO call_ids (conversation, call_id) VALUES (?, ?)", [key, callId])
  }
  const { checkpoint } = commit
  if (checkpoint !== undefined) {
    const { digest, sequence, state, stateVersion } = checkpoint
    yield* connection.execute(
      `INSERT OR REPLACE INTO checkpoints (conversation, ${checkpointColumns}) VALUES (?, ?, ?, ?, ?)`,
      [key, sequence, digest, stateVersion, state]
    )
    yield* connection.execute(
      `DELETE FROM checkpoints WHERE conversation = ?1 AND sequence NOT IN
        (SELECT sequence FROM checkpoints WHERE conversation = ?1 ORDER BY sequence DESC LIMIT ?2)`,
      [key, commit.keepCheckpoints ?? -1]
    )
  }
  return committed
})

interface Prepared {
  readonly sql: string
  readonly parameters: ReadonlyArray<Value>
}

const createHead = ({ adopt, conversationId, head }: Commit): Prepared => {
  if (adopt !== undefined) {
    const { assignments, parameters } = assign({ ...head, conversationId })
    return {
      sql: `UPDATE conversations SET ${assignments} WHERE id = ? AND sequence = ? AND tail = ?
        AND NOT EXISTS (SELECT 1 FROM conversations WHERE id = ?) RETURNING key`,
      parameters: [...parameters, adopt, head.sequence ?? 0, head.tail ?? null, conversationId]
    }
  }
  const columns = Object.entries(columnsOf({ ...head, conversationId }))
  return {
    sql: `INSERT INTO conversations (${columns.map(([name]) => name).join(", ")})
      VALUES (${columns.map(() => "?").join(", ")}) ON CONFLICT (id) DO NOTHING RETURNING key`,
    parameters: columns.map(([, value]) => value)
  }
}

const updateHead = ({ conversationId, head }: Commit, guard: Exclude<Commit["guard"], "absent">): Prepared => {
  const { assignments, parameters } = assign(head)
  const conditions = Object.entries(columnsOf(guard))
  return {
    sql: `UPDATE conversations SET ${assignments === "" ? "key = key" : assignments} WHERE id = ?${conditions
      .map(([name]) => ` AND ${name} IS ?`)
      .join("")} RETURNING key`,
    parameters: [...parameters, conversationId, ...conditions.map(([, value]) => value)]
  }
}

const assign = (head: Partial<Head>): { readonly assignments: string; readonly parameters: ReadonlyArray<Value> } => {
  const columns = Object.entries(columnsOf(head))
  return {
    assignments: columns.map(([name]) => `${name} = ?`).join(", "),
    parameters: columns.map(([, value]) => value)
  }
}

const columnNames: { readonly [K in keyof Head]: string } = {
  conversationId: "id",
  sequence: "sequence",
  tail: "tail",
  epoch: "epoch",
  producerId: "producer",
  status: "status",
  title: "title",
  createdAt: "created_at",
  updatedAt: "updated_at",
  erased: "erased"
}

const columnsOf = (head: Partial<Head>): { readonly [column: string]: Value } => {
  const columns: { [column: string]: Value } = {}
  for (const [field, name] of Object.entries(columnNames)) {
    const value = head[field as keyof Head]
    if (value !== undefined) columns[name] = typeof value === "boolean" ? Number(value) : value
  }
  return columns
}

const drop = Effect.fnUntraced(function* (connection: Reserved, conversationId: string) {
  for (const table of ["records", "batches", "call_ids", "checkpoints"]) {
    yield* connection.execute(`DELETE FROM ${table} WHERE ${ofConversation}`, [conversationId])
  }
  yield* connection.execute("DELETE FROM conversations WHERE id = ?", [conversationId])
})

/** Those of the ids that the index has. Asked in parts: a statement has a limited number of parameters. */
const existing = (
  connection: Reserved,
  table: string,
  column: string,
  conversationId: string,
  ids: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, SqlError> =>
  Effect.map(
    connection.query(
      `SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 FROM ${table} WHERE ${ofConversation} AND ${column} = value)`,
      [JSON.stringify(ids), conversationId]
    ),
    (rows) => rows.map(([id]) => id as string)
  )

const insertBatch = `INSERT INTO batches (conversation, ${batchColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

// Few different texts, so that each is prepared once; most batches are small.
const recordsPerInsert = 16
const insertTexts = Array.from(
  { length: recordsPerInsert },
  (_, i) =>
    `INSERT INTO records (conversation, ${recordColumns}) VALUES ${Array(i + 1)
      .fill("(?, ?, ?, ?, ?, ?, ?, ?)")
      .join(", ")}`
)
const insertRecords = (count: number): string => insertTexts[count - 1]!

const encodeBatch = (row: BatchRow): Array<Value> => [
  row.batchId,
  row.first,
  row.last,
  row.epoch,
  row.producerId,
  row.content,
  row.tail
]

const encodeRecord = (row: RecordRow): Array<Value> => [
  row.sequence,
  row.recordId,
  row.at,
  row.schemaVersion,
  row.salt,
  row.digest,
  row.payload
]

// The tables are STRICT: a column has the type it was declared with.
const decodeHead = (row: Row): Head => ({
  conversationId: row[0] as string,
  sequence: row[1] as number,
  tail: row[2] as Uint8Array,
  epoch: row[3] as number,
  producerId: row[4] as string | null,
  status: row[5] as Status,
  title: row[6] as string | null,
  createdAt: row[7] as number,
  updatedAt: row[8] as number,
  erased: row[9] === 1
})

const decodeBatch = (row: Row): BatchRow => ({
  batchId: row[0] as string,
  first: row[1] as number,
  last: row[2] as number,
  epoch: row[3] as number,
  producerId: row[4] as string,
  content: row[5] as Uint8Array,
  tail: row[6] as Uint8Array
})

const decodeRecord = (row: Row): RecordRow => ({
  sequence: row[0] as number,
  recordId: row[1] as string,
  at: row[2] as number,
  schemaVersion: row[3] as number,
  salt: row[4] as Uint8Array | null,
  digest: row[5] as Uint8Array,
  payload: row[6] as string
})

const decodeCheckpoint = (row: Row): CheckpointRow => ({
  sequence: row[0] as number,
  digest: row[1] as Uint8Array,
  stateVersion: row[2] as number,
  state: row[3] as string
})
