/**
 * A SQLite file on Node's own `node:sqlite`: as an Effect `SqlClient` for everybody, and as a connection on which the
 * driver runs whole transactions at once.
 *
 * One connection and one queue serve both, so whoever uses the client shares the store's write lock.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Reactivity from "effect/reactivity/Reactivity"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { DatabaseSync, type StatementSync } from "node:sqlite"
import { type Outcome, overClient, type Runner, translate } from "./internal/connections.ts"
import { type Row, runSync, type Script, type Statement as Step, type Value } from "./internal/script.ts"
import type { StoreUnavailable } from "@colloquy/store/StoreError"

/**
 * Opens a file, and closes it with the scope. Nothing is written to it: journal mode and tables are the caller's.
 * `StoreUnavailable`: the path cannot be opened.
 *
 * @category constructors
 * @since 0.1.0
 */
export const open = (
  filename: string
): Effect.Effect<SqlClient.SqlClient, StoreUnavailable, Scope.Scope | Reactivity.Reactivity> =>
  Effect.gen(function* () {
    const database = yield* Effect.acquireRelease(
      Effect.try({ try: () => new DatabaseSync(filename), catch: translate }),
      (database) => Effect.sync(() => database.close())
    )
    const semaphore = yield* Semaphore.make(1)
    const connection = connect(database)
    const acquirers = SqlClient.makeSqliteAcquirers({
      connection: Effect.succeed(connection),
      semaphore,
      isTransaction: () => database.isTransaction
    })
    const client = yield* SqlClient.make({
      ...acquirers,
      compiler: Statement.makeCompilerSqlite(),
      driver: "node:sqlite",
      spanAttributes: [["db.system.name", "sqlite"]],
      beginTransaction: "BEGIN IMMEDIATE"
    })
    runners.set(client, runnerOf(database, semaphore))
    return client
  })

/**
 * How scripts run on a client: at once on one of {@link open}, statement by statement on any other.
 *
 * @internal
 */
export const runner = (client: SqlClient.SqlClient): Runner => runners.get(client) ?? overClient(client)

// --- internal ---

const runners = new WeakMap<SqlClient.SqlClient, Runner>()

/** Prepared once for each text; the texts of the driver are few. */
const preparer = (database: DatabaseSync, arrays: boolean) => {
  const prepared = new Map<string, StatementSync>()
  return (sql: string): StatementSync => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    statement.setReturnArrays(arrays)
    if (prepared.size >= maxPrepared) prepared.clear()
    prepared.set(sql, statement)
    return statement
  }
}

const maxPrepared = 256

const runnerOf = (database: DatabaseSync, semaphore: Semaphore.Semaphore): Runner => {
  const prepare = preparer(database, true)
  const query = ({ parameters, sql }: Step): ReadonlyArray<Row> => asRows(prepare(sql).all(...parameters))
  const control = (sql: string) => query({ sql, parameters: [] })
  const rollback = () => {
    // SQLite leaves a transaction by itself after some errors.
    if (database.isTransaction) control("ROLLBACK")
  }
  const attempt = <A>(work: () => A): Effect.Effect<A, SqlError> =>
    semaphore.withPermit(Effect.try({ try: work, catch: toSqlError("execute") }))
  return {
    read: (script) => attempt(() => runSync(script(), query)),
    write: <A>(script: () => Script<Outcome<A>>) =>
      attempt(() => {
        control("BEGIN IMMEDIATE")
        try {
          const { commit, value } = runSync(script(), query)
          control(commit ? "COMMIT" : "ROLLBACK")
          return value
        } catch (cause) {
          rollback()
          throw cause
        }
      })
  }
}

const connect = (database: DatabaseSync): Connection => {
  const rows = preparer(database, false)
  const arrays = preparer(database, true)
  const attempt = <A>(work: () => A) => Effect.try({ try: work, catch: toSqlError("execute") })
  const execute: Connection["execute"] = (sql, parameters, transform) =>
    attempt(() => {
      const found = rows(sql).all(...values(parameters))
      return transform === undefined ? found : transform(found)
    })
  const executeValues: Connection["executeValues"] = (sql, parameters) =>
    attempt(() => asRows(arrays(sql).all(...values(parameters))))
  return {
    execute,
    executeRaw: (sql, parameters) => execute(sql, parameters, undefined),
    executeStream: (sql, parameters, transform) =>
      Stream.flattenIterable(Stream.fromEffect(execute(sql, parameters, transform))),
    executeValues,
    executeValuesUnprepared: executeValues,
    executeUnprepared: execute
  }
}

/** With arrays asked for, rows are arrays of values, which the types of node:sqlite do not say. */
const asRows = (rows: ReadonlyArray<unknown>): ReadonlyArray<Row> => {
  if (!areRows(rows)) throw new TypeError("node:sqlite gave objects where arrays were asked for")
  return rows
}

const areRows = (rows: ReadonlyArray<unknown>): rows is ReadonlyArray<Row> =>
  rows.length === 0 || Array.isArray(rows[0])

const values = (parameters: ReadonlyArray<unknown>) => parameters as ReadonlyArray<Value>

const toSqlError =
  (operation: string) =>
  (cause: unknown): SqlError =>
    new SqlError({ reason: classifySqliteError(withErrno(cause), { message: `failed to ${operation}`, operation }) })

/** Effect looks for `errno`, where node:sqlite has `errcode`. */
const withErrno = (cause: unknown): unknown =>
  cause instanceof Error && "errcode" in cause ? Object.assign(cause, { errno: cause.errcode }) : cause
