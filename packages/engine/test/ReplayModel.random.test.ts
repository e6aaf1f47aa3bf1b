/** Random runs through the engine, then replayed: what was shown to the model is shown again. */
import { CommandQueues } from "@colloquy/capabilities"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentRuntime, Approvals, ToolCall } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { assertReplays, type Log, recordedLog } from "./replaying.ts"
import { conversationId, processOver } from "./support.ts"

/** The same numbers for the same seed (mulberry32). */
const numbers = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below)
  }
}

const parameters = Schema.Struct({ n: Schema.Finite })
const Read = Tool.make("read", { parameters, success: Schema.Finite }).annotate(Tool.Readonly, true)
const Fail = Tool.make("fail", { parameters, failure: Schema.String, failureMode: "return" })
const Break = Tool.make("break", { parameters, failureMode: "error", failure: Schema.String })
const Say = Tool.make("say", { parameters, success: Schema.String }).annotate(ToolCall.OnCrash, "omit")
const Ask = Tool.make("ask", { parameters, success: Schema.String, needsApproval: ({ n }) => n % 2 === 0 }).annotate(
  ToolCall.OnCrash,
  "ask"
)
const tools = Toolkit.make(Read, Fail, Break, Say, Ask)
const other = Agent.make({ name: "other", instructions: "Go on.", toolkit: tools })
const first = Agent.make({ name: "first", instructions: "Begin.", toolkit: tools, delegates: [Agent.handoff(other)] })

/** The log of random runs, some of them killed, steered, cancelled, decided upon. */
const randomLog = (seed: number) =>
  Effect.gen(function* () {
    const random = numbers(seed)
    const database = MemoryDatabase.make()
    const turn = (left: number): ReadonlyArray<Parameters<typeof ScriptedModel.calls>[0][number]> =>
      Array.from({ length: left > 0 ? random(6) : 0 }, () => {
        const name = ["read", "read", "fail", "say", "ask", "nonsense", "break", "hand_over_to_other"][random(8)]!
        // Breaking ends the run, so it is rare.
        const params = name === "hand_over_to_other" ? {} : { n: random(12) === 0 ? "wrong" : random(9) }
        return { id: `c${random(4)}`, name: name === "break" && random(4) > 0 ? "say" : name, params }
      })
    let left = 0
    const model = ScriptedModel.layerOf(() => {
      const wanted = turn(left--)
      const said = random(3) === 0 ? `I say ${random(99)}.` : undefined
      if (wanted.length === 0) return ScriptedModel.text(`Answer ${random(99)}.`)
      const thought = { type: "reasoning" as const, text: "hm", metadata: { scripted: { signature: `s${random(9)}` } } }
      const turned = ScriptedModel.calls(wanted, said)
      const cut = random(12) === 0
      return [
        ...(random(3) === 0 ? [thought] : []),
        ...(cut ? turned.slice(0, -1) : turned),
        ...(cut ? [ScriptedModel.finish("length")] : [])
      ]
    })

    for (let round = 0; round < 4; round++) {
      left = random(4)
      let commits = 0
      const dies = random(3) === 0 ? 3 + random(8) : Infinity
      const after = random(2) === 0
      const die = Effect.suspend(() => (commits >= dies ? Effect.die(new Error("killed")) : Effect.void))
      const layer = processOver(database, {
        beforeCommit: () =>
          Effect.suspend(() => {
            commits++
            return after && commits === dies ? Effect.void : die
          }),
        afterCommit: () => (after ? die : Effect.void)
      })
      const offer = Effect.gen(function* () {
        const queues = yield* CommandQueues.CommandQueues
        const kind = random(2) === 0 ? queues.steer : queues.followUp
        yield* Effect.ignore(kind(conversationId, `more ${random(99)}`, { inputId: `i${random(1e9)}` }))
      })
      const handlers = tools.toLayer(
        Effect.gen(function* () {
          const context = yield* Effect.context<CommandQueues.CommandQueues>()
          const wait = Effect.suspend(() => (random(2) === 0 ? Effect.yieldNow : Effect.void))
          return {
            read: ({ n }) => Effect.as(wait, n * 2),
            fail: ({ n }) => (n % 3 === 0 ? Effect.die("broken") : Effect.andThen(wait, Effect.fail(`failed ${n}`))),
            break: () => Effect.andThen(wait, Effect.fail("broken")),
            say: ({ n }) => Effect.as(n % 4 === 0 ? Effect.provideContext(offer, context) : wait, "x".repeat(n)),
            ask: () => Effect.as(wait, "asked")
          }
        })
      )
      const going = Effect.gen(function* () {
        const resumed = random(2) === 0
        const agents = { all: [first, other] }
        const begun = yield* Effect.exit(
          resumed
            ? AgentRuntime.resume(agents, conversationId)
            : AgentRuntime.run(first, `input ${round}`, {
                conversationId,
                toolConcurrency: 1 + random(4),
                maxToolRounds: 3
              })
        )
        if (begun._tag === "Failure" || begun.value.approvals.length === 0 || random(3) === 0) return
        const decisions = begun.value.approvals.map(
          (request) =>
            [Approvals.approve(request), Approvals.deny(request), Approvals.answer(request, "so")][random(3)]!
        )
        yield* Effect.exit(AgentRuntime.decide(agents, conversationId, decisions))
      })
      // A process that is killed writes nothing more, whatever its runs do.
      yield* Effect.exit(Effect.provide(going, [handlers, model]).pipe(Effect.provide(layer, { local: true })))
    }
    const log = Effect.provide(recordedLog, processOver(database), { local: true })
    // Whoever dies at once leaves nothing.
    return yield* Effect.catchTag(log, "ConversationNotFound", () => Effect.succeed<Log>([]))
  })

for (let seed = 1; seed <= 60; seed++) {
  it.effect(`random runs of seed ${seed}`, () =>
    Effect.gen(function* () {
      const log = yield* randomLog(seed)
      if (log.length === 0) return
      const { stops } = yield* assertReplays(log)
      assert.deepStrictEqual(stops, [])
    })
  )
}
