/** The log of a run, as a runtime records it. */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Digest from "@colloquy/session/Digest"
import { AgentName, BatchId, ConversationId, ProducerId, RecordId, RunId, ToolCallId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Usage from "@colloquy/session/Usage"

export const runId = RunId.make("run-1")
export const conversationId = ConversationId.make("desk/1")
const agent = AgentName.make("desk")

/** Records of these payloads in order; those in a list are of one batch. */
export const log = (...payloads: ReadonlyArray<Payload.Payload | ReadonlyArray<Payload.Payload>>) => {
  const records: Array<CanonicalRecord> = []
  for (const [i, given] of payloads.entries()) {
    for (const payload of Array.isArray(given) ? given : [given]) {
      const sequence = records.length + 1
      records.push({
        conversationId,
        sequence,
        recordId: RecordId.make(`r${sequence}`),
        batchId: BatchId.make(`b${i}`),
        at: 1_000 + sequence,
        epoch: 1,
        producerId: ProducerId.make("p"),
        schemaVersion: 1,
        digest: Digest.empty,
        payload
      })
    }
  }
  return records
}

export const started = (fields: Partial<Payload.RunStarted> = {}): Payload.RunStarted => ({
  _tag: "RunStarted",
  runId,
  agent,
  mode: "execute",
  conversationKey: "slack:D1",
  workKey: "m1",
  ...fields
})

export const said = (
  content: Payload.InputRecorded["message"]["content"],
  fields: Partial<Payload.InputRecorded> = {}
): Payload.InputRecorded => ({
  _tag: "InputRecorded",
  runId,
  kind: "user",
  message: { role: "user", content },
  ...fields
})

type Content = Payload.ModelResponded["content"]

export const responded = (
  step: number,
  content: string | Content,
  fields: Partial<Payload.ModelResponded> = {}
): Payload.ModelResponded => ({
  _tag: "ModelResponded",
  runId,
  step,
  agent,
  finishReason: "stop",
  content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  ...fields
})

export const called = (id: string, name: string, params: unknown): Content[number] => ({
  type: "tool-call",
  id,
  name,
  params
})

export const settled = (
  step: number,
  callId: string,
  outcome: Payload.CallOutcome,
  result: unknown,
  fields: Partial<Payload.ToolCallSettled> = {}
): Payload.ToolCallSettled => ({
  _tag: "ToolCallSettled",
  runId,
  step,
  callId: ToolCallId.make(callId),
  name: "tool",
  outcome,
  isFailure: outcome === "failure",
  result,
  ...fields
})

export const ended = (
  outcome: Payload.RunOutcome = "completed",
  fields: Partial<Payload.RunEnded> = {}
): Payload.RunEnded => ({
  _tag: "RunEnded",
  runId,
  outcome,
  mode: "execute",
  usage: Usage.empty,
  ...fields
})
