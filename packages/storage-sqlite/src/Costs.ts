/**
 * What the operations of stores cost their files, as metrics: numbers that a test can assert and an operator can watch.
 *
 * They count what is done on the clients of `SqliteStorage.layerFile`, by all of a process, in the metric registry that
 * the client was built with. Statements of other users of such a client, and those of `layerClient` over another one,
 * are not counted.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"

/**
 * Statements, those that begin and end transactions and savepoints included.
 *
 * @category metrics
 * @since 0.1.0
 */
export const statements = Metric.counter("colloquy_sqlite_statements", {
  description: "Statements that stores have run on SQLite files",
  incremental: true
})

/**
 * Transactions that were committed. With appends at the same time there are fewer than appends: one is for a group.
 *
 * @category metrics
 * @since 0.1.0
 */
export const transactions = Metric.counter("colloquy_sqlite_transactions", {
  description: "Transactions that stores have committed to SQLite files",
  incremental: true
})

/**
 * Rows that committed transactions have inserted, updated and deleted.
 *
 * @category metrics
 * @since 0.1.0
 */
export const rows = Metric.counter("colloquy_sqlite_rows", {
  description: "Rows that stores have inserted, updated and deleted in SQLite files",
  incremental: true
})
