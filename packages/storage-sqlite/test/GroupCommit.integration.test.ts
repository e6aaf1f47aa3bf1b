import { assert, describe, it } from "@effect/vitest"
import { ConversationId } from "@colloquy/session/Ids"
import { Costs, SqliteStorage } from "@colloquy/storage-sqlite"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as SqlClient from "effect/sql/SqlClient"
import { TestClock } from "effect/testing"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { batch, opened, producerId, sequences, takeOver } from "./conversations.ts"
import { newFile } from "./files.ts"
import { connected } from "./opened.ts"
import { cannotMount, onSmallDisk, smallDisk } from "./smallDisk.ts"

type Store = ConversationStore["Service"]

const ids = Array.from({ length: 16 }, (_, i) => ConversationId.make(`c${i}`))

/** One for each conversation, which it has created. */
const appendersOf = (store: Store) =>
  Effect.forEach(ids, (id) => Effect.tap(takeOver(store, id), (append) => append(batch("created"))))

const together = <A, E>(effects: ReadonlyArray<Effect.Effect<A, E>>) =>
  Effect.all(effects, { concurrency: "unbounded" })

/** What an effect costs, by the metrics. */
const spent = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = yield* costs
    yield* effect
    const after = yield* costs
    return {
      statements: after.statements - before.statements,
      transactions: after.transactions - before.transactions,
      rows: after.rows - before.rows
    }
  })

const costs = Effect.gen(function* () {
  return {
    statements: (yield* Metric.value(Costs.statements)).count,
    transactions: (yield* Metric.value(Costs.transactions)).count,
    rows: (yield* Metric.value(Costs.rows)).count
  }
})

/** With metrics of its own: other tests of the process write too. */
const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => Effect.provideService(effect, Metric.MetricRegistry, new Map()))

/** How many batches each has besides its creation. */
const verified = (store: Store) =>
  Effect.forEach(ids, (conversationId) =>
    Effect.map(store.verify({ conversationId }), ({ batches, faults }) => {
      assert.deepStrictEqual(faults, [])
      return batches - 1
    })
  )

describe("what an append costs", () => {
  it.effect("alone: five statements, one transaction, a row for the head, the batch and each record", () =>
    Effect.gen(function* () {
      const append = yield* takeOver(yield* opened({ filename: yield* newFile }))
      yield* append(batch("created"))
      for (const id of ["a", "b", "c"]) {
        assert.deepStrictEqual(yield* spent(append(batch(id, 3))), { statements: 5, transactions: 1, rows: 5 })
      }
    }).pipe(counted)
  )

  it.effect("and what the summary behind it costs: one statement, however many conversations there are", () =>
    Effect.gen(function* () {
      const store = yield* opened({ filename: yield* newFile })
      yield* appendersOf(store)
      for (const conversationId of ids) {
        const cost = yield* spent(store.summary({ conversationId }))
        assert.deepStrictEqual(cost, { statements: 1, transactions: 0, rows: 0 })
      }
    }).pipe(counted)
  )

  it.effect("refused: nothing is committed", () =>
    Effect.gen(function* () {
      const store = yield* opened({ filename: yield* newFile })
      yield* (yield* takeOver(store))(batch("created"))
      const former = { ...(yield* store.tail({ conversationId: ConversationId.make("conversation") })), sequence: 0 }
      const request = { conversationId: ConversationId.make("conversation"), producerId, epoch: former.epoch }
      const refused = store.append({ ...request, expectedTail: former, batch: batch("b") })
      const { rows, transactions } = yield* spent(Effect.flip(refused))
      assert.deepStrictEqual({ rows, transactions }, { rows: 0, transactions: 0 })
    }).pipe(counted)
  )

  it.effect("sixteen at once: one BEGIN, one COMMIT, and two statements more for each", () =>
    Effect.gen(function* () {
      const appends = yield* appendersOf(yield* opened({ filename: yield* newFile }))
      for (const id of ["a", "b"]) {
        const cost = yield* spent(together(appends.map((append) => append(batch(id, 3)))))
        assert.deepStrictEqual(cost, { statements: 2 + 16 * 5, transactions: 1, rows: 16 * 5 })
      }
    }).pipe(counted)
  )

  it.live("sixteen at once, after writes that came alone: the first goes at once, the others together", () =>
    Effect.gen(function* () {
      const appends = yield* appendersOf(yield* opened({ filename: yield* newFile }))
      // Each in a fiber of its own, and in a turn of its own.
      for (const append of appends)
        yield* Effect.yieldNow.pipe(Effect.andThen(Fiber.join(yield* Effect.forkChild(append(batch("a"))))))
      yield* Effect.promise(() => Promise.resolve())
      const cost = yield* spent(together(appends.map((append) => append(batch("b")))))
      assert.strictEqual(cost.transactions, 2)
      assert.strictEqual(cost.rows, 16 * 3)
    }).pipe(counted)
  )

  it.effect("sixteen writers, each one append after the other: fewer commits than appends", () =>
    Effect.gen(function* () {
      const store = yield* opened({ filename: yield* newFile })
      const appends = yield* appendersOf(store)
      const { rows, transactions } = yield* spent(
        together(
          appends.map((append) =>
            Effect.forEach(
              Array.from({ length: 20 }, (_, n) => batch(`b/${n}`)),
              append
            )
          )
        )
      )
      assert.strictEqual(rows, 16 * 20 * 3)
      assert.isBelow(transactions, (16 * 20) / 4)
      assert.deepStrictEqual(
        yield* verified(store),
        ids.map(() => 20)
      )
    }).pipe(counted)
  )
})

describe("in the middle of a group", () => {
  it.effect("a conflict fails only itself, and leaves nothing", () =>
    Effect.gen(function* () {
      const store = yield* opened({ filename: yield* newFile })
      const appends = yield* appendersOf(store)
      yield* together(appends.map((append) => append(batch("a", 2))))
      // One at a wrong tail, and one with a record that is there: a clash after its head and batch are written.
      const stale = store.append({
        conversationId: ids[5]!,
        producerId,
        epoch: 1,
        expectedTail: { ...(yield* store.tail({ conversationId: ids[6]! })), sequence: 1 },
        batch: batch("b", 3)
      })
      const known = { ...batch("a", 1), batchId: batch("b").batchId }
      const attempts = appends.map((append, i) => (i === 5 ? stale : append(i === 9 ? known : batch("b", 3))))
      const results = together(attempts.map(Effect.result))
      const conflicts = new Map<number, string>()
      const cost = yield* spent(
        Effect.map(results, (results) =>
          results.forEach((result, i) => {
            if (result._tag === "Success") return
            conflicts.set(i, result.failure._tag === "AppendConflict" ? result.failure.reason : result.failure._tag)
          })
        )
      )
      assert.deepStrictEqual(
        [...conflicts],
        [
          [5, "tail"],
          [9, "record-identity"]
        ]
      )
      assert.deepStrictEqual([cost.transactions, cost.rows], [1, 14 * 5])
      assert.deepStrictEqual(
        yield* verified(store),
        ids.map((_, i) => (i === 5 || i === 9 ? 1 : 2))
      )
    }).pipe(counted)
  )

  it.effect("of two appends at one tail the second is told the tail of the first", () =>
    Effect.gen(function* () {
      const store = yield* opened({ filename: yield* newFile })
      const conversationId = ids[0]!
      const { epoch, tail } = yield* store.materialize({ conversationId, producerId })
      const request = { conversationId, producerId, epoch, expectedTail: tail }
      const [first, second] = yield* together(
        ["a", "b"].map((id) => Effect.result(store.append({ ...request, batch: batch(id) })))
      )
      if (first?._tag !== "Success" || second?._tag !== "Failure") return assert.fail("the first wins")
      const error = second.failure
      if (error._tag !== "AppendConflict") return assert.fail(error._tag)
      assert.deepStrictEqual([error.reason, error.tail], ["tail", first.success.tail])
    })
  )
})

describe("while somebody else holds the lock", () => {
  const locked = Effect.gen(function* () {
    const filename = yield* newFile
    const store = yield* opened({ filename, busyTimeout: "2 seconds" })
    const appends = yield* appendersOf(store)
    const other = yield* connected(filename)
    other.exec("BEGIN IMMEDIATE")
    const fibers = yield* Effect.forEach(appends, (append) =>
      Effect.forkScoped(append(batch("a")), { startImmediately: true })
    )
    yield* TestClock.adjust("1 second")
    assert.isTrue(fibers.every((fiber) => fiber.pollUnsafe() === undefined))
    return { appends, fibers, other, store }
  })

  it.effect("a group waits, and is one transaction once it is released", () =>
    Effect.gen(function* () {
      const { fibers, other, store } = yield* locked
      other.exec("ROLLBACK")
      const { transactions } = yield* spent(
        Effect.andThen(TestClock.adjust("1 second"), Effect.forEach(fibers, Fiber.join))
      )
      assert.strictEqual(transactions, 1)
      assert.deepStrictEqual(
        yield* verified(store),
        ids.map(() => 1)
      )
    }).pipe(counted)
  )

  it.effect("one who is interrupted leaves the group, and has not happened", () =>
    Effect.gen(function* () {
      const { fibers, other, store } = yield* locked
      yield* Fiber.interrupt(fibers[7]!)
      other.exec("ROLLBACK")
      yield* TestClock.adjust("1 second")
      const exits = yield* Effect.forEach(fibers, Fiber.await)
      assert.deepStrictEqual(
        exits.map((exit) => (Exit.isSuccess(exit) ? "done" : Exit.hasInterrupts(exit) ? "interrupted" : "failed")),
        ids.map((_, i) => (i === 7 ? "interrupted" : "done"))
      )
      assert.deepStrictEqual(yield* sequences(store, ids[7]!), [1])
    })
  )

  it.effect("when all are interrupted nothing happens, and the next append goes on", () =>
    Effect.gen(function* () {
      const { appends, fibers, other, store } = yield* locked
      yield* Fiber.interruptAll(fibers)
      other.exec("ROLLBACK")
      yield* TestClock.adjust("1 second")
      yield* appends[3]!(batch("b"))
      assert.deepStrictEqual(
        yield* verified(store),
        ids.map((_, i) => (i === 3 ? 1 : 0))
      )
    })
  )

  it.effect("each is out of patience in its own time, and is told so", () =>
    Effect.gen(function* () {
      const { fibers, other, store } = yield* locked
      const late = yield* Effect.forkScoped(
        Effect.flatMap(takeOver(store, ConversationId.make("late")), (append) => append(batch("late"))),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1500 millis")
      for (const fiber of fibers) {
        const error = yield* Effect.flip(Fiber.join(fiber))
        assert.deepStrictEqual(error._tag === "StoreUnavailable" && [error.reason, error.retryable], [
          "contention",
          true
        ])
      }
      assert.isUndefined(late.pollUnsafe())
      other.exec("ROLLBACK")
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(late)).last, 1)
    })
  )

  it.effect("inside of a transaction of the same client the store refuses, and does not wait for ever", () =>
    Effect.gen(function* () {
      const layer = SqliteStorage.layerStorage().pipe(
        Layer.provide(SqliteStorage.layerMigrations),
        Layer.provideMerge(SqliteStorage.layerFile({ filename: yield* newFile }))
      )
      const context = yield* Layer.build(layer)
      const sql = Context.get(context, SqlClient.SqlClient)
      const [append] = yield* appendersOf(Context.get(context, ConversationStore))
      const error = yield* Effect.flip(sql.withTransaction(append!(batch("a"))))
      assert.isTrue(error._tag === "StoreUnavailable" && error.message.includes("withTransaction"))
      yield* append!(batch("a"))
    })
  )

  it.effect("a transaction of another user of the client is waited for, and not entered", () =>
    Effect.gen(function* () {
      const layer = SqliteStorage.layerStorage().pipe(
        Layer.provide(SqliteStorage.layerMigrations),
        Layer.provideMerge(SqliteStorage.layerFile({ filename: yield* newFile }))
      )
      const context = yield* Layer.build(layer)
      const sql = Context.get(context, SqlClient.SqlClient)
      const store = Context.get(context, ConversationStore)
      const appends = yield* appendersOf(store)
      yield* sql`CREATE TABLE theirs (text TEXT)`
      const begun = yield* Deferred.make<void>()
      const end = yield* Deferred.make<void>()
      const theirs = sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`INSERT INTO theirs VALUES ('a')`
          yield* Deferred.succeed(begun, undefined)
          yield* Deferred.await(end)
          return yield* Effect.fail("theirs")
        })
      )
      const other = yield* Effect.forkScoped(Effect.flip(theirs))
      yield* Deferred.await(begun)
      const fibers = yield* Effect.forEach(appends, (append) => Effect.forkScoped(append(batch("a"))))
      const interrupted = yield* Effect.forkScoped(appends[0]!(batch("b")), { startImmediately: true })
      yield* Fiber.interrupt(interrupted)
      assert.isTrue(fibers.every((fiber) => fiber.pollUnsafe() === undefined))
      yield* Deferred.succeed(end, undefined)
      assert.strictEqual(yield* Fiber.join(other), "theirs")
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(yield* sql`SELECT * FROM theirs`, [])
      assert.deepStrictEqual(
        yield* verified(store),
        ids.map(() => 1)
      )
    })
  )
})

const isDiskFull = (error: { readonly _tag: string; readonly reason?: string; readonly retryable?: boolean }) =>
  error._tag === "StoreUnavailable" && error.reason === "disk-full" && error.retryable === true

describe("a disk that fills up under a group", () => {
  it.effect.skipIf(cannotMount)(onSmallDisk("what does not fit is refused alone, what fits is kept"), () =>
    Effect.gen(function* () {
      const filename = join(yield* smallDisk, "conversations.db")
      const store = yield* opened({ filename })
      const appends = yield* appendersOf(store)
      const results = yield* together(
        appends.map((append, i) => Effect.result(append(batch("a", 1, i === 8 ? "x".repeat(3_000_000) : "small"))))
      )
      results.forEach((result, i) => {
        if (i !== 8) assert.strictEqual(result._tag, "Success")
        else assert.isTrue(result._tag === "Failure" && isDiskFull(result.failure))
      })
      assert.deepStrictEqual(
        yield* verified(store),
        ids.map((_, i) => (i === 8 ? 0 : 1))
      )
    })
  )

  it.effect.skipIf(cannotMount)(
    onSmallDisk("no acknowledged batch is missing, and it goes on once there is space"),
    () =>
      Effect.gen(function* () {
        const path = yield* smallDisk
        const ballast = join(path, "ballast")
        writeFileSync(ballast, "x".repeat(240_000))
        const filename = join(path, "conversations.db")
        const acknowledged = ids.map(() => 0)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const store = yield* opened({ filename })
            const appends = yield* appendersOf(store)
            const appendNext = Effect.fnUntraced(function* (i: number) {
              yield* appends[i]!(batch(`b/${acknowledged[i]!}`, 3, "x".repeat(1_000)))
              acknowledged[i]!++
            })
            const errors = yield* together(ids.map((_, i) => Effect.flip(Effect.forever(appendNext(i)))))
            assert.isTrue(errors.every(isDiskFull))
            assert.deepStrictEqual(yield* verified(store), acknowledged)
            rmSync(ballast)
            yield* together(ids.map((_, i) => appendNext(i)))
          })
        )
        assert.deepStrictEqual(yield* verified(yield* opened({ filename })), acknowledged)
      })
  )
})
