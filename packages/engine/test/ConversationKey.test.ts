/** Where a run takes place in the app's world and what it answers: on its record and on its span, however it came to go on. */
import { Seams } from "@colloquy/session"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { childOf, happened, parentOf, task } from "./background.ts"
import { append, call, clerk, dying, noted, read, requestOf } from "./people.ts"
import { calls, conversationId, processOver, text } from "./support.ts"
import { attributesOf, tracing } from "./tracing.ts"

const options = { conversationId, runId: "r1", conversationKey: "slack:D1", workKey: "m1" }

type Keys = readonly [conversationKey: unknown, workKey: unknown]

const given: Keys = ["slack:D1", "m1"]

/** The keys on the spans of runs, by the agents that they began with. */
const keysOn = ({ named }: ReturnType<typeof tracing>) =>
  named("invoke_agent").map((span) => {
    const { "colloquy.conversation.key": conversationKey, "colloquy.work.key": workKey } = attributesOf(span)
    return [attributesOf(span)["gen_ai.agent.name"], conversationKey, workKey] as const
  })

const keysIn = Effect.fnUntraced(function* (id = conversationId) {
  const starts = (yield* read(id)).flatMap(({ payload }) => (payload._tag === "RunStarted" ? [payload] : []))
  return starts.map(({ conversationKey, workKey }): Keys => [conversationKey, workKey])
})

/** Who records runs, and what he was told. */
const recording = () => {
  const told: Array<Seams.EndedTurn> = []
  return { told, layer: Layer.succeed(Seams.RunRecorder, (turn) => Effect.sync(() => void told.push(turn))) }
}

describe("the conversation key and the work key", () => {
  for (const [what, own, expected] of [
    ["are as the caller says", options, given],
    ["are none, and the run's id, by default", { conversationId, runId: "r1" }, [undefined, "r1"]],
    ["are none, and the input's id, where there is one", { conversationId, inputId: "i1" }, [undefined, "i1"]]
  ] as const) {
    it.effect(`of a run that starts ${what}`, () => {
      const traced = tracing()
      return Effect.gen(function* () {
        yield* AgentRuntime.run(clerk, "go", own)
        assert.deepStrictEqual(keysOn(traced), [["clerk", ...expected]])
        assert.deepStrictEqual(yield* keysIn(), [expected])
      }).pipe(
        Effect.provide([
          traced.layer,
          processOver(MemoryDatabase.make()),
          noted().layer,
          ScriptedModel.layer([text("ok")])
        ])
      )
    })
  }

  for (const how of ["resumed", "closed by a new run"] as const) {
    for (const isHidden of [false, true]) {
      it.effect(
        `of a run that is ${how}${isHidden ? ", and whose start a summary hides," : ""} are the recorded ones`,
        () =>
          Effect.gen(function* () {
            const database = MemoryDatabase.make()
            yield* Effect.exit(AgentRuntime.run(clerk, "go", options)).pipe(
              Effect.provide([
                dying(database, 6, "before").layer,
                noted().layer,
                ScriptedModel.layer([calls([call("c1", "look")]), text("lost")])
              ])
            )
            const traced = tracing()
            const { layer, told } = recording()
            yield* Effect.gen(function* () {
              const before = yield* read()
              assert.strictEqual(before.at(-1)?.payload._tag, "ToolCallSettled")
              if (isHidden) {
                const summary = {
                  _tag: "Compacted",
                  kind: "summary",
                  pinned: [],
                  summary: "c1 was looked at."
                } as const
                yield* append([{ ...summary, coversThrough: before.length }])
              }
              if (how === "resumed") yield* AgentRuntime.resume(clerk, conversationId)
              else yield* AgentRuntime.run(clerk, "again", { conversationId, runId: "r2", conversationKey: "jira:A-1" })
              const keys: Keys = how === "resumed" ? given : ["jira:A-1", "r2"]
              assert.deepStrictEqual(keysOn(traced), [["clerk", ...keys]])
              const [turn] = told
              assert.deepStrictEqual([turn?.runId, turn?.conversationKey, turn?.workKey], ["r1", ...given])
              const [first, ...others] = turn?.records ?? []
              assert.deepStrictEqual(
                first,
                before.find(({ payload }) => payload._tag === "RunStarted")
              )
              assert.include(
                others.map(({ payload }) => payload._tag),
                "ToolCallSettled"
              )
            }).pipe(
              Effect.provide([
                traced.layer,
                Layer.provide(processOver(database), layer),
                noted().layer,
                ScriptedModel.layer([text("ok")])
              ])
            )
          })
      )
    }
  }

  it.effect("of a run that waited for people are the recorded ones: decided, or stopped", () =>
    Effect.gen(function* () {
      for (const how of ["decided", "stopped"] as const) {
        const traced = tracing()
        const { layer, told } = recording()
        yield* Effect.gen(function* () {
          const waiting = yield* AgentRuntime.run(clerk, "go", options)
          const { approvalId, parametersDigest } = requestOf(waiting, "c1")
          if (how === "stopped") yield* AgentRuntime.cancel(conversationId)
          else
            yield* AgentRuntime.decide(clerk, conversationId, [{ approvalId, parametersDigest, decision: "approved" }])
          assert.deepStrictEqual(
            keysOn(traced),
            Array.from({ length: how === "decided" ? 2 : 1 }, () => ["clerk", ...given])
          )
          assert.deepStrictEqual(
            told.map(({ conversationKey, workKey }): Keys => [conversationKey, workKey]),
            [given]
          )
        }).pipe(
          Effect.provide([
            traced.layer,
            Layer.provide(processOver(MemoryDatabase.make()), layer),
            noted().layer,
            ScriptedModel.layer([calls([call("c1", "pay")]), text("ok")])
          ])
        )
      }
    })
  )

  it.effect("of a run that is handed over stay the same", () => {
    const traced = tracing()
    const billing = Agent.make({ name: "billing", instructions: "Bill them." })
    const front = Agent.make({
      name: "front",
      instructions: "Greet them.",
      toolkit: Toolkit.empty,
      delegates: [Agent.handoff(billing)]
    })
    return Effect.gen(function* () {
      yield* AgentRuntime.run(front, "go", options)
      assert.deepStrictEqual(keysOn(traced), [["front", ...given]])
      assert.deepStrictEqual(yield* keysIn(), [given])
    }).pipe(
      Effect.provide([
        traced.layer,
        processOver(MemoryDatabase.make()),
        ScriptedModel.layer([calls([{ id: "c1", name: "hand_over_to_billing", params: {} }]), text("billed")])
      ])
    )
  })

  it.effect("of a background agent are its parent's place and its own work", () => {
    const traced = tracing()
    const { parent } = parentOf([text("found")])
    return Effect.gen(function* () {
      yield* AgentRuntime.run(parent, "go", options)
      yield* happened(conversationId, "BackgroundSettled")
      const [start] = yield* keysIn(childOf("c1"))
      assert.strictEqual(start?.[0], "slack:D1")
      assert.notInclude(["m1", undefined], start?.[1])
      assert.deepStrictEqual(
        keysOn(traced).toSorted(([a], [b]) => String(a).localeCompare(String(b))),
        [
          ["helper", ...start!],
          ["parent", ...given]
        ]
      )
    }).pipe(
      Effect.provide([
        traced.layer,
        processOver(MemoryDatabase.make()),
        noted().layer,
        ScriptedModel.layer([calls([task("c1")]), text("meanwhile")])
      ])
    )
  })
})
