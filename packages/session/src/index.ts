/**
 * Canonical records, digests, the pure reducer and the prompt projection of an LLM conversation.
 *
 * @since 0.1.0
 */
export * as CanonicalJson from "./CanonicalJson.ts"
export * as CanonicalRecord from "./CanonicalRecord.ts"
export * as Conversation from "./Conversation.ts"
export * as ConversationEntry from "./ConversationEntry.ts"
export * as ConversationPrompt from "./ConversationPrompt.ts"
export * as ConversationState from "./ConversationState.ts"
export * as DerivedId from "./DerivedId.ts"
export * as Digest from "./Digest.ts"
export * as Ids from "./Ids.ts"
export * as Input from "./Input.ts"
export * as Limits from "./Limits.ts"
export * as Payload from "./Payload.ts"
export * as PromptFault from "./PromptFault.ts"
export * as Seams from "./Seams.ts"
export * as Text from "./Text.ts"
export * as ToolCalls from "./ToolCalls.ts"
export * as Upcast from "./Upcast.ts"
export * as Usage from "./Usage.ts"
