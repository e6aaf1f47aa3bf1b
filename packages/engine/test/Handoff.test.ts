import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentError, AgentRuntime, Agents, Approvals } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { call, dying, killable, kit, noted, prompts, read, requestOf, shown, sound, tale, taleFrom } from "./people.ts"
import { calls, conversationId, processOver, recorded, text } from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())
const options = { conversationId, runId: "r1" }
const toBilling = (id: string, reason?: string) => ({
  id,
  name: "hand_over_to_billing",
  params: reason === undefined ? {} : { reason }
})

const Charge = Tool.make("charge", { success: Schema.String })
const billingTools = Toolkit.make(Charge)

/** Two agents; the second with a model and tools of its own. */
const pair = (turns: ReadonlyArray<ScriptedModel.Turn>) => {
  const model = ScriptedModel.layer(turns, { provider: "other", model: "other-1" })
  const billing = Agent.make({ name: "billing", instructions: "Bill them.", toolkit: billingTools, model })
  const front = Agent.make({
    name: "front",
    instructions: "Greet them.",
    toolkit: kit,
    delegates: [Agent.handoff(billing)]
  })
  return { billing, front }
}

const charges = billingTools.toLayer({ charge: () => Effect.succeed("charged") })

const over = (id: string, name: string) => calls([{ id, name: `hand_over_to_${name}`, params: {} }])

describe("a handoff", () => {
  it.effect("goes on under the other agent's instructions, tools and model, in the same run", () => {
    const { layer } = noted()
    const seen: Array<string> = []
    const { front } = pair([
      ({ prompt, toolNames }) => {
        seen.push(shown(prompt), toolNames.join(" "))
        return Effect.succeed(calls([{ id: "c2", name: "charge", params: {} }]))
      },
      text("charged you")
    ])
    return Effect.gen(function* () {
      const result = yield* AgentRuntime.run(front, "bill me", options)
      assert.strictEqual(result.text, "charged you")
      assert.strictEqual(result.runId, "r1")
      assert.deepStrictEqual((yield* tale()).slice(2), [
        "input user",
        "front says 1",
        "started c1 1",
        "settled c1 success",
        "front to billing",
        "billing says 2",
        "started c2 1",
        "settled c2 success",
        "billing says 3",
        "ended completed"
      ])
      assert.include(seen[0], "Bill them.")
      assert.notInclude(seen[0], "Greet them.")
      // What the other one thought is not this one's.
      assert.notInclude(seen[0], "hmm")
      assert.include(seen[0], "I will connect you.")
      assert.strictEqual(seen[1], "charge")
      const responses = (yield* read()).flatMap(({ payload }) => (payload._tag === "ModelResponded" ? [payload] : []))
      assert.deepStrictEqual(
        responses.map(({ agent, model, provider }) => `${agent} ${provider} ${model}`),
        ["front scripted scripted-1", "billing other other-1", "billing other other-1"]
      )
      const reason = (yield* read()).find(({ payload }) => payload._tag === "HandedOff")?.payload
      assert.isTrue(reason?._tag === "HandedOff" && reason.reason === "money")
      assert.strictEqual(result.usage.inputTokens.total, 30)
      yield* sound()
    }).pipe(
      Effect.provide([
        fresh(),
        layer,
        charges,
        ScriptedModel.layer([
          [
            { type: "reasoning", text: "hmm" },
            { type: "text", text: "I will connect you." },
            { type: "tool-call", id: "c1", name: "hand_over_to_billing", params: { reason: "money" } },
            ScriptedModel.finish("tool-calls")
          ]
        ])
      ])
    )
  })

  it.effect("may go back, and forth again", () => {
    const front: Agent.Agent = Agent.make({
      name: "front",
      instructions: "Front.",
      delegates: [Agent.handoff({ name: "back", agent: () => back })]
    })
    const back: Agent.Agent = Agent.make({ name: "back", instructions: "Back.", delegates: [Agent.handoff(front)] })
    return Effect.gen(function* () {
      yield* AgentRuntime.run(front, "go", options)
      assert.deepStrictEqual(
        (yield* tale()).filter((word) => / to | says /.test(word)),
        [
          "front says 1",
          "front to back",
          "back says 2",
          "back to front",
          "front says 3",
          "front to back",
          "back says 4"
        ]
      )
      const systems = (yield* prompts).map(({ content }) => content[0]!.content)
      assert.deepStrictEqual(systems, ["Front.", "Back.", "Front.", "Back."])
      // The next run is whose it is started as.
      yield* AgentRuntime.run(front, "again", { conversationId })
      assert.include(yield* tale(), "front says 1")
    }).pipe(
      Effect.provide([
        fresh(),
        ScriptedModel.layer([over("c1", "back"), over("c2", "front"), over("c3", "back"), text("done"), text("ok")])
      ])
    )
  })

  it.effect("of two in one response the first counts", () => {
    const one = Agent.make({ name: "one", instructions: "One." })
    const two = Agent.make({ name: "two", instructions: "Two." })
    const front = Agent.make({
      name: "front",
      instructions: "Front.",
      delegates: [Agent.handoff(one), Agent.handoff(two)]
    })
    return Effect.gen(function* () {
      yield* AgentRuntime.run(front, "go", options)
      const words = yield* tale()
      assert.deepStrictEqual(
        words.filter((word) => / to | says |settled c1/.test(word)),
        ["front says 1", "settled c1 success", "front to one", "one says 2"]
      )
      assert.include(words, "settled c2 failure")
      yield* sound()
    }).pipe(
      Effect.provide([
        // A store that takes its time: both are at work before either is written.
        processOver(MemoryDatabase.make(), { beforeCommit: () => Effect.yieldNow }),
        ScriptedModel.layer([
          calls([
            { id: "c1", name: "hand_over_to_one", params: {} },
            { id: "c2", name: "hand_over_to_two", params: {} }
          ]),
          text("done")
        ])
      ])
    )
  })

  it.effect("leaves the sibling calls to the agent that made them, whatever comes between", () =>
    Effect.gen(function* () {
      const looking = yield* Deferred.make<void>()
      const { layer } = noted({ look: () => Effect.andThen(Deferred.succeed(looking, undefined), Effect.never) })
      const database = MemoryDatabase.make()
      const { front } = pair([text("I bill")])
      const doomed = killable(database)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(front, "go", { ...options, toolConcurrency: 2 })
        yield* Deferred.await(looking)
        yield* recorded(({ payload }) => payload._tag === "HandedOff")
        yield* doomed.kill
      }).pipe(
        Effect.provide([
          doomed.layer,
          layer,
          charges,
          ScriptedModel.layer([
            calls([toBilling("c1"), call("c2", "look"), call("c3", "look", "B2"), call("c4", "pay", "C3")])
          ])
        ])
      )
      const again = noted()
      yield* Effect.gen(function* () {
        const waiting = yield* AgentRuntime.resume(front, conversationId)
        // A person is asked for a call of the first agent.
        assert.strictEqual(waiting.outcome, "awaiting-approval")
        assert.deepStrictEqual([...again.ran].toSorted(), ["look A1", "look B2"])
        const result = yield* AgentRuntime.decide(front, conversationId, [Approvals.approve(requestOf(waiting, "c4"))])
        assert.strictEqual(result.text, "I bill")
        assert.deepStrictEqual(again.ran.at(-1), "pay C3")
        assert.deepStrictEqual((yield* tale()).slice(-3), ["settled c4 success", "billing says 2", "ended completed"])
        assert.include(yield* tale(), "resumed 2 crash billing")
        yield* sound()
      }).pipe(Effect.provide([processOver(database), again.layer, charges, ScriptedModel.layer([])]))
    })
  )

  it.effect("in a process that dies anywhere: the next one goes on under the right agent", () =>
    Effect.gen(function* () {
      let isOver = false
      for (let at = 1; !isOver; at++) {
        const database = MemoryDatabase.make()
        const doomed = dying(database, at, at % 2 === 0 ? "before" : "after")
        const { layer } = noted()
        const turns = ScriptedModel.layerOf(() => calls([toBilling("c1"), call("c2", "look")], "One moment."))
        yield* Effect.exit(AgentRuntime.run(pair([text("I bill")]).front, "go", options)).pipe(
          Effect.provide([doomed.layer, layer, charges, turns])
        )
        isOver = !doomed.died()
        yield* Effect.gen(function* () {
          const { front } = pair([text("I bill")])
          yield* Effect.ignore(AgentRuntime.resumeIfNeeded(front, conversationId))
          yield* Effect.ignore(AgentRuntime.run(front, "go", options))
          const words = yield* tale()
          assert.strictEqual(words.filter((word) => word === "front to billing").length, 1, `${at} ${words.join()}`)
          assert.deepStrictEqual(words.slice(-2), ["billing says 2", "ended completed"])
          yield* sound()
        }).pipe(Effect.provide([processOver(database), layer, charges, turns]))
      }
    })
  )

  for (const [name, sourceOf] of [
    ["the first agent, behind whose tools it stands", ({ front }: ReturnType<typeof pair>) => front],
    ["agents by name", ({ billing, front }: ReturnType<typeof pair>) => Agents.make(front, billing)],
    ["the second agent", ({ billing }: ReturnType<typeof pair>) => billing]
  ] as const) {
    it.effect(`a run that was handed over is resumed by ${name}`, () =>
      Effect.gen(function* () {
        const { layer } = noted()
        const database = MemoryDatabase.make()
        const doomed = killable(database)
        yield* Effect.gen(function* () {
          const called = yield* Deferred.make<void>()
          const { front } = pair([() => Effect.andThen(Deferred.succeed(called, undefined), Effect.never)])
          yield* AgentRuntime.start(front, "go", options)
          yield* Deferred.await(called)
          yield* doomed.kill
        }).pipe(Effect.provide([doomed.layer, layer, charges, ScriptedModel.layer([calls([toBilling("c1")])])]))
        yield* Effect.gen(function* () {
          const result = yield* AgentRuntime.resume(sourceOf(pair([text("I bill")])), conversationId)
          assert.strictEqual(result.text, "I bill")
          assert.deepStrictEqual(yield* taleFrom("front to billing"), [
            "front to billing",
            "resumed 2 crash billing",
            "billing says 2",
            "ended completed"
          ])
        }).pipe(Effect.provide([processOver(database), layer, charges, ScriptedModel.layer([])]))
      })
    )
  }

  it.effect("to an agent that nobody knows any more cannot be resumed, and stays as it is", () =>
    Effect.gen(function* () {
      const { layer } = noted()
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(pair([() => Effect.never]).front, "go", options)
        yield* recorded(({ payload }) => payload._tag === "HandedOff")
        yield* doomed.kill
      }).pipe(Effect.provide([doomed.layer, layer, charges, ScriptedModel.layer([calls([toBilling("c1")])])]))
      yield* Effect.gen(function* () {
        const before = yield* read()
        const alone = Agent.make({ name: "front", instructions: "Greet them.", toolkit: kit })
        const error = yield* Effect.flip(AgentRuntime.resume(alone, conversationId))
        assert.isTrue(error instanceof AgentError.UnknownAgent && error.recorded === "billing")
        assert.deepStrictEqual(yield* read(), before)
      }).pipe(Effect.provide([processOver(database), layer, ScriptedModel.layer([])]))
    })
  )

  it.effect("where nothing is stored is a failure that the model sees", () => {
    const { layer } = noted()
    return Effect.gen(function* () {
      const result = yield* AgentRuntime.run(pair([]).front, "go")
      assert.strictEqual(result.text, "I stay")
      assert.include(shown((yield* prompts).at(-1)), "only where the conversation is stored")
    }).pipe(Effect.provide([fresh(), layer, charges, ScriptedModel.layer([calls([toBilling("c1")]), text("I stay")])]))
  })

  it.effect("in plan mode is allowed, and the other agent is held to the mode", () => {
    const { layer } = noted()
    const { front } = pair([calls([{ id: "c2", name: "charge", params: {} }]), text("a plan")])
    return Effect.gen(function* () {
      yield* AgentRuntime.run(front, "go", { ...options, mode: "plan" })
      const words = yield* tale()
      assert.include(words, "front to billing")
      assert.include(words, "settled c2 rejected")
    }).pipe(Effect.provide([fresh(), layer, charges, ScriptedModel.layer([calls([toBilling("c1")])])]))
  })

  it.effect("to an agent with a structured answer asks for it in its structure", () => {
    const sums = Agent.make({
      name: "sums",
      instructions: "Sum.",
      output: Schema.Struct({ sum: Schema.Int })
    })
    const front = Agent.make({ name: "front", instructions: "Front.", delegates: [Agent.handoff(sums)] })
    return Effect.gen(function* () {
      const result = yield* AgentRuntime.run(front, "go", options)
      assert.strictEqual(result.text, `{"sum":3}`)
      assert.strictEqual((yield* prompts).length, 2)
    }).pipe(
      Effect.provide([
        fresh(),
        ScriptedModel.layer([calls([{ id: "c1", name: "hand_over_to_sums", params: {} }]), text(`{"sum":3}`)])
      ])
    )
  })

  it("behind a tool of the same name as another one is a defect", () => {
    const one = Agent.make({ name: "a b", instructions: "1" })
    const two = Agent.make({ name: "a_b", instructions: "2" })
    assert.throws(
      () => Agent.make({ name: "front", instructions: "x", delegates: [Agent.handoff(one), Agent.handoff(two)] }),
      "two tools of the name hand_over_to_a_b"
    )
    const named = Agent.handoff(one, { toolName: "look" })
    assert.throws(() => Agent.make({ name: "front", instructions: "x", toolkit: kit, delegates: [named] }), "look")
  })

  it.effect("fails the run with what the other agent fails with", () => {
    class Closed extends Schema.TaggedError<Closed>()("Closed", {}) {}
    const closed = Agent.make({ name: "closed", instructions: Effect.fail(new Closed()) })
    const front = Agent.make({ name: "front", instructions: "Front.", delegates: [Agent.handoff(closed)] })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(AgentRuntime.run(front, "go", options))
      assert.instanceOf(error, Closed)
      assert.strictEqual((yield* tale()).at(-1), "ended failed")
      yield* sound()
    }).pipe(
      Effect.provide([
        Layer.fresh(fresh()),
        ScriptedModel.layer([calls([{ id: "c1", name: "hand_over_to_closed", params: {} }])])
      ])
    )
  })
})
