import { PromptFault } from "@colloquy/session"
import { Conversations } from "@colloquy/store"
import { MemoryDatabase, MemoryDriver } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import { AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import {
  calls,
  conversationId,
  desk,
  handlers,
  lookUp,
  payloads,
  processOver,
  processWith,
  refund,
  story,
  text,
  ticking,
  unavailable
} from "./support.ts"

describe("a store that comes back", () => {
  it.effect("lets a handler begin that waits for its start to be stored; one that only reads has not waited", () =>
    Effect.gen(function* () {
      const did: Array<string> = []
      let down = false
      const looked = yield* Deferred.make<void>()
      const note = (what: string) => Effect.sync(() => void did.push(`${what}${down ? "" : " with the store"}`))
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId })
        yield* Deferred.await(looked)
        // The other handler only begins behind a wait.
        assert.deepStrictEqual(did, ["look up"])
        down = false
        const result = yield* ticking(run.await)
        assert.isTrue(result.persisted)
        assert.deepStrictEqual(did, ["look up", "refund with the store"])
        assert.deepStrictEqual((yield* story).slice(3), [
          "responded 1",
          "started c1 1",
          "started c2 1",
          "settled c2 success",
          "settled c1 success",
          "responded 2",
          "ended completed"
        ])
      }).pipe(
        Effect.provide([
          processOver(MemoryDatabase.make(), {
            beforeCommit: () => Effect.suspend(() => (down ? unavailable() : Effect.void))
          }),
          handlers({
            refund: () => note("refund"),
            look_up: () =>
              note("look up").pipe(Effect.andThen(Deferred.succeed(looked, undefined)), Effect.as({ status: "" }))
          }),
          ScriptedModel.layer([
            () => Effect.sync(() => ((down = true), calls([refund("c1"), lookUp("c2")]))),
            text("ok")
          ])
        ])
      )
    })
  )

  it.effect("gives each response ids of its own, whether its index can be asked or not", () =>
    ticking(
      Effect.gen(function* () {
        for (const readable of [true, false]) {
          const database = MemoryDatabase.make()
          let down = false
          const memory = MemoryDriver.make(database, {
            beforeCommit: () => Effect.suspend(() => (down ? unavailable() : Effect.void))
          })
          const driver: typeof memory = {
            ...memory,
            callIds: (id, ids) => (down && !readable ? unavailable() : memory.callIds(id, ids))
          }
          yield* Effect.gen(function* () {
            const result = yield* AgentRuntime.run(desk, "go", { conversationId, runId: "r1" })
            assert.isTrue(result.persisted)
            assert.strictEqual((yield* AgentRuntime.run(desk, "again", { conversationId })).text, "done")
            const ids = (yield* payloads).flatMap((payload) =>
              payload._tag === "ToolCallSettled" ? [payload.callId] : []
            )
            assert.strictEqual(ids.length, 5)
            assert.strictEqual(new Set(ids).size, 5)
            if (readable) assert.deepStrictEqual(ids, ["c1", "c1_2", "c1_3", "c1_4", "c1_5"])
          }).pipe(
            Effect.provide([
              processWith(driver),
              handlers(),
              ScriptedModel.layer([
                calls([lookUp("c1")]),
                () => Effect.sync(() => ((down = true), calls([lookUp("c1"), lookUp("c1")]))),
                calls([lookUp("c1")]),
                () => Effect.sync(() => ((down = false), text("ok"))),
                calls([lookUp("c1")]),
                text("done")
              ])
            ])
          )
        }
      })
    )
  )

  it.effect("after a run was interrupted that could not store: what it had is stored with its end", () =>
    Effect.gen(function* () {
      let down = false
      const begun = yield* Deferred.make<void>()
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId })
        yield* Deferred.await(begun)
        const stopping = yield* Effect.forkChild(run.cancel, { startImmediately: true })
        down = false
        yield* ticking(Fiber.join(stopping))
        const result = yield* run.await
        assert.isTrue(result.outcome === "cancelled" && result.persisted)
        assert.deepStrictEqual((yield* story).slice(-3), [
          "settled c1 interrupted",
          "settled c2 interrupted",
          "ended cancelled"
        ])
      }).pipe(
        Effect.provide([
          processOver(MemoryDatabase.make(), {
            beforeCommit: () => Effect.suspend(() => (down ? unavailable() : Effect.void))
          }),
          handlers({
            refund: () => Effect.die("it was never stored that it begins"),
            look_up: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
          }),
          ScriptedModel.layer([() => Effect.sync(() => ((down = true), calls([refund("c1"), lookUp("c2")])))])
        ])
      )
    })
  )
})

describe("a store that comes back too late for a run", () => {
  it.effect("takes the next run of the same process: what the first could not store stays lost", () =>
    Effect.gen(function* () {
      let down = false
      yield* Effect.gen(function* () {
        const first = yield* ticking(AgentRuntime.run(desk, "one", { conversationId, runId: "r1" }))
        assert.isTrue(first.text === "1" && !first.persisted)
        down = false
        const second = yield* AgentRuntime.run(desk, "two", { conversationId, runId: "r2" })
        assert.isTrue(second.text === "2" && second.persisted)
        assert.deepStrictEqual((yield* story).slice(1), [
          "RunStarted",
          "InputRecorded",
          "RepairAnnotated",
          "ended failed",
          "RunStarted",
          "InputRecorded",
          "responded 1",
          "ended completed"
        ])
        const { prompt } = (yield* ScriptedModel.Requests).all().at(-1)!
        assert.include(JSON.stringify(prompt.content), "one")
      }).pipe(
        Effect.provide([
          processOver(MemoryDatabase.make(), {
            beforeCommit: () => Effect.suspend(() => (down ? unavailable() : Effect.void))
          }),
          handlers(),
          ScriptedModel.layer([() => Effect.sync(() => ((down = true), text("1"))), text("2")])
        ])
      )
    })
  )
})

describe("a store that does not answer", () => {
  for (const comesBack of [true, false]) {
    it.effect(`${comesBack ? "for a while" : "for ever"}: the run answers, and says whether all of it is stored`, () =>
      Effect.gen(function* () {
        const database = MemoryDatabase.make()
        const answers = yield* Latch.make()
        let commits = 0
        const result = yield* ticking(AgentRuntime.run(desk, "go", { conversationId })).pipe(
          Effect.provide([
            processOver(database, {
              beforeCommit: () => Effect.suspend(() => (++commits > 3 ? answers.await : Effect.void))
            }),
            handlers(),
            ScriptedModel.layer([
              calls([lookUp("c1")]),
              () => Effect.as(comesBack ? answers.open : Effect.void, text("ok"))
            ])
          ])
        )
        assert.isTrue(result.text === "ok" && result.persisted === comesBack)
        const told = yield* Effect.provide(story, processOver(database), { local: true })
        assert.deepStrictEqual(
          told.slice(3),
          comesBack ? ["responded 1", "started c1 1", "settled c1 success", "responded 2", "ended completed"] : []
        )
      })
    )
  }
})

describe("a write of which the store cannot say that it happened", () => {
  it.effect("is shown to the model once, while nothing can be written and when it can", () =>
    Effect.gen(function* () {
      let store: "well" | "mute" | "half" = "well"
      const failingIn = (state: typeof store) => Effect.suspend(() => (store === state ? unavailable() : Effect.void))
      const memory = MemoryDriver.make(MemoryDatabase.make(), {
        beforeCommit: () => failingIn("half"),
        afterCommit: () => failingIn("mute")
      })
      const driver: typeof memory = {
        ...memory,
        head: (id) => Effect.andThen(failingIn("mute"), memory.head(id)),
        batch: (id, batchId) => Effect.andThen(failingIn("half"), memory.batch(id, batchId))
      }
      yield* Effect.gen(function* () {
        const result = yield* ticking(AgentRuntime.run(desk, "go", { conversationId }))
        assert.isTrue(result.text === "ok" && result.persisted)
        for (const { prompt } of (yield* ScriptedModel.Requests).all()) {
          assert.deepStrictEqual(PromptFault.check(prompt), [])
          assert.isAtMost(JSON.stringify(prompt.content).split("I look.").length, 2)
        }
        const told = (yield* story).slice(3).map((line) => line.replace(/call_\w+/, "call"))
        assert.deepStrictEqual(told, [
          "responded 1",
          "started call 1",
          "settled call success",
          "responded 2",
          "ended completed"
        ])
      }).pipe(
        Effect.provide([
          processWith(driver),
          handlers({ look_up: () => Effect.sync(() => ((store = "half"), { status: "" })) }),
          ScriptedModel.layer([
            () => Effect.sync(() => ((store = "mute"), calls([lookUp("c1")], "I look."))),
            () => Effect.sync(() => ((store = "well"), text("ok")))
          ])
        ])
      )
    })
  )
})

describe("somebody else takes the conversation over while writes wait", () => {
  it.effect("and the run stops; nothing of what waited is stored", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      let down = false
      const takeOver = Effect.gen(function* () {
        const conversations = yield* Conversations.Conversations
        yield* conversations.open(conversationId)
      }).pipe(Effect.scoped, Effect.provide(processOver(database), { local: true }), Effect.orDie)
      const error = yield* AgentRuntime.run(desk, "go", { conversationId }).pipe(
        Effect.flip,
        ticking,
        Effect.provide([
          processOver(database, { beforeCommit: () => Effect.suspend(() => (down ? unavailable() : Effect.void)) }),
          handlers({
            look_up: () =>
              Effect.as(
                Effect.andThen(
                  takeOver,
                  Effect.sync(() => (down = false))
                ),
                { status: "" }
              )
          }),
          ScriptedModel.layer([() => Effect.sync(() => ((down = true), calls([lookUp("c1")]))), text("not asked")])
        ])
      )
      assert.strictEqual(error._tag, "FenceRejected")
      const told = yield* Effect.provide(story, processOver(database))
      assert.deepStrictEqual(told, ["ConversationCreated", "RunStarted", "InputRecorded"])
    })
  )
})
