/**
 * Conversations, settings and ledgers as rows in memory: what a database would hold, to look at and to share between stores.
 *
 * @since 0.1.0
 */
import type {
  BatchRow,
  CheckpointRow,
  Commit,
  CommitResult,
  Erased,
  Head,
  RecordRow
} from "@colloquy/store/ConversationDriver"
import { Buffer } from "node:buffer"
import * as IdOrder from "./internal/idOrder.ts"
import * as MemoryLedger from "./MemoryLedger.ts"
import { makeTable, type SettingsTable } from "./MemorySettings.ts"

/**
 * The rows of one conversation. Records and batches ascend; `records[i]` has the sequence `i + 1`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rows {
  readonly head: Head
  readonly batches: ReadonlyArray<BatchRow>
  readonly records: ReadonlyArray<RecordRow>
  readonly callIds: ReadonlySet<string>
  readonly checkpoints: ReadonlyArray<CheckpointRow>
}

/**
 * A database in memory. Two stores over one database behave as two processes over one file.
 *
 * @category models
 * @since 0.1.0
 */
export interface MemoryDatabase {
  /** The rows of a conversation, as they stand now; staged ones begin with NUL. */
  readonly rows: (conversationId: string) => Rows | undefined
  /** All ids behind `after`, in the order of their UTF-8 bytes, staged ones and those of tenants included. */
  readonly idsAfter: (after: string) => ReadonlyArray<string>
  /** The rows of the ids behind `after` and before `before`, in that order. */
  readonly between: (after: string, before: string | undefined) => Iterable<Rows>
  /** The ids of the logs that were forked from one, in order. */
  readonly forks: (conversationId: string) => ReadonlyArray<string>
  /** Empties a conversation; see `ConversationDriver`. */
  readonly erase: (conversationId: string, updatedAt: number) => Erased
  /** Whether a commit would be accepted now. */
  readonly accepts: (commit: Commit) => boolean
  /** One atomic change; it costs what it writes. */
  readonly commit: (commit: Commit) => CommitResult
  /** Removes every row of an id. */
  readonly discard: (conversationId: string) => void
  /** A batch's place in `rows(…).batches`, by its id. */
  readonly findBatch: (conversationId: string, batchId: string) => BatchRow | undefined
  /** Whether the log has a record of this id. */
  readonly hasRecord: (conversationId: string, recordId: string) => boolean
  /** The rows of settings; they have nothing to do with those of conversations. */
  readonly settings: SettingsTable
  /** The rows of ledgers; a ledger may be of several conversations, and of none. */
  readonly ledgers: MemoryLedger.LedgerTable
  /** Stores over this database, each as what tells it that another one has changed something. */
  readonly stores: Set<() => void>
}

/**
 * An empty database.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): MemoryDatabase => {
  const logs = new Map<string, Log>()
  const order = IdOrder.make(() => logs.keys())

  /** The log that the commit changes, if the guard holds; a new one with the guard `absent`. */
  const target = ({ adopt, conversationId, guard, head }: Commit): Log | undefined => {
    const log = logs.get(conversationId)
    if (guard === "absent") {
      if (log !== undefined) return undefined
      if (adopt === undefined) return newLog({ ...(head as Omit<Head, "conversationId">), conversationId })
      const staged = logs.get(adopt)
      if (staged?.head.sequence !== head.sequence || !equalBytes(staged?.head.tail, head.tail)) return undefined
      return staged
    }
    if (log === undefined) return undefined
    const { epoch, producerId, sequence, tail } = guard
    const holds =
      (sequence === undefined || sequence === log.head.sequence) &&
      (epoch === undefined || epoch === log.head.epoch) &&
      (producerId === undefined || producerId === log.head.producerId) &&
      (tail === undefined || equalBytes(tail, log.head.tail))
    return holds ? log : undefined
  }

  /** The log that an acceptable commit changes. */
  const accepted = (commit: Commit): Log | undefined => {
    const log = target(commit)
    return log === undefined || clashes(log, commit) ? undefined : log
  }

  const commit = (commit: Commit): CommitResult => {
    const { adopt, conversationId, head } = commit
    const log = accepted(commit)
    if (log === undefined) return "refused"
    if (adopt !== undefined) logs.delete(adopt)
    if (logs.get(conversationId) !== log) {
      logs.set(conversationId, log)
      order.changed()
    }
    log.head = { ...log.head, ...head, conversationId }
    write(log, commit)
    return "committed"
  }

  const idsAfter = (after: string) => order.between(after, undefined)

  const between = function* (after: string, before: string | undefined): Generator<Rows> {
    for (const id of order.between(after, before)) yield logs.get(id)!
  }

  return {
    rows: (conversationId) => logs.get(conversationId),
    idsAfter,
    between,
    forks: (conversationId) => idsAfter("").filter((id) => logs.get(id)?.head.forkedFrom === conversationId),
    erase: (conversationId, updatedAt) => {
      const log = logs.get(conversationId)
      return log === undefined || log.head.erased ? nothing : empty(log, updatedAt)
    },
    accepts: (commit) => accepted(commit) !== undefined,
    commit,
    discard: (conversationId) => {
      if (logs.delete(conversationId)) order.changed()
    },
    findBatch: (conversationId, batchId) => {
      const log = logs.get(conversationId)
      const place = log?.batchPlaces.get(batchId)
      return place === undefined ? undefined : log?.batches[place]
    },
    hasRecord: (conversationId, recordId) => logs.get(conversationId)?.recordIds.has(recordId) === true,
    settings: makeTable(),
    ledgers: MemoryLedger.makeTable(),
    stores: new Set()
  }
}

// --- internal ---

interface Log {
  head: Head
  readonly batches: Array<BatchRow>
  readonly batchPlaces: Map<string, number>
  readonly records: Array<RecordRow>
  readonly recordIds: Set<string>
  readonly callIds: Set<string>
  checkpoints: ReadonlyArray<CheckpointRow>
}

const newLog = (head: Head): Log => ({
  head,
  batches: [],
  batchPlaces: new Map(),
  records: [],
  recordIds: new Set(),
  callIds: new Set(),
  checkpoints: []
})

/** What a database's unique keys would refuse. */
const clashes = (log: Log, { batches = [], records = [] }: Commit): boolean =>
  repeats(
    records.map(({ recordId }) => recordId),
    log.recordIds
  ) ||
  repeats(
    batches.map(({ batchId }) => batchId),
    log.batchPlaces
  ) ||
  records.some(({ sequence }, i) => sequence !== log.records.length + 1 + i)

/** Whether one of the ids is known, or there twice. */
const repeats = (ids: ReadonlyArray<string>, known: { readonly has: (id: string) => boolean }): boolean =>
  ids.some((id) => known.has(id)) || (ids.length > 1 && new Set(ids).size < ids.length)

const nothing: Erased = { records: 0, checkpoints: 0, callIds: 0 }

const empty = (log: Log, updatedAt: number): Erased => {
  const counts = { records: log.records.length, checkpoints: log.checkpoints.length, callIds: log.callIds.size }
  log.records.forEach((record, i) => (log.records[i] = { ...record, salt: null, payload: "" }))
  log.checkpoints = []
  log.callIds.clear()
  const { epoch } = log.head
  log.head = {
    ...log.head,
    epoch: epoch + 1,
    producerId: null,
    status: "idle",
    title: null,
    erased: true,
    updatedAt
  }
  return counts
}

const write = (log: Log, commit: Commit): void => {
  const { batches = [], callIds = [], checkpoint, keepCheckpoints, records = [], replaced = [] } = commit
  for (const batch of batches) {
    log.batchPlaces.set(batch.batchId, log.batches.length)
    log.batches.push(batch)
  }
  for (const record of records) {
    log.recordIds.add(record.recordId)
    log.records.push(record)
  }
  for (const callId of callIds) log.callIds.add(callId)
  for (const { payload, sequence } of replaced) {
    const record = log.records[sequence - 1]
    if (record !== undefined) log.records[sequence - 1] = { ...record, salt: null, payload }
  }
  if (checkpoint !== undefined) {
    const others = log.checkpoints.filter(({ sequence }) => sequence !== checkpoint.sequence)
    log.checkpoints = [...others, checkpoint].toSorted((a, b) => b.sequence - a.sequence)
  }
  if (keepCheckpoints !== undefined) log.checkpoints = log.checkpoints.slice(0, keepCheckpoints)
}

const equalBytes = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a !== undefined && b !== undefined && Buffer.compare(a, b) === 0
