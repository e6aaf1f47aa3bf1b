import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Payload from "../src/Payload.ts"
import { randomLog } from "./randomLog.ts"
import { tags } from "./samples.ts"

describe("random logs", () => {
  const logs = Array.from({ length: 100 }, (_, seed) => randomLog({ seed, size: 60 }))

  it("say everything that can be said, in shapes that can be read", () => {
    const records = logs.flat()
    const seen = new Set(records.map(({ payload }) => payload._tag))
    assert.deepStrictEqual(
      tags.filter((tag) => !seen.has(tag)),
      ["Redacted"]
    )
    const isPayload = Schema.is(Payload.Payload)
    assert.isTrue(records.every(({ payload }) => isPayload(payload)))
  })

  it("are the same for the same seed, and shorter for a smaller size", () => {
    const whole = randomLog({ seed: 7, size: 60 })
    assert.deepStrictEqual(randomLog({ seed: 7, size: 60 }), whole)
    const shorter = randomLog({ seed: 7, size: 20 })
    assert.deepStrictEqual(shorter, whole.slice(0, shorter.length))
  })
})
