import { assert, describe, it } from "@effect/vitest"
import { expand, parseRanges } from "../src/Sequences.ts"

describe("sequences of records", () => {
  it("are single ones and ranges, in any order, each once", () => {
    assert.deepStrictEqual(expand(parseRanges("3")), [3])
    assert.deepStrictEqual(expand(parseRanges(" 8, 3 , 5-7,6 ")), [3, 5, 6, 7, 8])
  })

  it("are nothing else", () => {
    for (const text of ["", "0", "a", "3-", "-3", "5-4", "1,,2", "1.5", "1e3", "99999999999999999999"]) {
      assert.throws(() => parseRanges(text), /Expected sequences/)
    }
  })
})
