/**
 * What is done on a connection, as a description: a generator that yields statements and is given their rows.
 *
 * Written once, a script runs on any connection: at once and without any effect in between on ours, and statement by
 * statement on another SQLite client.
 */
import * as Effect from "effect/Effect"

/** A value of a row, or of a parameter. */
export type Value = string | number | null | Uint8Array

/** A row, in the order of its columns. */
export type Row = ReadonlyArray<Value>

export interface Statement {
  readonly sql: string
  readonly parameters: ReadonlyArray<Value>
  /** Returns nothing, and gives a row if it has changed one: cheaper than RETURNING, for which SQLite makes a table. */
  readonly tells?: true
}

export type Script<A> = Generator<Statement, A, ReadonlyArray<Row>>

/** Runs a script to its end at once. What a statement throws is thrown where the script yielded it, then here. */
export const runSync = <A>(script: Script<A>, query: (statement: Statement) => ReadonlyArray<Row>): A => {
  let step = script.next([])
  while (step.done !== true) step = script.next(query(step.value))
  return step.value
}

/** Runs a script to its end as an effect. */
export const run = <A, E, R>(
  script: Script<A>,
  query: (statement: Statement) => Effect.Effect<ReadonlyArray<Row>, E, R>
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const next = (step: IteratorResult<Statement, A>): Effect.Effect<A, E, R> =>
      step.done === true
        ? Effect.succeed(step.value)
        : Effect.flatMap(query(step.value), (rows) => next(script.next(rows)))
    return next(script.next([]))
  })
