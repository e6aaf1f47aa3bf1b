import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { CommandQueues } from "../src/index.ts"
import { conversationId, deliverAll, opened, receiptOf } from "./given.ts"

const { State } = CommandQueues
const forkNow = Effect.forkChild({ startImmediately: true })

describe("a receipt", () => {
  it.effect("tells of the delivery, and of the response to it", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const receipt = yield* receiptOf(queues.steer(conversationId, "hello"))
      const delivered = yield* forkNow(receipt.delivered)
      const outcome = yield* forkNow(receipt.await)
      yield* run.takeSteering
      assert.deepStrictEqual(yield* receipt.state, State.Accepted())
      assert.isUndefined(delivered.pollUnsafe())
      yield* run.delivered(receipt.inputId, 7)
      assert.deepStrictEqual(yield* Fiber.join(delivered), State.Delivered({ sequence: 7 }))
      assert.isUndefined(outcome.pollUnsafe())
      yield* run.answered
      assert.deepStrictEqual(yield* Fiber.join(outcome), State.Done({ sequence: 7, answered: true }))
      assert.deepStrictEqual(yield* receipt.await, yield* receipt.state)
      assert.deepStrictEqual(yield* receipt.delivered, State.Delivered({ sequence: 7 }))
    })
  )

  it.effect("counts as answered what was delivered before the response, not what was taken or offered", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened({ drain: "one" })
      const receipts = yield* Effect.forEach(["1", "2", "3"], (text) => receiptOf(queues.steer(conversationId, text)))
      yield* deliverAll(run, yield* run.takeSteering)
      yield* run.takeSteering
      yield* run.answered
      const states = yield* Effect.forEach(receipts, ({ state }) => state)
      assert.deepStrictEqual(
        states.map(({ _tag }) => _tag),
        ["Done", "Accepted", "Accepted"]
      )
    })
  )

  it.effect.each(["failed", "cancelled"] as const)(
    "hands back what was accepted or taken when a run has %s",
    (reason) =>
      Effect.gen(function* () {
        const { queues, run } = yield* opened()
        const taken = yield* receiptOf(queues.steer(conversationId, "taken"))
        const commands = yield* run.takeSteering
        const waiting = yield* receiptOf(queues.followUp(conversationId, "waiting", { author: "ann" }))
        const outcome = yield* forkNow(Effect.all([taken.delivered, taken.await, waiting.await]))
        yield* run.close(reason)
        const [reached, ...outcomes] = yield* Fiber.join(outcome)
        assert.deepStrictEqual(reached, State.Returned({ command: commands[0]!, reason }))
        assert.deepStrictEqual(outcomes[0], reached)
        assert.deepInclude(outcomes[1], { _tag: "Returned", reason })
        if (outcomes[1]._tag === "Returned")
          assert.deepInclude(outcomes[1].command, { kind: "follow-up", author: "ann" })
        assert.deepStrictEqual(yield* run.takeOrClose, [])
      })
  )

  it.effect("says that what was delivered to a run that ended before it responded is done, unanswered", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const receipt = yield* receiptOf(queues.steer(conversationId, "hello"))
      yield* deliverAll(run, yield* run.takeSteering, 3)
      yield* run.close("failed")
      assert.deepStrictEqual(yield* receipt.await, State.Done({ sequence: 3, answered: false }))
    })
  )

  it.effect("streams each of its states once, also to who reads late, and ends with the outcome", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const receipt = yield* receiptOf(queues.steer(conversationId, "hello"))
      const all = yield* forkNow(Stream.runCollect(receipt.states))
      const stopped = yield* forkNow(Stream.runDrain(receipt.states))
      yield* Fiber.interrupt(stopped)
      yield* deliverAll(run, yield* run.takeSteering, 7)
      const late = yield* forkNow(Stream.runCollect(receipt.states))
      yield* run.answered
      const [accepted, delivered, done] = yield* Fiber.join(all)
      assert.deepStrictEqual(
        [accepted, delivered, done],
        [State.Accepted(), State.Delivered({ sequence: 7 }), State.Done({ sequence: 7, answered: true })]
      )
      assert.deepStrictEqual(yield* Fiber.join(late), [delivered, done])
      assert.deepStrictEqual(yield* Stream.runCollect(receipt.states), [done])
    })
  )

  it.effect("streams that an input came back without having been delivered", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const receipt = yield* receiptOf(queues.followUp(conversationId, "hello"))
      const all = yield* forkNow(Stream.runCollect(receipt.states))
      yield* run.close("failed")
      const states = yield* Fiber.join(all)
      assert.deepStrictEqual(
        states.map(({ _tag }) => _tag),
        ["Accepted", "Returned"]
      )
    })
  )

  it.effect("keeps its first outcome", () =>
    Effect.gen(function* () {
      const { end, queues, run } = yield* opened({ drain: "one" })
      const [done, returned] = yield* Effect.forEach(["1", "2"], (text) =>
        receiptOf(queues.steer(conversationId, text))
      )
      yield* deliverAll(run, yield* run.takeSteering)
      yield* run.answered
      yield* run.takeSteering
      yield* run.close("cancelled")
      yield* run.close("failed")
      yield* run.delivered(returned!.inputId, 9)
      yield* run.delivered(done!.inputId, 9)
      yield* run.answered
      yield* end
      assert.deepInclude(yield* returned!.state, { _tag: "Returned", reason: "cancelled" })
      assert.deepStrictEqual(yield* done!.state, State.Done({ sequence: 1, answered: true }))
    })
  )

  it.effect("of a run whose queues have closed by themselves still comes to its outcome", () =>
    Effect.gen(function* () {
      const { end, queues, run } = yield* opened()
      const [answered, unanswered, returned] = yield* Effect.forEach(["1", "2", "3"], (text) =>
        receiptOf(queues.steer(conversationId, text))
      )
      yield* run.takeOrClose
      yield* run.takeOrClose
      yield* run.delivered(answered!.inputId, 1)
      yield* run.answered
      yield* run.delivered(unanswered!.inputId, 2)
      yield* end
      assert.deepStrictEqual(yield* answered!.await, State.Done({ sequence: 1, answered: true }))
      assert.deepStrictEqual(yield* unanswered!.await, State.Done({ sequence: 2, answered: false }))
      assert.deepInclude(yield* returned!.await, { _tag: "Returned", reason: "failed" })
    })
  )

  it.effect("is not moved by a delivery of what was not taken, nor by a second one", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const receipt = yield* receiptOf(queues.steer(conversationId, "hello"))
      yield* run.delivered(receipt.inputId, 1)
      yield* run.delivered("somebody else's", 1)
      assert.deepStrictEqual(yield* receipt.state, State.Accepted())
      yield* deliverAll(run, yield* run.takeSteering, 2)
      yield* run.delivered(receipt.inputId, 3)
      assert.deepStrictEqual(yield* receipt.state, State.Delivered({ sequence: 2 }))
    })
  )

  it.effect("is as it was when a wait for it is interrupted, and so are the other waits", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const receipt = yield* receiptOf(queues.steer(conversationId, "hello"))
      const waits = yield* Effect.forEach([receipt.await, receipt.delivered, receipt.await], forkNow)
      yield* Fiber.interrupt(waits[0]!)
      yield* Fiber.interrupt(waits[1]!)
      assert.deepStrictEqual(yield* receipt.state, State.Accepted())
      yield* deliverAll(run, yield* run.takeSteering)
      yield* run.answered
      assert.deepStrictEqual(yield* Fiber.join(waits[2]!), State.Done({ sequence: 1, answered: true }))
    })
  )

  it.effect("wakes who may use the queues at once, and finds nothing half done", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const [first, second] = yield* Effect.forEach(["1", "2"], (text) => receiptOf(queues.steer(conversationId, text)))
      const woken = yield* forkNow(
        Effect.gen(function* () {
          yield* first!.await
          const offered = yield* queues.steer(conversationId, "3")
          return [offered._tag, (yield* second!.state)._tag, yield* run.takeSteering] as const
        })
      )
      yield* run.close("failed")
      assert.deepStrictEqual(yield* Fiber.join(woken), ["NotRunning", "Returned", []])
    })
  )
})
