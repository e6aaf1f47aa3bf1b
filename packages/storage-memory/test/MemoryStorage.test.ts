import { assert, describe, it } from "@effect/vitest"
import { ConversationId, ProducerId } from "@colloquy/session/Ids"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { StoreUnavailable } from "@colloquy/store/StoreError"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { batch, conversationId, opened, sequences, takeOver } from "./given.ts"

const lost = new StoreUnavailable({ reason: "connection", retryable: true, detail: "the line is cut", cause: null })

/** Fails the first commit that brings records, on the given side of the write. */
const failingOnce = (side: "beforeCommit" | "afterCommit") => {
  let failed = false
  return {
    [side]: ({ records = [] }: { readonly records?: ReadonlyArray<unknown> }) =>
      Effect.suspend(() => {
        if (failed || records.length === 0) return Effect.void
        failed = true
        return Effect.fail(lost)
      })
  }
}

describe("faults", () => {
  it.effect("a commit that fails before it writes has not happened; the same batch goes in later", () =>
    Effect.gen(function* () {
      const store = yield* opened({ faults: failingOnce("beforeCommit") })
      const request = yield* takeOver(store)
      const error = yield* Effect.flip(store.append(request(batch("b", 2))))
      assert.strictEqual(error, lost)
      assert.deepStrictEqual(yield* sequences(store), [])
      assert.isTrue(Option.isNone(yield* store.batch({ conversationId, batchId: batch("b").batchId })))
      assert.isFalse((yield* store.append(request(batch("b", 2)))).replayed)
    })
  )

  it.effect("a lost acknowledgement: the batch is there, and the same request confirms it", () =>
    Effect.gen(function* () {
      const store = yield* opened({ faults: failingOnce("afterCommit") })
      const request = yield* takeOver(store)
      assert.strictEqual(yield* Effect.flip(store.append(request(batch("b", 2)))), lost)
      assert.isTrue(Option.isSome(yield* store.batch({ conversationId, batchId: batch("b").batchId })))
      const again = yield* store.append(request(batch("b", 2)))
      assert.deepStrictEqual([again.replayed, again.first, again.last], [true, 1, 2])
      assert.deepStrictEqual(yield* sequences(store), [1, 2])
    })
  )

  it.effect("observers see what was written although nobody was told", () =>
    Effect.gen(function* () {
      const store = yield* opened({ faults: failingOnce("afterCommit") })
      const request = yield* takeOver(store)
      const fiber = yield* Effect.forkScoped(
        Stream.runCollect(Stream.take(store.observe({ conversationId, after: 0 }), 2)),
        { startImmediately: true }
      )
      yield* Effect.flip(store.append(request(batch("b", 2))))
      assert.lengthOf(yield* Fiber.join(fiber), 2)
    })
  )

  it.effect("a delay holds a commit up, and nothing else", () =>
    Effect.gen(function* () {
      const store = yield* opened({
        faults: { beforeCommit: ({ records = [] }) => (records.length > 1 ? Effect.sleep("1 minute") : Effect.void) }
      })
      const request = yield* takeOver(store)
      const fiber = yield* Effect.forkScoped(store.append(request(batch("slow", 2))), { startImmediately: true })
      assert.deepStrictEqual(yield* sequences(store), [])
      yield* store.append((yield* takeOver(store, ConversationId.make("other")))(batch("quick")))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(fiber)).last, 2)
    })
  )

  it.effect("a delayed commit is fenced by a takeover that came first", () =>
    Effect.gen(function* () {
      const [reached, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const store = yield* opened({
        faults: {
          beforeCommit: ({ records = [] }) =>
            records.length > 0 ? Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(go)) : Effect.void
        }
      })
      const fiber = yield* Effect.forkScoped(Effect.flip(store.append((yield* takeOver(store))(batch("late")))))
      yield* Deferred.await(reached)
      yield* takeOver(store)
      yield* Deferred.succeed(go, undefined)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "FenceRejected")
      assert.deepStrictEqual(yield* sequences(store), [])
    })
  )

  it.effect("a crash is a defect, with whole batches behind it", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      for (const side of ["beforeCommit", "afterCommit"] as const) {
        const crash = { [side]: () => Effect.die(new Error("power cut")) }
        const request = yield* takeOver(yield* opened({ database }))
        const exit = yield* Effect.exit((yield* opened({ database, faults: crash })).append(request(batch(side, 3))))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      }
      const store = yield* opened({ database })
      assert.deepStrictEqual(yield* sequences(store), [1, 2, 3])
      const found = yield* store.batch({ conversationId, batchId: batch("afterCommit").batchId })
      assert.isTrue(Option.isSome(found))
    })
  )

  it.effect("a large import that fails in the middle shows nothing, and the next attempt is whole", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      let commits = 0
      const faults = { beforeCommit: () => Effect.suspend(() => (++commits === 2 ? Effect.fail(lost) : Effect.void)) }
      const batches = Array.from({ length: 60 }, (_, i) => batch(`b/${i}`, 150))
      const request = { conversationId, producerId: ProducerId.make("elsewhere"), batches }
      const broken = yield* opened({ database, faults })
      assert.strictEqual(yield* Effect.flip(broken.importBatches(request)), lost)
      const store = yield* opened({ database })
      assert.deepStrictEqual(yield* Stream.runCollect(store.list()), [])
      // What it had staged is discarded.
      assert.deepStrictEqual(database.idsAfter(""), [])
      assert.strictEqual((yield* store.importBatches(request)).records, 9_000)
      assert.deepStrictEqual(database.idsAfter(""), [conversationId])
    })
  )
})

describe("two stores over one database", () => {
  const two = Effect.gen(function* () {
    const database = MemoryDatabase.make()
    return [yield* opened({ database }), yield* opened({ database })] as const
  })

  it.effect("a takeover in one fences the owner in the other", () =>
    Effect.gen(function* () {
      const [one, other] = yield* two
      const former = yield* takeOver(one)
      const owner = yield* takeOver(other)
      assert.strictEqual((yield* Effect.flip(one.append(former(batch("b")))))._tag, "FenceRejected")
      yield* other.append(owner(batch("b")))
      assert.deepStrictEqual(yield* sequences(one), [1])
    })
  )

  it.effect("a batch that one has written is recognised by the other", () =>
    Effect.gen(function* () {
      const [one, other] = yield* two
      const request = yield* takeOver(one)
      yield* one.append(request(batch("b")))
      assert.isTrue((yield* other.append(request(batch("b")))).replayed)
    })
  )

  it.effect("of appends at one tail from both one wins", () =>
    Effect.gen(function* () {
      const [one, other] = yield* two
      const request = yield* takeOver(one)
      const attempts = Array.from({ length: 16 }, (_, i) =>
        Effect.result((i % 2 === 0 ? one : other).append(request(batch(`b/${i}`))))
      )
      const results = yield* Effect.all(attempts, { concurrency: "unbounded" })
      assert.lengthOf(
        results.filter(({ _tag }) => _tag === "Success"),
        1
      )
      assert.deepStrictEqual(yield* sequences(other), [1])
    })
  )

  it.effect("a layer without a database has one of its own each time it is built", () =>
    Effect.gen(function* () {
      const use = Effect.flatMap(ConversationStore, (store) =>
        store.materialize({ conversationId, producerId: ProducerId.make("p") })
      )
      for (let i = 0; i < 2; i++) {
        assert.strictEqual((yield* Effect.provide(use, MemoryStorage.layer)).epoch, 1)
      }
    })
  )
})

describe("observers", () => {
  it.effect("an append wakes those of its conversation, and no others", () =>
    Effect.gen(function* () {
      const memory = MemoryDatabase.make()
      const looks: Array<string> = []
      const database = { ...memory, rows: (id: string) => (looks.push(id), memory.rows(id)) }
      const store = yield* opened({ database })
      const [quiet, busy] = [ConversationId.make("quiet"), ConversationId.make("busy")]
      yield* takeOver(store, quiet)
      let tail = yield* takeOver(store, busy)
      yield* Effect.forkScoped(Stream.runDrain(store.observe({ conversationId: quiet, after: 0 })), {
        startImmediately: true
      })
      const seen = yield* Effect.forkScoped(
        Stream.runCollect(Stream.take(store.observe({ conversationId: busy, after: 0 }), 20)),
        { startImmediately: true }
      )
      looks.length = 0
      for (let i = 0; i < 20; i++) {
        yield* store.append(tail(batch(`b/${i}`)))
        tail = yield* takeOver(store, busy)
      }
      assert.lengthOf(yield* Fiber.join(seen), 20)
      assert.notInclude(looks, quiet)
      assert.include(looks, busy)
    })
  )
})

describe("the rows", () => {
  it.effect("are there to look at", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const store = yield* opened({ database })
      yield* store.append((yield* takeOver(store))(batch("b", 2)))
      const rows = database.rows(conversationId)
      assert.strictEqual(rows?.head.sequence, 2)
      assert.deepStrictEqual(
        rows?.records.map(({ recordId }) => recordId),
        ["b/0", "b/1"]
      )
      assert.deepStrictEqual(
        rows?.batches.map(({ first, last }) => [first, last]),
        [[1, 2]]
      )
    })
  )
})
