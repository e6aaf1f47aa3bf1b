/**
 * What surrounds a run.
 *
 * @since 0.1.0
 */
export * as CommandQueues from "./CommandQueues.ts"
export * as ConversationTracker from "./ConversationTracker.ts"
export * as ConversationView from "./ConversationView.ts"
export * as EphemeralConversations from "./EphemeralConversations.ts"
export * as LiveUpdate from "./LiveUpdate.ts"
export * as RunEvent from "./RunEvent.ts"
