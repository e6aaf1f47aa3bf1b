import { ConversationId, RunId } from "@colloquy/session/Ids"
import { assert, describe, it } from "@effect/vitest"
import { items } from "../../page/src/timeline/items.ts"
import { named } from "../../page/src/timeline/orders.ts"
import { matches } from "../../page/src/timeline/search.ts"
import * as Timeline from "../../page/src/timeline/Timeline.ts"
import * as log from "./log.ts"

const rowsOf = (facts: ReadonlyArray<log.Fact>) => Timeline.rows(log.log(facts))
const kindsOf = (...args: Parameters<typeof items>) => items(...args).map(({ kind }) => kind)
const asked = [log.created, log.started, log.said("hello")]
const coming = { runId: RunId.make("run"), step: 1, text: "hi", reasoning: "" }
const message = { inputId: "i", text: "more", kind: "steering", state: "accepted", detail: undefined } as const

describe("the items of a timeline", () => {
  it("say that a run works until something of its answer is there, and put what is on its way last", () => {
    assert.deepStrictEqual(kindsOf(rowsOf(asked), undefined, [], "running"), ["run-start", "input", "working"])
    assert.deepStrictEqual(kindsOf(rowsOf(asked), coming, [message], "running"), [
      "run-start",
      "input",
      "coming",
      "pending"
    ])
    assert.deepStrictEqual(kindsOf(rowsOf(asked), undefined, [], "unfinished"), ["run-start", "input"])
  })

  it("show no empty response beside its calls, which say themselves that they are at work", () => {
    const rows = rowsOf([...asked, log.responded(1, [log.call("c")]), log.callStarted("c")])
    assert.deepStrictEqual(kindsOf(rows, undefined, [], "running"), ["run-start", "input", "call"])
  })

  it("have keys of their own", () => {
    const rows = rowsOf([...asked, log.responded(1, [log.text("a"), log.call("c"), log.call("d")]), log.ended()])
    const keys = items(rows, coming, [message], "running").map(({ key }) => key)
    assert.strictEqual(new Set(keys).size, keys.length)
  })
})

it("orders that calls name are known, whatever else they are given", () => {
  const rows = rowsOf([
    ...asked,
    log.responded(1, [log.call("c", { orderId: "A-1003", cents: 5 }), log.call("d", { orderId: 7 }), log.call("e")])
  ])
  assert.deepStrictEqual([...named(rows)], ["A-1003"])
})

describe("looking for a conversation", () => {
  const summary = {
    conversationId: ConversationId.make("c-17"),
    title: "The Pannier of Ada",
    status: "awaiting-approval",
    createdAt: 0,
    updatedAt: 0,
    records: 3
  } as const

  it.each([
    ["", true],
    ["pannier", true],
    ["ada PANNIER", true],
    ["c-17", true],
    ["awaiting", true],
    ["pannier saddle", false]
  ] as const)("%j", (text, isFound) => {
    assert.strictEqual(matches(summary, text), isFound)
  })
})
