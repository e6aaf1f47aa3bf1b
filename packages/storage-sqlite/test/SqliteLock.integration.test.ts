import { assert, describe, it } from "@effect/vitest"
import { ConversationId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import type { DatabaseSync } from "node:sqlite"
import { batch, conversationId, opened, producerId, sequences, takeOver } from "./conversations.ts"
import { newFile } from "./files.ts"
import { connected } from "./opened.ts"

/** Another process's write transaction, for as long as the effect runs. */
const whileLocked = <A, E, R>(database: DatabaseSync, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => database.exec("BEGIN IMMEDIATE")),
    () => effect,
    () => Effect.sync(() => database.exec("ROLLBACK"))
  )

const begun = Effect.gen(function* () {
  const filename = yield* newFile
  const store = yield* opened({ filename, busyTimeout: "2 seconds" })
  const append = yield* takeOver(store)
  yield* append(batch("created"))
  return { append, filename, store, other: yield* connected(filename) }
})

describe("while another process holds the write lock", () => {
  it.effect("an append waits, and succeeds once the lock is released", () =>
    Effect.gen(function* () {
      const { append, other, store } = yield* begun
      const fiber = yield* whileLocked(
        other,
        Effect.gen(function* () {
          const fiber = yield* Effect.forkScoped(append(batch("b")), { startImmediately: true })
          // That this fiber runs at all while the append waits shows that the event loop is free.
          yield* TestClock.adjust("1 second")
          assert.isUndefined(fiber.pollUnsafe())
          assert.deepStrictEqual(yield* sequences(store), [1])
          return fiber
        })
      )
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).last, 2)
    })
  )

  it.effect("an append fails, retryable, when it has waited long enough", () =>
    Effect.gen(function* () {
      const { append, other, store } = yield* begun
      yield* whileLocked(
        other,
        Effect.gen(function* () {
          const fiber = yield* Effect.forkScoped(Effect.flip(append(batch("b"))), { startImmediately: true })
          yield* TestClock.adjust("10 seconds")
          const error = yield* Fiber.join(fiber)
          if (error._tag !== "StoreUnavailable") return assert.fail(`failed with ${error._tag}`)
          assert.deepStrictEqual([error.reason, error.retryable], ["contention", true])
          assert.include(error.message, "try again")
        })
      )
      assert.deepStrictEqual(yield* sequences(store), [1])
      assert.isFalse((yield* append(batch("b"))).replayed)
    })
  )

  it.effect("a waiting append can be interrupted, and has not happened", () =>
    Effect.gen(function* () {
      const { append, other, store } = yield* begun
      yield* whileLocked(
        other,
        Effect.gen(function* () {
          const fiber = yield* Effect.forkScoped(append(batch("b")), { startImmediately: true })
          yield* Fiber.interrupt(fiber)
          assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
        })
      )
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* sequences(store), [1])
      assert.strictEqual((yield* append(batch("b"))).last, 2)
    })
  )

  it.effect("reads go on", () =>
    Effect.gen(function* () {
      const { other, store } = yield* begun
      yield* whileLocked(
        other,
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* sequences(store), [1])
          assert.strictEqual((yield* store.tail({ conversationId })).sequence, 1)
          assert.deepStrictEqual((yield* store.verify({ conversationId })).faults, [])
        })
      )
    })
  )

  it.effect("many appends wait at once, each for its own turn", () =>
    Effect.gen(function* () {
      const { other, store } = yield* begun
      const fibers = yield* whileLocked(
        other,
        Effect.gen(function* () {
          const fibers = yield* Effect.forEach(["x", "y", "z"], (name) =>
            Effect.forkScoped(
              Effect.flatMap(takeOver(store, ConversationId.make(name)), (append) => append(batch(name))),
              { startImmediately: true }
            )
          )
          yield* TestClock.adjust("500 millis")
          return fibers
        })
      )
      yield* TestClock.adjust("1 second")
      const appended = yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(
        appended.map(({ last }) => last),
        [1, 1, 1]
      )
    })
  )

  it.effect("a new file is opened once the lock is released", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const other = yield* connected(filename)
      const fiber = yield* whileLocked(
        other,
        Effect.gen(function* () {
          const fiber = yield* Effect.forkScoped(opened({ filename }), { startImmediately: true })
          yield* TestClock.adjust("1 second")
          assert.isUndefined(fiber.pollUnsafe())
          return fiber
        })
      )
      yield* TestClock.adjust("1 second")
      const store = yield* Fiber.join(fiber)
      yield* (yield* takeOver(store))(batch("b"))
      assert.deepStrictEqual(yield* sequences(store), [1])
    })
  )
})

describe("two stores on one file", () => {
  const two = Effect.gen(function* () {
    const filename = yield* newFile
    return [yield* opened({ filename }), yield* opened({ filename })] as const
  })

  it.effect("a takeover in one fences the owner in the other", () =>
    Effect.gen(function* () {
      const [one, other] = yield* two
      const former = yield* takeOver(one)
      yield* former(batch("created"))
      const owner = yield* takeOver(other)
      yield* owner(batch("b"))
      const error = yield* Effect.flip(former(batch("c")))
      assert.strictEqual(error._tag, "FenceRejected")
      assert.deepStrictEqual(yield* sequences(one), [1, 2])
      assert.strictEqual((yield* one.tail({ conversationId })).epoch, 2)
    })
  )

  it.effect("of appends at one tail one wins, and the others are told the real tail", () =>
    Effect.gen(function* () {
      const [one, other] = yield* two
      yield* (yield* takeOver(one))(batch("created"))
      const { epoch, ...expectedTail } = yield* one.tail({ conversationId })
      const request = { conversationId, expectedTail, epoch, producerId }
      const attempts = Array.from({ length: 20 }, (_, i) =>
        Effect.result((i % 2 === 0 ? one : other).append({ ...request, batch: batch(`b/${i}`) }))
      )
      const fiber = yield* Effect.forkScoped(Effect.all(attempts, { concurrency: "unbounded" }))
      yield* TestClock.adjust("5 seconds")
      const results = yield* Fiber.join(fiber)
      assert.lengthOf(
        results.filter(({ _tag }) => _tag === "Success"),
        1
      )
      const { digest, sequence } = yield* other.tail({ conversationId })
      for (const result of results) {
        if (result._tag === "Success") continue
        if (result.failure._tag !== "AppendConflict") return assert.fail(`failed with ${result.failure._tag}`)
        assert.deepStrictEqual([result.failure.reason, result.failure.tail], ["tail", { digest, sequence }])
      }
    })
  )

  it.effect("an observer in one sees what the other commits, once the file was looked at", () =>
    Effect.gen(function* () {
      const [one, other] = yield* two
      const append = yield* takeOver(other)
      yield* append(batch("created"))
      const seen: Array<number> = []
      yield* Effect.forkScoped(
        Stream.runForEach(one.observe({ conversationId, after: 0 }), ({ sequence }) =>
          Effect.sync(() => seen.push(sequence))
        ),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(seen, [1])
      for (let n = 0; n < 3; n++) {
        yield* append(batch(`b/${n}`, 2))
        yield* TestClock.adjust("200 millis")
        assert.deepStrictEqual(
          seen,
          Array.from({ length: 3 + 2 * n }, (_, i) => i + 1)
        )
      }
    })
  )
})
