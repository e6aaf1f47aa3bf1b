import type { Budget } from "@colloquy/capabilities"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, story, text } from "./support.ts"

// Each scripted response reports 15 tokens.
const prices: Budget.Prices = { models: {}, otherwise: { input: 1_000_000, output: 0 } }

const tireless = ScriptedModel.layerOf(({ call, toolChoice }) =>
  toolChoice === "none" ? text("That is all.") : calls([lookUp(`c${call}`)])
)

describe("a budget", () => {
  for (const [name, budget, steps] of [
    ["tokens of the run", { perRun: { tokens: 30 } }, 3],
    ["cost of the run", { perRun: { cost: 15 }, prices }, 3],
    ["tool calls of the run", { perRun: { toolCalls: 1 } }, 2],
    ["tokens of the conversation", { perConversation: { tokens: 15 } }, 2]
  ] as const) {
    it.effect(`of ${name} ends it with one last answer`, () =>
      Effect.gen(function* () {
        const result = yield* AgentRuntime.run(desk, "go", { conversationId, budget })
        assert.deepStrictEqual([result.outcome, result.text], ["limit-reached", "That is all."])
        const responses = (yield* story).filter((line) => line.startsWith("responded"))
        assert.strictEqual(responses.length, steps)
      }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers(), tireless]))
    )
  }

  it.effect("of time counts while the run goes on", () =>
    Effect.gen(function* () {
      const result = yield* AgentRuntime.run(desk, "go", {
        conversationId,
        budget: { perRun: { wallTime: "1 minute" } }
      })
      assert.strictEqual(result.outcome, "limit-reached")
      assert.strictEqual((yield* story).filter((line) => line.startsWith("responded")).length, 3)
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        handlers({ look_up: () => Effect.as(TestClock.adjust("30 seconds"), { status: "later" }) }),
        tireless
      ])
    )
  )

  it.effect("that the conversation had used before calls no model, typed, and stores that end", () =>
    Effect.gen(function* () {
      const budget = { perConversation: { tokens: 15 } }
      yield* AgentRuntime.run(desk, "go", { conversationId, budget })
      const before = (yield* ScriptedModel.Requests).all().length
      const error = yield* Effect.flip(AgentRuntime.run(desk, "more", { conversationId, budget }))
      assert.isTrue(error._tag === "BudgetExhausted" && error.limit === "tokens" && error.maximum === 15)
      assert.strictEqual((yield* ScriptedModel.Requests).all().length, before)
      assert.strictEqual((yield* story).at(-1), "ended failed")
      const room = { perConversation: { tokens: 1000 } }
      assert.strictEqual(
        (yield* AgentRuntime.run(desk, "more", { conversationId, budget: room })).outcome,
        "limit-reached"
      )
    }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers(), tireless]))
  )

  it.effect("out of bounds is refused before anything is stored", () =>
    Effect.gen(function* () {
      for (const budget of [
        { perRun: { tokens: 0 } },
        { perRun: { cost: 1 } },
        { perConversation: { toolCalls: -1 } }
      ]) {
        const error = yield* Effect.flip(AgentRuntime.run(desk, "go", { conversationId, budget }))
        assert.isTrue(error._tag === "InvalidOption" && error.option.startsWith("budget."))
      }
      assert.deepStrictEqual(yield* story, ["ConversationCreated"])
    }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers(), tireless]))
  )
})
