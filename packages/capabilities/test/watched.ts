/** Records of one run, as watchers are shown them. */
import { type CanonicalRecord, Digest, Ids, type Payload } from "@colloquy/session"

export const conversationId = Ids.ConversationId.make("ticket-42")
export const runId = Ids.RunId.make("r1")
export const agent = Ids.AgentName.make("desk")

export const recordOf = (sequence: number, payload: Payload.Written): CanonicalRecord.CanonicalRecord => ({
  conversationId,
  sequence,
  recordId: Ids.RecordId.make(`record-${sequence}`),
  batchId: Ids.BatchId.make(`batch-${sequence}`),
  at: 0,
  epoch: 1,
  producerId: Ids.ProducerId.make("p"),
  schemaVersion: 1,
  digest: Digest.empty,
  payload
})

export const responded = (step: number, text: string): Payload.Written => ({
  _tag: "ModelResponded",
  runId,
  step,
  agent,
  finishReason: "stop",
  content: [{ type: "text", text, options: {} }]
})

const started = { _tag: "ToolCallStarted" as const, runId, step: 1, attempt: 1, name: "look_up" }
export const toolStarted: Payload.ToolCallStarted = {
  ...started,
  callId: Ids.ToolCallId.make("c1"),
  parametersDigest: Digest.text("{}")
}
