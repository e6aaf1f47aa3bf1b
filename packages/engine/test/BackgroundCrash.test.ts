import { MemoryDatabase } from "@colloquy/storage-memory"
import { ConversationStore } from "@colloquy/store"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Agent, AgentRuntime, Agents, Approvals } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { childOf, failureTag, happened, parentOf, task } from "./background.ts"
import { append, call, dying, killable, noted, openRequests, read, sound, tale } from "./people.ts"
import { calls, conversationId, processOver, recorded, text } from "./support.ts"

const options = { conversationId, runId: "r1" }
const begins = calls([task("c1")])
const child = childOf("c1")
const settledIn = recorded(({ payload }) => payload._tag === "BackgroundSettled")
const works = [calls([call("d1", "look")]), text("found")]

/** Starts the task, and answers whatever comes next. */
const leads = ScriptedModel.layerOf(({ prompt }) =>
  prompt.content.some(({ role }) => role === "tool") ? text("ok") : begins
)

/** A parent whose child hangs in its first model call, in a process that is killed then. */
const left = Effect.fnUntraced(function* (database: MemoryDatabase.MemoryDatabase, turns = works) {
  const doomed = killable(database)
  const called = yield* Deferred.make<void>()
  const { parent } = parentOf([() => Effect.andThen(Deferred.succeed(called, undefined), Effect.never), ...turns])
  yield* Effect.gen(function* () {
    yield* AgentRuntime.run(parent, "go", options)
    yield* Deferred.await(called)
    yield* doomed.kill
  }).pipe(Effect.provide([doomed.layer, noted().layer, leads]))
})

const childExists = Effect.gen(function* () {
  const store = yield* ConversationStore.ConversationStore
  return Option.isSome(yield* Effect.option(store.tail({ conversationId: child })))
})

describe("a process that dies beside a background agent", () => {
  for (const side of ["before", "after"] as const) {
    it.effect(`${side} any write: the task is finished or lost, told once, never doubled`, () =>
      Effect.gen(function* () {
        const outcomes = new Set<string>()
        let isOver = false
        for (let at = 1; !isOver; at++) {
          const database = MemoryDatabase.make()
          const doomed = dying(database, at, side)
          const first = parentOf(works)
          yield* Effect.gen(function* () {
            yield* AgentRuntime.run(first.parent, "go", options)
            yield* Effect.raceFirst(settledIn, happened(child, "RunEnded"))
          }).pipe(
            // A child that has died says nothing.
            Effect.raceFirst(Effect.andThen(Effect.yieldNow.pipe(Effect.repeat({ until: doomed.died })), Effect.void)),
            Effect.exit,
            Effect.provide([doomed.layer, noted().layer, leads])
          )
          isOver = !doomed.died()
          const { parent } = parentOf(works)
          yield* Effect.gen(function* () {
            const resumed = yield* AgentRuntime.resumeIfNeeded(parent, conversationId)
            if (Option.isNone(resumed)) yield* Effect.ignore(AgentRuntime.run(parent, "go", options))
            yield* AgentRuntime.run(parent, "and?", { conversationId, runId: "r2" })
            yield* settledIn
            yield* AgentRuntime.run(parent, "so?", { conversationId, runId: "r3" })
            const words = yield* tale()
            const count = (word: string) => words.filter((other) => other === word).length
            assert.strictEqual(count("task of helper"), 1, words.join())
            assert.strictEqual(count("input background"), 1, words.join())
            assert.strictEqual(words.filter((word) => /^task (?!of)/.test(word)).length, 1)
            outcomes.add(words.find((word) => /^task (?!of)/.test(word)) ?? "none")
            if (yield* childExists) {
              const inner = yield* tale(child)
              assert.isAtMost(inner.filter((word) => word.startsWith("start ")).length, 1)
              yield* sound(child)
            }
            yield* sound()
          }).pipe(Effect.provide([processOver(database), noted().layer, leads]))
        }
        assert.isTrue(outcomes.has("task completed"))
        for (const outcome of outcomes) assert.include(["task completed", "task lost", "task cancelled"], outcome)
      })
    )
  }

  it.effect("the parent's next run goes on with the task, which tells its end", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      yield* left(database)
      yield* Effect.gen(function* () {
        const { parent } = parentOf(works)
        yield* AgentRuntime.run(parent, "and?", { conversationId })
        yield* settledIn
        assert.include(yield* tale(child), "resumed 2 crash helper")
        assert.strictEqual((yield* tale(child)).at(-1), "ended completed")
        const settled = (yield* read()).find(({ payload }) => payload._tag === "BackgroundSettled")?.payload
        assert.isTrue(settled?._tag === "BackgroundSettled" && settled.usage?.inputTokens.total === 20)
      }).pipe(Effect.provide([processOver(database), noted().layer, leads]))
    })
  )

  it.effect("a parent that does not know the agent any more is told that the task is lost", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      yield* left(database)
      yield* Effect.gen(function* () {
        const alone = Agent.make({ name: "parent", instructions: "Lead." })
        yield* AgentRuntime.run(alone, "and?", { conversationId })
        assert.include(yield* tale(), "task lost")
        assert.include(yield* tale(), "input background")
      }).pipe(Effect.provide([processOver(database), noted().layer, leads]))
    })
  )

  it.effect("a task that somebody here goes on with is not lost, whoever the parent is now", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      yield* left(database)
      const called = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      const { helper } = parentOf([
        () => Effect.as(Effect.andThen(Deferred.succeed(called, undefined), Deferred.await(gate)), text("found"))
      ])
      yield* Effect.gen(function* () {
        yield* AgentRuntime.startResume(helper, child)
        yield* Deferred.await(called)
        const alone = Agent.make({ name: "parent", instructions: "Lead." })
        yield* AgentRuntime.run(alone, "and?", { conversationId })
        assert.notInclude(yield* tale(), "task lost")
        yield* Deferred.succeed(gate, undefined)
        yield* settledIn
        assert.include(yield* tale(), "task completed")
      }).pipe(Effect.provide([processOver(database), noted().layer, leads]))
    })
  )

  it.effect("a task that ended while its parent could not be told is read from its own log, with what it used", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      yield* left(database)
      yield* Effect.gen(function* () {
        const { helper, parent } = parentOf(works)
        // Somebody goes on with the child alone.
        yield* AgentRuntime.resume(helper, child)
        assert.notInclude(yield* tale(), "task completed")
        yield* AgentRuntime.run(parent, "and?", { conversationId })
        const settled = (yield* read()).find(({ payload }) => payload._tag === "BackgroundSettled")?.payload
        assert.isTrue(settled?._tag === "BackgroundSettled" && settled.summary === "found")
        assert.isTrue(settled?._tag === "BackgroundSettled" && settled.usage?.inputTokens.total === 20)
        assert.include(yield* tale(), "input background")
      }).pipe(Effect.provide([processOver(database), noted().layer, leads]))
    })
  )

  it.effect("parent and task that are both recovered do not get in each other's way", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      const called = yield* Deferred.make<void>()
      const hang = () => Effect.andThen(Deferred.succeed(called, undefined), Effect.never)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(parentOf([hang]).parent, "go", options)
        yield* Deferred.await(called)
        yield* recorded(({ payload }) => payload._tag === "ToolCallSettled")
        yield* doomed.kill
      }).pipe(
        Effect.provide([
          doomed.layer,
          noted().layer,
          ScriptedModel.layerOf(({ call }) => (call === 0 ? begins : () => Effect.never))
        ])
      )
      yield* Effect.gen(function* () {
        const { helper, parent } = parentOf(works)
        const recovered = yield* Stream.runCollect(
          AgentRuntime.recoverAll(Agents.make(helper, parent), { takeover: true })
        )
        for (const { exit } of recovered) {
          const outcome = Exit.isSuccess(exit) ? exit.value.outcome : failureTag(exit.cause)
          assert.include(["completed", "ConversationBusy", "NothingToResume"], outcome)
        }
        yield* settledIn
        assert.include(yield* tale(), "task completed")
        assert.strictEqual((yield* tale()).filter((word) => word.startsWith("ended")).join(), "ended completed")
        assert.strictEqual((yield* tale(child)).filter((word) => word.startsWith("ended")).join(), "ended completed")
      }).pipe(Effect.provide([processOver(database), noted().layer, leads]))
    })
  )
})

describe("a background agent and two processes", () => {
  it.effect("its end does not take the parent over from a run that goes on elsewhere", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const one = yield* Layer.build(processOver(database))
      const two = yield* Layer.build(processOver(database))
      const asks = [calls([call("d1", "pay")]), text("paid")]
      const gate = yield* Deferred.make<void>()
      const { helper, parent } = parentOf(asks)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.run(parent, "go", options)
        yield* happened(child, "RunSuspended")
      }).pipe(Effect.provideContext(one), Effect.provide([noted().layer, leads]))
      const slow = ScriptedModel.layerOf(() => () => Effect.as(Deferred.await(gate), text("slowly")))
      const elsewhere = yield* AgentRuntime.start(parent, "and?", { conversationId, runId: "r2" }).pipe(
        Effect.provide([noted().layer, slow]),
        Effect.provideContext(two)
      )
      yield* Effect.gen(function* () {
        const [request] = yield* openRequests(child)
        yield* AgentRuntime.decide(helper, child, [Approvals.approve(request!)])
      }).pipe(Effect.provideContext(one), Effect.provide([noted().layer]))
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* elsewhere.await).text, "slowly")
      const third = AgentRuntime.run(parent, "so?", { conversationId, runId: "r3" })
      yield* Effect.provideContext(third, two).pipe(Effect.provide([noted().layer, leads]))
      yield* Effect.gen(function* () {
        assert.include(yield* tale(), "task completed")
        assert.strictEqual((yield* tale()).filter((word) => word === "input background").length, 1)
        yield* sound()
      }).pipe(Effect.provideContext(two))
    })
  )

  it.effect("a task that was taken over is not told as failed", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const one = yield* Layer.build(processOver(database))
      const two = yield* Layer.build(processOver(database))
      const called = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      const { parent } = parentOf([
        () => Effect.as(Effect.andThen(Deferred.succeed(called, undefined), Deferred.await(gate)), text("late"))
      ])
      yield* Effect.gen(function* () {
        yield* AgentRuntime.run(parent, "go", options)
        yield* Deferred.await(called)
      }).pipe(Effect.provideContext(one), Effect.provide([noted().layer, leads]))
      const { helper } = parentOf([text("found")])
      yield* AgentRuntime.resume(helper, child).pipe(Effect.provideContext(two), Effect.provide(noted().layer))
      yield* Deferred.succeed(gate, undefined)
      // Whatever the first process does behind this comes later in the log.
      yield* append([{ _tag: "Custom", name: "n", data: null }]).pipe(Effect.provideContext(one))
      yield* AgentRuntime.run(parent, "and?", { conversationId }).pipe(
        Effect.provideContext(one),
        Effect.provide([noted().layer, leads])
      )
      yield* Effect.gen(function* () {
        yield* settledIn
        assert.notInclude(yield* tale(), "task failed")
        assert.strictEqual((yield* tale(child)).filter((word) => word.startsWith("ended")).join(), "ended completed")
      }).pipe(Effect.provideContext(one))
    })
  )
})

const agentsOf = (turns: ReadonlyArray<ScriptedModel.Turn>) => {
  const { helper } = parentOf(turns)
  const second = Agent.make({ name: "second", instructions: "Second." })
  const parent = Agent.make({
    name: "parent",
    instructions: "Lead.",
    delegates: [Agent.background(helper), Agent.handoff(second)]
  })
  return { parent, second }
}

describe("a task of an agent that has handed over", () => {
  it.effect("is found again by whoever resumes the run", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      const called = yield* Deferred.make<void>()
      const hang = () => Effect.andThen(Deferred.succeed(called, undefined), Effect.never)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(agentsOf([hang]).parent, "go", options)
        yield* Deferred.await(called)
        yield* recorded(({ payload }) => payload._tag === "HandedOff")
        yield* doomed.kill
      }).pipe(
        Effect.provide([
          doomed.layer,
          noted().layer,
          ScriptedModel.layerOf(({ call }) => {
            if (call === 0) return begins
            return call === 1 ? calls([{ id: "c2", name: "hand_over_to_second", params: {} }]) : () => Effect.never
          })
        ])
      )
      yield* Effect.gen(function* () {
        const { parent } = agentsOf(works)
        yield* AgentRuntime.resume(parent, conversationId)
        yield* settledIn
        assert.include(yield* tale(), "task completed")
      }).pipe(Effect.provide([processOver(database), noted().layer, leads]))
    })
  )
})
