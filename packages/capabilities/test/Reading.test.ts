import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { conversationId, deliverAll, opened, receiptOf, refusalOf, textsOf } from "./given.ts"

describe("a run that reads", () => {
  it.effect("takes steering in the order of the offers, all that waits, and each once", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      for (const text of ["1", "2", "3"]) yield* queues.steer(conversationId, text)
      assert.deepStrictEqual(textsOf(yield* run.takeSteering), ["1", "2", "3"])
      assert.deepStrictEqual(yield* run.takeSteering, [])
    })
  )

  it.effect("takes one at a time when told so", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened({ drain: "one" })
      for (const text of ["1", "2"]) yield* queues.steer(conversationId, text)
      for (const text of ["later 1", "later 2"]) yield* queues.followUp(conversationId, text)
      assert.deepStrictEqual(textsOf(yield* run.takeSteering), ["1"])
      const reads = []
      for (let i = 0; i < 4; i++) reads.push(textsOf(yield* run.takeOrClose))
      assert.deepStrictEqual(reads, [["2"], ["later 1"], ["later 2"], []])
    })
  )

  it.effect("takes steering behind a follow-up that was offered first", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      yield* queues.followUp(conversationId, "later")
      yield* queues.steer(conversationId, "now")
      assert.deepStrictEqual(textsOf(yield* run.takeSteering), ["now"])
      assert.deepStrictEqual(yield* run.takeSteering, [])
    })
  )

  it.effect("takes follow-ups only when it would stop and no steering waits", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      for (const text of ["later 1", "later 2"]) yield* queues.followUp(conversationId, text)
      yield* queues.steer(conversationId, "now")
      assert.deepStrictEqual(textsOf(yield* run.takeOrClose), ["now"])
      assert.deepStrictEqual(textsOf(yield* run.takeOrClose), ["later 1", "later 2"])
    })
  )

  it.effect("takes steering before it waits for people; else closes, and hands follow-ups back", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const later = yield* receiptOf(queues.followUp(conversationId, "later"))
      yield* queues.steer(conversationId, "now")
      assert.deepStrictEqual(textsOf(yield* run.takeOrSuspend), ["now"])
      assert.strictEqual((yield* later.state)._tag, "Accepted")
      assert.deepStrictEqual(yield* run.takeOrSuspend, [])
      const outcome = yield* later.await
      assert.isTrue(outcome._tag === "Returned" && outcome.reason === "suspended")
      assert.strictEqual(yield* refusalOf(queues.steer(conversationId, "late")), "ending")
    })
  )

  it.effect("goes on taking in while it took something, and closes in the step that finds nothing", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      yield* queues.steer(conversationId, "1")
      yield* run.takeOrClose
      yield* receiptOf(queues.steer(conversationId, "2"))
      yield* run.takeOrClose
      yield* receiptOf(queues.followUp(conversationId, "3"))
      yield* run.takeOrClose
      assert.deepStrictEqual(yield* run.takeSteering, [], "which does not close")
      yield* receiptOf(queues.steer(conversationId, "4"))
      yield* run.takeOrClose
      assert.deepStrictEqual(yield* run.takeOrClose, [])
      assert.strictEqual(yield* refusalOf(queues.steer(conversationId, "5")), "ending")
      assert.deepStrictEqual(yield* run.takeOrClose, [])
    })
  )

  it.effect("has offers that race with its closing either read by it or refused", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened({ capacity: 1000 })
      const reads: Array<string> = []
      const reading = Effect.gen(function* () {
        while (true) {
          const commands = yield* run.takeOrClose
          if (commands.length === 0) return
          reads.push(...commands.map(({ inputId }) => inputId))
          yield* deliverAll(run, commands)
          yield* Effect.yieldNow
        }
      })
      const offering = Effect.forEach(
        Array.from({ length: 200 }, (_, i) => `i${i}`),
        (inputId, i) =>
          // Some come while it reads, some when it closes, and some after.
          Effect.repeat(Effect.yieldNow, { times: i % 9 < 6 ? i % 9 : 30 }).pipe(
            Effect.andThen(queues.steer(conversationId, "hello", { inputId })),
            Effect.map((offered) => (offered._tag === "Accepted" ? inputId : undefined))
          ),
        { concurrency: "unbounded" }
      )
      yield* queues.steer(conversationId, "hello", { inputId: "before" })
      const [offered] = yield* Effect.all([offering, reading], { concurrency: "unbounded" })
      const accepted = offered.filter((inputId) => inputId !== undefined)
      assert.sameMembers(reads, ["before", ...accepted])
      assert.isAbove(accepted.length, 50)
      assert.isBelow(accepted.length, 180)
    })
  )
})
