/** Short words for records, so that a test reads as the log it is about. */
import type * as Prompt from "effect/ai/Prompt"
import type { CanonicalRecord } from "../src/CanonicalRecord.ts"
import * as Digest from "../src/Digest.ts"
import {
  AgentName,
  ApprovalId,
  BatchId,
  ConversationId,
  ProducerId,
  RecordId,
  RunId,
  SubmissionId,
  ToolCallId
} from "../src/Ids.ts"
import type * as Payload from "../src/Payload.ts"
import * as Usage from "../src/Usage.ts"

type Of<Tag extends Payload.Payload["_tag"]> = Extract<Payload.Payload, { readonly _tag: Tag }>
type Rest<Tag extends Payload.Payload["_tag"]> = Partial<Omit<Of<Tag>, "_tag">>
type Part = Prompt.AssistantMessagePartEncoded

export const conversationId = ConversationId.make("conversation")
const agent = AgentName.make("desk")
const firstRun = RunId.make("r1")

export const run = (name: string) => RunId.make(name)

// --- records ---

export const recordAt = (
  sequence: number,
  payload: Payload.Payload,
  fields: Partial<CanonicalRecord> = {}
): CanonicalRecord => ({
  conversationId,
  sequence,
  recordId: RecordId.make(`record-${sequence}`),
  batchId: BatchId.make(`batch-${sequence}`),
  at: 1_700_000_000_000 + sequence,
  epoch: 1,
  producerId: ProducerId.make("producer"),
  schemaVersion: 1,
  digest: Digest.text(`${sequence}`),
  payload,
  ...fields
})

/** The payloads as records 1, 2, 3… */
export const log = (...payloads: ReadonlyArray<Payload.Payload>): Array<CanonicalRecord> =>
  payloads.map((payload, i) => recordAt(i + 1, payload))

// --- payloads ---

export const created = (rest: Rest<"ConversationCreated"> = {}): Of<"ConversationCreated"> => ({
  _tag: "ConversationCreated",
  ...rest
})

export const started = (name = "r1", rest: Rest<"RunStarted"> = {}): Of<"RunStarted"> => ({
  _tag: "RunStarted",
  runId: run(name),
  agent,
  mode: "execute",
  ...rest
})

export const suspended = (...approvals: ReadonlyArray<string>): Of<"RunSuspended"> => ({
  _tag: "RunSuspended",
  runId: firstRun,
  approvalIds: approvals.map((id) => ApprovalId.make(id)),
  mode: "execute"
})

export const resumed = (attempt: number, rest: Rest<"RunResumed"> = {}): Of<"RunResumed"> => ({
  _tag: "RunResumed",
  runId: firstRun,
  attempt,
  cause: "decision",
  agent,
  ...rest
})

export const said = (text: string, rest: Rest<"InputRecorded"> = {}): Of<"InputRecorded"> => ({
  _tag: "InputRecorded",
  runId: firstRun,
  kind: "user",
  message: { role: "user", content: [{ type: "text", text }] },
  ...rest
})

export const responded = (
  step: number,
  content: string | ReadonlyArray<Part>,
  rest: Rest<"ModelResponded"> = {}
): Of<"ModelResponded"> => ({
  _tag: "ModelResponded",
  runId: firstRun,
  step,
  agent,
  finishReason: "stop",
  content: typeof content === "string" ? [text(content)] : content,
  ...rest
})

export const startedCall = (step: number, callId: string, attempt = 1): Of<"ToolCallStarted"> => ({
  _tag: "ToolCallStarted",
  runId: firstRun,
  step,
  callId: ToolCallId.make(callId),
  name: "search",
  attempt,
  parametersDigest: Digest.text(callId)
})

export const settled = (
  step: number,
  callId: string,
  result: unknown = `result of ${callId}`,
  rest: Rest<"ToolCallSettled"> = {}
): Of<"ToolCallSettled"> => ({
  _tag: "ToolCallSettled",
  runId: firstRun,
  step,
  callId: ToolCallId.make(callId),
  name: "search",
  outcome: "success",
  isFailure: false,
  result,
  ...rest
})

export const requested = (
  approvalId: string,
  callId: string,
  rest: Rest<"ApprovalRequested"> = {}
): Of<"ApprovalRequested"> => ({
  _tag: "ApprovalRequested",
  runId: firstRun,
  approvalId: ApprovalId.make(approvalId),
  callId: ToolCallId.make(callId),
  name: "search",
  parametersDigest: Digest.text(callId),
  ...rest
})

export const resolved = (
  approvalId: string,
  decision: Payload.Decision,
  rest: Rest<"ApprovalResolved"> = {}
): Of<"ApprovalResolved"> => ({
  _tag: "ApprovalResolved",
  approvalId: ApprovalId.make(approvalId),
  decision,
  scope: "once",
  ...rest
})

export const modeChanged = (mode: string): Of<"ModeChanged"> => ({ _tag: "ModeChanged", mode })

export const handedOff = (from: string, to: string): Of<"HandedOff"> => ({
  _tag: "HandedOff",
  from: AgentName.make(from),
  to: AgentName.make(to)
})

export const taskStarted = (taskId: string): Of<"BackgroundStarted"> => ({
  _tag: "BackgroundStarted",
  taskId,
  agent: AgentName.make("scout"),
  conversationId: ConversationId.make(`child/${taskId}`)
})

export const taskSettled = (taskId: string, rest: Rest<"BackgroundSettled"> = {}): Of<"BackgroundSettled"> => ({
  _tag: "BackgroundSettled",
  taskId,
  outcome: "completed",
  ...rest
})

export const summarised = (coversThrough: number, rest: Rest<"Compacted"> = {}): Of<"Compacted"> => ({
  _tag: "Compacted",
  kind: "summary",
  coversThrough,
  pinned: [],
  summary: `all until ${coversThrough}`,
  ...rest
})

export const cleared = (coversThrough: number, ...callIds: ReadonlyArray<string>): Of<"Compacted"> => ({
  _tag: "Compacted",
  kind: "cleared-results",
  coversThrough,
  pinned: [],
  clearedCallIds: callIds.map((id) => ToolCallId.make(id))
})

export const ended = (rest: Rest<"RunEnded"> = {}): Of<"RunEnded"> => ({
  _tag: "RunEnded",
  runId: firstRun,
  outcome: "completed",
  mode: "execute",
  usage: Usage.empty,
  ...rest
})

export const accepted = (submissionId: string): Of<"SubmissionAccepted"> => ({
  _tag: "SubmissionAccepted",
  submissionId: SubmissionId.make(submissionId),
  agent,
  contentDigest: Digest.text(submissionId),
  input: "please"
})

export const cancelled = (submissionId: string): Of<"CancelRequested"> => ({
  _tag: "CancelRequested",
  submissionId: SubmissionId.make(submissionId)
})

export const submissionSettled = (submissionId: string): Of<"SubmissionSettled"> => ({
  _tag: "SubmissionSettled",
  submissionId: SubmissionId.make(submissionId),
  outcome: "completed"
})

export const forked = (): Of<"Forked"> => ({
  _tag: "Forked",
  from: { conversationId: ConversationId.make("parent"), sequence: 1, digest: Digest.empty }
})

// --- parts ---

export const text = (text: string): Part => ({ type: "text", text })

export const reasoning = (
  text: string,
  options: Prompt.ProviderOptions = { anthropic: { signature: "c2ln" } }
): Part => ({
  type: "reasoning",
  text,
  options
})

export const call = (id: string, name = "search", rest: Partial<Prompt.ToolCallPartEncoded> = {}): Part => ({
  type: "tool-call",
  id,
  name,
  params: { q: id },
  ...rest
})

export const executedCall = (id: string): Part => call(id, "web_search", { providerExecuted: true })

export const executedResult = (id: string, result: unknown = "found"): Part => ({
  type: "tool-result",
  id,
  name: "web_search",
  isFailure: false,
  result,
  providerExecuted: true
})
