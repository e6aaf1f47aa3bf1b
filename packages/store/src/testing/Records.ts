/**
 * Short words for batches and payloads, so that a case reads as the log it is about.
 *
 * @since 0.1.0
 */
import { type Batch, encodePayload } from "@colloquy/session/CanonicalRecord"
import * as Digest from "@colloquy/session/Digest"
import { AgentName, ApprovalId, BatchId, RecordId, RunId, ToolCallId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Usage from "@colloquy/session/Usage"
import * as Result from "effect/Result"

type Of<Tag extends Payload.Written["_tag"]> = Extract<Payload.Written, { readonly _tag: Tag }>

/**
 * The time of every record, unless a case says another: order does not come from it.
 *
 * @category constants
 * @since 0.1.0
 */
export const at = 1_700_000_000_000

/**
 * A batch of these payloads. Its records are named by the batch and their place in it: `b/0`, `b/1`.
 *
 * @category batches
 * @since 0.1.0
 */
export const batch = (id: string, ...payloads: ReadonlyArray<Payload.Written>): Batch => ({
  batchId: BatchId.make(id),
  records: payloads.map((payload, i) => ({ recordId: RecordId.make(`${id}/${i}`), at, payload }))
})

/**
 * A batch of so many notes.
 *
 * @category batches
 * @since 0.1.0
 */
export const notes = (id: string, count = 1): Batch =>
  batch(id, ...Array.from({ length: count }, (_, i) => note(`${id}, note ${i}`)))

/**
 * The same batch with other record ids.
 *
 * @category batches
 * @since 0.1.0
 */
export const withIds = (batch: Batch, ...ids: ReadonlyArray<string>): Batch => ({
  ...batch,
  records: batch.records.map((record, i) => ({ ...record, recordId: RecordId.make(ids[i] ?? record.recordId) }))
})

/**
 * The same batch, made at another time.
 *
 * @category batches
 * @since 0.1.0
 */
export const withTime = (batch: Batch, at: number): Batch => ({
  ...batch,
  records: batch.records.map((record) => ({ ...record, at }))
})

/**
 * The conversation exists.
 *
 * @category payloads
 * @since 0.1.0
 */
export const created = (fields: Partial<Of<"ConversationCreated">> = {}): Of<"ConversationCreated"> => ({
  ...fields,
  _tag: "ConversationCreated"
})

/**
 * A fact of somebody's own: any JSON.
 *
 * @category payloads
 * @since 0.1.0
 */
export const note = (data: unknown): Of<"Custom"> => ({ _tag: "Custom", name: "note", data })

/**
 * A note whose canonical JSON has exactly so many bytes.
 *
 * @category payloads
 * @since 0.1.0
 */
export const noteOfBytes = (bytes: number): Of<"Custom"> =>
  note("x".repeat(bytes - Result.getOrThrow(encodePayload(note(""))).length))

/**
 * A note whose JSON has so many levels; its own object is the first.
 *
 * @category payloads
 * @since 0.1.0
 */
export const noteOfDepth = (levels: number): Of<"Custom"> => {
  let data: unknown = []
  for (let level = 2; level < levels; level++) data = [data]
  return note(data)
}

/**
 * A run began.
 *
 * @category payloads
 * @since 0.1.0
 */
export const started = (run = "r1"): Of<"RunStarted"> => ({
  _tag: "RunStarted",
  runId: RunId.make(run),
  agent,
  mode: "execute"
})

/**
 * A person said something.
 *
 * @category payloads
 * @since 0.1.0
 */
export const said = (text: string, run = "r1"): Of<"InputRecorded"> => ({
  _tag: "InputRecorded",
  runId: RunId.make(run),
  kind: "user",
  message: { role: "user", content: text }
})

/**
 * A response that declares these calls.
 *
 * @category payloads
 * @since 0.1.0
 */
export const called = (step: number, ...callIds: ReadonlyArray<string>): Of<"ModelResponded"> => ({
  _tag: "ModelResponded",
  runId: RunId.make("r1"),
  step,
  agent,
  finishReason: "tool-calls",
  content: callIds.map((id) => ({ type: "tool-call", id, name: tool, params: { id } }))
})

/**
 * A response that declares a call which the provider itself runs.
 *
 * @category payloads
 * @since 0.1.0
 */
export const calledByProvider = (step: number, id: string): Of<"ModelResponded"> => ({
  ...called(step),
  finishReason: "stop",
  content: [{ type: "tool-call", id, name: tool, params: {}, providerExecuted: true }]
})

/**
 * A call has its result.
 *
 * @category payloads
 * @since 0.1.0
 */
export const settled = (step: number, callId: string): Of<"ToolCallSettled"> => ({
  _tag: "ToolCallSettled",
  runId: RunId.make("r1"),
  step,
  callId: ToolCallId.make(callId),
  name: tool,
  outcome: "success",
  isFailure: false,
  result: null
})

/**
 * A call waits for a person.
 *
 * @category payloads
 * @since 0.1.0
 */
export const asked = (callId: string): Of<"ApprovalRequested"> => ({
  _tag: "ApprovalRequested",
  runId: RunId.make("r1"),
  approvalId: ApprovalId.make(`approve ${callId}`),
  callId: ToolCallId.make(callId),
  name: tool,
  parametersDigest: Digest.text(callId)
})

/**
 * The run waits for people.
 *
 * @category payloads
 * @since 0.1.0
 */
export const suspended = (...callIds: ReadonlyArray<string>): Of<"RunSuspended"> => ({
  _tag: "RunSuspended",
  runId: RunId.make("r1"),
  approvalIds: callIds.map((id) => ApprovalId.make(`approve ${id}`)),
  mode: "execute"
})

/**
 * The run goes on after a decision.
 *
 * @category payloads
 * @since 0.1.0
 */
export const resumed = (): Of<"RunResumed"> => ({
  _tag: "RunResumed",
  runId: RunId.make("r1"),
  attempt: 2,
  cause: "decision",
  agent
})

/**
 * The run is over.
 *
 * @category payloads
 * @since 0.1.0
 */
export const ended = (run = "r1"): Of<"RunEnded"> => ({
  _tag: "RunEnded",
  runId: RunId.make(run),
  outcome: "completed",
  mode: "execute",
  usage: Usage.empty
})

/**
 * The conversation has another title.
 *
 * @category payloads
 * @since 0.1.0
 */
export const renamed = (title: string): Of<"MetadataChanged"> => ({ _tag: "MetadataChanged", title })

// --- internal ---

const agent = AgentName.make("agent")
const tool = "search"
