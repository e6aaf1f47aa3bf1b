/**
 * The fenced, idempotent store contract of conversations, its front over an encoded driver, and the shared writer.
 *
 * @since 0.1.0
 */
export * as Archive from "./Archive.ts"
export * as ConversationDriver from "./ConversationDriver.ts"
export * as ConversationStore from "./ConversationStore.ts"
export * as Conversations from "./Conversations.ts"
export * as Failpoints from "./Failpoints.ts"
export * as Salts from "./Salts.ts"
export * as SettingsDriver from "./SettingsDriver.ts"
export * as SettingsStore from "./SettingsStore.ts"
export * as StoreError from "./StoreError.ts"
export * as StoreModel from "./StoreModel.ts"
export * as Verification from "./Verification.ts"
export * as Writer from "./Writer.ts"
export * as WriterMetrics from "./WriterMetrics.ts"
