import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import * as CanonicalRecord from "../src/CanonicalRecord.ts"
import * as Digest from "../src/Digest.ts"
import * as Payload from "../src/Payload.ts"
import { call, executedCall, executedResult, text } from "./log.ts"
import { randomLog } from "./randomLog.ts"
import { runs, Seed } from "./random.ts"
import { samples, usage } from "./samples.ts"

const said = "What a person said."
const options = { anthropic: { note: said } }
const error = { tag: said, message: said }
const parametersDigest = Digest.text(said)

/** Every payload that holds what somebody said, with `said` in each such place and its digest in each digest of it. */
const spoken: ReadonlyArray<Payload.Payload> = [
  { ...samples.ConversationCreated, title: said, instructions: said, metadata: { [said]: [said] } },
  { ...samples.MetadataChanged, title: said, metadata: said },
  { ...samples.RunStarted, conversationKey: said, workKey: said },
  {
    ...samples.InputRecorded,
    message: {
      role: "user",
      content: [
        { type: "text", text: said, options },
        { type: "file", mediaType: said, fileName: said, data: said, options }
      ],
      options
    },
    author: said,
    context: said
  },
  { ...samples.InputRecorded, message: { role: "user", content: said } },
  {
    ...samples.ModelResponded,
    content: [
      { type: "reasoning", text: said, options },
      { type: "text", text: said, options },
      { type: "file", mediaType: said, data: { _tag: "URL", href: `https://example.invalid/${said}` } },
      { type: "tool-call", id: "c", name: "search", params: { [said]: said }, options },
      executedCall("p"),
      {
        type: "tool-result",
        id: "p",
        name: "web_search",
        isFailure: false,
        result: { said },
        modelOutput: [{ type: "text", text: said }],
        options
      },
      { type: "tool-approval-request", approvalId: said, toolCallId: said, options }
    ],
    sources: [{ [said]: said }],
    responseId: said
  },
  { ...samples.ToolCallStarted, parametersDigest },
  { ...samples.ToolCallSettled, result: [{ said }], modelOutput: [{ type: "text", text: said }] },
  { ...samples.ApprovalRequested, parametersDigest },
  { ...samples.ApprovalResolved, result: said, reason: said, author: said },
  { ...samples.HandedOff, reason: said },
  { ...samples.BackgroundSettled, summary: said },
  { ...samples.Compacted, summary: said },
  { ...samples.RunEnded, error },
  { ...samples.SubmissionAccepted, contentDigest: parametersDigest, input: { said }, options: { said } },
  { ...samples.CancelRequested, author: said, reason: said },
  { ...samples.SubmissionSettled, error },
  { ...samples.ContentRedacted, reason: said, author: said },
  { ...samples.RepairAnnotated, reason: said },
  { ...samples.Custom, data: { said } }
]

const canonical = (value: unknown): string => Result.getOrThrow(CanonicalJson.encode(value))

describe("a redacted payload", () => {
  it.each(spoken)("holds nothing that anybody said: $_tag", (payload) => {
    // The payload itself holds it, or the test would prove nothing.
    assert.match(canonical(payload), new RegExp(`${said}|${parametersDigest}`))
    const redacted = canonical(Payload.redact(payload))
    assert.notInclude(redacted, said)
    assert.notInclude(redacted, parametersDigest)
    assert.isTrue(Schema.is(Payload.Payload)(payload))
  })

  it.each(Object.values(samples))("is what stays of it, however often it is redacted: $_tag", (payload) => {
    const redacted = Payload.redact(payload)
    const text = canonical(redacted)
    assert.strictEqual(redacted.tag, payload._tag === "Redacted" ? payload.tag : payload._tag)
    assert.deepStrictEqual(redacted.facts, Payload.facts(payload))
    assert.strictEqual(Payload.redact(redacted), redacted)
    assert.deepStrictEqual(Payload.facts(redacted), redacted.facts)
    assert.deepStrictEqual(Result.getOrThrow(CanonicalRecord.decodePayload(1, text, new Map())), redacted)
  })

  it.effect.prop(
    "of any log is idempotent, readable, and the same when it was read back first",
    [Seed],
    (input) =>
      Effect.sync(() => {
        for (const { payload } of randomLog(input[0])) {
          const redacted = Payload.redact(payload)
          assert.strictEqual(Payload.redact(redacted), redacted)
          const read = Result.getOrThrow(CanonicalRecord.decodePayload(1, canonical(payload), new Map()))
          assert.deepStrictEqual(Payload.redact(read), redacted)
        }
      }),
    runs(40)
  )
})

const facts = (payload: Payload.Payload) => Payload.facts(payload)

describe("facts", () => {
  it("of a response are its step, usage and declared calls", () => {
    const { agent, estimatedInputTokens, finishReason, model, partial, provider, runId, step, toolsDigest } =
      samples.ModelResponded
    assert.deepStrictEqual<unknown>(facts(samples.ModelResponded), {
      _tag: "ModelResponded",
      runId,
      step,
      agent,
      provider,
      model,
      toolsDigest,
      usage,
      estimatedInputTokens,
      finishReason,
      partial,
      calls: [
        { callId: "call_1", name: "track", providerExecuted: false },
        { callId: "srv_1", name: "web_search", providerExecuted: true }
      ]
    })
  })

  it("keep ids, enums, sequences and names", () => {
    const { message: _, author: __, context: ___, ...input } = samples.InputRecorded
    assert.deepStrictEqual<unknown>(facts(samples.InputRecorded), input)
    const { parametersDigest: ____, ...started } = samples.ToolCallStarted
    assert.deepStrictEqual<unknown>(facts(samples.ToolCallStarted), started)
    assert.deepStrictEqual<unknown>(facts(samples.ToolCallSettled), {
      _tag: "ToolCallSettled",
      runId: "run-1",
      step: 1,
      callId: "call_1",
      name: "track",
      outcome: "success",
      isFailure: false
    })
    const { summary: _____, ...compacted } = samples.Compacted
    assert.deepStrictEqual<unknown>(facts(samples.Compacted), compacted)
    for (const whole of ["RunSuspended", "RunResumed", "ModeChanged", "BackgroundStarted", "Forked"] as const) {
      assert.deepStrictEqual<unknown>(facts(samples[whole]), samples[whole])
    }
  })

  it.each(Object.values(samples).filter(({ _tag }) => _tag !== "ModelResponded" && _tag !== "Redacted"))(
    "are a part of the payload: $_tag",
    (payload) => {
      const kept = Payload.facts(payload)
      for (const [field, value] of Object.entries(kept)) {
        assert.deepStrictEqual<unknown>(value, payload[field as keyof typeof payload], field)
      }
    }
  )
})

describe("the declared calls of a response", () => {
  it("are its calls in order, without anything else of it", () => {
    const content = [text("x"), call("b"), executedCall("a"), executedResult("a"), call("c", "fetch")]
    assert.deepStrictEqual<unknown>(Payload.declaredCalls(content), [
      { callId: "b", name: "search", providerExecuted: false },
      { callId: "a", name: "web_search", providerExecuted: true },
      { callId: "c", name: "fetch", providerExecuted: false }
    ])
    assert.deepStrictEqual(Payload.declaredCalls([]), [])
  })
})
