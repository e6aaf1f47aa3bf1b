import { assert, describe, it } from "@effect/vitest"
import { rules } from "../../src/import/Repair.ts"
import * as S from "./samples.ts"

describe("a conversation without faults", () => {
  it("becomes a run for each input, in a batch of its own", () => {
    const conversion = S.convert(
      S.chat(
        S.system("be kind"),
        S.user("hi"),
        S.says("hello"),
        S.user("look"),
        S.calls("a", "b"),
        S.result("b"),
        S.result("a"),
        S.says("done")
      )
    )
    assert.deepStrictEqual(S.repairs(conversion), {})
    assert.deepStrictEqual(
      conversion.batches.map(({ batchId, records }) => [batchId, records.map(({ payload }) => payload._tag)]),
      [
        ["created", ["ConversationCreated"]],
        ["import/run/1", ["RunStarted", "InputRecorded", "ModelResponded", "RunEnded"]],
        [
          "import/run/2",
          [
            "RunStarted",
            "InputRecorded",
            "ModelResponded",
            "ToolCallSettled",
            "ToolCallSettled",
            "ModelResponded",
            "RunEnded"
          ]
        ]
      ]
    )
    assert.deepStrictEqual(conversion.batches[0]?.records[0]?.recordId, "created")
    assert.deepStrictEqual(
      S.all(conversion, "ModelResponded").map(({ step }) => step),
      [1, 1, 2]
    )
    assert.deepStrictEqual(
      S.all(conversion, "ToolCallSettled").map(({ callId, step }) => [callId, step]),
      [
        ["b", 1],
        ["a", 1]
      ]
    )
    assert.deepStrictEqual(
      S.all(conversion, "RunEnded").map(({ outcome }) => outcome),
      ["completed", "completed"]
    )
  })

  it("has the same ids every time, and record ids that are unique", () => {
    const transcript = S.chat(S.user("hi"), S.calls("a"), S.result("a"), S.calls("a"), S.user("more"))
    assert.deepStrictEqual(S.convert(transcript), S.convert(transcript))
    const ids = S.convert(transcript).batches.flatMap(({ records }) => records.map(({ recordId }) => recordId))
    assert.strictEqual(new Set(ids).size, ids.length)
  })

  it("takes leading system texts as instructions and other fields as metadata", () => {
    const [created] = S.all(
      S.convert(S.chat(S.system("one"), { role: "developer", content: "two" }, S.user("hi"))),
      "ConversationCreated"
    )
    assert.deepStrictEqual(created, { _tag: "ConversationCreated", instructions: "one\n\ntwo" })
  })

  it("repeats its earlier batches when the file has grown by runs and settings", () => {
    const settings = { type: "model_change", provider: "p", modelId: "m" }
    const first = [S.piUser("hi"), S.piSays([{ type: "text", text: "ho" }]), settings]
    const before = S.convert(S.pi(...first))
    const after = S.convert(S.pi(...first, { ...settings, modelId: "n" }, S.piUser("again"), S.piSays([])))
    assert.deepStrictEqual(after.batches.slice(0, before.batches.length), before.batches)
    assert.deepStrictEqual(
      after.batches.map(({ batchId }) => batchId),
      ["created", "import/run/1", "import/after/1/1", "import/after/1/2", "import/run/2"]
    )
  })
})

describe("calls and results", () => {
  it("leaves a call without a result to the run's end", () => {
    const conversion = S.convert(S.chat(S.user("go"), S.calls("a", "b"), S.result("a"), S.user("next")))
    assert.deepStrictEqual(S.repairs(conversion), { "call-without-result": 1, "run-without-response": 1 })
    assert.deepStrictEqual(
      S.all(conversion, "ToolCallSettled").map(({ callId }) => callId),
      ["a"]
    )
  })

  it("keeps a result without a call as a note, before, between and behind runs", () => {
    const conversion = S.convert(S.chat(S.result("x"), S.user("go"), S.result("y"), S.says("ok"), S.result("z")))
    assert.deepStrictEqual(S.repairs(conversion), { "result-without-call": 3 })
    const notes = S.all(conversion, "Custom")
    assert.deepStrictEqual(notes[0]?.data, { callId: "x", name: "look", isFailure: false, result: "seen" })
    assert.deepStrictEqual(
      S.tags(conversion).map((tag) => tag.replace("Custom import.", "")),
      [
        "ConversationCreated",
        "result-without-call",
        "RunStarted",
        "InputRecorded",
        "result-without-call",
        "ModelResponded",
        "RunEnded",
        "result-without-call"
      ]
    )
  })

  it("keeps a result that comes before its call as a note, and the call dies", () => {
    const conversion = S.convert(S.chat(S.user("go"), S.result("a"), S.calls("a")))
    assert.deepStrictEqual(S.repairs(conversion), { "result-without-call": 1, "call-without-result": 1 })
  })

  it("keeps a second result as a note; the first one stands", () => {
    const conversion = S.convert(
      S.chat(S.user("go"), S.calls("a"), S.result("a", "1"), S.result("a", "2"), S.says("ok"))
    )
    assert.deepStrictEqual(S.repairs(conversion), { "repeated-result": 1 })
    assert.deepStrictEqual(
      S.all(conversion, "ToolCallSettled").map(({ result }) => result),
      ["1"]
    )
    assert.deepStrictEqual(S.all(conversion, "Custom")[0]?.data, {
      callId: "a",
      name: "look",
      isFailure: false,
      result: "2"
    })
  })

  it("renames ids that were used before; a result belongs to the latest open call with its id", () => {
    const conversion = S.convert(
      S.chat(
        S.user("go"),
        S.calls("a"),
        S.calls("a"),
        S.result("a", "late"),
        S.user("more"),
        S.calls("a"),
        S.result("a", "third")
      )
    )
    assert.deepStrictEqual(
      conversion.renamedCallIds.map(({ from, to }) => `${from} ${to}`),
      ["a a_2", "a a_3"]
    )
    assert.deepStrictEqual(
      S.all(conversion, "ToolCallSettled").map(({ callId, result }) => [callId, result]),
      [
        ["a_2", "late"],
        ["a_3", "third"]
      ]
    )
    assert.deepStrictEqual(S.repairs(conversion), { "call-without-result": 1 })
  })

  it("answers two calls of one response with one id in their order", () => {
    const conversion = S.convert(S.chat(S.user("go"), S.calls("a", "a"), S.result("a", "1"), S.result("a", "2")))
    assert.deepStrictEqual(
      S.all(conversion, "ToolCallSettled").map(({ callId, result }) => [callId, result]),
      [
        ["a", "1"],
        ["a_2", "2"]
      ]
    )
    assert.deepStrictEqual(S.repairs(conversion), {})
  })

  it("gives calls without an id, or with one that cannot be stored, an id; nothing missing becomes text", () => {
    const conversion = S.convert(
      S.chat(
        S.user("go"),
        { role: "assistant", content: null, tool_calls: [S.call(undefined), S.call(null), S.call("a\u0000b")] },
        { role: "tool", content: "1" },
        { role: "tool", content: "2", tool_call_id: null },
        { role: "tool", content: "3", tool_call_id: "a\u0000b" }
      )
    )
    assert.deepStrictEqual(
      S.all(conversion, "ToolCallSettled").map(({ callId, result }) => [callId, result]),
      [
        ["call_2", "1"],
        ["call_3", "2"],
        ["call_4", "3"]
      ]
    )
    assert.strictEqual(conversion.renamedCallIds.length, 3)
    assert.notMatch(JSON.stringify(S.payloads(conversion)), /undefined/)
  })
})

describe("responses", () => {
  it("keeps one that says nothing, with its usage", () => {
    const conversion = S.convert(
      S.pi(S.piUser("hi"), S.piSays([]), S.piUser("hi?"), S.piSays([{ type: "text", text: " \n" }]))
    )
    assert.deepStrictEqual(S.repairs(conversion), { "empty-response": 2 })
    const [first] = S.all(conversion, "ModelResponded")
    assert.deepStrictEqual(first?.content, [])
    assert.deepStrictEqual(first?.usage, {
      inputTokens: { uncached: 3, cacheRead: 2, cacheWrite: 1, total: 6 },
      outputTokens: { total: 5 }
    })
  })

  it("keeps one that was aborted as partial; its run is cancelled", () => {
    const aborted = S.piSays([{ type: "text", text: "I w" }], {
      stopReason: "aborted",
      errorMessage: "Request was aborted"
    })
    const conversion = S.convert(S.pi(S.piUser("hi"), aborted))
    assert.deepStrictEqual(S.repairs(conversion), { "aborted-response": 1 })
    assert.deepStrictEqual(
      S.all(conversion, "ModelResponded").map(({ finishReason, partial }) => [finishReason, partial]),
      [["other", true]]
    )
    const [end] = S.all(conversion, "RunEnded")
    assert.strictEqual(end?.outcome, "cancelled")
    assert.deepStrictEqual(end?.error, { tag: "Aborted", message: "Request was aborted" })
  })

  it("keeps one that failed as partial; its run has failed", () => {
    const failed = S.piSays([{ type: "text", text: "I w" }], { stopReason: "error", errorMessage: "terminated" })
    const conversion = S.convert(S.pi(S.piUser("hi"), failed))
    assert.deepStrictEqual(S.repairs(conversion), { "failed-response": 1 })
    const [end] = S.all(conversion, "RunEnded")
    assert.strictEqual(end?.outcome, "failed")
    assert.deepStrictEqual(end?.error, { tag: "ResponseFailed", message: "terminated" })
  })

  it("completes a run that went on behind a failure, and keeps the reason as a note", () => {
    const failed = S.piSays([], { stopReason: "error", errorMessage: "overloaded" })
    const conversion = S.convert(S.pi(S.piUser("hi"), failed, S.piSays([{ type: "text", text: "ok" }])))
    assert.strictEqual(S.all(conversion, "RunEnded")[0]?.outcome, "completed")
    assert.deepStrictEqual(
      S.all(conversion, "Custom").map(({ data }) => data),
      [{ tag: "ResponseFailed", message: "overloaded" }]
    )
  })

  it("keeps a call that was cut off as far as it came", () => {
    const part = { type: "toolCall", id: "a", name: "look", arguments: { at: 1 }, partialJson: '{"at":1,"u' }
    const conversion = S.convert(S.pi(S.piUser("hi"), S.piSays([part], { stopReason: "aborted" })))
    assert.deepStrictEqual(S.repairs(conversion), {
      "unfinished-call": 1,
      "aborted-response": 1,
      "call-without-result": 1
    })
    assert.deepStrictEqual(S.all(conversion, "ModelResponded")[0]?.content, [
      { type: "tool-call", id: "a", name: "look", params: { at: 1 }, options: { pi: { partialJson: '{"at":1,"u' } } }
    ])
  })

  it("keeps one before any input in a run of its own", () => {
    const conversion = S.convert(S.chat(S.says("Welcome!"), S.user("hi"), S.says("hello")))
    assert.deepStrictEqual(S.repairs(conversion), { "response-without-input": 1 })
    assert.deepStrictEqual(S.tags(conversion).slice(1, 4), ["RunStarted", "ModelResponded", "RunEnded"])
  })

  it("keeps an input that nobody answered; its run is cancelled", () => {
    const conversion = S.convert(S.chat(S.user("hi"), S.user("hello?"), S.says("yes")))
    assert.deepStrictEqual(S.repairs(conversion), { "run-without-response": 1 })
    assert.deepStrictEqual(
      S.all(conversion, "RunEnded").map(({ outcome }) => outcome),
      ["cancelled", "completed"]
    )
  })

  it("keeps arguments that are no JSON as text", () => {
    const call = { id: "a", type: "function", function: { name: "look", arguments: '{"at":' } }
    const conversion = S.convert(
      S.chat(S.user("go"), { role: "assistant", content: null, tool_calls: [call] }, S.result("a"))
    )
    assert.deepStrictEqual(S.repairs(conversion), { "unparsable-arguments": 1 })
    assert.deepStrictEqual(S.all(conversion, "ModelResponded")[0]?.content, [
      { type: "tool-call", id: "a", name: "look", params: '{"at":' }
    ])
  })
})

describe("what has no place", () => {
  it("keeps parts of unknown types, unknown fields, messages and lines as notes", () => {
    const conversion = S.convert(
      S.chat(
        {
          role: "user",
          content: [
            { type: "hologram", x: 1 },
            { type: "text", text: "hi" }
          ],
          mood: "good"
        },
        { role: "assistant", content: "ho", tool_calls: [{ type: "dance" }], audio: { id: "au" } },
        { role: "narrator", content: "meanwhile" },
        "a stray text"
      )
    )
    assert.deepStrictEqual(S.repairs(conversion), { "unknown-part": 2, "unknown-field": 2, "unknown-message": 2 })
    assert.deepStrictEqual(
      S.all(conversion, "Custom").map(({ data }) => data),
      [
        { type: "hologram", x: 1 },
        { mood: "good" },
        { type: "dance" },
        { audio: { id: "au" } },
        { role: "narrator", content: "meanwhile" },
        "a stray text"
      ]
    )
    const session = S.convert(
      S.pi(S.piUser("hi"), { type: "moon_phase", phase: "full" }, S.piSays([{ type: "text", text: "ho" }]))
    )
    assert.deepStrictEqual(S.repairs(session), { "unknown-line": 1 })
  })

  it("keeps a late system message as a note", () => {
    const conversion = S.convert(S.chat(S.user("hi"), S.system("now be brief"), S.says("ho")))
    assert.deepStrictEqual(S.repairs(conversion), { "late-system-message": 1 })
    assert.deepStrictEqual(
      S.all(conversion, "Custom").map(({ data }) => data),
      [{ text: "now be brief" }]
    )
    assert.isUndefined(S.all(conversion, "ConversationCreated")[0]?.instructions)
  })

  it("keeps settings of pi as notes, which are no repairs", () => {
    const conversion = S.convert(
      S.pi(
        S.piUser("hi"),
        { type: "thinking_level_change", thinkingLevel: "low" },
        S.piSays([{ type: "text", text: "ho" }])
      )
    )
    assert.deepStrictEqual(S.repairs(conversion), {})
    assert.deepStrictEqual(S.tags(conversion)[3], "Custom pi.thinking_level_change")
  })

  it("keeps an input that says nothing", () => {
    const conversion = S.convert(S.chat(S.user(null), S.says("hm?"), S.user(" "), S.says("hm?")))
    assert.deepStrictEqual(S.repairs(conversion), { "empty-input": 2 })
  })

  it("keeps the branches of a session in the order of the file, and says so", () => {
    const conversion = S.convert(
      S.pi(
        S.piEntry("1", null, S.piUser("a")),
        S.piEntry("2", "1", S.piSays([{ type: "text", text: "b" }])),
        S.piEntry("3", "1", S.piUser("c"))
      )
    )
    assert.deepStrictEqual(S.repairs(conversion), { "branched-history": 1, "run-without-response": 1 })
  })
})

it("documents a rule for every kind", () => {
  for (const [kind, rule] of Object.entries(rules)) {
    assert.match(kind, /^[a-z]+(-[a-z]+)*$/)
    assert.isAbove(rule.length, 20)
  }
})
