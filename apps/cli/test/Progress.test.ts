import { assert, it } from "@effect/vitest"
import { draw } from "../src/Progress.ts"

it("draws how far work has come", () => {
  assert.strictEqual(draw("reading", 0, 10), `reading [${".".repeat(30)}] 0%`)
  assert.strictEqual(draw("reading", 5, 10), `reading [${"#".repeat(15)}${".".repeat(15)}] 50%`)
  assert.strictEqual(draw("reading", 11, 10), `reading [${"#".repeat(30)}] 100%`)
  assert.strictEqual(draw("reading", 0, 0), `reading [${"#".repeat(30)}] 100%`)
})
