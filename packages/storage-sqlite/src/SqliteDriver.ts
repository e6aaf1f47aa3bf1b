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
  type Erased,
  type Head,
  type Page,
  type Range,
  type RecordRow
} from "@colloquy/store/ConversationDriver"
import { maxBatchRecords } from "@colloquy/session/Limits"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { Connections, Outcome } from "./internal/connections.ts"
import type { Row, Script, Statement, Value } from "./internal/script.ts"
import { scrub } from "./internal/scrubbing.ts"
import * as StoredRows from "./internal/storedRows.ts"

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (connections: Connections, changes: Stream.Stream<void>): ConversationDriver["Service"] => {
  const all = <A>(sql: string, parameters: ReadonlyArray<Value>, decode: (row: Row) => A) =>
    connections.read(function* (): Script<ReadonlyArray<A>> {
      return (yield { sql, parameters }).map(decode)
    })
  const first = <A>(sql: string, parameters: ReadonlyArray<Value>, decode: (row: Row) => A) =>
    connections.read(function* (): Script<Option.Option<A>> {
      const [row] = yield { sql, parameters }
      return row === undefined ? Option.none() : Option.some(decode(row))
    })
  const keys: Keys = new Map()
  return ConversationDriver.of({
    head: (id) => first(`SELECT ${headColumns} FROM conversations WHERE id = ?`, [id], decodeHead),
    batch: (id, batchId) =>
      first(
        `SELECT ${StoredRows.batchColumns} FROM batches WHERE ${ofConversation} AND batch_id = ?`,
        [id, batchId],
        StoredRows.decodeBatch
      ),
    batchEndingAt: (id, sequence) =>
      first(
        `SELECT ${StoredRows.batchColumns} FROM batches WHERE ${ofConversation} AND last = ?`,
        [id, sequence],
        StoredRows.decodeBatch
      ),
    records: (range) => connections.read(() => readPage(range)),
    recordIds: (id, ids) => all(existing("records", "record_id"), [JSON.stringify(ids), id], decodeId),
    callIds: (id, ids) => all(existing("call_ids", "call_id"), [JSON.stringify(ids), id], decodeId),
    checkpoints: (id, atOrBefore) =>
      all(
        `SELECT ${checkpointColumns} FROM checkpoints WHERE ${ofConversation} AND sequence <= ? ORDER BY sequence DESC`,
        [id, atOrBefore],
        decodeCheckpoint
      ),
    list: ({ after, before = null, limit, status }) =>
      status === undefined
        ? all(selectHeads, [after, before, before, limit], decodeHead)
        : all(selectHeadsOfStatus, [status, after, before, before, limit], decodeHead),
    forks: (id) => all("SELECT id FROM conversations WHERE forked_from = ? ORDER BY id", [id], decodeId),
    erase: (id, updatedAt) => connections.write(() => erase(id, updatedAt), nothing),
    scrub: connections.read(scrub),
    commit: (commit) => connections.write(() => write(commit, keys), "refused"),
    discard: (id) => connections.write(() => discard(id), undefined),
    changes
  })
}

// --- internal ---

const ofConversation = "conversation = (SELECT key FROM conversations WHERE id = ?)"

const headColumns = "id, sequence, tail, epoch, producer, status, title, created_at, updated_at, erased, forked_from"
const batchColumns = "batch_id, first, last, epoch, producer, content, tail"
const recordColumns = "sequence, record_id, at, version, salt, digest, payload"
const checkpointColumns = "sequence, digest, state_version, state"

const refused: Outcome<CommitResult> = { commit: false, value: "refused" }
const committed: Outcome<CommitResult> = { commit: true, value: "committed" }

/**
 * Keys of conversations by their ids, of those that were written to. A hint: who uses one asks for the id as well, since a
 * row may have gone, or have another id by now.
 */
type Keys = Map<string, number>

const maxKeys = 10_000

const write = function* (commit: Commit, keys: Keys): Script<Outcome<CommitResult>> {
  const key = yield* writeHead(commit, keys)
  if (key === undefined) return refused
  for (const batch of commit.batches ?? []) yield { sql: insertBatch, parameters: encodeBatch(key, batch) }
  const records = commit.records ?? []
  for (let start = 0; start < records.length; start += recordsPerInsert) {
    const part = records.slice(start, start + recordsPerInsert)
    yield { sql: insertRecords(part.length), parameters: encodeRecords(key, part) }
  }
  for (const callId of commit.callIds ?? []) yield { sql: insertCallId, parameters: [key, callId] }
  if (commit.checkpoint !== undefined) {
    const { digest, sequence, state, stateVersion } = commit.checkpoint
    yield { sql: insertCheckpoint, parameters: [key, sequence, digest, stateVersion, state] }
  }
  for (const { payload, sequence } of commit.replaced ?? []) {
    yield { sql: replacePayload, parameters: [payload, key, sequence] }
  }
  if (commit.keepCheckpoints !== undefined) {
    yield { sql: pruneCheckpoints, parameters: [key, key, commit.keepCheckpoints] }
  }
  return committed
}

/** Guard and head are one statement: it changes the row that it expects, whose key is given, or nothing. */
const writeHead = function* (commit: Commit, keys: Keys): Script<number | undefined> {
  const { conversationId, guard } = commit
  const known = keys.get(conversationId)
  if (known !== undefined && guard !== "absent") {
    const changed = yield updateKnownHead(commit, guard, known)
    if (changed.length > 0) return known
  }
  const [row] = yield guard === "absent" ? createHead(commit) : updateHead(commit, guard)
  if (row === undefined) return undefined
  const key = row[0] as number
  if (keys.size >= maxKeys) keys.clear()
  keys.set(conversationId, key)
  return key
}

const readPage = function* ({ after, conversationId, limit, reverse, through }: Range): Script<Page> {
  const rows = yield {
    sql: reverse ? selectRecordsBackward : selectRecords,
    parameters: [conversationId, after, through, Math.min(limit, Number.MAX_SAFE_INTEGER)]
  }
  const records = rows.map(StoredRows.decodeRecord)
  const first = records[0]
  if (first === undefined) return { records, batches: [] }
  const ends = [first.sequence, records.at(-1)!.sequence]
  // A batch has at most so many records, so the one of the last record ends before this.
  const latest = Math.max(...ends) + maxBatchRecords
  const batches = yield {
    sql: selectBatches,
    parameters: [conversationId, Math.min(...ends), latest, Math.max(...ends)]
  }
  return { records, batches: batches.map(StoredRows.decodeBatch) }
}

const createHead = ({ adopt, conversationId, head }: Commit): Statement => {
  const { columns, values } = columnsOf({ ...head, conversationId })
  if (adopt !== undefined) {
    return {
      sql: `UPDATE conversations SET ${assigned(columns)} WHERE id = ? AND sequence = ? AND tail = ?
        AND NOT EXISTS (SELECT 1 FROM conversations WHERE id = ?) RETURNING key`,
      parameters: [...values, adopt, head.sequence ?? 0, head.tail ?? null, conversationId]
    }
  }
  return {
    sql: `INSERT INTO conversations (${columns.join(", ")})
      VALUES (${columns.map(() => "?").join(", ")}) ON CONFLICT (id) DO NOTHING RETURNING key`,
    parameters: values
  }
}

type HeadGuard = Exclude<Commit["guard"], "absent">

const updateHead = ({ conversationId, head }: Commit, guard: HeadGuard): Statement => {
  const changes = columnsOf(head)
  const conditions = columnsOf(guard)
  return {
    sql: `${updateText(changes.columns, conditions.columns)} RETURNING key`,
    parameters: [...changes.values, conversationId, ...conditions.values]
  }
}

const updateKnownHead = ({ conversationId, head }: Commit, guard: HeadGuard, key: number): Statement => {
  const changes = columnsOf(head)
  const conditions = columnsOf(guard)
  const shape = `${changes.columns.join()} ${conditions.columns.join()}`
  let sql = updateTexts.get(shape)
  if (sql === undefined) {
    sql = `${updateText(changes.columns, conditions.columns)} AND key = ?`
    updateTexts.set(shape, sql)
  }
  return { sql, parameters: [...changes.values, conversationId, ...conditions.values, key], tells: true }
}

// There are about ten: which fields change depends on the verb, and on what the records of a batch are.
const updateTexts = new Map<string, string>()

const updateText = (changes: ReadonlyArray<string>, conditions: ReadonlyArray<string>): string =>
  `UPDATE conversations SET ${changes.length === 0 ? "key = key" : assigned(changes)} WHERE id = ?${conditions
    .map((column) => ` AND ${column} IS ?`)
    .join("")}`

const assigned = (columns: ReadonlyArray<string>): string => columns.map((column) => `${column} = ?`).join(", ")

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
  erased: "erased",
  forkedFrom: "forked_from"
}

// Over what is given, which is less than there are columns: this is done twice for each append.
const columnsOf = (
  head: Partial<Head>
): { readonly columns: ReadonlyArray<string>; readonly values: ReadonlyArray<Value> } => {
  const columns: Array<string> = []
  const values: Array<Value> = []
  for (const field of Object.keys(head) as ReadonlyArray<keyof Head>) {
    const value = head[field]
    if (value === undefined) continue
    columns.push(columnNames[field])
    values.push(typeof value === "boolean" ? Number(value) : value)
  }
  return { columns, values }
}

const discard = function* (conversationId: string): Script<Outcome<undefined>> {
  for (const table of ["records", "batches", "call_ids", "checkpoints"]) {
    yield { sql: `DELETE FROM ${table} WHERE ${ofConversation}`, parameters: [conversationId] }
  }
  yield { sql: "DELETE FROM conversations WHERE id = ?", parameters: [conversationId] }
  return { commit: true, value: undefined }
}

/** Those of the ids that the index has; given as one JSON array, since a statement has a limited number of parameters. */
const existing = (table: string, column: string): string =>
  `SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 FROM ${table} WHERE ${ofConversation} AND ${column} = value)`

const changed = function* (): Script<number> {
  const [row] = yield { sql: "SELECT changes()", parameters: [] }
  return Number(row?.[0] ?? 0)
}

const nothing: Erased = { records: 0, checkpoints: 0, callIds: 0 }

const erase = function* (conversationId: string, updatedAt: number): Script<Outcome<Erased>> {
  const [row] = yield { sql: eraseHead, parameters: [updatedAt, conversationId] }
  if (row === undefined) return { commit: false, value: nothing }
  const key = row[0] as number
  yield { sql: "UPDATE records SET payload = '', salt = NULL WHERE conversation = ?", parameters: [key] }
  const records = yield* changed()
  yield { sql: "DELETE FROM checkpoints WHERE conversation = ?", parameters: [key] }
  const checkpoints = yield* changed()
  yield { sql: "DELETE FROM call_ids WHERE conversation = ?", parameters: [key] }
  const callIds = yield* changed()
  return { commit: true, value: { records, checkpoints, callIds } }
}

const between = "id > ? AND (? IS NULL OR id < ?) ORDER BY id LIMIT ?"
const selectHeads = `SELECT ${headColumns} FROM conversations WHERE ${between}`
const selectHeadsOfStatus = `SELECT ${headColumns} FROM conversations WHERE status = ? AND ${between}`
const eraseHead = `UPDATE conversations SET erased = 1, title = NULL, epoch = epoch + 1, producer = NULL, status = 'idle',
  updated_at = ? WHERE id = ? AND erased = 0 RETURNING key`
const replacePayload = "UPDATE records SET payload = ?, salt = NULL WHERE conversation = ? AND sequence = ?"
const selectRecords = `SELECT ${StoredRows.recordColumns} FROM records WHERE ${ofConversation} AND sequence > ? AND sequence <= ?
  ORDER BY sequence LIMIT ?`
const selectRecordsBackward = selectRecords.replace("ORDER BY sequence", "ORDER BY sequence DESC")
const selectBatches = `SELECT ${StoredRows.batchColumns} FROM batches WHERE ${ofConversation} AND last >= ? AND last < ? AND first <= ?
  ORDER BY last`
const insertBatch = `INSERT INTO batches (conversation, ${batchColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
const insertCallId = "INSERT OR IGNORE INTO call_ids (conversation, call_id) VALUES (?, ?)"
const insertCheckpoint = `INSERT OR REPLACE INTO checkpoints (conversation, ${checkpointColumns}) VALUES (?, ?, ?, ?, ?)`
const pruneCheckpoints = `DELETE FROM checkpoints WHERE conversation = ? AND sequence NOT IN
  (SELECT sequence FROM checkpoints WHERE conversation = ? ORDER BY sequence DESC LIMIT ?)`

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

const encodeBatch = (key: number, row: BatchRow): ReadonlyArray<Value> => [
  key,
  row.batchId,
  row.first,
  row.last,
  row.epoch,
  row.producerId,
  row.content,
  row.tail
]

const encodeRecords = (key: number, rows: ReadonlyArray<RecordRow>): ReadonlyArray<Value> => {
  const values: Array<Value> = []
  for (const { at, digest, payload, recordId, salt, schemaVersion, sequence } of rows) {
    values.push(key, sequence, recordId, at, schemaVersion, salt, digest, payload)
  }
  return values
}

const decodeId = (row: Row): string => row[0] as string

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
  erased: row[9] === 1,
  forkedFrom: row[10] as string | null
})

const decodeCheckpoint = (row: Row): CheckpointRow => ({
  sequence: row[0] as number,
  digest: row[1] as Uint8Array,
  stateVersion: row[2] as number,
  state: row[3] as string
})
