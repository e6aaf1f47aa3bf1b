/**
 * Calls and results that do not belong together, in every format: each is kept, repaired and counted, and the prompt that
 * comes of it is one that providers take.
 */
import * as MemoryStorage from "@colloquy/storage-memory/MemoryStorage"
import { ProducerId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ClaudeCode from "../../src/import/ClaudeCode.ts"
import * as LangChain from "../../src/import/LangChain.ts"
import type { Transcript } from "../../src/import/Transcript.ts"
import * as VercelUi from "../../src/import/VercelUi.ts"
import { PromptCheck } from "../../src/PromptCheck.ts"
import * as S from "./samples.ts"

/** A format, as what it takes to say something, call a tool, and answer a call in it. */
interface Form {
  readonly name: string
  readonly user: unknown
  readonly call: unknown
  readonly result: unknown
  readonly parse: (messages: ReadonlyArray<unknown>) => Transcript
}

const claude = (type: string, content: unknown) => ({
  type,
  sessionId: "s",
  uuid: "u",
  message: { role: type, content }
})

const forms: ReadonlyArray<Form> = [
  {
    name: "openai",
    user: S.user("go"),
    call: S.calls("x"),
    result: S.result("x"),
    parse: (messages) => S.chat(...messages)
  },
  {
    name: "langchain",
    user: { type: "human", data: { content: "go" } },
    call: { type: "ai", data: { content: "", tool_calls: [{ name: "look", args: {}, id: "x" }] } },
    result: { type: "tool", data: { content: "seen", tool_call_id: "x" } },
    parse: (messages) => LangChain.parse({ messages }, 1)
  },
  {
    name: "claude-code",
    user: claude("user", "go"),
    call: claude("assistant", [{ type: "tool_use", id: "x", name: "look", input: {} }]),
    result: claude("user", [{ type: "tool_result", tool_use_id: "x", content: "seen" }]),
    parse: (messages) => ClaudeCode.parse(messages.map((value, i) => ({ line: i + 1, value })))
  },
  {
    name: "pi",
    user: S.piUser("go"),
    call: S.piSays([{ type: "toolCall", id: "x", name: "look", arguments: {} }]),
    result: S.piResult("x", [{ type: "text", text: "seen" }]),
    parse: (messages) => S.pi(...(messages as ReadonlyArray<S.Json>))
  }
]

const shapes = [
  { name: "a call only", order: ["user", "call"], repairs: { "call-without-result": 1 } },
  {
    name: "a result only",
    order: ["user", "result"],
    repairs: { "result-without-call": 1, "run-without-response": 1 }
  },
  {
    name: "a result before its call",
    order: ["user", "result", "call"],
    repairs: { "result-without-call": 1, "call-without-result": 1 }
  },
  { name: "a result twice", order: ["user", "call", "result", "result"], repairs: { "repeated-result": 1 } }
] as const

const assertWhole = Effect.fnUntraced(function* (transcript: Transcript, repairs: { readonly [kind: string]: number }) {
  const conversion = S.convert(transcript)
  assert.deepStrictEqual(S.repairs(conversion), repairs)
  const store = yield* ConversationStore
  const { conversationId } = S
  yield* store.importBatches({ conversationId, producerId: ProducerId.make("test"), batches: conversion.batches })
  assert.deepStrictEqual((yield* store.verify({ conversationId })).faults, [])
  const check = new PromptCheck(conversationId)
  yield* Stream.runForEach(store.read({ conversationId }), (record) => Effect.sync(() => check.read(record)))
  assert.deepStrictEqual(check.faults, [])
})

for (const form of forms) {
  describe(form.name, () => {
    for (const { name, order, repairs } of shapes) {
      it.effect(`with ${name} is repaired, counted, and shown as providers take it`, () =>
        Effect.provide(assertWhole(form.parse(order.map((part) => form[part])), repairs), MemoryStorage.layer)
      )
    }
  })
}

const message = (...parts: ReadonlyArray<object>) => ({ id: "m", role: "assistant", parts })
const tool = (state: string, more: object = {}) => ({ type: "tool-look", toolCallId: "x", state, input: {}, ...more })

describe("vercel", () => {
  const user = { id: "u", role: "user", parts: [{ type: "text", text: "go" }] }
  const cases: ReadonlyArray<
    readonly [name: string, parts: ReadonlyArray<object>, repairs: { [kind: string]: number }]
  > = [
    ["a call only", [tool("input-available")], { "call-without-result": 1 }],
    [
      "a call that was cut off in its arguments",
      [tool("input-streaming", { input: undefined, rawInput: '{"a":' })],
      { "unfinished-call": 1, "unparsable-arguments": 1, "aborted-response": 1, "call-without-result": 1 }
    ],
    ["an interim result", [tool("output-available", { preliminary: true, output: 1 })], { "call-without-result": 1 }],
    ["a part of no known shape", [{ type: "tool-look" }], { "unknown-part": 1, "empty-response": 1 }],
    ["text that was still coming", [{ type: "text", text: "ha", state: "streaming" }], { "aborted-response": 1 }]
  ]
  for (const [name, parts, repairs] of cases) {
    it.effect(`with ${name} is repaired, counted, and shown as providers take it`, () =>
      Effect.provide(
        assertWhole(VercelUi.parse({ messages: [user, message(...parts)] }, 1), repairs),
        MemoryStorage.layer
      )
    )
  }

  it("with a call id twice gets two calls, each with its result", () => {
    const twice = message(tool("output-available", { output: 1 }), tool("output-available", { output: 2 }))
    const conversion = S.convert(VercelUi.parse({ messages: [user, twice] }, 1))
    assert.strictEqual(conversion.renamedCallIds.length, 1)
    const results = S.all(conversion, "ToolCallSettled").map(({ callId, result }) => [String(callId), result])
    assert.deepStrictEqual(results, [
      ["x", 1],
      ["x_2", 2]
    ])
  })
})
