import { CommandQueues, ConversationTracker } from "@colloquy/capabilities"
import { Ids } from "@colloquy/session"
import { Conversations } from "@colloquy/store"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Agent, AgentError, AgentRuntime, Agents, Approvals } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { failureTag } from "./background.ts"
import { call, clerk, hasty, kit, noted, read, sound, tale } from "./people.ts"
import { calls, conversationId, processOver, text } from "./support.ts"

const other = Agent.make({ name: "other", instructions: "Other." })

/** A process under a name that stays the same over restarts; it can be killed. */
const named = (database: MemoryDatabase.MemoryDatabase, name: string) => {
  let killed = false
  const layer = AgentRuntime.layerWithout.pipe(
    Layer.provideMerge(Layer.merge(CommandQueues.layer, ConversationTracker.layer)),
    Layer.provideMerge(Conversations.layerWith({ producerId: Ids.ProducerId.make(name) })),
    Layer.provideMerge(
      MemoryStorage.layerWith({
        database,
        faults: { beforeCommit: () => Effect.suspend(() => (killed ? Effect.die("killed") : Effect.void)) }
      })
    )
  )
  return {
    layer,
    kill: Effect.sync(() => {
      killed = true
    })
  }
}

/** Leaves runs of an agent unfinished in these conversations, in a process of this name. */
const leave = Effect.fnUntraced(function* (
  database: MemoryDatabase.MemoryDatabase,
  name: string,
  agent: typeof clerk | typeof other,
  ids: ReadonlyArray<string>
) {
  const doomed = named(database, name)
  yield* Effect.andThen(
    Effect.forEach(ids, (id) => AgentRuntime.start(agent, "go", { conversationId: id })),
    doomed.kill
  ).pipe(Effect.provide([doomed.layer, noted().layer, ScriptedModel.layerOf(() => () => Effect.never)]))
})

const recovered = (agents: Agents.Source<never, never, never>, options?: AgentRuntime.RecoverOptions) =>
  Effect.map(Stream.runCollect(AgentRuntime.recoverAll(agents, options)), (all) =>
    all
      .map(
        ({ conversationId, exit }) =>
          `${conversationId} ${Exit.isSuccess(exit) ? exit.value.text : failureTag(exit.cause)}`
      )
      .toSorted()
  )

/** Agents with all they need, so that they can be gathered whatever they are. */
const ready = (said = "done") => {
  const model = ScriptedModel.layerOf(() => text(said))
  return {
    clerk: Agent.make({ name: "clerk", instructions: "Help.", model }),
    other: Agent.make({ name: "other", instructions: "Other.", model })
  }
}

describe("Agents.make", () => {
  it("finds an agent by its name, and refuses two of one", () => {
    const agents = Agents.make(clerk, other)
    assert.strictEqual(Agents.find(agents, "other"), other)
    assert.strictEqual(Agents.find(agents, "nobody"), undefined)
    assert.strictEqual(Agents.find(clerk, "clerk"), clerk)
    assert.throws(() => Agents.make(clerk, hasty), "two agents have the name clerk")
  })

  it.effect("resumes and decides for whoever the log names", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const { approvals } = yield* AgentRuntime.run(clerk, "go", { conversationId })
      const agents = Agents.make(other, clerk)
      const result = yield* AgentRuntime.decide(agents, conversationId, [Approvals.approve(approvals[0]!)])
      assert.strictEqual(result.text, "paid")
      assert.deepStrictEqual(ran, ["pay A1"])
      assert.isTrue(Option.isNone(yield* AgentRuntime.resumeIfNeeded(agents, conversationId)))
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        layer,
        ScriptedModel.layer([calls([call("c1", "pay")]), text("paid")])
      ])
    )
  })

  it.effect("without the agent of the log: it is unknown, whoever asks, and nothing is stored", () => {
    const { layer } = noted()
    return Effect.gen(function* () {
      const { approvals } = yield* AgentRuntime.run(clerk, "go", { conversationId })
      const before = yield* read()
      const decided = yield* Effect.flip(AgentRuntime.decide(other, conversationId, [Approvals.approve(approvals[0]!)]))
      const resumed = yield* Effect.flip(AgentRuntime.resume(Agents.make(other), conversationId))
      for (const error of [decided, resumed]) {
        assert.isTrue(error instanceof AgentError.UnknownAgent && error.recorded === "clerk" && error.given === "other")
      }
      assert.deepStrictEqual(yield* read(), before)
    }).pipe(
      Effect.provide([processOver(MemoryDatabase.make()), layer, ScriptedModel.layer([calls([call("c1", "pay")])])])
    )
  })
})

describe("a run that goes on", () => {
  it.effect("asks for its instructions and its model once", () => {
    const { layer } = noted()
    let made = 0
    let built = 0
    const model = Layer.unwrap(
      Effect.sync(() => {
        built++
        return ScriptedModel.layerOf(({ prompt }) =>
          prompt.content.at(-1)!.role === "tool" ? text("paid") : calls([call("c1", "pay")])
        )
      })
    )
    const agent = Agent.make({
      name: "clerk",
      instructions: Effect.sync(() => `Help, ${++made}.`),
      toolkit: kit,
      model
    })
    return Effect.gen(function* () {
      const { approvals } = yield* AgentRuntime.run(agent, "go", { conversationId })
      assert.deepStrictEqual([made, built], [1, 1])
      yield* AgentRuntime.decide(agent, conversationId, [Approvals.approve(approvals[0]!)])
      assert.deepStrictEqual([made, built], [2, 2])
    }).pipe(Effect.provide([processOver(MemoryDatabase.make()), layer]))
  })
})

describe("AgentRuntime.recoverAll", () => {
  it.effect("goes on with every unfinished run of its own producer, and with no other", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      yield* leave(database, "a", clerk, ["a1", "a2"])
      yield* leave(database, "b", clerk, ["b1"])
      yield* Effect.gen(function* () {
        yield* AgentRuntime.run(ready().other, "hi", { conversationId: "idle" })
        const agents = ready().clerk
        assert.deepStrictEqual(yield* recovered(agents), ["a1 done", "a2 done"])
        assert.deepStrictEqual(yield* recovered(agents), [])
        assert.strictEqual((yield* tale(Ids.ConversationId.make("b1"))).at(-1), "input user")
        assert.deepStrictEqual(yield* recovered(agents, { takeover: true }), ["b1 done"])
        for (const id of ["a1", "a2", "b1"]) {
          const words = yield* tale(Ids.ConversationId.make(id))
          assert.strictEqual(words.filter((word) => word === "ended completed").length, 1)
          yield* sound(Ids.ConversationId.make(id))
        }
      }).pipe(Effect.provide(named(database, "a").layer))
    })
  )

  it.effect("says of each what it came to: one that nobody knows stays as it is, the others go on", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      yield* leave(database, "a", clerk, ["a1", "a2"])
      yield* leave(database, "a", other, ["a3"])
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* recovered(ready().other), ["a1 UnknownAgent", "a2 UnknownAgent", "a3 done"])
        const { clerk, other } = ready()
        assert.deepStrictEqual(yield* recovered(Agents.make(clerk, other)), ["a1 done", "a2 done"])
      }).pipe(Effect.provide(named(database, "a").layer))
    })
  )

  it.effect("says of one that dies that it does, and the others go on", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      yield* leave(database, "a", other, ["a1"])
      yield* leave(database, "a", clerk, ["a2", "a3"])
      yield* Effect.gen(function* () {
        const broken = Agent.make({
          name: "other",
          instructions: Effect.die(new Error("bug")),
          model: ScriptedModel.layer([])
        })
        assert.deepStrictEqual(yield* recovered(Agents.make(broken, ready().clerk)), ["a1 died", "a2 done", "a3 done"])
      }).pipe(Effect.provide(named(database, "a").layer))
    })
  )

  it.effect("leaves alone what runs here, and what waits for people", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const called = yield* Deferred.make<void>()
      const hangs = Agent.make({
        name: "clerk",
        instructions: "x",
        model: ScriptedModel.layerOf(() => () => Effect.andThen(Deferred.succeed(called, undefined), Effect.never))
      })
      yield* Effect.gen(function* () {
        yield* AgentRuntime.run(clerk, "go", { conversationId: "waits" })
        const run = yield* AgentRuntime.start(hangs, "go", { conversationId: "here" })
        yield* Deferred.await(called)
        assert.deepStrictEqual(yield* recovered(ready().clerk, { takeover: true }), [])
        yield* run.cancel
      }).pipe(
        Effect.provide([named(database, "a").layer, noted().layer, ScriptedModel.layer([calls([call("c1", "pay")])])])
      )
    })
  )

  it.effect("runs so many at once and no more", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const ids = Array.from({ length: 7 }, (_, i) => `a${i}`)
      yield* leave(database, "a", clerk, ids)
      let now = 0
      let most = 0
      const latch = yield* Latch.make()
      const three = yield* Deferred.make<void>()
      const agent = Agent.make({
        name: "clerk",
        instructions: "x",
        model: ScriptedModel.layerOf(
          () => () =>
            Effect.gen(function* () {
              most = Math.max(most, ++now)
              if (now === 3) yield* Deferred.succeed(three, undefined)
              yield* latch.await
              now--
              return text("done")
            })
        )
      })
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(recovered(agent, { concurrency: 3 }))
        yield* Deferred.await(three)
        yield* latch.open
        const all = yield* Fiber.join(fiber)
        assert.strictEqual(all.length, 7)
        assert.strictEqual(most, 3)
      }).pipe(Effect.provide(named(database, "a").layer))
    })
  )
})
