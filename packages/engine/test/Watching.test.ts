import { CommandQueues, ConversationTracker, ConversationView, type LiveUpdate } from "@colloquy/capabilities"
import { ConversationStore, Conversations } from "@colloquy/store"
import { MemoryStorage } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Agent, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { calls, conversationId, desk, handlers, lookUp, text } from "./support.ts"

const watched = AgentRuntime.layerWithout.pipe(
  Layer.provideMerge(Layer.merge(CommandQueues.layer, ConversationTracker.layerUpdates())),
  Layer.provideMerge(Conversations.layer),
  Layer.provideMerge(MemoryStorage.layer)
)

const overloaded = AiError.make({
  module: "test",
  method: "streamText",
  reason: new AiError.InternalProviderError({ description: "overloaded" })
})

/** Collects a conversation's updates until its run has ended. */
const collect = Effect.gen(function* () {
  const tracker = yield* ConversationTracker.ConversationTracker
  const seen: Array<LiveUpdate.LiveUpdate> = []
  const ended = yield* Latch.make()
  yield* Effect.forkScoped(
    Stream.runForEach(tracker.watch(conversationId), (update) =>
      Effect.suspend(() => {
        seen.push(update)
        return update._tag === "Recorded" && update.record.payload._tag === "RunEnded" ? ended.open : Effect.void
      })
    ),
    { startImmediately: true }
  )
  return { seen, ended: ended.await }
})

const stored = Effect.gen(function* () {
  const store = yield* ConversationStore.ConversationStore
  return yield* Stream.runCollect(store.read({ conversationId, after: 1 }))
})

describe("a watcher of a run", () => {
  for (const streaming of [true, false]) {
    it.effect(
      `sees what is stored, ${streaming ? "with the text while it comes" : "also when nothing is streamed"}`,
      () =>
        Effect.gen(function* () {
          const { ended, seen } = yield* collect
          yield* AgentRuntime.run(desk, "Where is A1?", { conversationId, streaming })
          yield* ended
          const view = seen.reduce(ConversationView.fold, ConversationView.empty)
          assert.deepStrictEqual(view.records, yield* stored)
          assert.isUndefined(view.coming)
          const texts = seen.flatMap((update) => (update._tag === "Text" ? [update.text] : []))
          assert.deepStrictEqual(texts, streaming ? ["Let me look.", "On its way."] : [])
        }).pipe(
          Effect.provide([
            watched,
            handlers(),
            ScriptedModel.layer([calls([lookUp("c1")], "Let me look."), text("On its way.")])
          ])
        )
    )
  }

  it.effect("never holds the run up, however slow", () =>
    Effect.gen(function* () {
      const tracker = yield* ConversationTracker.ConversationTracker
      yield* Effect.forkScoped(
        Stream.runForEach(tracker.watch(conversationId), () => Effect.never),
        {
          startImmediately: true
        }
      )
      const many = Array.from({ length: 300 }, (_, i) => lookUp(`c${i}`))
      const result = yield* AgentRuntime.run(desk, "go", { conversationId }).pipe(
        Effect.provide([handlers(), ScriptedModel.layer([calls(many), text("done")])])
      )
      assert.strictEqual(result.text, "done")
    }).pipe(Effect.provide(watched))
  )

  it.effect("learns who is at work, also after a handoff", () =>
    Effect.gen(function* () {
      const tracker = yield* ConversationTracker.ConversationTracker
      const billing = Agent.make({
        name: "billing",
        instructions: "Bill.",
        model: ScriptedModel.layer([text("billed")], { model: "b-1" })
      })
      const front = Agent.make({ name: "front", instructions: "Hand over.", delegates: [Agent.handoff(billing)] })
      const seen: Array<string> = []
      const over = yield* Latch.make()
      yield* Effect.forkScoped(
        Stream.runForEach(tracker.watchRuns, ({ agent, ended, model }) =>
          Effect.suspend(() => {
            seen.push(`${agent} ${model}${ended ? " ended" : ""}`)
            return ended ? over.open : Effect.void
          })
        ),
        { startImmediately: true }
      )
      const handOver = calls([{ id: "c1", name: "hand_over_to_billing", params: {} }])
      yield* AgentRuntime.run(front, "go", { conversationId }).pipe(Effect.provide(ScriptedModel.layer([handOver])))
      yield* over.await
      assert.deepStrictEqual(seen, ["front scripted-1", "billing b-1", "billing b-1 ended"])
      assert.deepStrictEqual(yield* tracker.runs, [])
    }).pipe(Effect.provide(watched))
  )

  it.effect("sees a retried step begin again", () =>
    Effect.gen(function* () {
      const { ended, seen } = yield* collect
      const flaky = ScriptedModel.layerOf(({ call }) =>
        call === 0
          ? ScriptedModel.chunks([
              { type: "text-start", id: "t" },
              { type: "text-delta", id: "t", delta: "Half a" },
              Effect.fail(overloaded)
            ])
          : text("A whole answer.")
      )
      yield* Effect.forkScoped(
        AgentRuntime.run(desk, "go", { conversationId, streaming: true }).pipe(Effect.provide([handlers(), flaky]))
      )
      yield* TestClock.adjust("1 minute")
      yield* ended
      const view = seen.reduce(ConversationView.fold, ConversationView.empty)
      assert.isTrue(seen.some(({ _tag }) => _tag === "Reset"))
      assert.deepStrictEqual(view.records, yield* stored)
    }).pipe(Effect.provide(watched))
  )
})
