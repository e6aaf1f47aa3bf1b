/**
 * What is kept of one turn: data, not text; how it is shown is decided when it is rendered.
 *
 * Everything is verbatim and whole, apart from arguments and errors that were too long and were rewritten or named before
 * the entry was written. The entry is the only record of the turn that a ledger has.
 *
 * @since 0.1.0
 */
import { AgentName, ConversationId, RecordId, RunId } from "@colloquy/session/Ids"
import * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import { ConversationKey } from "./ConversationKey.ts"

const optional = Schema.optionalKey

/**
 * An argument's value or an error as it is kept.
 *
 * - `Whole`: itself; of an argument its JSON.
 * - `Condensed`: rewritten to fit, by a model.
 * - `Named`: too long, and not to be rewritten: its size in UTF-8 bytes, and the beginning of its SHA-256.
 * - `Absent`: what could not be kept, and why: it is no JSON, or it was removed from the log.
 *
 * @category models
 * @since 0.1.0
 */
export const Value = Schema.TaggedUnion({
  Whole: { text: Schema.String },
  Condensed: { text: Schema.String },
  Named: { bytes: Schema.Natural, digest: Schema.String },
  Absent: { reason: Schema.String }
})
/** @since 0.1.0 */
export type Value = typeof Value.Type

/**
 * One argument of a call. Without `name` it is all that the call was given, and that was no object.
 *
 * @category models
 * @since 0.1.0
 */
export const Argument = Schema.Struct({ name: optional(Schema.String), value: Value })
/** @since 0.1.0 */
export interface Argument extends Schema.Schema.Type<typeof Argument> {}

/**
 * How a call ended. `rejected`: a person or the mode forbade it. `answered`: a person's words stood for it. `interrupted`:
 * it was stopped, or never started. `unknown`: nobody knows whether it took effect.
 *
 * @category models
 * @since 0.1.0
 */
export const CallOutcome = Schema.Literals(["success", "error", "rejected", "answered", "interrupted", "unknown"])
/** @since 0.1.0 */
export type CallOutcome = typeof CallOutcome.Type

/**
 * A tool call of the turn; its result is never carried. `readOnly` only where that is known. Arguments are in the order of
 * their names.
 *
 * @category models
 * @since 0.1.0
 */
export const Call = Schema.Struct({
  name: Schema.String,
  arguments: Schema.Array(Argument),
  outcome: CallOutcome,
  error: optional(Value),
  readOnly: Schema.Boolean
})
/** @since 0.1.0 */
export interface Call extends Schema.Schema.Type<typeof Call> {}

/**
 * Whether the turn's final text reached the party that waits. `unsent`: somebody waited, and nobody received it.
 * `not-owed`: nobody waited.
 *
 * @category models
 * @since 0.1.0
 */
export const Delivery = Schema.Literals(["replied", "unsent", "not-owed"])
/** @since 0.1.0 */
export type Delivery = typeof Delivery.Type

/**
 * What a turn was called for, did, and came to. `at` is UTC in milliseconds; it informs, the order is that of recording.
 * `sources` are the records of a log that the entry was made of: when one of them is redacted, the entry goes.
 *
 * @category models
 * @since 0.1.0
 */
export const LedgerEntry = Schema.Struct({
  entryId: Schema.NonEmptyString,
  agent: AgentName,
  conversationKey: ConversationKey,
  /** What the turn answered, for deduplication; empty when that is not known. */
  workKey: Schema.String,
  runId: RunId,
  conversationId: optional(ConversationId),
  at: optional(Schema.Int),
  trigger: Schema.String,
  triggerIds: Schema.Array(Schema.String),
  intent: optional(Schema.String),
  calls: Schema.Array(Call),
  delivery: Delivery,
  reply: Schema.String,
  completedWork: optional(Schema.String),
  blockedOn: optional(Schema.String),
  /** How the turn ended: `done`, `limit-reached`, `failed`, `cancelled`, or a word of the app's own. */
  decision: Schema.NonEmptyString,
  sources: Schema.Array(RecordId)
})
/** @since 0.1.0 */
export interface LedgerEntry extends Schema.Schema.Type<typeof LedgerEntry> {}

// Compiled decoders check an entry in a fraction of the time; where code generation is forbidden the interpreter stays.
SchemaJITCompiler.enable(LedgerEntry.ast)

/**
 * The decision of a turn that did what it set out to do.
 *
 * @category constants
 * @since 0.1.0
 */
export const done = "done"

/**
 * How good a decision is: 2 for `done`, 0 for `failed` and `cancelled`, 1 for any other.
 *
 * @category comparing
 * @since 0.1.0
 */
export const rank = (decision: string): number =>
  decision === done ? 2 : decision === "failed" || decision === "cancelled" ? 0 : 1
