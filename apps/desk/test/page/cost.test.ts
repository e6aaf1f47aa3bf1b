import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import { cost } from "../../page/src/format.ts"
import * as Prices from "../../src/api/Prices.ts"

describe("prices", () => {
  it("are read as people write them", () => {
    assert.deepStrictEqual(Prices.parse("3/15"), Result.succeed({ currency: "USD", input: 3, output: 15 }))
    assert.deepStrictEqual(
      Prices.parse(" 0.25 / 1.5 EUR"),
      Result.succeed({ currency: "EUR", input: 0.25, output: 1.5 })
    )
    for (const text of ["", "3", "3/", "-3/15", "3/15 euro", "3/15/2"]) {
      assert.isTrue(Result.isFailure(Prices.parse(text)), text)
    }
  })
})

describe("a cost", () => {
  it("has as many digits as it takes to see that it is something", () => {
    const shown = [0, 0.00002, 0.0021, 0.028, 0.5, 12.3456].map((amount) => cost(amount, "USD").replace(/[^\d.<]/g, ""))
    assert.deepStrictEqual(shown, ["0.00", "<0.0001", "0.0021", "0.0280", "0.50", "12.35"])
  })
})
