/**
 * One connection of node:sqlite, used at once and without any effect in between: statements prepared once, and counted.
 */
import type * as Context from "effect/Context"
import type { DatabaseSync, StatementSync } from "node:sqlite"
import * as Costs from "../Costs.ts"
import type { Row, Statement, Value } from "./script.ts"

export interface Session {
  readonly query: (statement: Statement) => ReadonlyArray<Row>
  /** A statement without parameters and rows: BEGIN, COMMIT and the like. */
  readonly control: (sql: string) => void
  readonly inTransaction: () => boolean
  /** What was done since the last report. Plain numbers: a metric costs more than a statement's share of it. */
  readonly costs: { statements: number; transactions: number; rows: number }
  /** Adds the costs to the metrics. */
  readonly report: () => void
}

/** The metrics are those of the context. */
export const make = (database: DatabaseSync, context: Context.Context<never>): Session => {
  const prepare = preparer(database, true)
  const costs = { statements: 0, transactions: 0, rows: 0 }
  const query = ({ parameters, sql, tells }: Statement): ReadonlyArray<Row> => {
    const { changes, returns, statement } = prepare(sql)
    costs.statements++
    if (returns) {
      const rows = asRows(statement.all(...parameters))
      if (changes) costs.rows += rows.length
      return rows
    }
    const changed = Number(statement.run(...parameters).changes)
    if (changes) costs.rows += changed
    return tells === true && changed > 0 ? one : none
  }
  return {
    query,
    control: (sql) => void query({ sql, parameters: none }),
    inTransaction: () => database.isTransaction,
    costs,
    report: () => {
      Costs.statements.updateUnsafe(costs.statements, context)
      if (costs.transactions > 0) Costs.transactions.updateUnsafe(costs.transactions, context)
      if (costs.rows > 0) Costs.rows.updateUnsafe(costs.rows, context)
      costs.statements = costs.transactions = costs.rows = 0
    }
  }
}

export interface Prepared {
  readonly statement: StatementSync
  /** It has columns: its rows are what it is asked for. */
  readonly returns: boolean
  /** It writes rows. Of any other statement SQLite reports the rows of the one before. */
  readonly changes: boolean
}

/** Prepared once for each text; the texts of the driver are few. */
export const preparer = (database: DatabaseSync, arrays: boolean) => {
  const prepared = new Map<string, Prepared>()
  return (sql: string): Prepared => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    statement.setReturnArrays(arrays)
    const made = { statement, returns: statement.columns().length > 0, changes: /^\s*(INSERT|UPDATE|DELETE)/.test(sql) }
    if (prepared.size >= maxPrepared) prepared.clear()
    prepared.set(sql, made)
    return made
  }
}

/** With arrays asked for, rows are arrays of values, which the types of node:sqlite do not say. */
export const asRows = (rows: ReadonlyArray<unknown>): ReadonlyArray<Row> => {
  if (!areRows(rows)) throw new TypeError("node:sqlite gave objects where arrays were asked for")
  return rows
}

// --- internal ---

const maxPrepared = 256

const none: ReadonlyArray<never> = []
const one: ReadonlyArray<Row> = [[1]]

const areRows = (rows: ReadonlyArray<unknown>): rows is ReadonlyArray<ReadonlyArray<Value>> =>
  rows.length === 0 || Array.isArray(rows[0])
