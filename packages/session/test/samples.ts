/** One payload of each tag, with every field set. */
import * as Digest from "../src/Digest.ts"
import { AgentName, ApprovalId, ConversationId, RecordId, RunId, SubmissionId, ToolCallId } from "../src/Ids.ts"
import * as Payload from "../src/Payload.ts"
import type { Usage } from "../src/Usage.ts"

type Tag = Payload.Payload["_tag"]

type Samples = { readonly [T in Tag]: Extract<Payload.Payload, { readonly _tag: T }> }

const runId = RunId.make("run-1")
const agent = AgentName.make("desk")
const callId = ToolCallId.make("call_1")
const approvalId = ApprovalId.make("approval-1")
const submissionId = SubmissionId.make("submission-1")
const digest = Digest.text("something")

export const usage: Usage = {
  inputTokens: { uncached: 10, total: 30, cacheRead: 15, cacheWrite: 5 },
  outputTokens: { total: 7, text: 4, reasoning: 3 }
}

const written = {
  ConversationCreated: {
    _tag: "ConversationCreated",
    title: "A lost suitcase",
    instructions: "Be kind. \u{1f600}",
    metadata: { shop: 7, tags: ["a", null, true], nested: { empty: {} } }
  },
  MetadataChanged: { _tag: "MetadataChanged", title: "A found suitcase", metadata: [] },
  RunStarted: {
    _tag: "RunStarted",
    runId,
    agent,
    mode: "execute",
    toolsDigest: digest,
    conversationKey: "desk/42",
    workKey: "mail 42"
  },
  RunSuspended: { _tag: "RunSuspended", runId, approvalIds: [approvalId], mode: "plan" },
  RunResumed: { _tag: "RunResumed", runId, attempt: 2, cause: "decision", agent },
  InputRecorded: {
    _tag: "InputRecorded",
    runId,
    kind: "user",
    inputId: "input-1",
    message: {
      role: "user",
      content: [
        {
          type: "text",
          text: "Where is it? \u0000 \\u0000",
          options: { anthropic: { cacheControl: { type: "ephemeral" } } }
        },
        { type: "file", mediaType: "image/png", fileName: "tag.png", data: { _tag: "Uint8Array", base64: "AQID" } },
        { type: "file", mediaType: "image/png", data: { _tag: "URL", href: "https://example.invalid/tag.png" } }
      ],
      options: { openai: null }
    },
    author: "Ann",
    context: "She wrote twice."
  },
  ModelResponded: {
    _tag: "ModelResponded",
    runId,
    step: 1,
    agent,
    provider: "anthropic",
    model: "some-model",
    toolsDigest: digest,
    usage,
    estimatedInputTokens: 29,
    finishReason: "tool-calls",
    partial: true,
    content: [
      { type: "reasoning", text: "Ask the belt.", options: { anthropic: { signature: "c2ln" } } },
      { type: "text", text: "One moment." },
      { type: "file", mediaType: "text/plain", data: "aGk=" },
      { type: "tool-call", id: callId, name: "track", params: { tag: "LH1" }, options: { openai: { itemId: "fc_1" } } },
      { type: "tool-call", id: "srv_1", name: "web_search", params: { query: "belt" }, providerExecuted: true },
      {
        type: "tool-result",
        id: "srv_1",
        name: "web_search",
        isFailure: false,
        result: [1.5, "two"],
        modelOutput: [{ type: "text", text: "two" }],
        providerExecuted: true
      },
      { type: "tool-approval-request", approvalId, toolCallId: callId }
    ],
    sources: [{ type: "source", sourceType: "url", id: "s1", url: "https://example.invalid/", title: "Belts" }],
    responseId: "resp_1"
  },
  ToolCallStarted: {
    _tag: "ToolCallStarted",
    runId,
    step: 1,
    callId,
    name: "track",
    attempt: 1,
    parametersDigest: digest
  },
  ToolCallSettled: {
    _tag: "ToolCallSettled",
    runId,
    step: 1,
    callId,
    name: "track",
    outcome: "success",
    isFailure: false,
    result: { belt: 4, photo: null },
    modelOutput: [
      { type: "text", text: "belt 4" },
      { type: "file", mediaType: "image/png", data: { _tag: "Uint8Array", base64: "AQID" } }
    ],
    shownBytes: 16
  },
  ApprovalRequested: {
    _tag: "ApprovalRequested",
    runId,
    approvalId,
    callId,
    name: "track",
    parametersDigest: digest
  },
  ApprovalResolved: {
    _tag: "ApprovalResolved",
    approvalId,
    decision: "answered",
    scope: "once",
    result: { belt: 5 },
    reason: "I see it from here.",
    author: "Bea"
  },
  ModeChanged: { _tag: "ModeChanged", mode: "plan" },
  HandedOff: { _tag: "HandedOff", from: agent, to: AgentName.make("luggage"), reason: "They know more." },
  BackgroundStarted: {
    _tag: "BackgroundStarted",
    taskId: "task-1",
    agent: AgentName.make("scout"),
    conversationId: ConversationId.make("child/1")
  },
  BackgroundSettled: { _tag: "BackgroundSettled", taskId: "task-1", outcome: "completed", usage, summary: "Found it." },
  Compacted: {
    _tag: "Compacted",
    kind: "summary",
    coversThrough: 4,
    clearedCallIds: [callId],
    pinned: [2, 3],
    model: "small-model",
    usage,
    summary: "A suitcase was lost and found."
  },
  RunEnded: {
    _tag: "RunEnded",
    runId,
    outcome: "failed",
    mode: "execute",
    usage,
    error: { tag: "RateLimitError", message: "try later" }
  },
  SubmissionAccepted: {
    _tag: "SubmissionAccepted",
    submissionId,
    agent,
    contentDigest: digest,
    input: { text: "Where is it?" },
    options: { mode: "execute" }
  },
  CancelRequested: { _tag: "CancelRequested", submissionId, author: "Ann", reason: "found it" },
  SubmissionSettled: {
    _tag: "SubmissionSettled",
    submissionId,
    outcome: "failed",
    error: { tag: "Lost", message: "three owners died" }
  },
  Forked: { _tag: "Forked", from: { conversationId: ConversationId.make("parent"), sequence: 9, digest } },
  ContentRedacted: { _tag: "ContentRedacted", sequences: [2, 5], reason: "she asked", author: "Bea" },
  RepairAnnotated: { _tag: "RepairAnnotated", subjects: [RecordId.make("r/2")], reason: "its result never came" },
  Custom: { _tag: "Custom", name: "desk.rating", data: { stars: 5 } }
} satisfies Omit<Samples, "Redacted">

export const samples: Samples = { ...written, Redacted: Payload.redact(written.ModelResponded) }

/** The samples that a producer may write. */
export const writable: ReadonlyArray<Payload.Written> = Object.values(written)

export const tags = Payload.Payload.members.map((member) => member.fields._tag.schema.literal)
