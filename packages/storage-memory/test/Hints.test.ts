import { assert, describe, it } from "@effect/vitest"
import { MemoryDatabase, MemoryDriver } from "@colloquy/storage-memory"
import { ConversationDriver } from "@colloquy/store/ConversationDriver"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { batch, conversationId, opened, takeOver } from "./given.ts"

/** A store that is told of others' commits by hints alone. */
const hinted = Effect.fnUntraced(function* (database: MemoryDatabase.MemoryDatabase) {
  const hints = yield* Queue.unbounded<void>()
  const driver = { ...MemoryDriver.make(database), changes: Stream.fromQueue(hints) }
  const layer = Layer.provide(ConversationStore.layer(), Layer.succeed(ConversationDriver, driver))
  const store = Context.get(yield* Layer.build(layer), ConversationStore.ConversationStore)
  return { store, hint: Queue.offer(hints, undefined) }
})

describe("a hint that somebody else has committed", () => {
  it.effect("makes observers look, who then see everything", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const other = yield* opened({ database })
      yield* takeOver(other)
      const { hint, store } = yield* hinted(database)
      const fiber = yield* Effect.forkScoped(
        Stream.runCollect(Stream.take(store.observe({ conversationId, after: 0 }), 3)),
        { startImmediately: true }
      )
      for (const id of ["a", "b", "c"]) yield* other.append((yield* takeOver(other))(batch(id)))
      yield* hint
      assert.deepStrictEqual(
        (yield* Fiber.join(fiber)).map(({ sequence }) => sequence),
        [1, 2, 3]
      )
    })
  )

  it.effect("may come without a reason, or late: nothing is seen twice", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const { hint, store } = yield* hinted(database)
      yield* takeOver(store)
      const fiber = yield* Effect.forkScoped(
        Stream.runCollect(Stream.take(store.observe({ conversationId, after: 0 }), 4)),
        { startImmediately: true }
      )
      for (const id of ["a", "b", "c", "d"]) {
        yield* hint
        yield* store.append((yield* takeOver(store))(batch(id)))
        yield* hint
      }
      assert.deepStrictEqual(
        (yield* Fiber.join(fiber)).map(({ sequence }) => sequence),
        [1, 2, 3, 4]
      )
    })
  )

  it.effect("comes from every other store over the same database", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const other = yield* opened({ database })
      const store = yield* opened({ database })
      yield* takeOver(other)
      const fiber = yield* Effect.forkScoped(
        Stream.runCollect(Stream.take(store.observe({ conversationId, after: 0 }), 2)),
        { startImmediately: true }
      )
      for (const id of ["a", "b"]) {
        // The observer has seen what there is, and waits.
        yield* Effect.yieldNow
        yield* other.append((yield* takeOver(other))(batch(id)))
      }
      assert.strictEqual((yield* Fiber.join(fiber)).length, 2)
    })
  )
})
