/**
 * The shared writer, over memory: what it promises to everybody who writes to conversations.
 */
import { Conversation, Ids, type Payload } from "@colloquy/session"
import { ConversationStore, Conversations, StoreError, WriterMetrics } from "@colloquy/store"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { MemoryDatabase, MemoryStorage } from "../src/index.ts"

const conversationId = Ids.ConversationId.make("ticket-42")
const runId = (n: number) => Ids.RunId.make(`r${n}`)
const agent = Ids.AgentName.make("desk")
const usage = { inputTokens: {}, outputTokens: {} }

const note = (n: number): Payload.Written => ({ _tag: "Custom", name: "note", data: n })
const run = (n: number): ReadonlyArray<Payload.Written> => [
  { _tag: "RunStarted", runId: runId(n), agent, mode: "execute" },
  {
    _tag: "InputRecorded",
    runId: runId(n),
    kind: "user",
    message: { role: "user", content: [{ type: "text", text: `turn ${n}` }] }
  },
  {
    _tag: "ModelResponded",
    runId: runId(n),
    step: 1,
    agent,
    finishReason: "stop",
    content: [{ type: "text", text: `answer ${n}` }]
  }
]
const end = (n: number): Payload.Written => ({
  _tag: "RunEnded",
  runId: runId(n),
  outcome: "completed",
  mode: "execute",
  usage
})

/** One process over a database. */
const processOver = (database: MemoryDatabase.MemoryDatabase, faults: MemoryStorage.Options["faults"] = {}) =>
  Layer.provideMerge(Conversations.layer, MemoryStorage.layerWith({ database, faults }))

const fresh = () => processOver(MemoryDatabase.make())

const open = (id = conversationId) => Effect.flatMap(Conversations.Conversations, ({ open }) => open(id))

const openExisting = Conversations.Conversations.use(({ openExisting }) => openExisting(conversationId))

const readAll = Effect.flatMap(ConversationStore.ConversationStore, (store) =>
  Stream.runCollect(store.read({ conversationId }))
)

const unavailable = new StoreError.StoreUnavailable({
  reason: "connection",
  retryable: true,
  detail: "the answer was lost",
  cause: null
})

describe("Conversations.open", () => {
  it.effect("creates a conversation with a record of its own, and only once", () =>
    Effect.gen(function* () {
      const { open } = yield* Conversations.Conversations
      const writer = yield* open(conversationId, { title: "Lamp", instructions: "Be kind." })
      assert.strictEqual(writer.tail().sequence, 1)
      yield* open(conversationId, { title: "another title" })
      const [created, ...rest] = yield* readAll
      assert.deepStrictEqual(created?.payload, { _tag: "ConversationCreated", title: "Lamp", instructions: "Be kind." })
      assert.deepStrictEqual(rest, [])
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("gives everybody in the process the same writer: they never fence each other", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* open(), yield* open()]
      yield* Effect.all([one.append([note(1)]), two.append([note(2)]), one.append([note(3)])], {
        concurrency: "unbounded"
      })
      assert.strictEqual(one.epoch, two.epoch)
      assert.strictEqual((yield* readAll).length, 4)
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("that is there, where it is to be: what is absent is not created by it", () =>
    Effect.gen(function* () {
      assert.instanceOf(yield* Effect.flip(openExisting), StoreError.ConversationNotFound)
      assert.instanceOf(yield* Effect.flip(readAll), StoreError.ConversationNotFound)
      const writer = yield* open()
      assert.strictEqual(yield* openExisting, writer)
    }).pipe(Effect.scoped, Effect.provide(fresh()))
  )

  it.effect("who was taken over is refused for good, and may open again", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const here = yield* Layer.build(processOver(database))
      const there = yield* Layer.build(processOver(database))
      const writer = yield* Effect.provideContext(open(), here)
      yield* writer.append([note(1)])
      const other = yield* Effect.provideContext(open(), there)
      for (let i = 0; i < 2; i++) {
        const error = yield* Effect.flip(writer.append([note(2)]))
        assert.strictEqual(error._tag, "FenceRejected")
      }
      assert.isTrue(writer.isStopped())
      yield* other.append([note(3)])
      const again = yield* Effect.provideContext(open(), here)
      yield* again.append([note(4)])
      assert.strictEqual(again.epoch, 3)
      const records = yield* Effect.provideContext(readAll, here)
      assert.deepStrictEqual(
        records.map(({ payload }) => (payload._tag === "Custom" ? payload.data : payload._tag)),
        ["ConversationCreated", 1, 3, 4]
      )
    })
  )

  it.effect("a conversation that cannot be loaded is loaded again by the next caller", () => {
    let failing = true
    const faults = { beforeCommit: () => (failing ? Effect.die(new Error("gone")) : Effect.void) }
    return Effect.gen(function* () {
      assert.isTrue((yield* Effect.exit(open()))._tag === "Failure")
      failing = false
      assert.strictEqual((yield* open()).tail().sequence, 1)
    }).pipe(Effect.provide(processOver(MemoryDatabase.make(), faults)))
  })
})

describe("Writer.append", () => {
  it.effect("keeps the state that a rebuild from the log gives, after every append", () =>
    Effect.gen(function* () {
      const writer = yield* open()
      for (let n = 1; n <= 30; n++) {
        yield* writer.append(run(n))
        // Half of a pair and a negative zero are stored as something else: the state is that of the stored bytes.
        yield* writer.append([{ _tag: "Custom", name: "odd", data: { half: "\ud800", zero: -0, none: undefined } }])
        yield* writer.append([end(n)])
        const records = yield* readAll
        const rebuilt = Result.getOrThrow(Conversation.replay(Conversation.initial(conversationId), records))
        assert.deepStrictEqual(writer.state(), rebuilt)
        assert.deepStrictEqual(writer.records(), records)
      }
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("refuses what breaks a rule of the log before it is stored", () =>
    Effect.gen(function* () {
      const writer = yield* open()
      const error = yield* Effect.flip(writer.append([end(7)]))
      assert.isTrue(error._tag === "IllegalRecord" && error.rule === "run-is-open")
      assert.strictEqual((yield* readAll).length, 1)
      yield* writer.append(run(1))
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("a batch with its own id is written once, however often it is appended", () =>
    Effect.gen(function* () {
      const writer = yield* open()
      const draft = { batchId: Ids.BatchId.make("start"), records: run(1).map((payload) => ({ payload })) }
      const first = yield* writer.append(draft)
      yield* writer.append([end(1)])
      const again = yield* writer.append(draft)
      assert.deepStrictEqual(again, first)
      assert.strictEqual((yield* readAll).length, 5)
    }).pipe(Effect.provide(fresh()))
  )

  it.effect("retries contention under the same batch id, and finds out about a lost acknowledgement", () => {
    let commits = 0
    const faults = {
      beforeCommit: () => (commits++ % 4 === 1 ? Effect.fail(unavailable) : Effect.void),
      afterCommit: () => (commits % 4 === 3 ? Effect.fail(unavailable) : Effect.void)
    }
    return Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(
        Effect.gen(function* () {
          const writer = yield* open()
          for (let n = 1; n <= 20; n++) yield* writer.append([note(n)])
          return writer.tail().sequence
        })
      )
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(fiber), 21)
      const records = yield* readAll
      assert.deepStrictEqual(
        records.slice(1).map(({ payload }) => payload._tag === "Custom" && payload.data),
        Array.from({ length: 20 }, (_, i) => i + 1)
      )
    }).pipe(Effect.provide(processOver(MemoryDatabase.make(), faults)))
  })

  it.effect("after a failure that says nothing, the log is asked what has happened", () => {
    let lose = false
    const faults = {
      afterCommit: () =>
        lose ? Effect.fail(new StoreError.StoreUnavailable({ ...unavailable, retryable: false })) : Effect.void
    }
    return Effect.gen(function* () {
      const writer = yield* open()
      lose = true
      // It is there: what the caller is told is what has happened.
      const [stored] = yield* writer.append([note(1)])
      assert.strictEqual(stored?.sequence, 2)
      lose = false
      yield* writer.append([note(2)])
      assert.strictEqual((yield* readAll).length, 3)
      assert.strictEqual(writer.state().sequence, 3)
    }).pipe(Effect.provide(processOver(MemoryDatabase.make(), faults)))
  })

  it.effect("after a failure that did nothing, the caller is told of it, and the writer goes on", () => {
    let refuse = false
    const faults = {
      beforeCommit: () =>
        refuse ? Effect.fail(new StoreError.StoreUnavailable({ ...unavailable, retryable: false })) : Effect.void
    }
    return Effect.gen(function* () {
      const writer = yield* open()
      refuse = true
      assert.strictEqual((yield* Effect.flip(writer.append([note(1)])))._tag, "StoreUnavailable")
      refuse = false
      yield* writer.append([note(2)])
      assert.strictEqual((yield* readAll).length, 2)
      assert.strictEqual(writer.state().sequence, 2)
    }).pipe(Effect.provide(processOver(MemoryDatabase.make(), faults)))
  })

  it.effect("an interrupted append leaves a writer that goes on from what the log has", () =>
    Effect.gen(function* () {
      const committed = yield* Deferred.make<void>()
      let hang = false
      const faults = {
        afterCommit: () => (hang ? Effect.andThen(Deferred.succeed(committed, undefined), Effect.never) : Effect.void)
      }
      yield* Effect.gen(function* () {
        const writer = yield* open()
        hang = true
        const fiber = yield* Effect.forkChild(writer.append([note(1)]))
        yield* Deferred.await(committed)
        yield* Fiber.interrupt(fiber)
        hang = false
        yield* writer.append([note(2)])
        assert.strictEqual(writer.tail().sequence, 3)
        assert.strictEqual((yield* readAll).length, 3)
      }).pipe(Effect.provide(processOver(MemoryDatabase.make(), faults)))
    })
  )
})

describe("checkpoints", () => {
  it.effect("are kept every 64 records and at the end of a run, four at the most", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const saved = () => database.rows(conversationId)!.checkpoints.map(({ sequence }) => sequence)
      yield* Effect.gen(function* () {
        const writer = yield* open()
        for (let n = 1; n <= 70; n++) yield* writer.append([note(n)])
        assert.deepStrictEqual(saved(), [64])
        for (let n = 1; n <= 5; n++) yield* writer.append([...run(n), end(n)])
        assert.deepStrictEqual(saved(), [91, 87, 83, 79])
      }).pipe(Effect.provide(processOver(database)))
    })
  )

  it.effect("loading takes the newest one and the visible records, whatever came before", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const records = yield* Effect.gen(function* () {
        const writer = yield* open()
        for (let n = 1; n <= 40; n++) yield* writer.append([...run(n), end(n)])
        yield* writer.append([
          { _tag: "Compacted", kind: "summary", coversThrough: 150, pinned: [3], summary: "They talked about lamps." }
        ])
        yield* writer.append([...run(41), end(41)])
        return { state: writer.state(), records: [...writer.records()] }
      }).pipe(Effect.provide(processOver(database)))
      yield* Effect.gen(function* () {
        const writer = yield* open()
        assert.deepStrictEqual(writer.state(), { ...records.state })
        assert.deepStrictEqual(
          writer.records().map(({ sequence }) => sequence),
          [3, ...Array.from({ length: 16 }, (_, i) => 151 + i)]
        )
        assert.deepStrictEqual(writer.records(), records.records)
        assert.include(JSON.stringify(writer.prompt().prompt.content[0]), "They talked about lamps.")
      }).pipe(Effect.provide(processOver(database)))
    })
  )

  it.effect("a checkpoint that cannot be saved costs nothing but the checkpoint", () => {
    const faults = {
      beforeCommit: ({ checkpoint }: { readonly checkpoint?: unknown }) =>
        checkpoint === undefined
          ? Effect.void
          : Effect.fail(new StoreError.StoreUnavailable({ ...unavailable, retryable: false }))
    }
    return Effect.gen(function* () {
      const writer = yield* open()
      yield* writer.append([...run(1), end(1)])
      const store = yield* ConversationStore.ConversationStore
      assert.isTrue(Option.isNone(yield* store.loadCheckpoint({ conversationId })))
      assert.strictEqual(writer.tail().sequence, 5)
    }).pipe(Effect.provide(processOver(MemoryDatabase.make(), faults)))
  })
})

describe("what writers count", () => {
  it.effect("appends with their time, batches that were recognised, and fences", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const counts = Effect.gen(function* () {
        const { count: appends } = yield* Metric.value(WriterMetrics.appends)
        const { count: replays } = yield* Metric.value(WriterMetrics.replays)
        const { count: fences } = yield* Metric.value(WriterMetrics.fences)
        return { appends, replays, fences }
      })
      const here = yield* Layer.build(processOver(database))
      const there = yield* Layer.build(processOver(database))
      yield* Effect.gen(function* () {
        const writer = yield* Effect.provideContext(open(), here)
        const batch = { batchId: Ids.BatchId.make("b"), records: [{ payload: note(1) }] }
        yield* writer.append(batch)
        yield* writer.append(batch)
        // The creation is an append as well.
        assert.deepStrictEqual(yield* counts, { appends: 3, replays: 1, fences: 0 })
        yield* Effect.provideContext(open(), there)
        yield* Effect.flip(writer.append([note(2)]))
        assert.deepStrictEqual((yield* counts).fences, 1)
      }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
    })
  )
})

describe("Conversations.entries", () => {
  it.effect("lists what a chat shows, and takes nothing over", () =>
    Effect.gen(function* () {
      const writer = yield* open()
      yield* writer.append([...run(1), end(1)])
      const { entries } = yield* Conversations.Conversations
      const listed = yield* entries(conversationId)
      assert.deepStrictEqual(
        listed.map(({ endsRun, messages }) => [messages[0]?.role, endsRun]),
        [
          ["user", false],
          ["assistant", false],
          [undefined, true]
        ]
      )
      yield* writer.append([note(1)])
    }).pipe(Effect.provide(fresh()))
  )
})
