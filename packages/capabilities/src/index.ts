/**
 * What surrounds a run.
 *
 * @since 0.1.0
 */
export * as Budget from "./Budget.ts"
export * as CommandQueues from "./CommandQueues.ts"
export * as Compaction from "./Compaction.ts"
export * as CompactionOptions from "./CompactionOptions.ts"
export * as CompactionPlan from "./CompactionPlan.ts"
export * as CompactionStrategy from "./CompactionStrategy.ts"
export * as ConversationTracker from "./ConversationTracker.ts"
export * as ConversationView from "./ConversationView.ts"
export * as EphemeralConversations from "./EphemeralConversations.ts"
export * as Exchanges from "./Exchanges.ts"
export * as LiveUpdate from "./LiveUpdate.ts"
export * as RunEvent from "./RunEvent.ts"
export * as SecretMask from "./SecretMask.ts"
export * as Summary from "./Summary.ts"
export * as SummaryModel from "./SummaryModel.ts"
export * as Tokens from "./Tokens.ts"
