import { assert, describe, it } from "@effect/vitest"
import { type Asked, read } from "../../src/agent/Asked.ts"

const cases: ReadonlyArray<readonly [text: string, asked: ReadonlyArray<Asked>]> = [
  ["where is A-1003?", [{ _tag: "Track", orderId: "A-1003" }]],
  [
    "Where are a-1003 and A-1004? And again A-1003.",
    ["A-1003", "A-1004"].map((orderId) => ({ _tag: "Track", orderId }))
  ],
  ["what about A-1003", [{ _tag: "LookUp", orderId: "A-1003" }]],
  ["please refund A-1003", [{ _tag: "Refund", orderId: "A-1003", cents: undefined }]],
  ["refund 12.50 of A-1003", [{ _tag: "Refund", orderId: "A-1003", cents: 1250 }]],
  ["refund € 5 for A-1003", [{ _tag: "Refund", orderId: "A-1003", cents: 500 }]],
  ["refund 7 euros of A-1003", [{ _tag: "Refund", orderId: "A-1003", cents: 700 }]],
  ["note on A-1003: call back: 9 am", [{ _tag: "Note", orderId: "A-1003", text: "call back: 9 am" }]],
  ["orders of Ada", [{ _tag: "List", customer: "Ada" }]],
  ["list all orders", [{ _tag: "List", customer: undefined }]],
  ["write a long answer", [{ _tag: "LongAnswer" }]],
  ["say: <b>A-1003</b>", [{ _tag: "Say", text: "<b>A-1003</b>" }]],
  ["simulate a provider error", [{ _tag: "Fail" }]],
  ["hello", []],
  ["", []]
]

describe("what is asked", () => {
  for (const [text, asked] of cases) {
    it(`is read out of ${JSON.stringify(text)}`, () => {
      assert.deepStrictEqual(read(text), asked)
    })
  }
})
