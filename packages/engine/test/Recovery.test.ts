import { Conversation, Digest, Ids, type Payload } from "@colloquy/session"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { Recovery } from "../src/index.ts"

const conversationId = Ids.ConversationId.make("c")
const runId = Ids.RunId.make("r")
const agent = Ids.AgentName.make("desk")
const callId = (id: string) => Ids.ToolCallId.make(id)
const usage = { inputTokens: {}, outputTokens: {} }

const created: Payload.Written = { _tag: "ConversationCreated" }
const started: Payload.Written = { _tag: "RunStarted", runId, agent, mode: "execute" }
const input: Payload.InputRecorded = {
  _tag: "InputRecorded",
  runId,
  kind: "user",
  message: { role: "user", content: [{ type: "text", text: "hi" }] }
}
const answered = (step: number, more: Partial<Payload.ModelResponded> = {}): Payload.Written => ({
  _tag: "ModelResponded",
  runId,
  step,
  agent,
  finishReason: "stop",
  content: [{ type: "text", text: "hello" }],
  ...more
})
const called = (step: number, ...ids: ReadonlyArray<string>): Payload.Written =>
  answered(step, {
    finishReason: "tool-calls",
    content: ids.map((id) => ({ type: "tool-call" as const, id, name: "look", params: {} }))
  })
const begun = (id: string): Payload.Written => ({
  _tag: "ToolCallStarted",
  runId,
  step: 1,
  callId: callId(id),
  name: "look",
  parametersDigest: Digest.text(""),
  attempt: 1
})
const settled = (id: string): Payload.Written => ({
  _tag: "ToolCallSettled",
  runId,
  step: 1,
  callId: callId(id),
  name: "look",
  outcome: "success",
  isFailure: false,
  result: null
})
const approvalOf = (id: string) => Ids.ApprovalId.make(`approval-${id}`)
const ended: Payload.Written = { _tag: "RunEnded", runId, outcome: "completed", mode: "execute", usage }

/** given a log, when it is classified, then … */
const given = (...payloads: ReadonlyArray<Payload.Written>) => {
  const records = payloads.map((payload, i) => ({
    conversationId,
    sequence: i + 1,
    recordId: Ids.RecordId.make(`x${i}`),
    batchId: Ids.BatchId.make(`b${i}`),
    at: 0,
    epoch: 1,
    producerId: Ids.ProducerId.make("p"),
    schemaVersion: 1,
    digest: Digest.empty,
    payload
  }))
  const state = Result.getOrThrow(Conversation.replay(Conversation.initial(conversationId), records))
  return Recovery.classify(state, records)
}

describe("Recovery.classify", () => {
  it("nothing has started", () => {
    const decision = given(created)
    assert.isTrue(decision._tag === "Nothing" && decision.reason === "never-started")
  })

  it("the last run has ended", () => {
    const decision = given(created, started, input, answered(1), ended)
    assert.isTrue(decision._tag === "Nothing" && decision.reason === "ended")
  })

  it("an input waits for the model", () => {
    assert.strictEqual(given(created, started, input)._tag, "CallModel")
  })

  it("every call has its result", () => {
    assert.strictEqual(given(created, started, input, called(1, "a"), begun("a"), settled("a"))._tag, "CallModel")
  })

  it("some calls have none: started ones and waiting ones apart, finished ones not at all", () => {
    const decision = given(created, started, input, called(1, "a", "b", "c"), begun("a"), begun("b"), settled("a"))
    assert.isTrue(decision._tag === "SettleCalls")
    if (decision._tag !== "SettleCalls") return
    assert.deepStrictEqual(
      decision.started.map(({ callId }) => callId),
      ["b"]
    )
    assert.deepStrictEqual(
      decision.waiting.map(({ callId }) => callId),
      ["c"]
    )
  })

  it("the answer is there and only the end is missing", () => {
    const decision = given(created, started, input, answered(1))
    assert.isTrue(decision._tag === "End" && decision.response.step === 1)
  })

  it.each([
    ["partial", { partial: true }],
    ["paused", { finishReason: "pause" }],
    ["length-limited", { finishReason: "length" }]
  ] as const)("a %s response is not final", (_, more) => {
    assert.strictEqual(given(created, started, input, answered(1, more))._tag, "CallModel")
  })

  it("provider-executed calls with their result make a response no less final", () => {
    const content = [
      { type: "tool-call" as const, id: "p", name: "search", params: {}, providerExecuted: true },
      { type: "tool-result" as const, id: "p", name: "search", isFailure: false, result: 1, providerExecuted: true },
      { type: "text" as const, text: "found" }
    ]
    assert.strictEqual(given(created, started, input, answered(1, { content }))._tag, "End")
  })

  it("looks behind a compaction, a repair, a redaction and a change of mode", () => {
    const decision = given(
      created,
      started,
      input,
      answered(1),
      { _tag: "ModeChanged", mode: "plan" },
      { _tag: "Compacted", kind: "summary", coversThrough: 2, pinned: [], summary: "s" },
      { _tag: "RepairAnnotated", subjects: [], reason: "x" },
      { _tag: "ContentRedacted", sequences: [1], reason: "x" },
      { _tag: "Custom", name: "n", data: null }
    )
    assert.strictEqual(decision._tag, "End")
  })

  describe("with requests", () => {
    const asked = (id: string): Payload.Written => ({
      _tag: "ApprovalRequested",
      runId,
      approvalId: approvalOf(id),
      callId: callId(id),
      name: "look",
      parametersDigest: Digest.text("")
    })
    const decided = (id: string, decision: Payload.Decision = "approved"): Payload.Written => ({
      _tag: "ApprovalResolved",
      approvalId: approvalOf(id),
      decision,
      scope: "once"
    })
    const suspended = (...ids: ReadonlyArray<string>): Payload.Written => ({
      _tag: "RunSuspended",
      runId,
      approvalIds: ids.map(approvalOf),
      mode: "execute"
    })
    const resumed: Payload.Written = { _tag: "RunResumed", runId, attempt: 2, cause: "decision", agent }
    const log = [created, started, input, called(1, "a", "b")]

    it("a suspended run waits for people", () => {
      const decision = given(...log, asked("a"), asked("b"), suspended("a", "b"))
      assert.isTrue(decision._tag === "Await" && decision.approvals.length === 2)
    })

    it("only people are waited for, which was not written yet", () => {
      assert.strictEqual(given(...log, asked("a"), begun("b"), settled("b"))._tag, "Suspend")
    })

    it("calls that nobody is asked about are settled first", () => {
      const decision = given(...log, asked("a"), begun("b"))
      assert.isTrue(decision._tag === "SettleCalls")
      if (decision._tag !== "SettleCalls") return
      assert.strictEqual(decision.started.length + decision.waiting.length, 1)
      assert.strictEqual(decision.started[0]?.callId, "b")
    })

    it("an input behind the requests is for the model", () => {
      assert.strictEqual(given(...log, asked("a"), begun("b"), settled("b"), input)._tag, "CallModel")
    })

    it("an approved call that has not started waits to be run", () => {
      const decision = given(...log, asked("a"), asked("b"), suspended("a", "b"), decided("a"), resumed)
      assert.isTrue(decision._tag === "SettleCalls" && decision.waiting[0]?.callId === "a")
    })

    it("a denied one that is not the last: the run waits again", () => {
      const decision = given(
        ...log,
        asked("a"),
        asked("b"),
        suspended("a", "b"),
        decided("a", "denied"),
        settled("a"),
        resumed
      )
      assert.strictEqual(decision._tag, "Suspend")
    })

    it("suspended, and a decision is stored: what was approved runs", () => {
      const decision = given(...log, asked("a"), asked("b"), suspended("a", "b"), decided("a"))
      assert.isTrue(decision._tag === "SettleCalls" && decision.waiting.length === 1)
    })

    it("suspended, and a denial is stored: the others are still waited for", () => {
      const decision = given(...log, asked("a"), asked("b"), suspended("a", "b"), decided("a", "denied"), settled("a"))
      assert.isTrue(decision._tag === "Await" && decision.approvals.length === 1)
    })

    it("suspended, and the last decision is stored: the model is called", () => {
      const one = [created, started, input, called(1, "a"), asked("a"), suspended("a")]
      assert.strictEqual(given(...one, decided("a", "denied"), settled("a"))._tag, "CallModel")
    })

    it("suspended, beside a call that is left out for good: people are waited for", () => {
      assert.strictEqual(given(...log, asked("a"), begun("b"), suspended("a"))._tag, "Await")
    })
  })

  it("an input behind open requests is for the model, also when another call was settled since", () => {
    const approvalId = Ids.ApprovalId.make("ap")
    const requested: Payload.Written = {
      _tag: "ApprovalRequested",
      runId,
      approvalId,
      callId: callId("a"),
      name: "look",
      parametersDigest: Digest.text("")
    }
    const log = [created, started, input, called(1, "a", "b"), requested]
    assert.strictEqual(given(...log, settled("b"))._tag, "Suspend")
    const steering: Payload.Written = { ...input, kind: "steering" }
    assert.strictEqual(given(...log, settled("b"), steering)._tag, "CallModel")
    assert.strictEqual(given(...log, steering, settled("b"))._tag, "CallModel")
  })
})
