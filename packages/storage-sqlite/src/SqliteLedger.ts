/**
 * The encoded driver of ledgers over their tables in a SQLite file.
 *
 * @since 0.1.0
 */
import {
  type Begun,
  type Decided,
  LedgerDriver,
  type LedgerHead,
  type LedgerId,
  type LedgerState,
  type Row as LedgerRow,
  type RowHead
} from "@colloquy/ledger/LedgerDriver"
import { LedgerUnavailable } from "@colloquy/ledger/LedgerError"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import type { Connections, Outcome } from "./internal/connections.ts"
import * as Removing from "./internal/removing.ts"
import type { Row, Script, Value } from "./internal/script.ts"
import { scrub } from "./internal/scrubbing.ts"

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (connections: Connections): LedgerDriver["Service"] => {
  const read = <A>(script: () => Script<A>) => Effect.mapError(connections.read(script), unavailable)
  const write = <A>(script: () => Script<Outcome<A>>) =>
    Effect.filterOrFail(
      Effect.mapError(connections.write<A | typeof clash>(script, clash), unavailable),
      (value): value is Exclude<A | typeof clash, typeof clash> & A => value !== clash,
      () => clashed
    )
  return LedgerDriver.of({
    update: (ledger, decide) => write(() => update(ledger, decide)),
    read: (ledger) => read(() => readLedger(ledger)),
    list: ({ after, limit, tenant }) =>
      read(function* (): Script<ReadonlyArray<LedgerHead>> {
        const { agent, conversationKey } = after
        return (yield { sql: selectLedgers, parameters: [tenant, conversationKey, agent, limit] }).map(decodeHead)
      }),
    begin: (ledger, begun, limit) => write(() => begin(ledger, begun, limit)),
    settle: (ledger, entryIds) =>
      write(function* (): Script<Outcome<void>> {
        const { conversationKey } = yield* find(ledger)
        for (const entryId of entryIds) {
          yield { sql: deleteBegun, parameters: [ledger.tenant, conversationKey, ledger.agent, entryId] }
        }
        return { commit: true, value: undefined }
      }),
    remove: (removal) => write(() => Removing.remove(removal)),
    scrub: read(scrub),
    alias: ({ alias: name, of, tenant }) => write(() => alias(tenant, name, of))
  })
}

// --- internal ---

const clash = Symbol("a unique key exists")

/** The index has refused what this transaction could not see: it is decided anew when the write is repeated. */
const clashed = new LedgerUnavailable({
  reason: "contention",
  retryable: true,
  detail: "somebody else has recorded this at the same time; record it again",
  cause: null
})

const unavailable = ({ cause, detail, reason, retryable }: StoreUnavailable): LedgerUnavailable =>
  new LedgerUnavailable({ reason, retryable, detail, cause })

interface Found {
  readonly conversationKey: string
  /** Undefined for a ledger that is not there. */
  readonly key: number | undefined
  readonly counter: number
  readonly gone: number
  readonly account: string | null
}

const find = function* ({ agent, conversationKey, tenant }: LedgerId): Script<Found> {
  const [row] = yield { sql: selectLedger, parameters: [tenant, conversationKey, conversationKey, tenant, agent] }
  return {
    conversationKey: row?.[0] as string,
    key: (row?.[1] ?? undefined) as number | undefined,
    counter: (row?.[2] ?? 0) as number,
    gone: (row?.[3] ?? 0) as number,
    account: (row?.[4] ?? null) as string | null
  }
}

const update = function* <A>(id: LedgerId, decide: (state: LedgerState) => Decided<A>): Script<Outcome<A>> {
  const { account, conversationKey, counter, gone, key } = yield* find(id)
  const rows = key === undefined ? [] : (yield { sql: selectHeads, parameters: [key] }).map(decodeRowHead)
  const { change, value } = decide({ counter, rows })
  if (change === undefined) return { commit: false, value }
  const { insert, remove = [], revise, settle } = change
  if (settle !== undefined) {
    yield { sql: deleteBegun, parameters: [id.tenant, conversationKey, id.agent, settle] }
  }
  const kept: ReadonlyArray<Value> = [
    insert?.ordinal ?? counter,
    gone + (change.gone ?? 0),
    change.account === undefined ? account : change.account
  ]
  if (key === undefined && insert === undefined) return { commit: settle !== undefined, value }
  const ledger = yield* keepLedger(id, conversationKey, key, kept)
  // A turn that goes gives its place in the file to the one that comes. Measured in a full ledger: seven pages are written
  // for a turn, where a removal and an insertion write eleven.
  const taken = insert === undefined ? undefined : remove[0]
  for (const ordinal of taken === undefined ? remove : remove.slice(1))
    yield { sql: deleteRow, parameters: [ledger, ordinal] }
  if (revise !== undefined) {
    const { attempts, entry = null, meta, ordinal, sources = null } = revise
    yield { sql: reviseRow, parameters: [attempts, meta, sources, entry, ledger, ordinal] }
  }
  if (insert !== undefined) {
    const row = encodeRow(insert)
    yield taken === undefined
      ? { sql: insertRow, parameters: [ledger, ...row] }
      : { sql: takeRow, parameters: [...row, ledger, taken] }
  }
  return { commit: true, value }
}

/** Writes what is kept beside the rows, and gives the ledger's key. */
const keepLedger = function* (
  { agent, tenant }: LedgerId,
  conversationKey: string,
  key: number | undefined,
  kept: ReadonlyArray<Value>
): Script<number> {
  if (key !== undefined) {
    yield { sql: updateLedger, parameters: [...kept, key] }
    return key
  }
  const [made] = yield { sql: insertLedger, parameters: [tenant, conversationKey, agent, ...kept] }
  return made?.[0] as number
}

const readLedger = function* (id: LedgerId) {
  const { account, gone, key } = yield* find(id)
  const rows: ReadonlyArray<Row> = key === undefined ? [] : yield { sql: selectRows, parameters: [key] }
  return { rows: rows.map(decodeRow), gone, account: account ?? undefined }
}

const begin = function* (id: LedgerId, begun: Begun, limit: number): Script<Outcome<ReadonlyArray<Begun>>> {
  const { conversationKey } = yield* find(id)
  const name = [id.tenant, conversationKey, id.agent]
  const others = yield { sql: selectBegun, parameters: [...name, begun.entryId, limit] }
  const { at, conversationId, entryId, runId } = begun
  yield { sql: insertBegun, parameters: [...name, entryId, ...name, conversationId, runId, at] }
  return { commit: true, value: others.map(decodeBegun) }
}

const alias = function* (
  tenant: string,
  name: string,
  of: string
): Script<Outcome<"aliased" | "same" | "has-entries">> {
  const { conversationKey: target } = yield* find({ tenant, conversationKey: of, agent: "" })
  if (target === name) return { commit: false, value: "same" }
  const [taken] = yield { sql: selectAnyOfKey, parameters: [tenant, name] }
  if (taken !== undefined) return { commit: false, value: "has-entries" }
  yield {
    sql: "UPDATE ledger_aliases SET target = ? WHERE tenant = ? AND target = ?",
    parameters: [target, tenant, name]
  }
  yield { sql: insertAlias, parameters: [tenant, name, target] }
  return { commit: true, value: "aliased" }
}

// An alias names another ledger.
const selectLedger = `SELECT meant.key, ledgers.key, counter, gone, account
  FROM (SELECT coalesce((SELECT target FROM ledger_aliases WHERE tenant = ? AND alias = ?), ?) AS key) AS meant
  LEFT JOIN ledgers ON tenant = ? AND conversation_key = meant.key AND agent = ?`
const selectLedgers = `SELECT conversation_key, agent, gone,
    (SELECT count(*) FROM ledger_entries WHERE ledger = ledgers.key),
    (SELECT at FROM ledger_entries WHERE ledger = ledgers.key ORDER BY ordinal DESC LIMIT 1)
  FROM ledgers WHERE tenant = ? AND (conversation_key, agent) > (?, ?) ORDER BY conversation_key, agent LIMIT ?`
const selectAnyOfKey = "SELECT key FROM ledgers WHERE tenant = ? AND conversation_key = ? LIMIT 1"
const insertLedger = `INSERT INTO ledgers (tenant, conversation_key, agent, counter, gone, account)
  VALUES (?, ?, ?, ?, ?, ?) RETURNING key`
const updateLedger = "UPDATE ledgers SET counter = ?, gone = ?, account = ? WHERE key = ?"

const headColumns = "ordinal, entry_id, work_key, attempts, meta"
const selectHeads = `SELECT ${headColumns} FROM ledger_entries WHERE ledger = ? ORDER BY ordinal`
const selectRows = `SELECT ${headColumns}, conversation, at, sources, entry FROM ledger_entries WHERE ledger = ? ORDER BY ordinal`
const insertRow = `INSERT INTO ledger_entries (ledger, ${headColumns}, conversation, at, sources, entry)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const takeRow = `UPDATE ledger_entries SET ordinal = ?, entry_id = ?, work_key = ?, attempts = ?, meta = ?, conversation = ?,
  at = ?, sources = ?, entry = ? WHERE ledger = ? AND ordinal = ?`
const reviseRow = `UPDATE ledger_entries SET attempts = ?, meta = ?, sources = coalesce(?, sources), entry = coalesce(?, entry)
  WHERE ledger = ? AND ordinal = ?`
const deleteRow = "DELETE FROM ledger_entries WHERE ledger = ? AND ordinal = ?"

const ofLedger = "tenant = ? AND conversation_key = ? AND agent = ?"
const selectBegun = `SELECT entry_id, conversation, run_id, at FROM ledger_begun WHERE ${ofLedger} AND entry_id <> ?
  ORDER BY place DESC LIMIT ?`
const insertBegun = `INSERT OR IGNORE INTO ledger_begun
    (tenant, conversation_key, agent, entry_id, place, conversation, run_id, at)
  VALUES (?, ?, ?, ?, (SELECT coalesce(max(place), 0) + 1 FROM ledger_begun WHERE ${ofLedger}), ?, ?, ?)`
const deleteBegun = `DELETE FROM ledger_begun WHERE ${ofLedger} AND entry_id = ?`
const insertAlias = "INSERT OR REPLACE INTO ledger_aliases (tenant, alias, target) VALUES (?, ?, ?)"

const encodeRow = (row: LedgerRow): ReadonlyArray<Value> => [
  row.ordinal,
  row.entryId,
  row.workKey,
  row.attempts,
  row.meta,
  row.conversationId,
  row.at,
  row.sources,
  row.entry
]

// The tables are STRICT: a column has the type it was declared with.
const decodeRowHead = (row: Row): RowHead => ({
  ordinal: row[0] as number,
  entryId: row[1] as string,
  workKey: row[2] as string,
  attempts: row[3] as number,
  meta: row[4] as string
})

const decodeRow = (row: Row): LedgerRow => ({
  ...decodeRowHead(row),
  conversationId: row[5] as string | null,
  at: row[6] as number,
  sources: row[7] as string,
  entry: row[8] as string
})

const decodeHead = (row: Row): LedgerHead => ({
  conversationKey: row[0] as string,
  agent: row[1] as string,
  gone: row[2] as number,
  entries: row[3] as number,
  lastAt: (row[4] ?? 0) as number
})

const decodeBegun = (row: Row): Begun => ({
  entryId: row[0] as string,
  conversationId: row[1] as string,
  runId: row[2] as string,
  at: row[3] as number
})
