/**
 * Access to the one connection of a file: reads, and write transactions that wait for the lock without blocking.
 *
 * Statements run on the reserved connection itself: a traced statement through the client costs as much as an insert.
 */
import { StoreUnavailable } from "@colloquy/store/StoreError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { SqlError } from "effect/sql/SqlError"

/** A value of a row, or of a parameter. */
export type Value = string | number | null | Uint8Array

export type Row = ReadonlyArray<Value>

/** The connection, for as long as it is reserved. */
export interface Reserved {
  /** Rows as arrays, in the order of the columns. */
  readonly query: (sql: string, parameters: ReadonlyArray<Value>) => Effect.Effect<ReadonlyArray<Row>, SqlError>
  readonly execute: (sql: string, parameters: ReadonlyArray<Value>) => Effect.Effect<unknown, SqlError>
}

/** Whether a transaction is kept. */
export interface Outcome<A> {
  readonly commit: boolean
  readonly value: A
}

export interface Connections {
  readonly read: <A>(use: (connection: Reserved) => Effect.Effect<A, SqlError>) => Effect.Effect<A, StoreUnavailable>
  /**
   * A transaction that begins IMMEDIATE: it holds the file's write lock from its first statement. A unique key that
   * exists gives `onClash` and undoes everything. Interruption waits for its end, which is a few statements away.
   */
  readonly write: <A>(
    use: (connection: Reserved) => Effect.Effect<Outcome<A>, SqlError>,
    onClash: () => A
  ) => Effect.Effect<A, StoreUnavailable>
}

export const make = (client: SqlClient, busyTimeout: Duration.Duration): Connections => {
  const schedule = lockSchedule(busyTimeout)
  // The retry is set up only where it is needed: it costs more than a statement.
  const waiting = <A>(attempt: Effect.Effect<A, SqlError>): Effect.Effect<A, StoreUnavailable> =>
    attempt.pipe(
      Effect.catchIf(isBusy, () => Effect.retry(attempt, { while: isBusy, schedule })),
      Effect.mapError(translate)
    )

  return {
    read: (use) => waiting(Effect.scoped(Effect.flatMap(client.reserve, (connection) => use(reserved(connection))))),
    write: (use, onClash) =>
      waiting(
        Effect.uninterruptibleMask((restore) =>
          Effect.scoped(
            Effect.flatMap(restore(client.reserve), (connection) => transaction(reserved(connection), use, onClash))
          )
        )
      )
  }
}

/** Somebody else holds the lock. */
export const isBusy = (error: unknown): error is SqlError =>
  error instanceof SqlError && error.reason._tag === "LockTimeoutError"

/** When to try again for a lock: soon at first, then about every 50 ms, with jitter, until the time is over. */
export const lockSchedule = (timeout: Duration.Duration) =>
  Schedule.min([Schedule.exponential("1 millis"), Schedule.spaced("50 millis")]).pipe(
    Schedule.jittered,
    Schedule.upTo({ duration: timeout })
  )

/** What went wrong, in the words of the store, with the driver's error as the cause. */
export const translate = (cause: unknown): StoreUnavailable => {
  const code = errorCode(cause) & 0xff
  const { detail, reason, retryable } = meanings[code] ?? {
    reason: "other",
    retryable: false,
    detail: `SQLite answered: ${messageOf(cause)}`
  }
  return new StoreUnavailable({ reason, retryable, detail, cause })
}

// --- internal ---

const transaction = <A>(
  connection: Reserved,
  use: (connection: Reserved) => Effect.Effect<Outcome<A>, SqlError>,
  onClash: () => A
): Effect.Effect<A, SqlError> => {
  // SQLite leaves a transaction by itself after some errors; then there is nothing to roll back.
  const rollback = Effect.ignore(connection.execute("ROLLBACK", []))
  return Effect.flatMap(connection.execute("BEGIN IMMEDIATE", []), () =>
    Effect.matchCauseEffect(use(connection), {
      onFailure: (cause) =>
        Effect.andThen(
          rollback,
          Effect.catchIf(Effect.failCause(cause), isClash, () => Effect.sync(onClash))
        ),
      onSuccess: ({ commit, value }) =>
        commit
          ? Effect.as(
              Effect.tapError(connection.execute("COMMIT", []), () => rollback),
              value
            )
          : Effect.as(rollback, value)
    })
  )
}

const reserved = (connection: Connection): Reserved => ({
  query: (sql, parameters) => connection.executeValues(sql, parameters) as Effect.Effect<ReadonlyArray<Row>, SqlError>,
  execute: (sql, parameters) => connection.executeRaw(sql, parameters)
})

const isClash = (error: SqlError): boolean =>
  error.reason._tag === "UniqueViolation" || error.reason._tag === "ConstraintError"

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
