/**
 * Logs of a conversation for the tests of the page: payloads in, records out, as the API would send them.
 */
import { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { ConversationId } from "@colloquy/session/Ids"
import * as Schema from "effect/Schema"

const decode = Schema.decodeUnknownSync(CanonicalRecord)

export const conversationId = ConversationId.make("c1")

/** A payload as JSON. */
export type Fact = { readonly _tag: string; readonly [field: string]: unknown }

/** Records in order, one second apart, from `first` on. */
export const log = (facts: ReadonlyArray<Fact>, first = 1): ReadonlyArray<CanonicalRecord> =>
  facts.map((payload, place) =>
    decode({
      conversationId,
      sequence: first + place,
      recordId: `r${first + place}`,
      batchId: `b${first + place}`,
      at: 1_790_000_000_000 + (first + place) * 1000,
      epoch: 1,
      producerId: "p",
      schemaVersion: 1,
      digest: "0".repeat(64),
      payload
    })
  )

const usage = (input: number, output: number) => ({ inputTokens: { total: input }, outputTokens: { total: output } })

export const created: Fact = { _tag: "ConversationCreated", title: "a parcel" }
export const started: Fact = { _tag: "RunStarted", runId: "run", agent: "support", mode: "execute" }
export const said = (text: string, fields: object = {}): Fact => ({
  _tag: "InputRecorded",
  runId: "run",
  kind: "user",
  message: { role: "user", content: text },
  ...fields
})
export const responded = (step: number, content: ReadonlyArray<object>, fields: object = {}): Fact => ({
  _tag: "ModelResponded",
  runId: "run",
  step,
  agent: "support",
  model: "offline",
  usage: usage(100 * step, 10),
  finishReason: "stop",
  content,
  ...fields
})
export const text = (text: string) => ({ type: "text", text })
export const call = (id: string, params: object = {}) => ({ type: "tool-call", id, name: "refund_order", params })
const ofCall = (callId: string) => ({ runId: "run", step: 1, callId, name: "refund_order" })
export const callStarted = (callId: string): Fact => ({
  _tag: "ToolCallStarted",
  ...ofCall(callId),
  attempt: 1,
  parametersDigest: "1".repeat(64)
})
export const settled = (callId: string, outcome = "success", result: unknown = { cents: 990 }): Fact => ({
  _tag: "ToolCallSettled",
  ...ofCall(callId),
  outcome,
  isFailure: outcome === "failure",
  result
})
export const requested = (callId: string): Fact => ({
  _tag: "ApprovalRequested",
  runId: "run",
  approvalId: `a/${callId}`,
  callId,
  name: "refund_order",
  parametersDigest: "1".repeat(64)
})
export const resolved = (callId: string, decision: string, reason?: string): Fact => ({
  _tag: "ApprovalResolved",
  approvalId: `a/${callId}`,
  decision,
  scope: "once",
  ...(reason === undefined ? {} : { reason })
})
export const suspended: Fact = { _tag: "RunSuspended", runId: "run", approvalIds: ["a/c"], mode: "execute" }
export const ended = (outcome = "completed"): Fact => ({
  _tag: "RunEnded",
  runId: "run",
  outcome,
  mode: "execute",
  usage: usage(300, 20)
})
