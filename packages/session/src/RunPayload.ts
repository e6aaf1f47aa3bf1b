/**
 * What a run records, from its start to its end.
 *
 * @since 0.1.0
 */
import * as Response from "effect/ai/Response"
import * as Schema from "effect/Schema"
import * as EncodedMessage from "./EncodedMessage.ts"
import { AgentName, ApprovalId, RunId, ToolCallId } from "./Ids.ts"
import { define, inOrder, Json, Text } from "./internal/definePayload.ts"
import { Usage } from "./Usage.ts"
import {
  Digest,
  CallOutcome,
  Decision,
  DeclaredCall,
  Failure,
  GrantScope,
  InputKind,
  Mode,
  Ordinal,
  RunOutcome,
  Source
} from "./Vocabulary.ts"

const optional = Schema.optionalKey

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

/**
 * What survives the redaction of each of these payloads.
 *
 * @internal
 */
export const runFacts = [
  runStarted.facts,
  runSuspended.facts,
  runResumed.facts,
  inputRecorded.facts,
  ModelRespondedFacts,
  toolCallStarted.facts,
  toolCallSettled.facts,
  approvalRequested.facts,
  approvalResolved.facts,
  runEnded.facts
] as const
