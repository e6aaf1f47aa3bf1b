/**
 * What the engine adds to a step of a run: a model that answers at once, a tool that does nothing, a store in memory.
 */
import { Agent, AgentRuntime } from "@colloquy/engine"
import { ScriptedModel } from "@colloquy/engine/testing"
import { MemoryStorage } from "@colloquy/storage-memory"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Schema from "effect/Schema"
import type { Part } from "../Bench.ts"
import { compare, estimate, ratio, timed } from "../Measure.ts"

export const measure: Part = async (bench) => {
  bench.note(`a run of ${steps} steps`)
  const runtime = ManagedRuntime.make(
    AgentRuntime.layer.pipe(Layer.provide(MemoryStorage.layer), Layer.provideMerge(tools), Layer.provideMerge(model))
  )
  const [byHand, measured] = await compare(
    [
      {
        name: "by hand",
        round: () =>
          timed(steps * runs, () => runtime.runPromise(Effect.replicateEffect(loop, runs, { discard: true })))
      },
      {
        name: "ours",
        round: (round) =>
          timed(steps * runs, () =>
            runtime.runPromise(
              Effect.forEach(
                Array.from({ length: runs }, (_, i) => `run-${round}-${i}`),
                (conversationId) => AgentRuntime.run(agent, question, { conversationId }),
                { discard: true }
              )
            )
          )
      }
    ],
    bench.rounds
  )
  await runtime.dispose()
  const { median, spread } = estimate(measured!.times.map((time, round) => time - byHand!.times[round]!))
  return {
    rows: [
      {
        id: "engine-step",
        what: `a step of a run of ${steps} steps: model call, tool call, both recorded in memory; the limit is a bare loop over the same model and tool; ${median.toFixed(0)} µs over it`,
        unit: "µs a step",
        ours: measured!.median,
        limit: byHand!.median,
        ratioToLimit: ratio(measured!, byHand!).median,
        spread,
        bar: "≤ 500 µs over the bare loop (the spread is that of the difference)",
        ok: median <= 500
      }
    ]
  }
}

// --- internal ---

const steps = 20
const runs = 5
const question = "Where is my parcel?"

const LookUp = Tool.make("look_up", {
  description: "Looks an order up.",
  parameters: Schema.Struct({ order: Schema.String }),
  success: Schema.Struct({ status: Schema.String })
})
const toolkit = Toolkit.make(LookUp)
const tools = toolkit.toLayer({ look_up: ({ order }) => Effect.succeed({ status: `${order} is on its way` }) })

/** Calls the tool until the last step of a run, then answers; which step it is, the prompt tells. */
const model = ScriptedModel.layerOf(({ prompt }) => {
  const answered = prompt.content.filter(({ role }) => role === "tool").length
  return answered === steps - 1
    ? ScriptedModel.text("It is on its way and should be with you before the weekend.")
    : ScriptedModel.calls(
        [{ id: `call_${answered}`, name: "look_up", params: { order: "A-1042" } }],
        "Let me look that up for you."
      )
})

const agent = Agent.make({ name: "desk", instructions: "Help with orders.", toolkit })

/** The same run with nothing recorded: the prompt is all it has. */
const loop = Effect.gen(function* () {
  let prompt = Prompt.make([
    { role: "system", content: "Help with orders." },
    { role: "user", content: [{ type: "text", text: question }] }
  ])
  for (let step = 1; step <= steps; step++) {
    const response = yield* LanguageModel.generateText({ prompt, toolkit })
    prompt = Prompt.concat(prompt, Prompt.fromResponseParts(response.content))
  }
})
