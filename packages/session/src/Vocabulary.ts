/**
 * The words of payloads: enums, places, counts, and the small things that payloads are made of.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { ToolCallId } from "./Ids.ts"

/**
 * The 1-based place of a record in its conversation.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const Sequence = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

export const Ordinal = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/**
 * A SHA-256 digest as 64 lower-case hex digits. `Digest` computes them; this loads where there is nothing of Node, too.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const Digest = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).pipe(Schema.brand("Digest"))
/** @since 0.1.0 */
export type Digest = typeof Digest.Type

/**
 * How a run goes about its work: `execute`, `plan`, or a mode of the app's own.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const Mode = Schema.NonEmptyString
/** @since 0.1.0 */
export type Mode = typeof Mode.Type

/**
 * Who or what said an input, and when it may be read.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const InputKind = Schema.Literals(["user", "steering", "follow-up", "background"])
/** @since 0.1.0 */
export type InputKind = typeof InputKind.Type

/**
 * The one terminal outcome of a tool call.
 *
 * `interrupted`: the handler was stopped, or never started. `unknown`: a crash came between start and result.
 * `rejected`: a person denied it, or the mode forbids it. `answered`: a person's text stands for the result.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const CallOutcome = Schema.Literals(["success", "failure", "rejected", "answered", "interrupted", "unknown"])
/** @since 0.1.0 */
export type CallOutcome = typeof CallOutcome.Type

/**
 * How a run ended.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const RunOutcome = Schema.Literals(["completed", "failed", "cancelled", "limit-reached"])
/** @since 0.1.0 */
export type RunOutcome = typeof RunOutcome.Type

/**
 * How a request for a person's decision was closed.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const Decision = Schema.Literals(["approved", "denied", "answered", "superseded", "expired"])
/** @since 0.1.0 */
export type Decision = typeof Decision.Type

/**
 * What an approval covers beyond its own call.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const GrantScope = Schema.Literals(["once", "conversation", "conversation-exact-parameters"])
/** @since 0.1.0 */
export type GrantScope = typeof GrantScope.Type

/**
 * A tool call that a model response declares.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const DeclaredCall = Schema.Struct({
  callId: ToolCallId,
  name: Schema.String,
  providerExecuted: Schema.Boolean
})
/** @since 0.1.0 */
export interface DeclaredCall extends Schema.Schema.Type<typeof DeclaredCall> {}

/**
 * A recorded failure: the tag of the error and its message.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const Failure = Schema.Struct({ tag: Schema.String, message: Schema.String })
/** @since 0.1.0 */
export interface Failure extends Schema.Schema.Type<typeof Failure> {}

/**
 * A source that a model response cites, as the provider gave it.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const Source = Schema.Record(Schema.String, Schema.Unknown)
