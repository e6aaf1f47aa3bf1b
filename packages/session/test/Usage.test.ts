import { assert, describe, it } from "@effect/vitest"
import * as Usage from "../src/Usage.ts"
import { usage } from "./samples.ts"

describe("the sum of two usages", () => {
  it("adds count by count; a count is absent only when both lack it", () => {
    const other: Usage.Usage = { inputTokens: { total: 5 }, outputTokens: { total: 0 } }
    assert.deepStrictEqual(Usage.add(usage, other), {
      inputTokens: { uncached: 10, total: 35, cacheRead: 15, cacheWrite: 5 },
      outputTokens: { total: 7, text: 4, reasoning: 3 }
    })
    assert.deepStrictEqual(Usage.add(Usage.empty, other), other)
    assert.deepStrictEqual(Usage.add(other, Usage.empty), other)
    assert.deepStrictEqual(Usage.add(Usage.empty, Usage.empty), Usage.empty)
  })
})

describe("the usage of a response", () => {
  it("keeps natural numbers, and leaves out what a provider did not report", () => {
    assert.deepStrictEqual(
      Usage.fromResponse({
        inputTokens: { uncached: undefined, total: 3, cacheRead: -1, cacheWrite: 0.5 },
        outputTokens: { total: 0, text: undefined, reasoning: Number.NaN }
      }),
      { inputTokens: { total: 3 }, outputTokens: { total: 0 } }
    )
  })
})
