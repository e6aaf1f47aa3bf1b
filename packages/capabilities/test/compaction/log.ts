/** Short words for records, and a log that grows by them and breaks no rule. */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import * as Digest from "@colloquy/session/Digest"
import {
  AgentName,
  ApprovalId,
  BatchId,
  ConversationId,
  ProducerId,
  RecordId,
  RunId,
  ToolCallId
} from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Usage from "@colloquy/session/Usage"
import type * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"

type Of<Tag extends Payload.Written["_tag"]> = Extract<Payload.Written, { readonly _tag: Tag }>
type Rest<Tag extends Payload.Written["_tag"]> = Partial<Omit<Of<Tag>, "_tag">>
export type Part = Prompt.AssistantMessagePartEncoded

export const conversationId = ConversationId.make("conversation")
const agent = AgentName.make("desk")

/** A log, and the state behind its last record. */
export class Log {
  state = Conversation.initial(conversationId)
  readonly all: Array<CanonicalRecord> = []

  constructor(...payloads: ReadonlyArray<Payload.Written>) {
    this.add(...payloads)
  }

  add(...payloads: ReadonlyArray<Payload.Payload>): this {
    for (const payload of payloads) {
      const record = recordAt(this.all.length + 1, payload)
      this.state = Result.getOrThrow(Conversation.evolve(this.state, record))
      this.all.push(record)
    }
    return this
  }

  /** What a writer has at hand. */
  get records(): ReadonlyArray<CanonicalRecord> {
    const { pinned, visibleFrom } = this.state.window
    return this.all.filter(({ sequence }) => sequence >= visibleFrom || pinned.includes(sequence))
  }
}

export const recordAt = (sequence: number, payload: Payload.Payload): CanonicalRecord => ({
  conversationId,
  sequence,
  recordId: RecordId.make(`record-${sequence}`),
  batchId: BatchId.make(`batch-${sequence}`),
  at: 1_700_000_000_000 + sequence * 1000,
  epoch: 1,
  producerId: ProducerId.make("producer"),
  schemaVersion: 1,
  digest: Digest.empty,
  payload
})

export const created = (rest: Rest<"ConversationCreated"> = {}): Of<"ConversationCreated"> => ({
  _tag: "ConversationCreated",
  ...rest
})

export const started = (run: string): Of<"RunStarted"> => ({
  _tag: "RunStarted",
  runId: RunId.make(run),
  agent,
  mode: "execute"
})

export const suspended = (run: string, ...approvals: ReadonlyArray<string>): Of<"RunSuspended"> => ({
  _tag: "RunSuspended",
  runId: RunId.make(run),
  approvalIds: approvals.map((id) => ApprovalId.make(id)),
  mode: "execute"
})

export const resumed = (run: string, attempt: number): Of<"RunResumed"> => ({
  _tag: "RunResumed",
  runId: RunId.make(run),
  attempt,
  cause: "decision",
  agent
})

export const said = (run: string, text: string, kind: Payload.InputKind = "user"): Of<"InputRecorded"> => ({
  _tag: "InputRecorded",
  runId: RunId.make(run),
  kind,
  message: { role: "user", content: [{ type: "text", text }] }
})

export const responded = (
  run: string,
  step: number,
  content: string | ReadonlyArray<Part>,
  rest: Rest<"ModelResponded"> = {}
): Of<"ModelResponded"> => ({
  _tag: "ModelResponded",
  runId: RunId.make(run),
  step,
  agent,
  finishReason: "stop",
  content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  ...rest
})

export const settled = (
  run: string,
  step: number,
  callId: string,
  result: unknown,
  rest: Rest<"ToolCallSettled"> = {}
): Of<"ToolCallSettled"> => ({
  _tag: "ToolCallSettled",
  runId: RunId.make(run),
  step,
  callId: ToolCallId.make(callId),
  name: "search",
  outcome: "success",
  isFailure: false,
  result,
  ...rest
})

export const requested = (run: string, approvalId: string, callId: string): Of<"ApprovalRequested"> => ({
  _tag: "ApprovalRequested",
  runId: RunId.make(run),
  approvalId: ApprovalId.make(approvalId),
  callId: ToolCallId.make(callId),
  name: "search",
  parametersDigest: Digest.text(callId)
})

export const resolved = (approvalId: string, decision: Payload.Decision): Of<"ApprovalResolved"> => ({
  _tag: "ApprovalResolved",
  approvalId: ApprovalId.make(approvalId),
  decision,
  scope: "once"
})

export const ended = (run: string, outcome: Payload.RunOutcome = "completed"): Of<"RunEnded"> => ({
  _tag: "RunEnded",
  runId: RunId.make(run),
  outcome,
  mode: "execute",
  usage: Usage.empty
})

export const call = (id: string, name = "search", params: unknown = { q: id }): Part => ({
  type: "tool-call",
  id,
  name,
  params
})

/** A text of about so many tokens. */
export const words = (tokens: number, word = "room"): string =>
  `${word} `.repeat(Math.ceil((tokens * 4) / (word.length + 1)))
