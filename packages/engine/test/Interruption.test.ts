import { ConversationStore, StoreError } from "@colloquy/store"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as TestClock from "effect/testing/TestClock"
import { AgentError, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, recorded, refund, story, text } from "./support.ts"

/** A runtime whose nth commit waits, before or after it has happened. */
const waiting = (database: MemoryDatabase.MemoryDatabase, at: number, side: "before" | "after") =>
  Effect.gen(function* () {
    const reached = yield* Deferred.make<void>()
    const open = yield* Latch.make()
    let commits = 0
    const wait = Effect.suspend(() =>
      commits === at ? Effect.andThen(Deferred.succeed(reached, undefined), open.await) : Effect.void
    )
    const layer = processOver(database, {
      beforeCommit: () =>
        Effect.suspend(() => {
          commits++
          return side === "before" ? wait : Effect.void
        }),
      afterCommit: () => (side === "after" ? wait : Effect.void)
    })
    return { layer, reached: Deferred.await(reached), open: open.open }
  })

describe("an interruption", () => {
  for (const side of ["before", "after"] as const) {
    it.effect(`${side} the commit of the run's start: what has begun is ended`, () =>
      Effect.gen(function* () {
        // Materialize, creation, start.
        const { layer, open, reached } = yield* waiting(MemoryDatabase.make(), 3, side)
        yield* Effect.gen(function* () {
          const run = yield* Effect.forkChild(AgentRuntime.run(desk, "go", { conversationId, runId: "r1" }))
          yield* reached
          const stopping = yield* Effect.forkChild(Fiber.interrupt(run))
          yield* Effect.yieldNow
          yield* open
          yield* Fiber.join(stopping)
          assert.deepStrictEqual(yield* story, [
            "ConversationCreated",
            "RunStarted",
            "InputRecorded",
            "ended cancelled"
          ])
          assert.strictEqual((yield* AgentRuntime.run(desk, "again", { conversationId })).text, "ok")
        }).pipe(Effect.provide([layer, handlers(), ScriptedModel.layer([text("ok")])]))
      })
    )
  }

  it.effect("while the end is being stored: the run has its answer", () =>
    Effect.gen(function* () {
      const { layer, open, reached } = yield* waiting(MemoryDatabase.make(), 4, "before")
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId, runId: "r1" })
        yield* reached
        const stopping = yield* Effect.forkChild(run.cancel)
        yield* Effect.yieldNow
        yield* open
        yield* Fiber.join(stopping)
        const result = yield* run.await
        assert.strictEqual(result.outcome, "completed")
        assert.strictEqual(result.text, "ok")
        assert.strictEqual((yield* story).at(-1), "ended completed")
      }).pipe(Effect.provide([layer, handlers(), ScriptedModel.layer([text("ok")])]))
    })
  )

  it.effect("of a handler by itself is a failure of its call, not of the run", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* AgentRuntime.run(desk, "go", { conversationId })).text, "ok")
      assert.include(yield* story, "settled c1 failure")
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        handlers({ look_up: () => Effect.interrupt }),
        ScriptedModel.layer([calls([lookUp("c1")]), text("ok")])
      ])
    )
  )

  it.effect("of more calls than a batch takes ends the run all the same", () =>
    Effect.gen(function* () {
      const run = yield* AgentRuntime.start(desk, "go", { conversationId })
      yield* recorded(({ payload }) => payload._tag === "ToolCallStarted" && payload.callId === "c3")
      yield* run.cancel
      const told = yield* story
      assert.strictEqual(told.filter((line) => line.endsWith(" interrupted")).length, 300)
      assert.strictEqual(told.at(-1), "ended cancelled")
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        handlers({ refund: () => Effect.never }),
        ScriptedModel.layer([calls(Array.from({ length: 300 }, (_, i) => refund(`c${i}`)))])
      ])
    )
  )
})

describe("a store that fails", () => {
  it.live("a lost acknowledgement is found out, and nothing is doubled", () => {
    let commits = 0
    const lost = new StoreError.StoreUnavailable({
      reason: "connection",
      retryable: true,
      detail: "the answer was lost",
      cause: null
    })
    const runtime = processOver(MemoryDatabase.make(), {
      afterCommit: () => (commits++ % 2 === 0 ? Effect.fail(lost) : Effect.void)
    })
    return Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "Where?", { conversationId })
      const store = yield* ConversationStore.ConversationStore
      const report = yield* store.verify({ conversationId })
      assert.deepStrictEqual(report.faults, [])
      assert.deepStrictEqual(yield* story, [
        "ConversationCreated",
        "RunStarted",
        "InputRecorded",
        "responded 1",
        "started c1 1",
        "settled c1 success",
        "responded 2",
        "ended completed"
      ])
    }).pipe(Effect.provide([runtime, handlers(), ScriptedModel.layer([calls([lookUp("c1")]), text("ok")])]))
  })

  it.effect("a sibling that is written later does not end a run with a write missing", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const down = new StoreError.StoreUnavailable({
        reason: "connection",
        retryable: false,
        detail: "gone",
        cause: null
      })
      const slow = yield* Latch.make()
      let commits = 0
      // Materialize, creation, start, response with both calls, then the first result, which is lost.
      const layer = processOver(database, {
        beforeCommit: () => Effect.suspend(() => (++commits === 5 ? Effect.andThen(slow.open, down) : Effect.void))
      })
      const error = yield* Effect.flip(AgentRuntime.run(desk, "go", { conversationId, persistence: "strict" })).pipe(
        Effect.provide([
          layer,
          handlers({ refund: () => Effect.uninterruptible(slow.await) }),
          ScriptedModel.layer([calls([lookUp("c1"), refund("c2")])])
        ])
      )
      assert.strictEqual(error._tag, "StoreUnavailable")
      yield* Effect.gen(function* () {
        assert.isFalse((yield* story).some((line) => line.startsWith("ended")))
        assert.strictEqual((yield* AgentRuntime.resume(desk, conversationId)).text, "ok")
      }).pipe(Effect.provide([processOver(database), handlers(), ScriptedModel.layer([text("ok")])]))
    })
  )

  it.effect("a store that never answers fails the run in the end, and leaves it to be resumed", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const { layer, reached } = yield* waiting(database, 4, "before")
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId, persistence: "strict" })
        yield* reached
        yield* TestClock.adjust("2 minutes")
        const error = yield* Effect.flip(run.await)
        assert.isTrue(error._tag === "StoreUnavailable" && error.retryable)
      }).pipe(Effect.provide([layer, handlers(), ScriptedModel.layer([text("lost")])]))
      const resumed = yield* AgentRuntime.resume(desk, conversationId).pipe(
        Effect.provide([processOver(database), handlers(), ScriptedModel.layer([text("ok")])])
      )
      assert.strictEqual(resumed.text, "ok")
    })
  )
})

describe("options out of bounds", () => {
  for (const [option, options] of [
    ["maxToolRounds", { maxToolRounds: 0 }],
    ["maxToolRounds", { maxToolRounds: Number.NaN }],
    ["toolConcurrency", { toolConcurrency: 1.5 }],
    ["toolConcurrency", { toolConcurrency: 65 }],
    ["mode", { mode: "" }]
  ] as const) {
    it.effect(`${JSON.stringify(options)} is refused before anything is stored`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(AgentRuntime.run(desk, "go", { conversationId, ...options }))
        assert.isTrue(error instanceof AgentError.InvalidOption && error.option === option)
        assert.include(String((yield* Effect.flip(AgentRuntime.resume(desk, conversationId)))._tag), "NothingToResume")
      }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers(), ScriptedModel.layer([])]))
    )
  }
})
