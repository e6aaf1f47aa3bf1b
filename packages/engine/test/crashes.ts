/**
 * Runs whose process dies again and again: a script that is drawn, a process that dies where its fate says, and a note of
 * everything that its tools did.
 */
import { CommandQueues } from "@colloquy/capabilities"
import { Ids } from "@colloquy/session"
import type { MemoryDatabase } from "@colloquy/storage-memory"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, ToolCall } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import type { dice } from "./interleavings.ts"
import { conversationId, processOver } from "./support.ts"

type Dice = ReturnType<typeof dice>

const toolOf = <const Name extends string>(name: Name) =>
  Tool.make(name, { parameters: Schema.Struct({ order: Schema.String }), success: Schema.String })

/** One tool of each policy. */
const kit = Toolkit.make(
  toolOf("look").annotate(Tool.Readonly, true),
  toolOf("tag").annotate(Tool.Idempotent, true),
  toolOf("pay"),
  toolOf("ask").annotate(ToolCall.OnCrash, "ask"),
  toolOf("ship").annotate(ToolCall.OnCrash, "omit")
)

export const worker = Agent.make({ name: "worker", instructions: "Work.", toolkit: kit })

const names = ["look", "tag", "pay", "ask", "ship"] as const

/** What the model calls in each step; behind the last one it answers. Ids are repeated within and between responses. */
export interface Script {
  readonly steps: ReadonlyArray<
    ReadonlyArray<{ readonly id: string; readonly name: string; readonly params: { readonly order: string } }>
  >
  readonly streaming: boolean
  /** Of how many handlers one says something to its run. */
  readonly steersOneIn: number
}

export const drawScript = (roll: Dice): Script => ({
  steps: Array.from({ length: 1 + roll(3) }, (_, step) =>
    Array.from({ length: 1 + roll(4) }, (_, i) => ({
      id: `c${1 + roll(3)}`,
      name: names[roll(names.length)] ?? "look",
      params: { order: `${step}.${i}` }
    }))
  ),
  streaming: roll(2) === 0,
  steersOneIn: 1 + roll(4)
})

/** Where a process dies: around one of its commits, in one of its model calls, or behind one of its handlers' work. */
export type Fate =
  | { readonly place: "before" | "after" | "model" | "handler"; readonly at: number; readonly part: number }
  | undefined

export const drawFate = (roll: Dice): Fate => ({
  place: (["before", "after", "before", "after", "model", "handler"] as const)[roll(6)] ?? "before",
  at: 1 + roll(9),
  part: roll(8)
})

/** What a handler was told when it began. */
interface Work {
  readonly life: number
  readonly callId: string
  readonly name: string
  readonly attempt: number
  readonly idempotencyKey: string
}

/** What is seen over all lives of a run. */
export interface Witness {
  readonly prompts: Array<Prompt.Prompt>
  readonly works: Array<Work>
  readonly said: Array<{ readonly inputId: string; readonly receipt: CommandQueues.Receipt }>
}

/** One life of a process over the database: it does nothing more once it is dead. */
export const lifeOf = (
  database: MemoryDatabase.MemoryDatabase,
  { script, fate, life, witness }: { script: Script; fate: Fate; life: number; witness: Witness }
) => {
  let dead = false
  const counts = { before: 0, after: 0, model: 0, handler: 0 }
  const passes = (place: keyof typeof counts) => {
    counts[place]++
    return fate?.place === place && fate.at === counts[place]
  }
  const die = Effect.suspend(() => {
    dead = true
    return Effect.die(new Error("killed"))
  })
  const commits = (place: "before" | "after") => Effect.suspend(() => (dead || passes(place) ? die : Effect.void))

  const partsOf = ({ prompt }: LanguageModel.ProviderOptions) => {
    witness.prompts.push(prompt)
    const step = prompt.content.filter(({ role }) => role === "tool").length
    const calls = script.steps[step]
    return [...(calls === undefined ? ScriptedModel.text("All done.") : ScriptedModel.calls(calls, `Step ${step}.`))]
  }
  const model = Layer.effect(
    LanguageModel.LanguageModel,
    LanguageModel.make({
      generateText: (request) =>
        Effect.suspend(() => {
          const parts = partsOf(request)
          return passes("model") ? die : Effect.succeed(parts)
        }),
      streamText: (request) =>
        Stream.suspend(() => {
          const parts = toStream(partsOf(request))
          const dies = passes("model")
          return Stream.mapEffect(Stream.fromIterable(parts), (part, i) =>
            dies && i >= Math.min(fate?.part ?? 0, parts.length - 1) ? die : Effect.succeed(part)
          )
        })
    })
  )

  const handler = (name: string) =>
    Effect.fnUntraced(function* () {
      const call = yield* ToolCall.CurrentToolCall
      if (call === undefined) return assert.fail("a handler without its call")
      const { attempt, callId, idempotencyKey } = call
      const log = (database.rows(conversationId)?.records ?? []).map(({ payload }) => payload)
      const has = (tag: string, more: string) =>
        log.some(
          (text) => text.includes(`"_tag":"${tag}"`) && text.includes(`"callId":"${callId}"`) && text.includes(more)
        )
      assert.isTrue(has("ToolCallStarted", `"attempt":${attempt},`), `${callId} has started in the log`)
      assert.isFalse(has("ToolCallSettled", ""), `${callId} is not settled yet`)
      witness.works.push({ life, callId, name, attempt, idempotencyKey })
      const place = witness.works.length
      if (place % script.steersOneIn === 0) {
        const inputId = `s${place % 3}`
        const queues = yield* CommandQueues.CommandQueues
        const offered = yield* Effect.orDie(queues.steer(conversationId, `[${inputId}]`, { inputId }))
        if (offered._tag === "Accepted") witness.said.push({ inputId, receipt: offered.receipt })
      }
      if (passes("handler")) dead = true
      return "ok"
    })

  const handlers = kit.toLayer(
    Effect.map(Effect.context<CommandQueues.CommandQueues>(), (context) => {
      const handle = (name: string) => () => Effect.provideContext(handler(name)(), context)
      return { look: handle("look"), tag: handle("tag"), pay: handle("pay"), ask: handle("ask"), ship: handle("ship") }
    })
  )
  return Layer.mergeAll(handlers, model).pipe(
    Layer.provideMerge(
      processOver(database, { beforeCommit: () => commits("before"), afterCommit: () => commits("after") })
    )
  )
}

// --- internal ---

/** Texts come in pieces. */
const toStream = (parts: ReadonlyArray<Response.PartEncoded>): Array<Response.StreamPartEncoded> =>
  parts.flatMap((part, i): Array<Response.StreamPartEncoded> => {
    if (part.type !== "text") return part.type === "reasoning" ? [] : [part]
    const id = String(i)
    return [
      { type: "text-start", id },
      { type: "text-delta", id, delta: part.text.slice(0, 3) },
      { type: "text-delta", id, delta: part.text.slice(3) },
      { type: "text-end", id }
    ]
  })

export const runId = Ids.RunId.make("r1")
