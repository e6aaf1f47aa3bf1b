/**
 * What the reducer knows of a conversation: small, plain, immutable, and encodable, so that it can be a checkpoint.
 *
 * It does not grow with the log and copies no message: it holds what is open, what is owed, and which part of the log a
 * model still sees.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { AgentName, ApprovalId, ConversationId, RunId, SubmissionId, ToolCallId } from "./Ids.ts"
import { Digest, GrantScope, Mode, RunOutcome, Sequence } from "./Payload.ts"
import * as Usage from "./Usage.ts"

/**
 * The version of this shape. A checkpoint of another one is not used.
 *
 * @category constants
 * @since 0.1.0
 */
export const stateVersion = 1

const optional = Schema.optionalKey

/**
 * A run that has not ended. `step` is that of its last model call (0 before the first), `attempt` counts owners.
 *
 * @category models
 * @since 0.1.0
 */
export const OpenRun = Schema.Struct({
  runId: RunId,
  agent: AgentName,
  mode: Mode,
  status: Schema.Literals(["running", "suspended"]),
  startedAt: Sequence,
  step: Schema.Natural,
  attempt: Schema.Natural,
  usage: Usage.Usage
})
/** @since 0.1.0 */
export interface OpenRun extends Schema.Schema.Type<typeof OpenRun> {}

/**
 * The run that ended last.
 *
 * @category models
 * @since 0.1.0
 */
export const EndedRun = Schema.Struct({
  runId: RunId,
  agent: AgentName,
  mode: Mode,
  outcome: RunOutcome,
  endedAt: Sequence
})
/** @since 0.1.0 */
export interface EndedRun extends Schema.Schema.Type<typeof EndedRun> {}

/**
 * A call without a result whose run is alive. `attempt` is 0 until its handler starts; `declaredAt` is the sequence of
 * the response that declares it.
 *
 * @category models
 * @since 0.1.0
 */
export const OpenCall = Schema.Struct({
  callId: ToolCallId,
  name: Schema.String,
  runId: RunId,
  step: Schema.Natural,
  declaredAt: Sequence,
  attempt: Schema.Natural
})
/** @since 0.1.0 */
export interface OpenCall extends Schema.Schema.Type<typeof OpenCall> {}

/**
 * A request that nobody has decided. Without `parametersDigest` (redacted) no decision can be bound to it.
 *
 * @category models
 * @since 0.1.0
 */
export const OpenApproval = Schema.Struct({
  approvalId: ApprovalId,
  callId: ToolCallId,
  runId: RunId,
  name: Schema.String,
  parametersDigest: optional(Digest)
})
/** @since 0.1.0 */
export interface OpenApproval extends Schema.Schema.Type<typeof OpenApproval> {}

/**
 * An approval that covers later calls of a tool, with `parametersDigest` only calls with exactly these parameters.
 *
 * @category models
 * @since 0.1.0
 */
export const Grant = Schema.Struct({ name: Schema.String, scope: GrantScope, parametersDigest: optional(Digest) })
/** @since 0.1.0 */
export interface Grant extends Schema.Schema.Type<typeof Grant> {}

/**
 * A background task that is going on.
 *
 * @category models
 * @since 0.1.0
 */
export const BackgroundTask = Schema.Struct({
  taskId: Schema.String,
  agent: AgentName,
  conversationId: ConversationId
})
/** @since 0.1.0 */
export interface BackgroundTask extends Schema.Schema.Type<typeof BackgroundTask> {}

/**
 * A background task that has settled while no input has told the agent so; `settledAt` is the sequence of the outcome.
 *
 * @category models
 * @since 0.1.0
 */
export const UndeliveredTask = Schema.Struct({ taskId: Schema.String, settledAt: Sequence })
/** @since 0.1.0 */
export interface UndeliveredTask extends Schema.Schema.Type<typeof UndeliveredTask> {}

/**
 * A submission that the durable host still owes a settlement.
 *
 * @category models
 * @since 0.1.0
 */
export const OpenSubmission = Schema.Struct({
  submissionId: SubmissionId,
  acceptedAt: Sequence,
  cancelRequested: Schema.Boolean
})
/** @since 0.1.0 */
export interface OpenSubmission extends Schema.Schema.Type<typeof OpenSubmission> {}

/**
 * The part of the log that a model sees: the last summary, the pinned records, and everything from `visibleFrom` on,
 * with the results of the cleared calls hidden.
 *
 * @category models
 * @since 0.1.0
 */
export const Window = Schema.Struct({
  visibleFrom: Sequence,
  pinned: Schema.Array(Sequence),
  clearedCallIds: Schema.Array(ToolCallId),
  summaryAt: optional(Sequence)
})
/** @since 0.1.0 */
export interface Window extends Schema.Schema.Type<typeof Window> {}

/**
 * The state of a conversation after the record at `sequence` (0: after none).
 *
 * @category models
 * @since 0.1.0
 */
export const ConversationState = Schema.Struct({
  conversationId: ConversationId,
  sequence: Schema.Natural,
  epoch: Schema.Natural,
  agent: optional(AgentName),
  mode: Mode,
  runs: Schema.Array(OpenRun),
  lastEnded: optional(EndedRun),
  calls: Schema.Array(OpenCall),
  approvals: Schema.Array(OpenApproval),
  grants: Schema.Array(Grant),
  tasks: Schema.Array(BackgroundTask),
  undelivered: Schema.Array(UndeliveredTask),
  submissions: Schema.Array(OpenSubmission),
  usage: Schema.Struct({ answer: Usage.Usage, summary: Usage.Usage, background: Usage.Usage }),
  window: Window
})
/** @since 0.1.0 */
export interface ConversationState extends Schema.Schema.Type<typeof ConversationState> {}

/**
 * What a list of conversations shows: nothing goes on, a run has not ended, or people are waited for.
 *
 * @category models
 * @since 0.1.0
 */
export const Status = Schema.Literals(["idle", "unfinished", "awaiting-approval"])
/** @since 0.1.0 */
export type Status = typeof Status.Type
