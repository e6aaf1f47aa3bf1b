import { CommandQueues, ConversationTracker } from "@colloquy/capabilities"
import { Conversations, ConversationStore, StoreError } from "@colloquy/store"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentError, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { acceptedBy, heldAt, inputs, textsOf } from "./speaking.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, story, text } from "./support.ts"

const down = new StoreError.StoreUnavailable({ reason: "connection", retryable: false, detail: "gone", cause: null })

const requests = Effect.map(ScriptedModel.Requests, ({ all }) => all())

type Commit = Parameters<NonNullable<NonNullable<MemoryStorage.Options["faults"]>["afterCommit"]>>[0]

const holds = (text: string, { records = [] }: Commit) => records.some(({ payload }) => payload.includes(text))

/** A process whose store, once it is down, does not even say where a log ends. */
const unanswering = (
  database: MemoryDatabase.MemoryDatabase,
  isDown: () => boolean,
  afterCommit: (commit: Commit) => Effect.Effect<void, StoreError.StoreUnavailable>
) =>
  AgentRuntime.layerWithout.pipe(
    Layer.provideMerge(Layer.merge(CommandQueues.layer, ConversationTracker.layer)),
    Layer.provideMerge(Conversations.layer),
    Layer.provideMerge(
      Layer.effect(
        ConversationStore.ConversationStore,
        Effect.map(ConversationStore.ConversationStore, (store) => ({
          ...store,
          tail: (request: Parameters<typeof store.tail>[0]) => (isDown() ? Effect.fail(down) : store.tail(request))
        }))
      )
    ),
    Layer.provide(MemoryStorage.layerWith({ database, faults: { afterCommit } }))
  )

describe("a store that fails while an input is delivered", () => {
  for (const [side, outcome, kinds] of [
    ["before", "Returned", "user"],
    ["after", "Done", "user steering"]
  ] as const) {
    it.effect(
      `${side} it was written: the receipt says what the log does, and once more offered it is one record`,
      () =>
        Effect.gen(function* () {
          const database = MemoryDatabase.make()
          const tool = yield* heldAt
          const fault = (commit: Commit) => (holds("B2?", commit) ? Effect.fail(down) : Effect.void)
          const layer = processOver(database, side === "before" ? { beforeCommit: fault } : { afterCommit: fault })
          yield* Effect.gen(function* () {
            const run = yield* AgentRuntime.start(desk, "go", { conversationId, persistence: "strict" })
            yield* tool.reached
            const receipt = yield* acceptedBy(run.steer("and B2?", { inputId: "x" }))
            yield* tool.open
            const failure = yield* Effect.result(run.await)
            const state = yield* receipt.await
            assert.strictEqual(state._tag, outcome)
            // An acknowledgement that was only lost is found out, and the run goes on.
            assert.strictEqual(failure._tag, side === "before" ? "Failure" : "Success")
          }).pipe(
            Effect.provide([
              layer,
              handlers({ look_up: () => Effect.as(tool.hold, { status: "ok" }) }),
              ScriptedModel.layer([calls([lookUp("c1")]), text("done")])
            ])
          )
          yield* Effect.gen(function* () {
            assert.strictEqual((yield* inputs).map(([kind]) => kind).join(" "), kinds)
            if (side === "after") return
            const answer = yield* heldAt
            yield* Effect.gen(function* () {
              const resuming = yield* Effect.forkChild(AgentRuntime.resume(desk, conversationId))
              yield* answer.reached
              const queues = yield* CommandQueues.CommandQueues
              const receipt = yield* acceptedBy(queues.steer(conversationId, "and B2?", { inputId: "x" }))
              yield* answer.open
              yield* Fiber.join(resuming)
              assert.strictEqual((yield* receipt.await)._tag, "Done")
              assert.deepStrictEqual(
                (yield* inputs).map(([kind]) => kind),
                ["user", "steering"]
              )
            }).pipe(Effect.provide(ScriptedModel.layerOf(() => () => Effect.as(answer.hold, text("ok")))))
          }).pipe(Effect.provide([processOver(database), handlers()]))
        })
    )
  }

  it.effect("and cannot say whether it was: it comes back, and offered again after a resume it is one record", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const tool = yield* heldAt
      let lost = false
      const layer = unanswering(
        database,
        () => lost,
        (commit) => {
          lost ||= holds("B2?", commit)
          return lost ? Effect.fail(down) : Effect.void
        }
      )
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId, persistence: "strict" })
        yield* tool.reached
        const receipt = yield* acceptedBy(run.steer("and B2?", { inputId: "x" }))
        yield* tool.open
        assert.strictEqual((yield* Effect.flip(run.await))._tag, "StoreUnavailable")
        assert.strictEqual((yield* receipt.await)._tag, "Returned")
      }).pipe(
        Effect.provide([
          layer,
          handlers({ look_up: () => Effect.as(tool.hold, { status: "ok" }) }),
          ScriptedModel.layer([calls([lookUp("c1")])])
        ])
      )
      const answer = yield* heldAt
      yield* Effect.gen(function* () {
        const resuming = yield* Effect.forkChild(AgentRuntime.resume(desk, conversationId))
        yield* answer.reached
        const queues = yield* CommandQueues.CommandQueues
        const again = yield* acceptedBy(queues.steer(conversationId, "and B2?", { inputId: "x" }))
        const other = yield* acceptedBy(queues.steer(conversationId, "and C3?", { inputId: "y" }))
        yield* answer.open
        yield* Fiber.join(resuming)
        assert.deepStrictEqual(
          (yield* inputs).map(([, said]) => said),
          ["go", "and B2?", "and C3?"]
        )
        assert.strictEqual((yield* again.await)._tag, "Done")
        assert.strictEqual((yield* other.await)._tag, "Done")
        assert.deepStrictEqual((yield* requests).map(textsOf), [
          ["go", "and B2?"],
          ["go", "and B2?", "and C3?"]
        ])
      }).pipe(
        Effect.provide([
          processOver(database),
          handlers(),
          ScriptedModel.layerOf(
            ({ call }) =>
              () =>
                Effect.as(call === 0 ? answer.hold : Effect.void, text("ok"))
          )
        ])
      )
    })
  )

  it.effect("and says only when it is asked again that it was: the receipt says so too", () =>
    Effect.gen(function* () {
      const tool = yield* heldAt
      let asked = -1
      const layer = unanswering(
        MemoryDatabase.make(),
        // Down for as long as the writer looks for its batch.
        () => asked >= 0 && asked++ === 0,
        (commit) => {
          if (asked >= 0 || !holds("B2?", commit)) return Effect.void
          asked = 0
          return Effect.fail(down)
        }
      )
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId, persistence: "strict" })
        yield* tool.reached
        const receipt = yield* acceptedBy(run.steer("and B2?", { inputId: "x" }))
        yield* tool.open
        assert.strictEqual((yield* Effect.flip(run.await))._tag, "StoreUnavailable")
        assert.deepStrictEqual(yield* receipt.await, { _tag: "Done", sequence: 7, answered: false })
        assert.strictEqual((yield* inputs).length, 2)
      }).pipe(
        Effect.provide([
          layer,
          handlers({ look_up: () => Effect.as(tool.hold, { status: "ok" }) }),
          ScriptedModel.layer([calls([lookUp("c1")])])
        ])
      )
    })
  )

  it.effect("because somebody else has the conversation: it comes back", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const one = yield* Layer.build(processOver(database))
      const two = yield* Layer.build(processOver(database))
      const answer = yield* heldAt
      const first = yield* AgentRuntime.start(desk, "go", { conversationId, runId: "r1" }).pipe(
        Effect.provide([handlers(), ScriptedModel.layerOf(() => () => Effect.as(answer.hold, text("first")))]),
        Effect.provideContext(one)
      )
      yield* answer.reached
      const steered = yield* acceptedBy(first.steer("s"))
      const followed = yield* acceptedBy(first.followUp("f"))
      yield* AgentRuntime.resume(desk, conversationId).pipe(
        Effect.provide([handlers(), ScriptedModel.layer([text("second")])]),
        Effect.provideContext(two)
      )
      yield* answer.open
      assert.strictEqual((yield* Effect.flip(first.await))._tag, "FenceRejected")
      assert.strictEqual((yield* steered.await)._tag, "Returned")
      assert.strictEqual((yield* followed.await)._tag, "Returned")
      assert.deepStrictEqual(
        (yield* Effect.provideContext(inputs, two)).map(([, said]) => said),
        ["go"]
      )
    })
  )
})

describe("a run that waits for people", () => {
  const Pay = Tool.make("pay", { parameters: Schema.Struct({ order: Schema.String }), needsApproval: true })
  const kit = Toolkit.make(Pay)
  const payer = Agent.make({ name: "payer", instructions: "Pay.", toolkit: kit })
  const pay = { id: "c1", name: "pay", params: { order: "A1" } }

  it.effect("hands follow-ups back, and takes none in any more", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(payer, "go", { conversationId })
        yield* answer.reached
        const receipt = yield* acceptedBy(run.followUp("then rest"))
        yield* answer.open
        assert.strictEqual((yield* run.await).outcome, "awaiting-approval")
        const state = yield* receipt.await
        assert.isTrue(state._tag === "Returned" && state.reason === "suspended")
        assert.strictEqual((yield* run.steer("hello?"))._tag, "NotRunning")
        // Cancelling ends it.
        assert.isTrue(yield* AgentRuntime.cancel(conversationId))
        assert.strictEqual((yield* story).at(-1), "ended cancelled")
      }).pipe(
        Effect.provide([
          kit.toLayer({ pay: () => Effect.void }),
          ScriptedModel.layerOf(() => () => Effect.as(answer.hold, calls([pay])))
        ])
      )
    }).pipe(Effect.provide(processOver(MemoryDatabase.make())))
  )

  it.effect("does not wait when somebody said something meanwhile: the answer to that closes its requests", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(payer, "go", { conversationId })
        yield* answer.reached
        const receipt = yield* acceptedBy(run.steer("do not pay"))
        yield* answer.open
        assert.strictEqual((yield* run.await).text, "as you like")
        assert.strictEqual((yield* receipt.await)._tag, "Done")
        assert.deepStrictEqual((yield* story).slice(3), [
          "responded 1",
          "ApprovalRequested",
          "InputRecorded",
          "responded 2",
          "ApprovalResolved",
          "settled c1 rejected",
          "ended completed"
        ])
      }).pipe(
        Effect.provide([
          kit.toLayer({ pay: () => Effect.void }),
          ScriptedModel.layerOf(({ call }) =>
            call === 0 ? () => Effect.as(answer.hold, calls([pay])) : text("as you like")
          )
        ])
      )
    }).pipe(Effect.provide(processOver(MemoryDatabase.make())))
  )
})

describe("a run that loads", () => {
  it.effect("takes input in, and hands it back when it cannot begin; who steered or started then starts", () =>
    Effect.gen(function* () {
      const loading = yield* heldAt
      let commits = 0
      const layer = processOver(MemoryDatabase.make(), {
        beforeCommit: () => (commits++ === 0 ? Effect.andThen(loading.hold, Effect.fail(down)) : Effect.void)
      })
      yield* Effect.gen(function* () {
        const queues = yield* CommandQueues.CommandQueues
        const first = yield* Effect.forkChild(AgentRuntime.run(desk, "one", { conversationId }))
        yield* loading.reached
        const early = yield* acceptedBy(queues.steer(conversationId, "early"))
        const waits = yield* Effect.forkChild(AgentRuntime.run(desk, "two", { conversationId }))
        const said = yield* AgentRuntime.steerOrRun(desk, "three", { conversationId })
        yield* loading.open
        assert.strictEqual((yield* Effect.flip(Fiber.join(first)))._tag, "StoreUnavailable")
        assert.strictEqual((yield* early.await)._tag, "Returned")
        assert.isTrue(said._tag === "Accepted" && (yield* said.receipt.await)._tag === "Returned")
        assert.strictEqual((yield* Fiber.join(waits)).text, "ok")
        assert.deepStrictEqual(
          (yield* inputs).map(([, said]) => said),
          ["two"]
        )
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.provide([handlers(), ScriptedModel.layerOf(() => text("ok"))]))
  )

  it.effect("is cancelled as soon as it has begun", () =>
    Effect.gen(function* () {
      const loading = yield* heldAt
      const layer = processOver(MemoryDatabase.make(), { beforeCommit: () => loading.hold })
      yield* Effect.gen(function* () {
        const starting = yield* Effect.forkChild(AgentRuntime.run(desk, "go", { conversationId }))
        yield* loading.reached
        const cancelling = yield* Effect.forkChild(AgentRuntime.cancel(conversationId))
        yield* Effect.yieldNow
        yield* loading.open
        assert.isTrue(yield* Fiber.join(cancelling))
        assert.strictEqual((yield* Fiber.join(starting)).outcome, "cancelled")
        assert.strictEqual((yield* story).at(-1), "ended cancelled")
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.provide([handlers(), ScriptedModel.layerOf(() => () => Effect.never)]))
  )

  it.effect("is not waited for any more by a start that is interrupted", () =>
    Effect.gen(function* () {
      const loading = yield* heldAt
      const layer = processOver(MemoryDatabase.make(), { beforeCommit: () => loading.hold })
      yield* Effect.gen(function* () {
        const starting = yield* Effect.forkChild(AgentRuntime.run(desk, "go", { conversationId }))
        yield* loading.reached
        const waits = yield* Effect.forkChild(AgentRuntime.run(desk, "two", { conversationId }))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(waits)
        yield* loading.open
        yield* Fiber.join(starting)
        assert.strictEqual((yield* AgentRuntime.run(desk, "three", { conversationId })).text, "ok")
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.provide([handlers(), ScriptedModel.layerOf(() => text("ok"))]))
  )

  it.effect("in a runtime with queues of its own is busy for who would steer or start", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      const shared = Layer.provideMerge(Conversations.layer, MemoryStorage.layer)
      const context = yield* Layer.build(shared)
      const one = yield* Layer.build(
        AgentRuntime.layerWithout.pipe(Layer.provideMerge(Layer.merge(CommandQueues.layer, ConversationTracker.layer)))
      ).pipe(Effect.provideContext(context))
      const two = yield* Layer.build(
        AgentRuntime.layerWithout.pipe(
          Layer.provideMerge(Layer.merge(CommandQueues.layerWith({}), ConversationTracker.layer))
        )
      ).pipe(Effect.provideContext(context))
      yield* Effect.gen(function* () {
        const run = yield* Effect.provideContext(AgentRuntime.start(desk, "go", { conversationId }), one)
        const busy = yield* Effect.flip(
          Effect.provideContext(AgentRuntime.steerOrRun(desk, "more", { conversationId }), two)
        )
        assert.instanceOf(busy, AgentError.ConversationBusy)
        yield* answer.open
        yield* run.await
      }).pipe(Effect.provide(ScriptedModel.layerOf(() => () => Effect.as(answer.hold, text("ok")))))
    }).pipe(Effect.provide(handlers()))
  )

  it.effect("after its runtime has ended does not begin", () =>
    Effect.gen(function* () {
      const runtime = yield* Effect.scoped(
        Effect.map(Layer.build(processOver(MemoryDatabase.make())), (context) => context)
      )
      const exit = yield* Effect.exit(Effect.provideContext(AgentRuntime.run(desk, "go", { conversationId }), runtime))
      assert.strictEqual(exit._tag, "Failure")
    }).pipe(Effect.provide([handlers(), ScriptedModel.layer([])]))
  )
})
