import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Model from "effect/ai/Model"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentRuntime, Agents } from "../src/index.ts"
import { ReplayModel, ScriptedModel } from "../src/testing/index.ts"
import { type Log, recordedLog, replayed } from "./replaying.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, refund, text } from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())

const say = (input: string, runId: string) => AgentRuntime.run(desk, input, { conversationId, runId })

/** Two runs: one of three steps, one of one. */
const recording = Effect.suspend(() =>
  Effect.gen(function* () {
    yield* say("Where are A1 and B2?", "r1")
    yield* say("Thanks.", "r2")
    return yield* recordedLog
  }).pipe(
    Effect.provide([
      fresh(),
      handlers(),
      ScriptedModel.layer([
        calls([lookUp("c1"), lookUp("c2", "B2")]),
        calls([refund("c3")]),
        text("On their way."),
        text("You are welcome.")
      ])
    ])
  )
)

/** Where a replay with agents of one's own diverges. */
const held = <E, R>(log: Log, options: ReplayModel.ReplayOptions<E, R>) =>
  Effect.map(Effect.flip(replayed(log, options)), (error) => {
    assert.instanceOf(error, ReplayModel.Divergence)
    const { message, reason, runId, step } = error
    return { at: `${runId}/${step}`, reason, message }
  })

/** Where runs of one's own diverge from a recorded model. */
const told = <A, E, R>(
  log: Log,
  runs: (replay: ReplayModel.Replay) => Effect.Effect<A, E, R>,
  options: ReplayModel.Options = {}
) =>
  Effect.gen(function* () {
    const replay = yield* ReplayModel.fromRecords(log, options)
    const error = yield* Effect.flip(replay.verify(Effect.provide(runs(replay), replay.model)))
    assert.instanceOf(error, ReplayModel.Divergence)
    const { message, reason, runId, step } = error
    return { at: `${runId}/${step}`, reason, message }
  }).pipe(Effect.provide([fresh(), handlers()]))

describe("an agent that is held against its record", () => {
  it.effect("does what it did: there is no divergence, with the recorded instructions or without", () =>
    Effect.gen(function* () {
      const log = yield* recording
      const { report } = yield* Effect.provide(replayed(log, { agents: Agents.make(desk) }), handlers())
      assert.deepStrictEqual(report, { runs: 2, steps: 4, stops: [] })
      yield* Effect.provide(replayed(log, { agents: desk, instructions: "Help with orders." }), handlers())
    })
  )

  it.effect("has other instructions", () =>
    Effect.gen(function* () {
      const log = yield* recording
      const found = yield* Effect.provide(held(log, { agents: desk, instructions: "Be brief." }), handlers())
      assert.deepStrictEqual(found, {
        at: "r1/1",
        reason: "instructions",
        message: "run r1 diverges at step 1: the instructions differ"
      })
    })
  )

  it.effect("has a tool that says something else", () =>
    Effect.gen(function* () {
      const log = yield* recording
      const found = yield* held(log, { agents: desk }).pipe(
        Effect.provide(
          handlers({ look_up: ({ order }) => Effect.succeed({ status: order === "B2" ? "lost" : "A1 is on its way" }) })
        )
      )
      assert.deepStrictEqual(found, {
        at: "r1/1",
        reason: "record",
        message: "run r1 diverges at step 1: the result differs in settled c2"
      })
    })
  )

  it.effect("fails where it did not, and asks for approval where it did not", () =>
    Effect.gen(function* () {
      const log = yield* recording
      const failing = yield* Effect.provide(
        held(log, { agents: desk }),
        handlers({ refund: () => Effect.die("no money") })
      )
      assert.deepStrictEqual([failing.at, failing.reason], ["r1/2", "no-record"])
      const LookUp = Tool.make("look_up", { parameters: Schema.Unknown, success: Schema.Unknown, needsApproval: true })
      const kit = Toolkit.make(LookUp)
      const asking = Agent.make({ name: "desk", instructions: "", toolkit: kit })
      const found = yield* Effect.provide(
        held(log, { agents: asking }),
        kit.toLayer({ look_up: () => Effect.succeed(1) })
      )
      assert.deepStrictEqual([found.at, found.reason], ["r1/1", "no-record"])
      assert.include(found.message, "ApprovalRequested")
    })
  )
})

describe("a recorded model that is asked something else", () => {
  it.effect("gives the same answers to the same requests", () =>
    Effect.gen(function* () {
      const log = yield* recording
      const replay = yield* ReplayModel.fromRecords(log)
      const answers = yield* replay
        .verify(
          Effect.all([say("Where are A1 and B2?", "r1"), say("Thanks.", "r2")]).pipe(Effect.provide(replay.model))
        )
        .pipe(Effect.provide([fresh(), handlers()]))
      assert.deepStrictEqual(
        answers.map(({ text }) => text),
        ["On their way.", "You are welcome."]
      )
    })
  )

  it.effect("and with the recorded agents, which need no handlers", () =>
    Effect.gen(function* () {
      const replay = yield* ReplayModel.fromRecords(yield* recording)
      const agent = replay.agents.all[0]!
      const { text } = yield* Effect.andThen(
        AgentRuntime.run(agent, "Where are A1 and B2?", { conversationId }),
        AgentRuntime.run(agent, "Thanks.", { conversationId })
      ).pipe(replay.verify, Effect.provide([fresh(), replay.model]))
      assert.strictEqual(text, "You are welcome.")
    })
  )

  it.effect("another text of the user, another result of a tool", () =>
    Effect.gen(function* () {
      const log = yield* recording
      assert.deepStrictEqual(yield* told(log, () => say("Where is A1?", "r1")), {
        at: "r1/1",
        reason: "user-message",
        message: "run r1 diverges at step 1: message 1, of the user, differs"
      })
      const lost = handlers({ look_up: () => Effect.succeed({ status: "lost" }) })
      assert.deepStrictEqual(yield* told(log, () => Effect.provide(say("Where are A1 and B2?", "r1"), lost)), {
        at: "r1/2",
        reason: "tool-results",
        message: "run r1 diverges at step 2: message 3: the result of c1 differs"
      })
    })
  )

  it.effect("a message that is not there, and one of somebody else", () =>
    Effect.gen(function* () {
      const log = yield* recording
      const without = log.filter(({ payload }) => payload._tag !== "InputRecorded" || payload.runId !== "r2")
      const more = yield* told(without, () => Effect.andThen(say("Where are A1 and B2?", "r1"), say("Thanks.", "r2")))
      assert.deepStrictEqual(more, {
        at: "r2/1",
        reason: "message-count",
        message: "run r2 diverges at step 1: 7 messages, not 6"
      })
      const silent = log.filter(({ payload }) => payload._tag !== "ToolCallSettled" || payload.callId !== "c3")
      const found = yield* told(silent, () => say("Where are A1 and B2?", "r1"))
      assert.deepStrictEqual([found.at, found.reason], ["r1/3", "tool-results"])
    })
  )

  it.effect("a call that is missing, and one too many", () =>
    Effect.gen(function* () {
      const log = yield* recording
      assert.deepStrictEqual(yield* told(log, () => say("Where are A1 and B2?", "r1")), {
        at: "r2/1",
        reason: "no-request",
        message: "run r2 diverges at step 1: the model is not called"
      })
      const one = log.filter(({ payload }) => !("runId" in payload) || payload.runId === "r1")
      const two = yield* told(one, () => Effect.andThen(say("Where are A1 and B2?", "r1"), say("Thanks.", "r2")))
      assert.deepStrictEqual([two.at, two.reason], ["r1/4", "no-record"])
    })
  )

  it.effect("another provider and another model, by name", () =>
    Effect.gen(function* () {
      const log = yield* recording
      const named = (other: Layer.Layer<Model.ModelName | Model.ProviderName>) =>
        told(log, () => Effect.provide(say("Where are A1 and B2?", "r1"), other))
      const provider = yield* named(
        Layer.merge(Layer.succeed(Model.ProviderName, "acme"), Layer.succeed(Model.ModelName, "scripted-1"))
      )
      assert.deepStrictEqual([provider.at, provider.reason], ["r1/1", "provider"])
      const model = yield* named(
        Layer.merge(Layer.succeed(Model.ProviderName, "scripted"), Layer.succeed(Model.ModelName, "scripted-2"))
      )
      assert.deepStrictEqual([model.at, model.reason], ["r1/1", "model"])
    })
  )

  it.effect("says nothing of the conversation in its message", () =>
    Effect.gen(function* () {
      const { message } = yield* told(yield* recording, () => say("a secret", "r1"))
      assert.notInclude(message, "secret")
      assert.notInclude(message, "A1")
    })
  )
})
