/**
 * What a record can say: a closed union of tagged payloads, and of each the facts that survive its redaction.
 *
 * Every payload is declared in two parts. What is *kept* are ids, enums, sequences, counts and the names of declared
 * calls: all that the reducer reads. What is *removed* by a redaction is everything a person or a model said, and every
 * digest that such text could be guessed from.
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import { ToolCallId } from "./Ids.ts"
import * as LogPayload from "./LogPayload.ts"
import * as RunPayload from "./RunPayload.ts"
import type { DeclaredCall } from "./Vocabulary.ts"

export * from "./LogPayload.ts"
export * from "./RunPayload.ts"
export * from "./Vocabulary.ts"

/**
 * What survives the redaction of a payload. Every payload but {@link ModelResponded} is a superset of its own facts.
 *
 * @category models
 * @since 0.1.0
 */
export const Facts = Schema.Union([...LogPayload.logFacts, ...RunPayload.runFacts])
/** @since 0.1.0 */
export type Facts = typeof Facts.Type

/**
 * Stands where a payload was removed. Only ever read: a producer that appends one is refused.
 *
 * @category payloads
 * @since 0.1.0
 */
export const Redacted = Schema.TaggedStruct("Redacted", { tag: Schema.NonEmptyString, facts: Facts })
/** @since 0.1.0 */
export interface Redacted extends Schema.Schema.Type<typeof Redacted> {}

/**
 * What a producer may record.
 *
 * @category models
 * @since 0.1.0
 */
export const Written = Schema.Union([
  LogPayload.ConversationCreated,
  LogPayload.MetadataChanged,
  RunPayload.RunStarted,
  RunPayload.RunSuspended,
  RunPayload.RunResumed,
  RunPayload.InputRecorded,
  RunPayload.ModelResponded,
  RunPayload.ToolCallStarted,
  RunPayload.ToolCallSettled,
  RunPayload.ApprovalRequested,
  RunPayload.ApprovalResolved,
  LogPayload.ModeChanged,
  LogPayload.HandedOff,
  LogPayload.BackgroundStarted,
  LogPayload.BackgroundSettled,
  LogPayload.Compacted,
  RunPayload.RunEnded,
  LogPayload.SubmissionAccepted,
  LogPayload.CancelRequested,
  LogPayload.SubmissionSettled,
  LogPayload.Forked,
  LogPayload.ContentRedacted,
  LogPayload.RepairAnnotated,
  LogPayload.Custom
])
/** @since 0.1.0 */
export type Written = typeof Written.Type

/**
 * What a reader may find: everything that can be written, and {@link Redacted}.
 *
 * @category models
 * @since 0.1.0
 */
export const Payload = Schema.Union([...Written.members, Redacted])
/** @since 0.1.0 */
export type Payload = typeof Payload.Type

// Compiled decoders validate a record in a fifth of the time; where code generation is forbidden the interpreter stays.
SchemaJITCompiler.enable(Payload.ast)
SchemaJITCompiler.enable(Written.ast)

/**
 * The calls that a response declares, in order; without their parameters.
 *
 * @category facts
 * @since 0.1.0
 */
export const declaredCalls = (content: ReadonlyArray<Prompt.AssistantMessagePartEncoded>): Array<DeclaredCall> => {
  const calls: Array<DeclaredCall> = []
  for (const part of content) {
    if (part.type !== "tool-call") continue
    calls.push({
      callId: ToolCallId.make(part.id),
      name: part.name,
      providerExecuted: part.providerExecuted === true
    })
  }
  return calls
}

/**
 * What survives the redaction of this payload, and all that the reducer reads.
 *
 * @category facts
 * @since 0.1.0
 */
export const facts = (payload: Payload): Facts => {
  switch (payload._tag) {
    case "Redacted":
      return payload.facts
    case "ModelResponded": {
      const { content, responseId: _, sources: __, ...kept } = payload
      return { ...kept, calls: declaredCalls(content) }
    }
    default:
      return keptFields(payload)
  }
}

/**
 * Replaces a payload by what survives its redaction.
 *
 * @category facts
 * @since 0.1.0
 */
export const redact = (payload: Payload): Redacted =>
  payload._tag === "Redacted" ? payload : Redacted.make({ tag: payload._tag, facts: facts(payload) })

/**
 * What can still be read of a payload: all of it, or what a redaction has left.
 *
 * @category models
 * @since 0.1.0
 */
export type Legible = Exclude<Payload, Redacted> | Facts

/**
 * Gives what can still be read of a payload.
 *
 * @category redaction
 * @since 0.1.0
 */
export const legible = (payload: Payload): Legible => (payload._tag === "Redacted" ? payload.facts : payload)

// --- internal ---

// Structs strip what they do not declare: decoding a payload as facts removes exactly what a redaction removes.
const keptFields = Schema.decodeUnknownSync(Facts)
