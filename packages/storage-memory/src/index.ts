/**
 * Conversations, settings and ledgers in memory, for tests and local development.
 *
 * @since 0.1.0
 */
export * as MemoryDatabase from "./MemoryDatabase.ts"
export * as MemoryDriver from "./MemoryDriver.ts"
export * as MemoryLedger from "./MemoryLedger.ts"
export * as MemorySettings from "./MemorySettings.ts"
export * as MemoryStorage from "./MemoryStorage.ts"
