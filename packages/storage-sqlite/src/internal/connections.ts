/**
 * Access to the one connection of a file: reads, and write transactions that wait for the lock without blocking.
 */
import { StoreUnavailable } from "@colloquy/store/StoreError"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import type { Row, Script, Statement } from "./script.ts"
import { run } from "./script.ts"

/** Whether a transaction is kept, and what it gives. */
export interface Outcome<A> {
  readonly commit: boolean
  readonly value: A
}

/** A connection that runs scripts. */
export interface Runner {
  readonly read: <A>(script: () => Script<A>) => Effect.Effect<A, SqlError>
  /**
   * Begins IMMEDIATE: holds the file's write lock from its first statement. Waits so long for another process's lock. Not
   * interrupted once it has begun.
   */
  readonly write: <A>(
    script: () => Script<Outcome<A>>,
    busyTimeout: Duration.Duration
  ) => Effect.Effect<A, SqlError | StoreUnavailable>
}

export interface Connections {
  readonly read: <A>(script: () => Script<A>) => Effect.Effect<A, StoreUnavailable>
  /** A transaction. A unique key that exists gives `onClash`, and undoes everything. */
  readonly write: <A>(script: () => Script<Outcome<A>>, onClash: A) => Effect.Effect<A, StoreUnavailable>
}

/** Waits for the lock where somebody else holds it, and says what went wrong in the words of the store. */
export const make = (client: SqlClient, runner: Runner, busyTimeout: Duration.Duration): Connections => ({
  read: (script) => outside(client, Effect.mapError(waiting(runner.read(script), busyTimeout), translate)),
  write: (script, onClash) =>
    outside(
      client,
      Effect.catch(runner.write(script, busyTimeout), (error) =>
        isClash(error) ? Effect.succeed(onClash) : Effect.fail(translate(error))
      )
    )
})

/** Runs scripts on the reserved connection of any SQLite client, statement by statement. */
export const overClient = (client: SqlClient): Runner => ({
  read: (script) => Effect.scoped(Effect.flatMap(client.reserve, (connection) => run(script(), query(connection)))),
  write: (script, busyTimeout) =>
    waiting(
      Effect.uninterruptibleMask((restore) =>
        Effect.scoped(Effect.flatMap(restore(client.reserve), (connection) => transaction(query(connection), script)))
      ),
      busyTimeout
    )
})

/** Somebody else holds the lock. Clients that give no number are known by what Effect makes of their error. */
export const isBusy = (error: unknown): boolean => {
  if (error instanceof StoreUnavailable) return isBusy(error.cause)
  const code = errorCode(error) & 0xff
  return (
    code === 5 || code === 6 || (code === 0 && error instanceof SqlError && error.reason._tag === "LockTimeoutError")
  )
}

/** When to try again for a lock: soon at first, then about every 50 ms, with jitter. */
export const lockPauses = Schedule.min([Schedule.exponential("1 millis"), Schedule.spaced("50 millis")]).pipe(
  Schedule.jittered
)

/** {@link lockPauses} until the time is over. */
export const lockSchedule = (timeout: Duration.Duration) => Schedule.upTo(lockPauses, { duration: timeout })

/** What node:sqlite throws, as Effect's error. */
export const toSqlError = (cause: unknown): SqlError =>
  new SqlError({
    reason: classifySqliteError(withErrno(cause), { message: "failed to execute", operation: "execute" })
  })

/** What went wrong, in the words of the store, with the driver's error as the cause. */
export const translate = (cause: unknown): StoreUnavailable => {
  if (cause instanceof StoreUnavailable) return cause
  const { detail, reason, retryable } = meanings[errorCode(cause) & 0xff] ?? {
    reason: "other",
    retryable: false,
    detail: `SQLite answered: ${messageOf(cause)}`
  }
  return new StoreUnavailable({ reason, retryable, detail, cause })
}

// --- internal ---

/** Refuses to wait for a transaction of this very fiber: it has the connection until it ends. */
const outside = <A>(client: SqlClient, effect: Effect.Effect<A, StoreUnavailable>) =>
  Effect.withFiber<A, StoreUnavailable>((fiber) =>
    Context.getOrUndefined(fiber.context, client.transactionService) === undefined
      ? effect
      : new StoreUnavailable({
          reason: "refused",
          retryable: false,
          detail: "the store is used inside of withTransaction of its own client; use it before or after",
          cause: null
        })
  )

// The retry is set up only where it is needed: it costs more than a statement.
const waiting = <A>(attempt: Effect.Effect<A, SqlError>, busyTimeout: Duration.Duration) =>
  Effect.catchIf(attempt, isBusy, () => Effect.retry(attempt, { while: isBusy, schedule: lockSchedule(busyTimeout) }))

/** Effect looks for `errno`, where node:sqlite has `errcode`. */
const withErrno = (cause: unknown): unknown =>
  cause instanceof Error && "errcode" in cause ? Object.assign(cause, { errno: cause.errcode }) : cause

type Query = (statement: Statement) => Effect.Effect<ReadonlyArray<Row>, SqlError>

const query =
  (connection: Connection): Query =>
  ({ parameters, sql, tells }) =>
    connection.executeValues(tells === true ? `${sql} RETURNING 1` : sql, parameters) as Effect.Effect<
      ReadonlyArray<Row>,
      SqlError
    >

const transaction = <A>(query: Query, script: () => Script<Outcome<A>>): Effect.Effect<A, SqlError> => {
  const control = (sql: string) => query({ sql, parameters: [] })
  // SQLite leaves a transaction by itself after some errors; then there is nothing to roll back.
  const rollback = Effect.ignore(control("ROLLBACK"))
  return Effect.flatMap(control("BEGIN IMMEDIATE"), () =>
    run(script(), query).pipe(
      Effect.tap(({ commit }) => (commit ? control("COMMIT") : rollback)),
      Effect.tapCause(() => rollback),
      Effect.map(({ value }) => value)
    )
  )
}

// Of primary key, unique index and rowid; another constraint that fails is a fault, not a row that exists.
const clashCodes: ReadonlySet<unknown> = new Set([
  1555,
  2067,
  2579,
  "SQLITE_CONSTRAINT_PRIMARYKEY",
  "SQLITE_CONSTRAINT_UNIQUE",
  "SQLITE_CONSTRAINT_ROWID"
])

const isClash = (error: SqlError | StoreUnavailable): boolean => {
  if (!(error instanceof SqlError)) return false
  const { cause } = error.reason
  const name = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  return clashCodes.has(errorCode(error)) || clashCodes.has(name) || error.reason._tag === "UniqueViolation"
}

type Meaning = Pick<StoreUnavailable, "reason" | "retryable" | "detail">

// Primary result codes: https://www.sqlite.org/rescode.html
const meanings: { readonly [code: number]: Meaning } = {
  5: { reason: "contention", retryable: true, detail: "another process holds the write lock; try again" },
  6: { reason: "contention", retryable: true, detail: "another connection holds the table; try again" },
  8: { reason: "read-only", retryable: false, detail: "the file may not be written; check its permissions" },
  11: { reason: "damaged", retryable: false, detail: "the file is damaged; restore a backup" },
  13: { reason: "disk-full", retryable: true, detail: "the disk is full; free some space, then try again" },
  14: { reason: "refused", retryable: false, detail: "the file cannot be opened; check the path and its permissions" },
  26: { reason: "refused", retryable: false, detail: "the file is not a SQLite database; choose another one" }
}

/** The numeric result code of node:sqlite, wherever Effect's error carries it; 0 when there is none. */
const errorCode = (cause: unknown): number => {
  if (typeof cause !== "object" || cause === null) return 0
  if ("errcode" in cause && typeof cause.errcode === "number") return cause.errcode
  if (cause instanceof SqlError) return errorCode(cause.reason.cause)
  return "cause" in cause ? errorCode(cause.cause) : 0
}

const messageOf = (cause: unknown): string => {
  if (cause instanceof SqlError) return messageOf(cause.reason.cause)
  return cause instanceof Error ? cause.message : String(cause)
}
