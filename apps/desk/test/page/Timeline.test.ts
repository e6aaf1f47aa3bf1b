import * as Payload from "@colloquy/session/Payload"
import { assert, describe, it } from "@effect/vitest"
import * as Timeline from "../../page/src/timeline/Timeline.ts"
import * as log from "./log.ts"

const rowsOf = (facts: ReadonlyArray<log.Fact>, first = 1) => Timeline.rows(log.log(facts, first))

const refund = [
  log.created,
  log.started,
  log.said("refund A-1003"),
  log.responded(1, [{ type: "reasoning", text: "money" }, log.text("I ask."), log.call("c", { orderId: "A-1003" })])
]

describe("given a run that answers", () => {
  it("shows its start, what was said, the answer and its end, in order", () => {
    const rows = rowsOf([log.created, log.started, log.said("hello"), log.responded(1, [log.text("hi")]), log.ended()])
    assert.deepStrictEqual(
      rows.map(({ kind }) => kind),
      ["run-start", "input", "response", "run-end"]
    )
    const [, input, response, end] = rows
    assert.isTrue(input?.kind === "input" && input.text === "hello" && input.isAnswered)
    assert.isTrue(response?.kind === "response" && response.text === "hi" && response.usage?.inputTokens.total === 100)
    assert.isTrue(end?.kind === "run-end" && end.durationMillis === 3000)
  })

  it("does not call an input answered before the model has responded", () => {
    const [, input] = rowsOf([log.created, log.started, log.said("hello")])
    assert.isTrue(input?.kind === "input" && !input.isAnswered)
  })
})

describe("given a call that needs approval", () => {
  const callIn = (facts: ReadonlyArray<log.Fact>) => rowsOf(facts).find((row) => row.kind === "call")

  it("is open once it is declared, with its arguments", () => {
    const row = callIn(refund)
    assert.strictEqual(row?.state, "open")
    assert.deepStrictEqual(row?.parameters, { orderId: "A-1003" })
  })

  it("waits with the digest that a decision is bound to", () => {
    const row = callIn([...refund, log.requested("c"), log.suspended])
    assert.strictEqual(row?.state, "awaiting-approval")
    assert.strictEqual(row?.approval?.parametersDigest, "1".repeat(64))
  })

  it("is open again when it is approved, and closed with its result", () => {
    const approved = [...refund, log.requested("c"), log.suspended, log.resolved("c", "approved")]
    assert.strictEqual(callIn(approved)?.state, "open")
    const row = callIn([...approved, log.callStarted("c"), log.settled("c")])
    assert.strictEqual(row?.state, "closed")
    assert.strictEqual(row?.approval?.decision, "approved")
    assert.deepStrictEqual(row?.result, { cents: 990 })
    assert.strictEqual((row?.settledAt ?? 0) - (row?.startedAt ?? 0), 1000)
  })

  it("keeps the reason of a denial", () => {
    const row = callIn([
      ...refund,
      log.requested("c"),
      log.resolved("c", "denied", "too much"),
      log.settled("c", "rejected")
    ])
    assert.strictEqual(row?.outcome, "rejected")
    assert.strictEqual(row?.approval?.reason, "too much")
  })

  it("is dead when its run ends without a result", () => {
    assert.strictEqual(callIn([...refund, log.callStarted("c"), log.ended("cancelled")])?.state, "dead")
  })
})

const deleted = (facts: ReadonlyArray<log.Fact>, sequence: number) =>
  Timeline.rows(
    log
      .log(facts)
      .map((record) => (record.sequence === sequence ? { ...record, payload: Payload.redact(record.payload) } : record))
  )

describe("given records whose words were deleted", () => {
  it("shows that something was said, and not what", () => {
    const rows = deleted(refund, 3)
    const input = rows.find((row) => row.kind === "input")
    assert.isDefined(input)
    assert.isUndefined(input?.text)
    assert.notInclude(JSON.stringify(rows), "refund A-1003")
  })

  it("keeps the calls of a response, without their arguments", () => {
    const rows = deleted([...refund, log.settled("c")], 4)
    const row = rows.find((row) => row.kind === "call")
    assert.strictEqual(row?.name, "refund_order")
    assert.strictEqual(row?.state, "closed")
    assert.isUndefined(row?.parameters)
  })
})

describe("given records from the middle of a log", () => {
  it("shows what can be shown: an end without a duration, a result whose call is further up not at all", () => {
    const rows = rowsOf([log.settled("c"), log.responded(2, [log.text("done")]), log.ended()], 500)
    assert.deepStrictEqual(
      rows.map(({ kind, sequence }) => [kind, sequence]),
      [
        ["response", 501],
        ["run-end", 502]
      ]
    )
    const end = rows.at(-1)
    assert.isTrue(end?.kind === "run-end" && end.durationMillis === undefined)
  })
})

it("marks where the history was compacted", () => {
  const rows = rowsOf([
    log.created,
    { _tag: "Compacted", kind: "summary", coversThrough: 1, pinned: [], summary: "they said hello" },
    { _tag: "Compacted", kind: "cleared-results", coversThrough: 1, pinned: [], clearedCallIds: ["a", "b"] }
  ])
  assert.deepStrictEqual(
    rows.map((row) => (row.kind === "compaction" ? [row.what, row.summary, row.clearedCalls] : [])),
    [
      ["summary", "they said hello", 0],
      ["cleared-results", undefined, 2]
    ]
  )
})

it("says at the end of a run why its provider did not answer", () => {
  const failed = { runId: "run", provider: "acme", reason: "rate", detail: "too many requests", wayOut: "wait" }
  const rows = rowsOf([
    log.created,
    log.started,
    log.ended("failed"),
    { _tag: "Custom", name: "desk.run-failed", data: failed }
  ])
  const end = rows.at(-1)
  assert.isTrue(end?.kind === "run-end" && end.failed?.wayOut === "wait")
})
