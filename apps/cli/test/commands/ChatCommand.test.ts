import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { turns } from "../../src/commands/ChatCommand.ts"

const lines = Stream.fromIterable(["a", " ", "", "b"])

describe("turns", () => {
  it.effect("ends at a blank line of a terminal", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Stream.runCollect(turns(lines, true)), ["a"])
    })
  )

  it.effect("skips the blank lines of a pipe", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Stream.runCollect(turns(lines, false)), ["a", "b"])
    })
  )
})
