import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as AiError from "effect/ai/AiError"
import { AgentError, AgentRuntime, Approvals } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import {
  append,
  call,
  clerk,
  isPrefix,
  killable,
  noted,
  openRequests,
  prompts,
  requestOf,
  shown,
  sound,
  tale,
  taleFrom
} from "./people.ts"
import { calls, conversationId, processOver, recorded, text } from "./support.ts"

const options = { conversationId, runId: "r1" }
const fresh = () => processOver(MemoryDatabase.make())

/** A run with a call that waits for a person and one that waits for the test, and is talked to meanwhile. */
const steered = Effect.gen(function* () {
  const looking = yield* Deferred.make<void>()
  const seen = yield* Deferred.make<string>()
  const { layer, ran } = noted({
    look: () => Effect.andThen(Deferred.succeed(looking, undefined), Deferred.await(seen))
  })
  const start = Effect.gen(function* () {
    const run = yield* AgentRuntime.start(clerk, "go", options)
    yield* Deferred.await(looking)
    const offered = yield* run.steer("rather not")
    assert.strictEqual(offered._tag, "Accepted")
    yield* Deferred.succeed(seen, "seen")
    return run
  })
  return { layer, ran, start }
})

const asks = calls([call("c1", "pay"), call("c2", "look", "B2")], "I will.")

describe("a new input while requests are open", () => {
  it.effect("closes them, ends the run, and shows the model a valid prompt without the calls", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const { approvals } = yield* AgentRuntime.run(clerk, "go", options)
      const second = yield* AgentRuntime.run(clerk, "never mind", { conversationId, runId: "r2" })
      assert.strictEqual(second.text, "fine")
      assert.deepStrictEqual(yield* taleFrom("suspended 1"), [
        "suspended 1",
        "superseded",
        "settled c1 rejected",
        "ended cancelled",
        "start r2",
        "input user",
        "clerk says 1",
        "ended completed"
      ])
      const [before, after] = yield* prompts
      assert.isTrue(isPrefix(before!, after!))
      assert.notInclude(shown(after), "c1")
      assert.include(shown(after), "c2")
      const late = yield* Effect.flip(AgentRuntime.decide(clerk, conversationId, [Approvals.approve(approvals[0]!)]))
      assert.isTrue(late instanceof AgentError.DecisionRejected && late.reason === "closed")
      yield* AgentRuntime.run(clerk, "bye", { conversationId })
      const [, , last] = yield* prompts
      assert.isTrue(isPrefix(after!, last!))
      assert.deepStrictEqual(ran, ["look B2"])
      yield* sound()
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([asks, text("fine"), text("bye")])]))
  })

  it.effect("two open, one decided: the other is closed by it", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const first = yield* AgentRuntime.run(clerk, "go", options)
      yield* AgentRuntime.decide(clerk, conversationId, [Approvals.approve(requestOf(first, "c1"))])
      yield* AgentRuntime.run(clerk, "never mind", { conversationId })
      const [before, after] = yield* prompts
      assert.isTrue(isPrefix(before!, after!))
      assert.include(shown(after), "c1")
      assert.notInclude(shown(after), "c2")
      assert.deepStrictEqual(ran, ["pay A1"])
    }).pipe(
      Effect.provide([
        fresh(),
        layer,
        ScriptedModel.layer([calls([call("c1", "pay"), call("c2", "pay", "B2")]), text("fine")])
      ])
    )
  })

  it.effect("steering finds nobody, and says so", () => {
    const { layer } = noted()
    return Effect.gen(function* () {
      const run = yield* AgentRuntime.start(clerk, "go", options)
      yield* run.await
      assert.strictEqual((yield* run.steer("hm"))._tag, "NotRunning")
      assert.strictEqual((yield* openRequests()).length, 1)
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([asks])]))
  })
})

describe("a steer that came before the suspension", () => {
  it.effect("is read first; the model's response to it closes the requests", () =>
    Effect.gen(function* () {
      const { layer, ran, start } = yield* steered
      yield* Effect.gen(function* () {
        const result = yield* Effect.flatMap(start, (run) => run.await)
        assert.strictEqual(result.text, "then not")
        assert.deepStrictEqual(yield* taleFrom("settled c2 success"), [
          "settled c2 success",
          "input steering",
          "clerk says 2",
          "superseded",
          "settled c1 rejected",
          "ended completed"
        ])
        const [before, after] = yield* prompts
        assert.isTrue(isPrefix(before!, after!))
        assert.notInclude(shown(after), "c1")
        assert.deepStrictEqual(ran, ["look B2"])
      }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([asks, text("then not")])]))
    })
  )

  const failure = ScriptedModel.fail(new AiError.InvalidRequestError({ description: "no" }))

  it.effect("a failed call leaves them open: the caller gets the error, and people can still decide", () =>
    Effect.gen(function* () {
      const { layer, ran, start } = yield* steered
      yield* Effect.gen(function* () {
        const run = yield* start
        const error = yield* Effect.flip(run.await)
        assert.strictEqual(error._tag, "AiError")
        assert.deepStrictEqual(yield* taleFrom("settled c2 success"), [
          "settled c2 success",
          "input steering",
          "suspended 1"
        ])
        assert.instanceOf(yield* Effect.flip(AgentRuntime.resume(clerk, conversationId)), AgentError.AwaitingApproval)
        const [request] = yield* openRequests()
        const result = yield* AgentRuntime.decide(clerk, conversationId, [Approvals.approve(request!)])
        assert.strictEqual(result.text, "both")
        assert.deepStrictEqual(ran, ["look B2", "pay A1"])
        // The steer is read after all, behind what was decided.
        const last = (yield* prompts).at(-1)!
        assert.include(shown(last), "c1")
        assert.strictEqual(last.content.at(-1)!.role, "user")
        yield* sound()
      }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([asks, failure, text("both")])]))
    })
  )

  it.effect("a crash during that call: resumed, the model is asked again, and closes them then", () =>
    Effect.gen(function* () {
      const { layer, start } = yield* steered
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      yield* Effect.gen(function* () {
        yield* start
        yield* recorded(({ payload }) => payload._tag === "InputRecorded" && payload.kind === "steering")
        yield* doomed.kill
      }).pipe(
        Effect.provide([
          doomed.layer,
          layer,
          ScriptedModel.layerOf(({ call }) => (call === 0 ? asks : () => Effect.never))
        ])
      )
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* openRequests()).length, 1)
        assert.strictEqual((yield* AgentRuntime.resume(clerk, conversationId)).text, "then not")
        assert.strictEqual((yield* openRequests()).length, 0)
        assert.include(yield* tale(), "superseded")
      }).pipe(Effect.provide([processOver(database), layer, ScriptedModel.layer([text("then not")])]))
    })
  )

  it.effect("a cancel during that call ends the run and closes them", () =>
    Effect.gen(function* () {
      const { layer, start } = yield* steered
      const called = yield* Deferred.make<void>()
      yield* Effect.gen(function* () {
        const run = yield* start
        yield* Deferred.await(called)
        yield* run.cancel
        assert.deepStrictEqual((yield* tale()).slice(-3), ["superseded", "settled c1 rejected", "ended cancelled"])
      }).pipe(
        Effect.provide([
          fresh(),
          layer,
          ScriptedModel.layerOf(({ call }) =>
            call === 0 ? asks : () => Effect.andThen(Deferred.succeed(called, undefined), Effect.never)
          )
        ])
      )
    })
  )
})

describe("a follow-up and a background result", () => {
  it.effect("close no request: the one is handed back, the other waits with the run", () =>
    Effect.gen(function* () {
      const looking = yield* Deferred.make<void>()
      const seen = yield* Deferred.make<string>()
      const { layer } = noted({
        look: () => Effect.andThen(Deferred.succeed(looking, undefined), Deferred.await(seen))
      })
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(clerk, "go", options)
        yield* Deferred.await(looking)
        const offered = yield* run.followUp("and then?")
        yield* append([
          { _tag: "BackgroundStarted", taskId: "t", agent: clerk.name, conversationId },
          { _tag: "BackgroundSettled", taskId: "t", outcome: "completed", summary: "found it" }
        ])
        yield* Deferred.succeed(seen, "seen")
        const waiting = yield* run.await
        assert.strictEqual(waiting.outcome, "awaiting-approval")
        assert.isTrue(offered._tag === "Accepted")
        if (offered._tag === "Accepted") {
          const state = yield* offered.receipt.await
          assert.isTrue(state._tag === "Returned" && state.reason === "suspended")
        }
        yield* AgentRuntime.decide(clerk, conversationId, [Approvals.approve(waiting.approvals[0]!)])
        assert.include(shown((yield* prompts).at(-1)), "found it")
        assert.include(yield* taleFrom("approved"), "input background")
      }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([asks, text("paid")])]))
    })
  )
})
