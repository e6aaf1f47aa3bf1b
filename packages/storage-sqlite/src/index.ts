/**
 * Conversations in a SQLite file.
 *
 * @since 0.1.0
 */
export * as Migrations from "./Migrations.ts"
export * as SqliteStorage from "./SqliteStorage.ts"
