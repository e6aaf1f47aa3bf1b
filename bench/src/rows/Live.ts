/**
 * What watchers cost a run: one that streams 10,000 deltas, with 100 watchers of its updates and without any.
 */
import { CommandQueues, ConversationTracker } from "@colloquy/capabilities"
import { Agent, AgentRuntime } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import { Ids } from "@colloquy/session"
import { MemoryStorage } from "@colloquy/storage-memory"
import { Conversations } from "@colloquy/store"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import type { Part } from "../Bench.ts"
import { compare, estimate, timed } from "../Measure.ts"

export const measure: Part = async (bench) => {
  bench.note(`${watchers} watchers of a run of ${deltas} deltas`)
  const alone = await open(0)
  const watched = await open(watchers)
  const [without, measured] = await compare(
    [
      { name: "not watched", round: (round) => timed(1, () => alone.run(round)) },
      { name: "watched", round: (round) => timed(1, () => watched.run(round)) }
    ],
    bench.rounds
  )
  const seen = watched.seen()
  await alone.close()
  await watched.close()
  const { median, spread } = estimate(measured!.times.map((time, round) => time / without!.times[round]!))
  return {
    rows: [
      {
        id: "live-updates",
        what: `a run that streams ${deltas} deltas with ${watchers} watchers, over one without (both in memory); a watcher was shown ${Math.round(seen / watchers / (bench.rounds + 1))} updates of a run`,
        unit: "×",
        ours: median,
        spread,
        bar: "≤ 1.05 × the run that nobody watches",
        ok: median <= 1.05
      }
    ]
  }
}

// --- internal ---

const deltas = 10_000
const watchers = 100

const agent = Agent.make({ name: "desk", instructions: "Answer at length." })

const model = ScriptedModel.layerOf(() =>
  ScriptedModel.chunks(ScriptedModel.split(ScriptedModel.text("word ".repeat(deltas)), 5))
)

/** A runtime whose one conversation is watched by so many. */
const open = async (count: number) => {
  const conversationId = Ids.ConversationId.make("watched")
  const tracker = count === 0 ? ConversationTracker.layer : ConversationTracker.layerUpdates()
  const runtime = ManagedRuntime.make(
    AgentRuntime.layerWithout.pipe(
      Layer.provideMerge(Layer.mergeAll(CommandQueues.layer, tracker, model)),
      Layer.provide(Conversations.layer),
      Layer.provide(MemoryStorage.layer)
    )
  )
  let seen = 0
  const watch = Effect.flatMap(ConversationTracker.ConversationTracker, (service) =>
    Stream.runForEach(service.watch(conversationId), () => Effect.sync(() => seen++))
  )
  for (let i = 0; i < count; i++) runtime.runFork(watch)
  return {
    seen: () => seen,
    run: (round: number) =>
      runtime.runPromise(AgentRuntime.run(agent, "Go on.", { conversationId, runId: `run-${round}`, streaming: true })),
    close: () => runtime.dispose()
  }
}
