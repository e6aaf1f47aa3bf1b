/**
 * What an agent did in a place before: one entry for each turn, rendered into the next one.
 *
 * @since 0.1.0
 */
export * as CallLines from "./CallLines.ts"
export * as ConversationKey from "./ConversationKey.ts"
export * as LedgerEntry from "./LedgerEntry.ts"
export * as QuotedText from "./QuotedText.ts"
export * as RunTurn from "./RunTurn.ts"
export * as Sources from "./Sources.ts"
export * as Turn from "./Turn.ts"
export * as TurnReport from "./TurnReport.ts"
