/** A small load: no run waits for a reader, and every reader is shown everything once. */
import { TenantId } from "@colloquy/session/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { load } from "../bench/Load.ts"
import * as LongConversation from "../bench/LongConversation.ts"
import { folder, serve } from "./desk.ts"

describe("a reader that reads nothing", () => {
  it.live("holds up no run, and is shown every record once when it reads again", () =>
    Effect.gen(function* () {
      const filename = join(yield* folder, "desk.db")
      const long = yield* LongConversation.write(filename, TenantId.make("acme"))
      const { url } = yield* serve({ filename })
      const [runs, readers, stalled] = [5, 20, 3]
      const result = yield* Effect.promise(() =>
        load({ url, round: "one", runs, readers, stalled, long, text: "write a long answer" })
      )
      assert.strictEqual(result.endedRuns, runs)
      assert.strictEqual(result.reading.faults + result.stalled.faults, 0)
      // Of a run: its creation, unless it was there, its start, its input, its answer and its end.
      assert.strictEqual(result.reading.records, 4 * (4 * 5 + 4))
      assert.strictEqual(result.stalled.records, stalled * (long.tail + 4))
    }).pipe(Effect.scoped)
  )
})
