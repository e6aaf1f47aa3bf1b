import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { CommandQueues } from "../src/index.ts"
import { setImmediate } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { conversationId, deliverAll, opened, openedIn, receiptOf, refusalOf, textsOf } from "./given.ts"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

/** How many are left after a collection. It is a turn of the event loop later: this one keeps what it has looked at. */
const stillHeld = Effect.fnUntraced(function* (held: ReadonlyArray<WeakRef<object>>) {
  yield* Effect.promise(() => setImmediate())
  collect()
  return held.filter((reference) => reference.deref() !== undefined).length
})

describe("the queues of a run", () => {
  it.effect("are closed at the end of its scope, as after a failure", () =>
    Effect.gen(function* () {
      const { end, queues, run } = yield* opened()
      const receipt = yield* receiptOf(queues.followUp(conversationId, "hello"))
      yield* end
      assert.deepInclude(yield* receipt.await, { _tag: "Returned", reason: "failed" })
      assert.deepStrictEqual(yield* run.takeSteering, [])
      assert.deepStrictEqual(yield* run.takeOrClose, [])
      assert.strictEqual(yield* refusalOf(queues.steer(conversationId, "hello")), "no-run")
    })
  )

  it.effect("are closed when the run dies or is interrupted", () =>
    Effect.gen(function* () {
      const queues = yield* CommandQueues.make()
      const receipts: Array<CommandQueues.Receipt> = []
      const runs = [Effect.die("a bug"), Effect.interrupt]
      for (const end of runs) {
        yield* Effect.gen(function* () {
          yield* queues.open(conversationId)
          receipts.push(yield* receiptOf(queues.steer(conversationId, "hello")))
          return yield* end
        }).pipe(Effect.scoped, Effect.exit)
      }
      const outcomes = yield* Effect.forEach(receipts, (receipt) => receipt.await)
      assert.deepStrictEqual(
        outcomes.map(({ _tag }) => _tag),
        ["Returned", "Returned"]
      )
    })
  )

  it.effect("are not those of the next run: an input of before is a new one there", () =>
    Effect.gen(function* () {
      const { end, queues, run } = yield* opened()
      const before = yield* receiptOf(queues.steer(conversationId, "hello", { inputId: "i1" }))
      yield* deliverAll(run, yield* run.takeSteering)
      yield* end
      const next = yield* openedIn(queues)
      const now = yield* receiptOf(queues.steer(conversationId, "hello", { inputId: "i1" }))
      assert.notStrictEqual(now, before)
      assert.deepStrictEqual(textsOf(yield* next.run.takeSteering), ["hello"])
    })
  )

  it.effect("are not touched by a run that is not the newest", () =>
    Effect.gen(function* () {
      const old = yield* opened()
      const { queues } = old
      const stale = yield* receiptOf(queues.steer(conversationId, "old", { inputId: "i1" }))
      const next = yield* openedIn(queues)
      const fresh = yield* receiptOf(queues.steer(conversationId, "new", { inputId: "i1" }))
      assert.deepStrictEqual(textsOf(yield* old.run.takeOrClose), ["old"])
      assert.deepStrictEqual(yield* old.run.takeOrClose, [])
      yield* old.run.delivered("i1", 1)
      yield* old.run.answered
      yield* old.run.close("cancelled")
      yield* old.end
      assert.strictEqual((yield* stale.state)._tag, "Done")
      assert.strictEqual((yield* fresh.state)._tag, "Accepted")
      yield* receiptOf(queues.steer(conversationId, "newer"))
      assert.deepStrictEqual(textsOf(yield* next.run.takeSteering), ["new", "newer"])
    })
  )

  it.effect("take no room once it is over, and for what is in the log not even before", () =>
    Effect.gen(function* () {
      const queues = yield* CommandQueues.make()
      const held: Array<WeakRef<object>> = []
      const turn = Effect.gen(function* () {
        const run = yield* queues.open(conversationId)
        for (let i = 0; i < 50; i++) {
          yield* queues.steer(conversationId, "read")
          const commands = yield* run.takeOrClose
          yield* deliverAll(run, commands)
          held.push(...commands.map((command) => new WeakRef(command)))
        }
        return run
      })
      const run = yield* turn
      // A few that were looked at last may be kept by that.
      assert.isBelow(yield* stillHeld(held), 5)
      assert.deepStrictEqual(yield* run.takeSteering, [])
      for (let i = 0; i < 50; i++) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            held.push(new WeakRef(yield* turn))
            held.push(new WeakRef(yield* receiptOf(queues.followUp(conversationId, "not read"))))
          })
        )
      }
      assert.strictEqual(held.length, 50 + 50 * 52)
      assert.isBelow(yield* stillHeld(held), 5)
      assert.strictEqual(yield* refusalOf(queues.steer(conversationId, "to nobody")), "no-run")
    })
  )
})

describe("the options", () => {
  it.effect.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "capacity %d is a defect that says so",
    (capacity) =>
      Effect.gen(function* () {
        const layer = CommandQueues.layerWith({ capacity })
        for (const building of [Effect.asVoid(CommandQueues.make({ capacity })), Effect.asVoid(Layer.build(layer))]) {
          const exit = yield* Effect.exit(building)
          const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
          if (!(defect instanceof RangeError)) return assert.fail("it was taken")
          assert.include(defect.message, `capacity is ${capacity}`)
        }
      })
  )

  it.effect("have defaults, and each layer that is built has queues of its own", () =>
    Effect.gen(function* () {
      const built = Effect.provide(CommandQueues.CommandQueues, Layer.fresh(CommandQueues.layer))
      const queues = yield* built
      const others = yield* built
      yield* openedIn(queues)
      assert.isFalse(queues.durable)
      yield* receiptOf(queues.steer(conversationId, "hello"))
      assert.strictEqual(yield* refusalOf(others.steer(conversationId, "hello")), "no-run")
      const small = yield* Effect.provide(CommandQueues.CommandQueues, CommandQueues.layerWith({ capacity: 1 }))
      yield* openedIn(small)
      yield* small.steer(conversationId, "1")
      assert.strictEqual((yield* Effect.flip(small.steer(conversationId, "2")))._tag, "QueueFull")
    })
  )
})
