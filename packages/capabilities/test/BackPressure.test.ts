import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { CommandQueues } from "../src/index.ts"
import { conversationId, deliverAll, opened, receiptOf, refusalOf, textsOf } from "./given.ts"

const forkNow = Effect.forkChild({ startImmediately: true })
const isWaiting = (fiber: Fiber.Fiber<unknown, unknown>) => fiber.pollUnsafe() === undefined

/** A full queue of one, and offers that wait for room in it. */
const full = Effect.fnUntraced(function* (texts: ReadonlyArray<string>, options: CommandQueues.Options = {}) {
  const given = yield* opened({ capacity: 1, overflow: "wait", ...options })
  const offer = (text: string) => given.queues.steer(conversationId, text, { inputId: text })
  yield* receiptOf(offer("first"))
  const waiting = yield* Effect.forEach(texts, (text) => forkNow(offer(text)))
  for (const fiber of waiting) assert.isTrue(isWaiting(fiber))
  return { ...given, offer, waiting }
})

describe("an offer that waits for room", () => {
  it.effect("is accepted when the run has read, in line with the others", () =>
    Effect.gen(function* () {
      const { run, waiting } = yield* full(["second", "third"])
      assert.deepStrictEqual(textsOf(yield* run.takeSteering), ["first"])
      const second = yield* receiptOf(Fiber.join(waiting[0]!))
      assert.deepStrictEqual(yield* second.state, CommandQueues.State.Accepted())
      assert.isTrue(isWaiting(waiting[1]!), "one was read, there is room for one")
      assert.deepStrictEqual(textsOf(yield* run.takeSteering), ["second"])
      assert.deepStrictEqual(textsOf(yield* run.takeSteering), ["third"])
      yield* receiptOf(Fiber.join(waiting[1]!))
    })
  )

  it.effect("is not overtaken by one that comes when there is room", () =>
    Effect.gen(function* () {
      const { offer, run, waiting } = yield* full(["second"])
      // Who is let in runs at once, before the run goes on: what it offers then stands behind.
      const next = yield* forkNow(Effect.andThen(Fiber.join(waiting[0]!), offer("third")))
      const reads = []
      for (let i = 0; i < 3; i++) reads.push(...textsOf(yield* run.takeSteering))
      assert.deepStrictEqual(reads, ["first", "second", "third"])
      yield* receiptOf(Fiber.join(next))
    })
  )

  it.effect("keeps the run from ending", () =>
    Effect.gen(function* () {
      const { run, waiting } = yield* full(["second"])
      assert.deepStrictEqual(textsOf(yield* run.takeOrClose), ["first"])
      assert.deepStrictEqual(textsOf(yield* run.takeOrClose), ["second"])
      assert.deepStrictEqual(yield* run.takeOrClose, [])
      yield* receiptOf(Fiber.join(waiting[0]!))
    })
  )

  it.effect("is not running when the run takes no more", () =>
    Effect.gen(function* () {
      const { offer, run, waiting } = yield* full(["second", "third"])
      yield* run.close("failed")
      assert.strictEqual(yield* refusalOf(Fiber.join(waiting[0]!)), "ending")
      assert.strictEqual(yield* refusalOf(Fiber.join(waiting[1]!)), "ending")
      assert.strictEqual(yield* refusalOf(offer("second")), "ending")
    })
  )

  it.effect("is not running when the scope of the run ends", () =>
    Effect.gen(function* () {
      const { end, waiting } = yield* full(["second"])
      yield* end
      assert.strictEqual(yield* refusalOf(Fiber.join(waiting[0]!)), "ending")
    })
  )

  it.effect("leaves nothing when it is interrupted", () =>
    Effect.gen(function* () {
      const { queues, run, waiting } = yield* full(["second", "third"])
      yield* Fiber.interrupt(waiting[0]!)
      assert.deepStrictEqual(textsOf(yield* run.takeSteering), ["first"])
      yield* receiptOf(Fiber.join(waiting[1]!))
      assert.deepStrictEqual(textsOf(yield* run.takeOrClose), ["third"])
      // Its id is free, for other content too.
      yield* receiptOf(queues.steer(conversationId, "another second", { inputId: "second" }))
      assert.deepStrictEqual(textsOf(yield* run.takeOrClose), ["another second"])
      assert.deepStrictEqual(yield* run.takeOrClose, [])
    })
  )

  it.effect("is one input with another of the same id; it stays while one of them waits", () =>
    Effect.gen(function* () {
      const { offer, queues, run, waiting } = yield* full(["second"])
      const same = yield* forkNow(offer("second"))
      const other = yield* Effect.flip(queues.steer(conversationId, "other", { inputId: "second" }))
      assert.instanceOf(other, CommandQueues.InputConflict)
      yield* Fiber.interrupt(waiting[0]!)
      const third = yield* forkNow(offer("second"))
      yield* run.takeSteering
      assert.strictEqual(yield* receiptOf(Fiber.join(same)), yield* receiptOf(Fiber.join(third)))
      assert.deepStrictEqual(textsOf(yield* run.takeSteering), ["second"])
      assert.deepStrictEqual(yield* run.takeOrClose, [])
    })
  )

  it.effect("of a follow-up does not hold steering back", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened({ capacity: 1, overflow: "wait" })
      yield* receiptOf(queues.followUp(conversationId, "later"))
      const waiting = yield* forkNow(queues.followUp(conversationId, "latest"))
      yield* receiptOf(queues.steer(conversationId, "now"))
      assert.isTrue(isWaiting(waiting))
      assert.deepStrictEqual(textsOf(yield* run.takeOrClose), ["now"])
      assert.deepStrictEqual(textsOf(yield* run.takeOrClose), ["later"])
      yield* receiptOf(Fiber.join(waiting))
    })
  )
})

describe("a thousand offers at once", () => {
  const inputIds = Array.from({ length: 1000 }, (_, i) => `i${i}`)

  it.effect("are accepted up to the capacity, and refused beyond it", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened({ capacity: 300 })
      const offered = yield* Effect.forEach(
        inputIds,
        (inputId) => Effect.result(receiptOf(queues.steer(conversationId, "hello", { inputId }))),
        { concurrency: "unbounded" }
      )
      const accepted = offered.flatMap((result) => (result._tag === "Success" ? [result.success.inputId] : []))
      assert.strictEqual(accepted.length, 300)
      for (const result of offered) if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "QueueFull")
      assert.deepStrictEqual(
        (yield* run.takeSteering).map(({ inputId }) => inputId),
        accepted
      )
    })
  )

  it.effect("are all read, in order, a capacity at a time, by a run that goes on", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened({ capacity: 7, overflow: "wait" })
      const offering = yield* forkNow(
        Effect.forEach(inputIds, (inputId) => receiptOf(queues.steer(conversationId, "hello", { inputId })), {
          concurrency: "unbounded"
        })
      )
      const reads: Array<string> = []
      for (let commands = yield* run.takeOrClose; commands.length > 0; commands = yield* run.takeOrClose) {
        assert.isAtMost(commands.length, 7)
        yield* deliverAll(run, commands, reads.length + 1)
        yield* run.answered
        reads.push(...commands.map(({ inputId }) => inputId))
      }
      assert.deepStrictEqual(reads, inputIds)
      const outcomes = yield* Effect.forEach(yield* Fiber.join(offering), (receipt) => receipt.await)
      assert.deepStrictEqual(
        outcomes,
        inputIds.map((_, i) => CommandQueues.State.Done({ sequence: i + 1, answered: true }))
      )
    })
  )

  it.effect("of one id are one input", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened({ capacity: 1 })
      const receipts = yield* Effect.forEach(
        inputIds,
        () => receiptOf(queues.steer(conversationId, "hello", { inputId: "i1" })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(receipts).size, 1)
      assert.strictEqual((yield* run.takeSteering).length, 1)
    })
  )
})
