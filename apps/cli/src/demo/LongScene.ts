/**
 * A conversation that grows too large for its model, as a watcher sees it: text while it comes, and old history compacted.
 */
import { CommandQueues, ConversationTracker, ConversationView } from "@colloquy/capabilities"
import { Agent, AgentRuntime } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import { Ids } from "@colloquy/session"
import { Conversations, ConversationStore } from "@colloquy/store"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { claim, heading, say } from "./Claim.ts"

export const play = Effect.fn("LongScene")(function* (database: string) {
  yield* heading("10. A conversation outgrows its model's window, while somebody watches.")
  const runtime = AgentRuntime.layerWithout.pipe(
    Layer.provideMerge(Layer.merge(CommandQueues.layer, ConversationTracker.layerUpdates())),
    Layer.provideMerge(Conversations.layer),
    Layer.provideMerge(SqliteStorage.layer({ filename: database }))
  )
  yield* Effect.provide(talk, Layer.merge(runtime, model))
})

const conversationId = Ids.ConversationId.make("ticket-4001")

const guide = Agent.make({
  name: "guide",
  instructions: "Explain how a bicycle is repaired.",
  compaction: { maxInputTokens: 400, targetInputTokens: 200 }
})

const chapters = ["the brakes", "the gears", "the wheels", "the lights", "the chain", "the saddle"]

const explain = (topic: string): string =>
  `${topic}: first clean it, then look for what is worn, replace that, and try it out slowly. `.repeat(4)

/** Explains what it is asked; a request without the guide's instructions is one for a summary. */
const model = ScriptedModel.layerOf(({ prompt }) => {
  const last = prompt.content.findLast((message) => message.role === "user")
  const asked = last?.content.map((part) => (part.type === "text" ? part.text : "")).join("") ?? ""
  const isGuide = prompt.content.some((message) => message.role === "system" && message.content.includes("bicycle"))
  const answer = isGuide ? explain(asked) : "They have gone through the bicycle from the brakes on, part by part."
  return ScriptedModel.chunks(ScriptedModel.split([...ScriptedModel.text(answer).slice(0, 1), used(prompt)], 8))
})

/** Reports as many tokens as the estimate has, so that nothing is corrected. */
const used = (prompt: ScriptedModel.Request["prompt"]) => {
  const total = Math.round(JSON.stringify(prompt.content).length / 5)
  return {
    ...ScriptedModel.finish("stop"),
    usage: {
      inputTokens: { uncached: total, total, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 90, text: 90, reasoning: undefined }
    }
  } as const
}

const talk = Effect.gen(function* () {
  const tracker = yield* ConversationTracker.ConversationTracker
  let view = ConversationView.empty
  let pieces = 0
  yield* Effect.forkScoped(
    Stream.runForEach(tracker.watch(conversationId), (update) =>
      Effect.sync(() => {
        if (update._tag === "Text") pieces++
        view = ConversationView.fold(view, update)
      })
    ),
    { startImmediately: true }
  )
  for (const topic of chapters) {
    yield* AgentRuntime.run(guide, topic, { conversationId, streaming: true })
  }
  const store = yield* ConversationStore.ConversationStore
  const records = yield* Stream.runCollect(store.read({ conversationId, after: 1 }))
  // The watcher reads in its own time.
  yield* Effect.whileLoop({
    while: () => view.records.length < records.length,
    body: () => Effect.sleep("10 millis"),
    step: () => undefined
  }).pipe(Effect.timeoutOption("5 seconds"))
  yield* claim(
    view.records.length === records.length && !view.hasGap,
    `a watcher saw all ${records.length} records, and the text while it came, in ${pieces} pieces`,
    view.records.length
  )
  const compacted = records.flatMap(({ payload }) => (payload._tag === "Compacted" ? [payload] : []))
  for (const { summary } of compacted.slice(-1)) yield* say(`summary: ${summary ?? ""}`)
  yield* claim(
    compacted.length > 0,
    `what the model is shown was made smaller ${compacted.length} times; the log keeps every word`,
    compacted.length
  )
  const estimates = records.flatMap(({ payload }) =>
    payload._tag === "ModelResponded" ? [payload.estimatedInputTokens ?? 0] : []
  )
  yield* claim(
    estimates.every((tokens) => tokens < 400),
    `no request was over 400 tokens by our estimate: ${estimates.join(", ")}`,
    estimates
  )
}).pipe(Effect.scoped)
