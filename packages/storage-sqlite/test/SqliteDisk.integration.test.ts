import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { batch, conversationId, opened, takeOver } from "./conversations.ts"
import { cannotMount, onSmallDisk, smallDisk } from "./smallDisk.ts"

describe("a disk that fills up", () => {
  it.effect.skipIf(cannotMount)(onSmallDisk("refuses whole batches, and goes on once there is space"), () =>
    Effect.gen(function* () {
      const path = yield* smallDisk
      const ballast = join(path, "ballast")
      writeFileSync(ballast, "x".repeat(300_000))
      const filename = join(path, "conversations.db")
      const acknowledged = yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* opened({ filename })
          const append = yield* takeOver(store)
          yield* append(batch("created"))
          let batches = 1
          const fill = Effect.gen(function* () {
            while (true) {
              yield* append(batch(`b/${batches}`, 3, "x".repeat(5_000)))
              batches++
            }
          })
          const error = yield* Effect.flip(fill)
          if (error._tag !== "StoreUnavailable") return assert.fail(`failed with ${error._tag}`)
          assert.strictEqual(error.reason, "disk-full")
          assert.isTrue(error.retryable)
          assert.include(error.message, "free some space")
          assert.isAbove(batches, 5)

          // Nothing of the refused batch is there, and what was acknowledged is.
          const tail = yield* store.tail({ conversationId })
          assert.strictEqual(tail.sequence, 1 + (batches - 1) * 3)
          const before = yield* store.verify({ conversationId })
          assert.deepStrictEqual([before.batches, before.faults], [batches, []])
          assert.strictEqual((yield* Effect.flip(append(batch(`b/${batches}`, 3, "x".repeat(5_000)))))._tag, error._tag)

          rmSync(ballast)
          for (let n = 0; n < 3; n++) yield* append(batch(`b/${batches++}`, 3, "x".repeat(5_000)))
          const after = yield* store.verify({ conversationId })
          assert.deepStrictEqual([after.batches, after.faults], [batches, []])
          return batches
        })
      )
      const store = yield* opened({ filename })
      const report = yield* store.verify({ conversationId })
      assert.deepStrictEqual([report.batches, report.faults], [acknowledged, []])
    })
  )

  it.effect.skipIf(cannotMount)(onSmallDisk("refuses a large batch that does not fit, and takes small ones"), () =>
    Effect.gen(function* () {
      const filename = join(yield* smallDisk, "conversations.db")
      const store = yield* opened({ filename })
      const append = yield* takeOver(store)
      yield* append(batch("created"))
      const error = yield* Effect.flip(append(batch("large", 1, "x".repeat(3_000_000))))
      assert.strictEqual(error._tag === "StoreUnavailable" ? error.reason : error._tag, "disk-full")
      for (let n = 0; n < 20; n++) yield* append(batch(`b/${n}`))
      const report = yield* store.verify({ conversationId })
      assert.deepStrictEqual([report.batches, report.faults], [21, []])
    })
  )
})
