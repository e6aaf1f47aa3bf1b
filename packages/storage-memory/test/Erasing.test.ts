/** Erasing and forking over memory: those who hold data beside the log, and what a failure in the middle leaves. */
import { AgentName, BatchId, ConversationId, ProducerId, TenantId } from "@colloquy/session/Ids"
import * as Seams from "@colloquy/session/Seams"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { ConversationStore, Tenants } from "@colloquy/store/ConversationStore"
import { StoreUnavailable } from "@colloquy/store/StoreError"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { batch, conversationId, opened, sequences, takeOver } from "./given.ts"

type Store = ConversationStore["Service"]

const lost = new StoreUnavailable({ reason: "connection", retryable: true, detail: "the line is cut", cause: null })
const fork = ConversationId.make("fork")
const child = ConversationId.make("child")

/** A conversation of five records. */
const begin = Effect.fnUntraced(function* (store: Store, id = conversationId) {
  yield* store.append((yield* takeOver(store, id))(batch("b", 5)))
})

const faultsOf = (store: Store, conversationId: ConversationId) =>
  Effect.map(store.verify({ conversationId }), ({ faults }) => faults.map(({ reason, sequence }) => [reason, sequence]))

/** A conversation with a child and a fork. */
const family = Effect.fnUntraced(function* (store: Store) {
  const { batchId, records } = batch("b")
  const payload = { _tag: "BackgroundStarted", taskId: "t", agent: AgentName.make("a"), conversationId: child } as const
  const delegating = { batchId, records: records.map((record) => ({ ...record, payload })) }
  yield* store.append((yield* takeOver(store))(delegating))
  yield* begin(store, child)
  yield* store.fork({ from: conversationId, into: fork })
})

/** Two who hold rows of conversations; one of them fails as long as it is told to. */
const holders = () => {
  const asked: Array<Seams.Erasure> = []
  let failing = 0
  const mailbox: Seams.Eraser = {
    name: "mailbox",
    erase: (erasure) =>
      Effect.sync(() => {
        asked.push(erasure)
        return { removed: { messages: 3, replies: 1 }, copies: {} }
      })
  }
  const ledger: Seams.Eraser = {
    name: "ledger",
    erase: ({ cascade, conversationId }) =>
      failing-- > 0
        ? Effect.fail(new Seams.EraserFailed({ conversationId, eraser: "ledger", cause: "held" }))
        : Effect.succeed({ removed: { entries: cascade ? 2 : 0 }, copies: { entries: cascade ? 0 : 2 } })
  }
  return { asked, failNext: (times: number) => (failing = times), erasers: [mailbox, ledger] }
}

const openedWith = (erasers: ReadonlyArray<Seams.Eraser>, options: MemoryStorage.Options = {}) =>
  Layer.build(MemoryStorage.layerWith(options)).pipe(Effect.provideService(Seams.Erasers, erasers))

const storeWith = (erasers: ReadonlyArray<Seams.Eraser>, options: MemoryStorage.Options = {}) =>
  Effect.map(openedWith(erasers, options), (context) => Context.get(context, ConversationStore))

describe("those who hold data of a conversation", () => {
  it.effect("are asked when it is erased, and what they removed is counted by their names", () =>
    Effect.gen(function* () {
      const { asked, erasers } = holders()
      const store = yield* storeWith(erasers)
      yield* begin(store)
      const { copies, removed } = yield* store.erase({ conversationId })
      assert.deepStrictEqual(asked, [{ conversationId, cascade: false }])
      assert.deepStrictEqual(removed, {
        records: 5,
        checkpoints: 0,
        callIds: 0,
        "mailbox.messages": 3,
        "mailbox.replies": 1,
        "ledger.entries": 0
      })
      assert.deepStrictEqual(copies.tables, { "ledger.entries": 2 })
    })
  )

  it.effect("are asked for each copy with cascade", () =>
    Effect.gen(function* () {
      const { asked, erasers } = holders()
      const store = yield* storeWith(erasers)
      yield* family(store)
      const { cascaded, copies, removed } = yield* store.erase({ conversationId, cascade: true })
      assert.deepStrictEqual(
        new Set(asked.map((erasure) => erasure.conversationId)),
        new Set([conversationId, fork, child])
      )
      assert.isTrue(asked.every(({ cascade }) => cascade))
      assert.strictEqual(removed["ledger.entries"], 2)
      assert.strictEqual(cascaded[0]?.removed["mailbox.messages"], 3)
      assert.deepStrictEqual(copies.tables, { "ledger.entries": 0 })
    })
  )

  it.effect("may fail: the conversation is closed, and the same erasure again completes", () =>
    Effect.gen(function* () {
      const { asked, erasers, failNext } = holders()
      const store = yield* storeWith(erasers)
      const request = yield* takeOver(store)
      yield* store.append(request(batch("b", 5)))
      failNext(2)
      for (let i = 0; i < 2; i++) {
        const error = yield* Effect.flip(store.erase({ conversationId }))
        assert.strictEqual(error._tag, "EraserFailed")
        assert.include(error.message, "repeat the erasure")
        assert.strictEqual((yield* Effect.flip(store.append(request(batch("c")))))._tag, "FenceRejected")
      }
      const { alreadyErased, removed } = yield* store.erase({ conversationId })
      assert.deepStrictEqual([alreadyErased, removed["records"]], [false, 5])
      assert.lengthOf(asked, 3)
      const again = yield* store.erase({ conversationId })
      assert.deepStrictEqual([again.alreadyErased, again.removed["records"]], [true, 0])
    })
  )

  it.effect("are asked about the records that are redacted, and again when that is repeated", () =>
    Effect.gen(function* () {
      const { asked, erasers, failNext } = holders()
      const store = yield* storeWith(erasers)
      yield* begin(store)
      const producerId = ProducerId.make("producer")
      const { epoch, tail } = yield* store.materialize({ conversationId, producerId })
      const batchId = BatchId.make("redaction")
      const request = { conversationId, sequences: [2, 4], reason: "", batchId, expectedTail: tail, epoch, producerId }
      failNext(1)
      assert.strictEqual((yield* Effect.flip(store.redact(request)))._tag, "EraserFailed")
      const { removed, replayed, sequences } = yield* store.redact(request)
      assert.deepStrictEqual([replayed, sequences], [true, [2, 4]])
      assert.strictEqual(removed["mailbox.messages"], 3)
      const records = ["b/1", "b/3"]
      assert.deepStrictEqual(
        asked.map((erasure) => erasure.records?.map(String)),
        [records, records]
      )
      assert.isTrue(asked.every((erasure) => erasure.conversationId === conversationId))
    })
  )
})

describe("the rows of an erased conversation", () => {
  it.effect("have no words, salts, title or owner, and keep ids and digests", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const store = yield* opened({ database })
      yield* begin(store)
      const before = database.rows(conversationId)!
      const [head, batches, records] = [before.head, [...before.batches], [...before.records]]
      yield* store.erase({ conversationId })
      const after = database.rows(conversationId)!
      assert.deepStrictEqual(after.batches, batches)
      assert.deepStrictEqual(
        after.records,
        records.map((record) => ({ ...record, salt: null, payload: "" }))
      )
      const { epoch, erased, producerId, sequence, tail, title } = after.head
      assert.deepStrictEqual({ erased, producerId, title }, { erased: true, producerId: null, title: null })
      assert.deepStrictEqual({ sequence, tail }, { sequence: head.sequence, tail: head.tail })
      assert.isAbove(epoch, head.epoch)
    })
  )

  it.effect("are all that is left: what was staged under its id, or from it, is gone", () =>
    Effect.gen(function* () {
      const memory = MemoryDatabase.make()
      // A process that is killed discards nothing.
      const killed = { ...memory, discard: () => undefined }
      let commits = 0
      const faults = {
        beforeCommit: () => Effect.suspend(() => (++commits % 2 === 0 ? Effect.fail(lost) : Effect.void))
      }
      const broken = yield* opened({ database: killed, faults })
      const store = yield* opened({ database: memory })
      const batches = Array.from({ length: 40 }, (_, i) => batch(`b/${i}`, 250))
      const request = { conversationId, producerId: ProducerId.make("elsewhere"), batches }
      yield* Effect.flip(broken.importBatches(request))
      yield* store.materialize(request)
      assert.lengthOf(memory.idsAfter(""), 2)
      yield* store.erase({ conversationId })
      assert.deepStrictEqual(memory.idsAfter(""), [conversationId])

      const other = ConversationId.make("other")
      yield* store.importBatches({ ...request, conversationId: other })
      yield* Effect.flip(broken.fork({ from: other, into: fork }))
      assert.lengthOf(memory.idsAfter(""), 3)
      const { copies } = yield* store.erase({ conversationId: other })
      assert.deepStrictEqual(copies.forks, [])
      assert.deepStrictEqual(memory.idsAfter(""), [conversationId, other])
    })
  )
})

describe("the list", () => {
  it.effect("goes on behind whole pages of conversations that were erased", () =>
    Effect.gen(function* () {
      const store = yield* opened()
      const ids = Array.from({ length: 1_210 }, (_, i) => ConversationId.make(`${i}`.padStart(4, "0")))
      for (const id of ids) yield* takeOver(store, id)
      for (const id of ids.slice(0, 1_200)) yield* store.erase({ conversationId: id })
      const listed = (limit?: number) =>
        Effect.map(Stream.runCollect(store.list({ limit, status: "idle" })), (found) =>
          found.map(({ conversationId }) => conversationId)
        )
      assert.deepStrictEqual(yield* listed(), ids.slice(1_200))
      assert.deepStrictEqual(yield* listed(3), ids.slice(1_200, 1_203))
    })
  )
})

describe("an erasure that is cut off", () => {
  for (const side of ["beforeCommit", "afterCommit"] as const) {
    it.effect(`${side === "beforeCommit" ? "before" : "after"} a commit completes when it is repeated`, () =>
      Effect.gen(function* () {
        const database = MemoryDatabase.make()
        const store = yield* opened({ database })
        yield* family(store)
        const crash = yield* opened({ database, faults: { [side]: () => Effect.die(new Error("power cut")) } })
        for (let i = 0; i < 2; i++) {
          assert.isTrue(Exit.isFailure(yield* Effect.exit(crash.erase({ conversationId, cascade: true }))))
        }
        const report = yield* store.erase({ conversationId, cascade: true })
        assert.strictEqual(report.alreadyErased, false)
        for (const id of [conversationId, fork, child]) assert.isTrue(database.rows(id)?.head.erased)
      })
    )
  }

  it.effect("between a conversation and its copies completes when it is repeated", () =>
    Effect.gen(function* () {
      const memory = MemoryDatabase.make()
      const store = yield* opened({ database: memory })
      yield* family(store)
      for (let survived = 0; survived < 3; survived++) {
        let erasures = 0
        const erase: MemoryDatabase.MemoryDatabase["erase"] = (id, updatedAt) => {
          if (erasures++ === survived) throw new Error("power cut")
          return memory.erase(id, updatedAt)
        }
        const broken = yield* opened({ database: { ...memory, erase } })
        // Each attempt gets further: those that are erased already are passed over.
        yield* Effect.exit(broken.erase({ conversationId, cascade: true }))
      }
      yield* store.erase({ conversationId, cascade: true })
      for (const id of [conversationId, fork, child]) assert.isTrue(memory.rows(id)?.head.erased, id)
    })
  )

  it.effect("a writer that has appended in between is closed out, and its child is found", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const [reached, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const store = yield* opened({ database })
      yield* begin(store)
      let held = false
      const faults = {
        beforeCommit: () =>
          held ? Effect.void : ((held = true), Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(go)))
      }
      const slow = yield* opened({ database, faults })
      const fiber = yield* Effect.forkScoped(slow.erase({ conversationId }))
      yield* Deferred.await(reached)
      const { batchId, records } = batch("late")
      const payload = {
        _tag: "BackgroundStarted",
        taskId: "t",
        agent: AgentName.make("a"),
        conversationId: child
      } as const
      yield* store.append((yield* takeOver(store))({ batchId, records: records.map((r) => ({ ...r, payload })) }))
      yield* begin(store, child)
      yield* Deferred.succeed(go, undefined)
      const { copies, removed } = yield* Fiber.join(fiber)
      assert.deepStrictEqual([removed["records"], copies.children], [6, [child]])
    })
  )
})

describe("a fork", () => {
  const large = Effect.fnUntraced(function* (store: Store) {
    const batches = Array.from({ length: 40 }, (_, i) => batch(`b/${i}`, 250))
    yield* store.importBatches({ conversationId, producerId: ProducerId.make("elsewhere"), batches })
  })

  for (const commits of [1, 2, 3]) {
    it.effect(`of a large log that is interrupted at commit ${commits} shows nothing, and leaves nothing`, () =>
      Effect.gen(function* () {
        const database = MemoryDatabase.make()
        const store = yield* opened({ database })
        yield* large(store)
        const reached = yield* Deferred.make<void>()
        let made = 0
        const faults = {
          beforeCommit: () =>
            Effect.suspend(() =>
              ++made === commits ? Effect.andThen(Deferred.succeed(reached, undefined), Effect.never) : Effect.void
            )
        }
        const slow = yield* opened({ database, faults })
        const fiber = yield* Effect.forkScoped(slow.fork({ from: conversationId, into: fork }))
        yield* Deferred.await(reached)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(database.idsAfter(""), [conversationId])
        yield* store.fork({ from: conversationId, into: fork })
        assert.lengthOf(yield* sequences(store, fork), 10_001)
      })
    )

    it.effect(`of a large log that fails at commit ${commits} shows nothing, and can be made again`, () =>
      Effect.gen(function* () {
        const database = MemoryDatabase.make()
        const store = yield* opened({ database })
        yield* large(store)
        let made = 0
        const faults = {
          beforeCommit: () => Effect.suspend(() => (++made === commits ? Effect.fail(lost) : Effect.void))
        }
        const broken = yield* opened({ database, faults })
        assert.strictEqual(yield* Effect.flip(broken.fork({ from: conversationId, into: fork })), lost)
        assert.deepStrictEqual(database.idsAfter(""), [conversationId])
        yield* broken.fork({ from: conversationId, into: fork })
        assert.deepStrictEqual(yield* faultsOf(store, fork), yield* faultsOf(store, conversationId))
      })
    )
  }

  it.effect("that is staged while another one is leaves one of them", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const [reached, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const store = yield* opened({ database })
      yield* large(store)
      // The first commit of this one comes when another has staged under the same id.
      let made = 0
      const faults = {
        beforeCommit: () =>
          Effect.suspend(() =>
            ++made === 1 ? Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(go)) : Effect.void
          )
      }
      let others = 0
      const other = yield* opened({
        database,
        faults: { afterCommit: () => Effect.suspend(() => (++others === 1 ? release : Effect.void)) }
      })
      const slow = yield* opened({ database, faults })
      const request = { from: conversationId, into: fork }
      const first = yield* Effect.forkScoped(Effect.result(slow.fork(request)))
      yield* Deferred.await(reached)
      const release = Effect.andThen(Deferred.succeed(go, undefined), Effect.asVoid(Fiber.await(first)))
      yield* other.fork(request)
      const result = yield* Fiber.join(first)
      const told = result._tag === "Failure" && result.failure._tag === "StoreUnavailable" && result.failure.retryable
      assert.isTrue(told)
      assert.deepStrictEqual(yield* faultsOf(store, fork), yield* faultsOf(store, conversationId))
    })
  )

  it.effect("whose source is erased before its last commit does not happen", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const [reached, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const store = yield* opened({ database })
      yield* begin(store)
      const faults = {
        beforeCommit: () => Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(go))
      }
      const slow = yield* opened({ database, faults })
      const fiber = yield* Effect.forkScoped(Effect.flip(slow.fork({ from: conversationId, into: fork })))
      yield* Deferred.await(reached)
      assert.deepStrictEqual((yield* store.erase({ conversationId })).copies.forks, [])
      yield* Deferred.succeed(go, undefined)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "ConversationErased")
      assert.deepStrictEqual(database.idsAfter(""), [conversationId])
    })
  )
})

describe("tenants", () => {
  it.effect("observers are woken by appends of their own alone", () =>
    Effect.gen(function* () {
      const memory = MemoryDatabase.make()
      const looks: Array<string> = []
      const database = { ...memory, rows: (id: string) => (looks.push(id), memory.rows(id)) }
      const context = yield* Layer.build(MemoryStorage.layerWith({ database }))
      const { store } = Context.get(context, Tenants)
      const [quiet, busy] = [store(TenantId.make("quiet")), store(TenantId.make("quiet busy"))]
      for (const each of [quiet, busy]) yield* takeOver(each)
      yield* Effect.forkScoped(Stream.runDrain(quiet.observe({ conversationId, after: 0 })), { startImmediately: true })
      // Two stores of one tenant are one.
      const again = store(TenantId.make("quiet busy"))
      const seen = yield* Effect.forkScoped(
        Stream.runCollect(Stream.take(again.observe({ conversationId, after: 0 }), 5)),
        { startImmediately: true }
      )
      looks.length = 0
      yield* busy.append((yield* takeOver(busy))(batch("b", 5)))
      assert.lengthOf(yield* Fiber.join(seen), 5)
      assert.isTrue(looks.some((id) => id.includes("quiet busy")))
      assert.isTrue(looks.every((id) => id.includes("quiet busy")))
    })
  )
})
