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
import * as Response from "effect/ai/Response"
import * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import { Digest } from "./Digest.ts"
import * as EncodedMessage from "./EncodedMessage.ts"
import { AgentName, ApprovalId, ConversationId, RecordId, RunId, SubmissionId, ToolCallId } from "./Ids.ts"
import { Usage } from "./Usage.ts"

// --- vocabulary ---

const Text = Schema.String
const optional = Schema.optionalKey

// A property that is undefined is absent from JSON: where one must stand, it would be stored and never be read again.
const Json = Schema.Unknown.check(
  Schema.makeFilter((value) => (value === undefined ? "undefined has no JSON form, nothing is null" : undefined))
)

/**
 * The 1-based place of a record in its conversation.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const Sequence = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

const Ordinal = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

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
  name: Text,
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
export const Failure = Schema.Struct({ tag: Text, message: Text })
/** @since 0.1.0 */
export interface Failure extends Schema.Schema.Type<typeof Failure> {}

/**
 * A source that a model response cites, as the provider gave it.
 *
 * @category vocabulary
 * @since 0.1.0
 */
export const Source = Schema.Record(Schema.String, Schema.Unknown)

// --- the payloads ---

const define = <const Tag extends string, Kept extends Schema.Struct.Fields, Removed extends Schema.Struct.Fields>(
  tag: Tag,
  kept: Kept,
  removed: Removed
) => ({
  facts: Schema.TaggedStruct(tag, inOrder(kept)),
  payload: Schema.TaggedStruct(tag, inOrder({ ...kept, ...removed }))
})

// A decoded struct has its keys in the order of the fields: in canonical order, encoding it moves nothing.
const inOrder = <Fields extends Schema.Struct.Fields>(fields: Fields): Fields => {
  const entries = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.assign({}, ...entries.map(([name, field]) => ({ [name]: field })))
}

const conversationCreated = define(
  "ConversationCreated",
  {},
  { title: optional(Text), instructions: optional(Text), metadata: optional(Schema.Unknown) }
)

/**
 * The conversation exists; always its first record. `instructions` is the system text of an imported transcript.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ConversationCreated = conversationCreated.payload
/** @since 0.1.0 */
export interface ConversationCreated extends Schema.Schema.Type<typeof ConversationCreated> {}

const metadataChanged = define("MetadataChanged", {}, { title: optional(Text), metadata: optional(Schema.Unknown) })

/**
 * The conversation was renamed or retagged.
 *
 * @category payloads
 * @since 0.1.0
 */
export const MetadataChanged = metadataChanged.payload
/** @since 0.1.0 */
export interface MetadataChanged extends Schema.Schema.Type<typeof MetadataChanged> {}

const runStarted = define(
  "RunStarted",
  { runId: RunId, agent: AgentName, mode: Mode, toolsDigest: optional(Digest) },
  { conversationKey: optional(Text), workKey: optional(Text) }
)

/**
 * A run began; once per run.
 *
 * @category payloads
 * @since 0.1.0
 */
export const RunStarted = runStarted.payload
/** @since 0.1.0 */
export interface RunStarted extends Schema.Schema.Type<typeof RunStarted> {}

const runSuspended = define("RunSuspended", { runId: RunId, approvalIds: Schema.Array(ApprovalId), mode: Mode }, {})

/**
 * A run waits for people and holds nothing meanwhile.
 *
 * @category payloads
 * @since 0.1.0
 */
export const RunSuspended = runSuspended.payload
/** @since 0.1.0 */
export interface RunSuspended extends Schema.Schema.Type<typeof RunSuspended> {}

const runResumed = define(
  "RunResumed",
  { runId: RunId, attempt: Ordinal, cause: Schema.Literals(["crash", "decision"]), agent: AgentName },
  {}
)

/**
 * A suspended or unfinished run goes on, under the same id. `attempt` counts from 2: the start was attempt 1.
 *
 * @category payloads
 * @since 0.1.0
 */
export const RunResumed = runResumed.payload
/** @since 0.1.0 */
export interface RunResumed extends Schema.Schema.Type<typeof RunResumed> {}

const inputRecorded = define(
  "InputRecorded",
  { runId: RunId, kind: InputKind, inputId: optional(Text) },
  { message: EncodedMessage.UserMessage, author: optional(Text), context: optional(Text) }
)

/**
 * Somebody said something. `context` is text for the model calls of this run only, kept so that a resumed run shows the
 * model what the first attempt did.
 *
 * @category payloads
 * @since 0.1.0
 */
export const InputRecorded = inputRecorded.payload
/** @since 0.1.0 */
export interface InputRecorded extends Schema.Schema.Type<typeof InputRecorded> {}

const responseFacts = {
  runId: RunId,
  step: Ordinal,
  agent: AgentName,
  provider: optional(Text),
  model: optional(Text),
  toolsDigest: optional(Digest),
  usage: optional(Usage),
  estimatedInputTokens: optional(Schema.Natural),
  finishReason: Response.FinishReason,
  partial: optional(Schema.Literal(true))
}

/**
 * A complete response, or with `partial` what had arrived when it was cut off: complete text, no unfinished reasoning,
 * no unfinished call. `step` counts model calls of the run from 1.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ModelResponded = Schema.TaggedStruct(
  "ModelResponded",
  inOrder({
    ...responseFacts,
    content: EncodedMessage.AssistantContent,
    sources: optional(Schema.Array(Source)),
    responseId: optional(Text)
  })
)
/** @since 0.1.0 */
export interface ModelResponded extends Schema.Schema.Type<typeof ModelResponded> {}

const ModelRespondedFacts = Schema.TaggedStruct("ModelResponded", {
  ...responseFacts,
  calls: Schema.Array(DeclaredCall)
})

const toolCallStarted = define(
  "ToolCallStarted",
  { runId: RunId, step: Ordinal, callId: ToolCallId, name: Text, attempt: Ordinal },
  { parametersDigest: Digest }
)

/**
 * A handler is about to run.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ToolCallStarted = toolCallStarted.payload
/** @since 0.1.0 */
export interface ToolCallStarted extends Schema.Schema.Type<typeof ToolCallStarted> {}

const toolCallSettled = define(
  "ToolCallSettled",
  { runId: RunId, step: Ordinal, callId: ToolCallId, name: Text, outcome: CallOutcome, isFailure: Schema.Boolean },
  {
    result: Json,
    modelOutput: optional(EncodedMessage.ModelOutput),
    shownBytes: optional(Schema.Natural)
  }
)

/**
 * The one terminal result of a call, whole. A void result is `null`. With `shownBytes` the model is shown that many
 * UTF-8 bytes of it and a marker.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ToolCallSettled = toolCallSettled.payload
/** @since 0.1.0 */
export interface ToolCallSettled extends Schema.Schema.Type<typeof ToolCallSettled> {}

const approvalRequested = define(
  "ApprovalRequested",
  { runId: RunId, approvalId: ApprovalId, callId: ToolCallId, name: Text },
  { parametersDigest: Digest }
)

/**
 * A call waits for a person.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ApprovalRequested = approvalRequested.payload
/** @since 0.1.0 */
export interface ApprovalRequested extends Schema.Schema.Type<typeof ApprovalRequested> {}

const approvalResolved = define(
  "ApprovalResolved",
  { approvalId: ApprovalId, decision: Decision, scope: GrantScope },
  { result: optional(Schema.Unknown), reason: optional(Text), author: optional(Text) }
)

/**
 * A request was decided or closed. `result` is what a person answered in place of the call.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ApprovalResolved = approvalResolved.payload
/** @since 0.1.0 */
export interface ApprovalResolved extends Schema.Schema.Type<typeof ApprovalResolved> {}

const modeChanged = define("ModeChanged", { mode: Mode }, {})

/**
 * Work goes on in another mode.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ModeChanged = modeChanged.payload
/** @since 0.1.0 */
export interface ModeChanged extends Schema.Schema.Type<typeof ModeChanged> {}

const handedOff = define("HandedOff", { from: AgentName, to: AgentName }, { reason: optional(Text) })

/**
 * Another agent goes on.
 *
 * @category payloads
 * @since 0.1.0
 */
export const HandedOff = handedOff.payload
/** @since 0.1.0 */
export interface HandedOff extends Schema.Schema.Type<typeof HandedOff> {}

const backgroundStarted = define(
  "BackgroundStarted",
  { taskId: Schema.NonEmptyString, agent: AgentName, conversationId: ConversationId },
  {}
)

/**
 * Another agent works beside this run, in a child conversation.
 *
 * @category payloads
 * @since 0.1.0
 */
export const BackgroundStarted = backgroundStarted.payload
/** @since 0.1.0 */
export interface BackgroundStarted extends Schema.Schema.Type<typeof BackgroundStarted> {}

const backgroundSettled = define(
  "BackgroundSettled",
  {
    taskId: Schema.NonEmptyString,
    outcome: Schema.Literals(["completed", "failed", "cancelled", "lost"]),
    usage: optional(Usage)
  },
  { summary: optional(Text) }
)

/**
 * The one outcome of a background task, with what its model calls used.
 *
 * @category payloads
 * @since 0.1.0
 */
export const BackgroundSettled = backgroundSettled.payload
/** @since 0.1.0 */
export interface BackgroundSettled extends Schema.Schema.Type<typeof BackgroundSettled> {}

const compacted = define(
  "Compacted",
  {
    kind: Schema.Literals(["cleared-results", "summary"]),
    coversThrough: Sequence,
    clearedCallIds: optional(Schema.Array(ToolCallId)),
    pinned: Schema.Array(Sequence),
    model: optional(Text),
    usage: optional(Usage)
  },
  { summary: optional(Text) }
)

/**
 * A smaller view of old history was made. A `summary` stands for everything through `coversThrough` except the pinned
 * records; `cleared-results` hides the results of the named calls. The log keeps everything.
 *
 * **Gotchas**
 *
 * A summary names in `clearedCallIds` every call behind it whose result stays hidden: earlier ones are forgotten with it.
 *
 * @category payloads
 * @since 0.1.0
 */
export const Compacted = compacted.payload
/** @since 0.1.0 */
export interface Compacted extends Schema.Schema.Type<typeof Compacted> {}

const runEnded = define(
  "RunEnded",
  { runId: RunId, outcome: RunOutcome, mode: Mode, usage: Usage },
  { error: optional(Failure) }
)

/**
 * A run is over. `usage` is the total of its model calls.
 *
 * @category payloads
 * @since 0.1.0
 */
export const RunEnded = runEnded.payload
/** @since 0.1.0 */
export interface RunEnded extends Schema.Schema.Type<typeof RunEnded> {}

const submissionAccepted = define(
  "SubmissionAccepted",
  { submissionId: SubmissionId, agent: AgentName },
  { contentDigest: Digest, input: Json, options: optional(Schema.Unknown) }
)

/**
 * The durable host has accepted an input and owes its settlement.
 *
 * @category payloads
 * @since 0.1.0
 */
export const SubmissionAccepted = submissionAccepted.payload
/** @since 0.1.0 */
export interface SubmissionAccepted extends Schema.Schema.Type<typeof SubmissionAccepted> {}

const cancelRequested = define(
  "CancelRequested",
  { submissionId: SubmissionId },
  { author: optional(Text), reason: optional(Text) }
)

/**
 * Somebody asked the durable host to stop a submission.
 *
 * @category payloads
 * @since 0.1.0
 */
export const CancelRequested = cancelRequested.payload
/** @since 0.1.0 */
export interface CancelRequested extends Schema.Schema.Type<typeof CancelRequested> {}

const submissionSettled = define(
  "SubmissionSettled",
  { submissionId: SubmissionId, outcome: Schema.Literals(["completed", "failed", "cancelled"]) },
  { error: optional(Failure) }
)

/**
 * The one recorded outcome of a submission.
 *
 * @category payloads
 * @since 0.1.0
 */
export const SubmissionSettled = submissionSettled.payload
/** @since 0.1.0 */
export interface SubmissionSettled extends Schema.Schema.Type<typeof SubmissionSettled> {}

const forked = define(
  "Forked",
  { from: Schema.Struct({ conversationId: ConversationId, sequence: Sequence, digest: Digest }) },
  {}
)

/**
 * This log was forked here from another; the runs and approvals that were open are closed by it.
 *
 * @category payloads
 * @since 0.1.0
 */
export const Forked = forked.payload
/** @since 0.1.0 */
export interface Forked extends Schema.Schema.Type<typeof Forked> {}

const contentRedacted = define(
  "ContentRedacted",
  { sequences: Schema.Array(Sequence) },
  { reason: Text, author: optional(Text) }
)

/**
 * The payloads of the named records were removed.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ContentRedacted = contentRedacted.payload
/** @since 0.1.0 */
export interface ContentRedacted extends Schema.Schema.Type<typeof ContentRedacted> {}

const repairAnnotated = define("RepairAnnotated", { subjects: Schema.Array(RecordId) }, { reason: Text })

/**
 * The log was mended; says why and names the records it is about.
 *
 * @category payloads
 * @since 0.1.0
 */
export const RepairAnnotated = repairAnnotated.payload
/** @since 0.1.0 */
export interface RepairAnnotated extends Schema.Schema.Type<typeof RepairAnnotated> {}

const custom = define("Custom", { name: Schema.NonEmptyString }, { data: Json })

/**
 * A fact of somebody's own runtime; the reducer ignores it.
 *
 * @category payloads
 * @since 0.1.0
 */
export const Custom = custom.payload
/** @since 0.1.0 */
export interface Custom extends Schema.Schema.Type<typeof Custom> {}

// --- the unions ---

/**
 * What survives the redaction of a payload. Every payload but {@link ModelResponded} is a superset of its own facts.
 *
 * @category models
 * @since 0.1.0
 */
export const Facts = Schema.Union([
  conversationCreated.facts,
  metadataChanged.facts,
  runStarted.facts,
  runSuspended.facts,
  runResumed.facts,
  inputRecorded.facts,
  ModelRespondedFacts,
  toolCallStarted.facts,
  toolCallSettled.facts,
  approvalRequested.facts,
  approvalResolved.facts,
  modeChanged.facts,
  handedOff.facts,
  backgroundStarted.facts,
  backgroundSettled.facts,
  compacted.facts,
  runEnded.facts,
  submissionAccepted.facts,
  cancelRequested.facts,
  submissionSettled.facts,
  forked.facts,
  contentRedacted.facts,
  repairAnnotated.facts,
  custom.facts
])
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
  ConversationCreated,
  MetadataChanged,
  RunStarted,
  RunSuspended,
  RunResumed,
  InputRecorded,
  ModelResponded,
  ToolCallStarted,
  ToolCallSettled,
  ApprovalRequested,
  ApprovalResolved,
  ModeChanged,
  HandedOff,
  BackgroundStarted,
  BackgroundSettled,
  Compacted,
  RunEnded,
  SubmissionAccepted,
  CancelRequested,
  SubmissionSettled,
  Forked,
  ContentRedacted,
  RepairAnnotated,
  Custom
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

// --- internal ---

// Structs strip what they do not declare: decoding a payload as facts removes exactly what a redaction removes.
const keptFields = Schema.decodeUnknownSync(Facts)
