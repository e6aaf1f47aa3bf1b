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
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { DatabaseSync } from "node:sqlite"
import { overClient, type Runner, toSqlError, translate } from "./internal/connections.ts"
import * as GroupCommit from "./internal/groupCommit.ts"
import { runSync, type Value } from "./internal/script.ts"
import * as Session from "./internal/session.ts"
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
    runners.set(client, runnerOf(Session.make(database, yield* Effect.context()), semaphore))
    return client
  })

/**
 * What a statement on a client fails with, in the words of the store: whether trying again helps, and what to do.
 *
 * @category errors
 * @since 0.1.0
 */
export const toStoreUnavailable = (error: SqlError): StoreUnavailable => translate(error)

/**
 * How scripts run on a client: at once on one of {@link open}, statement by statement on any other.
 *
 * @internal
 */
export const runner = (client: SqlClient.SqlClient): Runner => runners.get(client) ?? overClient(client)

// --- internal ---

const runners = new WeakMap<SqlClient.SqlClient, Runner>()

const runnerOf = (session: Session.Session, semaphore: Semaphore.Semaphore): Runner => ({
  read: (script) =>
    semaphore.withPermit(
      attempt(() => {
        try {
          return runSync(script(), session.query)
        } finally {
          session.report()
        }
      })
    ),
  write: GroupCommit.make(session, semaphore)
})

const attempt = <A>(work: () => A): Effect.Effect<A, SqlError> => Effect.try({ try: work, catch: toSqlError })

const connect = (database: DatabaseSync): Connection => {
  const rows = Session.preparer(database, false)
  const arrays = Session.preparer(database, true)

  const execute: Connection["execute"] = (sql, parameters, transform) =>
    attempt(() => {
      const found = rows(sql).statement.all(...values(parameters))
      return transform === undefined ? found : transform(found)
    })
  const executeValues: Connection["executeValues"] = (sql, parameters) =>
    attempt(() => Session.asRows(arrays(sql).statement.all(...values(parameters))))
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

const values = (parameters: ReadonlyArray<unknown>) => parameters as ReadonlyArray<Value>
