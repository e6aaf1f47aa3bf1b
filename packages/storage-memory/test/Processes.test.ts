import { assert, describe, it } from "@effect/vitest"
import { processCases } from "@colloquy/store/testing"
import * as Effect from "effect/Effect"
import open from "./child/open.ts"

const shared = { open, module: new URL("child/open.ts", import.meta.url) }

/** Those with the fewest children: to start one takes a second. */
const cases = processCases({ kills: 1 }).filter(({ name }) => /opened again|killed/.test(name))

describe("the process cases find a store that is gone with its process", () => {
  it("all of those that are tried", () => assert.lengthOf(cases, 2))

  for (const { name, run } of cases) {
    it.live(
      name,
      () =>
        Effect.gen(function* () {
          const violation = yield* Effect.flip(run(shared))
          assert.strictEqual(violation.caseName, name)
        }),
      60_000
    )
  }
})
