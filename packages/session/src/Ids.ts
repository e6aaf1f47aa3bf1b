/**
 * The identifiers of a conversation.
 *
 * An id is any well-formed text of 1 to 512 UTF-8 bytes without control characters. The library never invents a
 * conversation id: the app chooses it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { byteLength } from "./Text.ts"

/**
 * The longest an id may be, in UTF-8 bytes.
 *
 * @category limits
 * @since 0.1.0
 */
export const maxIdBytes = 512

/**
 * Says what is wrong with a text as an id, or nothing when it is one.
 *
 * @category guards
 * @since 0.1.0
 */
export const idFault = (text: string): string | undefined => {
  if (text.length === 0) return "an id must not be empty"
  // A UTF-16 code unit is at most three UTF-8 bytes, so short texts need no count.
  if (text.length * 3 > maxIdBytes && byteLength(text) > maxIdBytes) {
    return `an id may have at most ${maxIdBytes} UTF-8 bytes, this one has ${byteLength(text)}`
  }
  if (controlCharacter.test(text)) return "an id must not contain control characters"
  if (!text.isWellFormed()) return "an id must not contain half of a surrogate pair"
  return undefined
}

const Id = Schema.String.check(Schema.makeFilter(idFault))

/**
 * Names a conversation. Chosen by the app, for example the key of its own row.
 *
 * @category ids
 * @since 0.1.0
 */
export const ConversationId = Id.pipe(Schema.brand("ConversationId"))
/** @since 0.1.0 */
export type ConversationId = typeof ConversationId.Type

/**
 * Names a record, once per conversation.
 *
 * @category ids
 * @since 0.1.0
 */
export const RecordId = Id.pipe(Schema.brand("RecordId"))
/** @since 0.1.0 */
export type RecordId = typeof RecordId.Type

/**
 * Names a batch, once per conversation; what a repeated append is recognised by.
 *
 * @category ids
 * @since 0.1.0
 */
export const BatchId = Id.pipe(Schema.brand("BatchId"))
/** @since 0.1.0 */
export type BatchId = typeof BatchId.Type

/**
 * Names a run, once per conversation.
 *
 * @category ids
 * @since 0.1.0
 */
export const RunId = Id.pipe(Schema.brand("RunId"))
/** @since 0.1.0 */
export type RunId = typeof RunId.Type

/**
 * Names a tool call, once per conversation (a provider that repeats an id is renamed before anything is stored).
 *
 * @category ids
 * @since 0.1.0
 */
export const ToolCallId = Id.pipe(Schema.brand("ToolCallId"))
/** @since 0.1.0 */
export type ToolCallId = typeof ToolCallId.Type

/**
 * Names a request for a person's decision.
 *
 * @category ids
 * @since 0.1.0
 */
export const ApprovalId = Id.pipe(Schema.brand("ApprovalId"))
/** @since 0.1.0 */
export type ApprovalId = typeof ApprovalId.Type

/**
 * Names a process (or any other owner) that appends to a conversation.
 *
 * @category ids
 * @since 0.1.0
 */
export const ProducerId = Id.pipe(Schema.brand("ProducerId"))
/** @since 0.1.0 */
export type ProducerId = typeof ProducerId.Type

/**
 * Names an agent; recorded with everything the agent does.
 *
 * @category ids
 * @since 0.1.0
 */
export const AgentName = Id.pipe(Schema.brand("AgentName"))
/** @since 0.1.0 */
export type AgentName = typeof AgentName.Type

/**
 * Names an input that a durable host has accepted.
 *
 * @category ids
 * @since 0.1.0
 */
export const SubmissionId = Id.pipe(Schema.brand("SubmissionId"))
/** @since 0.1.0 */
export type SubmissionId = typeof SubmissionId.Type

/**
 * Names stored settings: an option set that runs can use. Has nothing to do with conversation ids.
 *
 * @category ids
 * @since 0.1.0
 */
export const SettingsId = Id.pipe(Schema.brand("SettingsId"))
/** @since 0.1.0 */
export type SettingsId = typeof SettingsId.Type

/**
 * Names a tenant: whoever sees only a part of a database.
 *
 * @category ids
 * @since 0.1.0
 */
export const TenantId = Id.pipe(Schema.brand("TenantId"))
/** @since 0.1.0 */
export type TenantId = typeof TenantId.Type

// --- internal ---

// The general category Cc: U+0000 to U+001F and U+007F to U+009F.
const controlCharacter = /\p{Cc}/u
