/**
 * The identifiers of a conversation, and ids derived from what a thing is.
 *
 * An id is any well-formed text of 1 to 512 UTF-8 bytes without control characters. The library never invents a
 * conversation id: the app chooses it. Everything that a run writes has a derived id, so that a retry after a crash
 * writes the same ids and is recognised.
 *
 * @since 0.1.0
 */
import { hash } from "node:crypto"
import * as Schema from "effect/Schema"
import { byteLength, cut } from "./Text.ts"

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

/**
 * Joins parts to one id text: two different tuples never give the same one.
 *
 * **Details**
 *
 * Parts are joined by `/`; inside a part `~` becomes `~0` and `/` becomes `~1` (the escapes of
 * [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)). A result over {@link maxIdBytes} keeps its beginning and ends
 * with `~2` and the SHA-256 of the whole; no escaped text contains `~2`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const derive = (...parts: readonly [string, ...Array<string>]): string => {
  const joined = parts.map(escapePart).join("/")
  if (joined.length * 3 <= maxIdBytes || byteLength(joined) <= maxIdBytes) return joined
  const mark = `~2${hash("sha256", joined, "hex")}`
  return cut(joined, maxIdBytes - mark.length) + mark
}

// --- internal ---

// The general category Cc: U+0000 to U+001F and U+007F to U+009F.
const controlCharacter = /\p{Cc}/u

const escapePart = (part: string): string =>
  part.includes("~") || part.includes("/") ? part.replaceAll("~", "~0").replaceAll("/", "~1") : part
