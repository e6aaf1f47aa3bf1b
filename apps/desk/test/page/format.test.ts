import { assert, describe, it } from "@effect/vitest"
import { duration, recent } from "../../page/src/format.ts"

const minute = 60_000
const hour = 60 * minute

describe("a duration", () => {
  it("is said in its two largest units, and never in sixty of one", () => {
    assert.deepStrictEqual(
      [420, 999.7, 3200, 59_960, 2 * minute - 100, 66 * 1000, hour - 100, 3 * hour + 20 * minute, 103 * hour].map(
        duration
      ),
      ["420 ms", "1.0 s", "3.2 s", "1 min 0 s", "2 min 0 s", "1 min 6 s", "1 h 0 min", "3 h 20 min", "4 d 7 h"]
    )
  })
})

describe("when something was", () => {
  const now = new Date(2026, 10, 30, 12).getTime()

  it("today is a time, and the same day of another year is a date with its year", () => {
    const year = /2025/
    assert.match(recent(new Date(2026, 10, 30, 8, 41).getTime(), now), /41/)
    assert.notMatch(recent(new Date(2026, 10, 29, 8, 41).getTime(), now), /41|2026/)
    assert.match(recent(new Date(2025, 10, 30, 8, 41).getTime(), now), year)
  })
})
