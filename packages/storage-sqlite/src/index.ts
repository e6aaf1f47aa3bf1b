/**
 * Conversations, settings and ledgers in a SQLite file.
 *
 * @since 0.1.0
 */
export * as Costs from "./Costs.ts"
export * as Migrations from "./Migrations.ts"
export * as SqliteFile from "./SqliteFile.ts"
export * as SqliteStorage from "./SqliteStorage.ts"
