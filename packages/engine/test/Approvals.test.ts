import { DerivedId, Digest, Ids, Seams } from "@colloquy/session"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as TestClock from "effect/testing/TestClock"
import { Agent, AgentError, AgentRuntime, Approvals, ToolCall } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import {
  call,
  clerk,
  hasty,
  isPrefix,
  killable,
  noted,
  prompts,
  read,
  requestOf,
  shown,
  sound,
  tale,
  taleFrom
} from "./people.ts"
import { calls, conversationId, processOver, recorded, text } from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())
const run = (agent = clerk) => AgentRuntime.run(agent, "go", { conversationId, runId: "r1" })
const paid = [calls([call("c1", "pay")]), text("paid")]

describe("a call that needs approval", () => {
  it.effect("waits while its siblings run; then the run holds nothing and says what it waits for", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      yield* TestClock.adjust("1 minute")
      const result = yield* run(hasty)
      assert.strictEqual(result.outcome, "awaiting-approval")
      assert.strictEqual(result.text, "I will.")
      assert.isTrue(result.persisted)
      assert.deepStrictEqual(ran, ["look B2"])
      assert.deepStrictEqual(result.approvals, [
        {
          conversationId,
          approvalId: result.approvals[0]!.approvalId,
          runId: Ids.RunId.make("r1"),
          callId: Ids.ToolCallId.make("c1"),
          name: "pay",
          params: { order: "A1" },
          parametersDigest: ToolCall.parametersDigest({ order: "A1" }),
          requestedAt: 60_000,
          expiresAt: 60_000 + 3_600_000
        }
      ])
      assert.deepStrictEqual(yield* tale(), [
        "ConversationCreated",
        "start r1",
        "input user",
        "clerk says 1",
        "asked c1",
        "started c2 1",
        "settled c2 success",
        "suspended 1"
      ])
      const waiting = yield* Effect.flip(AgentRuntime.resume(hasty, conversationId))
      assert.isTrue(waiting instanceof AgentError.AwaitingApproval && waiting.approvalIds.length === 1)
      assert.include(waiting.message, "AgentRuntime.decide")
      assert.strictEqual((yield* tale()).length, 8)
    }).pipe(
      Effect.provide([
        fresh(),
        layer,
        ScriptedModel.layer([calls([call("c1", "pay"), call("c2", "look", "B2")], "I will.")])
      ])
    )
  })

  it.effect("ends a stream, which shows the request and that the run waits", () => {
    const { layer } = noted()
    return Effect.gen(function* () {
      const events = yield* Stream.runCollect(AgentRuntime.stream(clerk, "go", { conversationId }))
      const tags = events.flatMap((event) =>
        event._tag === "Recorded" ? event.records.map(({ payload }) => payload._tag) : []
      )
      assert.deepStrictEqual(tags.slice(-2), ["ApprovalRequested", "RunSuspended"])
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer(paid)]))
  })

  it.effect("once approved, is the stored call, run once with its key, under the same run", () => {
    const { keys, layer, ran } = noted()
    return Effect.gen(function* () {
      const { approvals } = yield* run()
      const result = yield* AgentRuntime.decide(clerk, conversationId, [Approvals.approve(approvals[0]!)])
      assert.strictEqual(result.text, "paid")
      assert.strictEqual(result.runId, "r1")
      assert.deepStrictEqual(result.approvals, [])
      assert.deepStrictEqual(ran, ["pay A1"])
      assert.deepStrictEqual(keys, [DerivedId.derive(conversationId, "c1")])
      assert.deepStrictEqual(yield* taleFrom("approved"), [
        "approved",
        "resumed 2 decision clerk",
        "started c1 1",
        "settled c1 success",
        "clerk says 2",
        "ended completed"
      ])
      const [before, after] = yield* prompts
      assert.isTrue(isPrefix(before!, after!))
      // The decision is consumed: later turns do not run it again.
      yield* AgentRuntime.run(clerk, "thanks", { conversationId })
      assert.deepStrictEqual(ran, ["pay A1"])
      yield* sound()
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer([...paid, text("welcome")])]))
  })

  it.effect("is decided by another process, and then again by the first", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const one = yield* Layer.build(processOver(database))
      const two = yield* Layer.build(processOver(database))
      const first = yield* Effect.provideContext(run(), one)
      const second = yield* Effect.provideContext(
        AgentRuntime.decide(clerk, conversationId, [Approvals.approve(first.approvals[0]!)]),
        two
      )
      assert.strictEqual(second.outcome, "awaiting-approval")
      // The first process has a writer of before at hand.
      const third = yield* Effect.provideContext(
        AgentRuntime.decide(clerk, conversationId, [Approvals.approve(second.approvals[0]!)]),
        one
      )
      assert.strictEqual(third.text, "both")
      assert.deepStrictEqual(ran, ["pay A1", "pay B2"])
      const fourth = yield* Effect.provideContext(AgentRuntime.run(clerk, "and?", { conversationId }), two)
      assert.strictEqual(fourth.text, "ok")
      yield* Effect.provideContext(sound(), two)
    }).pipe(
      Effect.provide([
        layer,
        ScriptedModel.layer([calls([call("c1", "pay")]), calls([call("c2", "pay", "B2")]), text("both"), text("ok")])
      ])
    )
  })

  it.effect("denied: the model is told so, with the reason", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const { approvals } = yield* run()
      yield* AgentRuntime.decide(clerk, conversationId, [
        Approvals.deny(approvals[0]!, { reason: "too much", author: "eve" })
      ])
      assert.deepStrictEqual(ran, [])
      const [, after] = yield* prompts
      assert.include(shown(after), "A person denied this call: too much")
      const records = yield* read()
      const resolved = records.find(({ payload }) => payload._tag === "ApprovalResolved")?.payload
      assert.isTrue(
        resolved?._tag === "ApprovalResolved" && resolved.author === "eve" && resolved.reason === "too much"
      )
      assert.include(yield* tale(), "settled c1 rejected")
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer(paid)]))
  })

  it.effect("answered: the person's words are the result", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const { approvals } = yield* run()
      yield* AgentRuntime.decide(clerk, conversationId, [Approvals.answer(approvals[0]!, "paid in cash")])
      assert.deepStrictEqual(ran, [])
      const last = (yield* prompts)[1]!.content.at(-1)!
      assert.isTrue(
        last.role === "tool" &&
          last.content[0]?.type === "tool-result" &&
          last.content[0].result === "paid in cash" &&
          !last.content[0].isFailure
      )
      assert.include(yield* tale(), "settled c1 answered")
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer(paid)]))
  })

  const three = [calls([call("c1", "pay"), call("c2", "ship", "B2"), call("c3", "pay", "C3")]), text("done")]

  it.effect("several are decided one by one: the run waits for the rest", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const first = yield* run()
      assert.deepStrictEqual(
        first.approvals.map(({ callId }) => callId),
        ["c1", "c2", "c3"]
      )
      const second = yield* AgentRuntime.decide(clerk, conversationId, [Approvals.approve(requestOf(first, "c2"))])
      assert.strictEqual(second.outcome, "awaiting-approval")
      assert.deepStrictEqual(
        second.approvals.map(({ callId }) => callId),
        ["c1", "c3"]
      )
      assert.deepStrictEqual(ran, ["ship B2"])
      // What was decided answers nothing that comes later.
      assert.instanceOf(yield* Effect.flip(AgentRuntime.resume(clerk, conversationId)), AgentError.AwaitingApproval)
      const third = yield* AgentRuntime.decide(clerk, conversationId, [Approvals.deny(requestOf(first, "c1"))])
      assert.strictEqual(third.approvals.length, 1)
      const last = yield* AgentRuntime.decide(clerk, conversationId, [Approvals.answer(requestOf(first, "c3"), "no")])
      assert.strictEqual(last.text, "done")
      assert.strictEqual(last.runId, first.runId)
      assert.strictEqual((yield* prompts).length, 2)
      const results = (yield* prompts)[1]!.content.at(-1)!
      // In the order of the calls, whatever order they settled in.
      assert.deepStrictEqual(
        results.role === "tool" && results.content.map((part) => part.type === "tool-result" && part.id),
        ["c1", "c2", "c3"]
      )
      yield* sound()
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer(three)]))
  })

  it.effect("several are decided together", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const first = yield* run()
      const result = yield* AgentRuntime.decide(clerk, conversationId, [
        Approvals.approve(requestOf(first, "c3")),
        Approvals.deny(requestOf(first, "c2")),
        Approvals.approve(requestOf(first, "c1"))
      ])
      assert.strictEqual(result.text, "done")
      assert.deepStrictEqual([...ran].toSorted(), ["pay A1", "pay C3"])
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer(three)]))
  })

  it.effect(
    "parameters that do not decode, and tools that are not there, fail by themselves and nobody is asked",
    () => {
      const { layer, ran } = noted()
      return Effect.gen(function* () {
        const result = yield* run()
        assert.strictEqual(result.text, "sorry")
        assert.deepStrictEqual(ran, [])
        assert.notInclude(yield* tale(), "asked c1")
        assert.include(yield* tale(), "settled c1 failure")
        assert.include(yield* tale(), "settled c2 failure")
      }).pipe(
        Effect.provide([
          fresh(),
          layer,
          ScriptedModel.layer([
            calls([
              { id: "c1", name: "pay", params: { order: 7 } },
              { id: "c2", name: "fly", params: {} }
            ]),
            text("sorry")
          ])
        ])
      )
    }
  )
})

const send = (id: string, to: string) => ({ id, name: "send", params: { to } })

describe("a predicate", () => {
  class Unsure extends Schema.TaggedError<Unsure>()("Unsure", {}) {}
  const Send = Tool.make("send", {
    parameters: Schema.Struct({ to: Schema.String }),
    success: Schema.String,
    needsApproval: ({ to }, { messages, toolCallId }) => {
      if (to === "fails") return Effect.fail(new Unsure()) as unknown as Effect.Effect<boolean>
      if (to === "dies") return Effect.die(new Error("bug"))
      if (to === "throws") throw new Error("bug")
      // It sees what the model saw when it made the call.
      return to === "out" && toolCallId.startsWith("c") && messages.at(-1)?.role === "user"
    }
  })
  const sending = Toolkit.make(Send)
  const sender = Agent.make({ name: "clerk", instructions: "Send.", toolkit: sending })
  const layer = sending.toLayer({ send: ({ to }) => Effect.succeed(`sent ${to}`) })

  it.effect("decides for each call; one that fails, dies or throws means yes", () =>
    Effect.gen(function* () {
      const result = yield* AgentRuntime.run(sender, "go", { conversationId })
      assert.deepStrictEqual(
        result.approvals.map(({ callId }) => callId),
        ["c2", "c3", "c4", "c5"]
      )
      assert.include(yield* tale(), "settled c1 success")
    }).pipe(
      Effect.provide([
        fresh(),
        layer,
        ScriptedModel.layer([
          calls([send("c1", "in"), send("c2", "out"), send("c3", "fails"), send("c4", "dies"), send("c5", "throws")])
        ])
      ])
    )
  )
})

const rejected = (decisions: ReadonlyArray<Approvals.Decision>, id: string = conversationId) =>
  Effect.gen(function* () {
    const before = yield* read()
    const error = yield* Effect.flip(AgentRuntime.decide(hasty, id, decisions))
    assert.deepStrictEqual(yield* read(), before)
    return error instanceof AgentError.DecisionRejected ? error.reason : error._tag
  })

describe("a decision that is none", () => {
  it.effect("is typed, and changes nothing: unknown, altered, twice, none, expired, closed", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      const result = yield* run(hasty)
      const c1 = requestOf(result, "c1")
      const c2 = requestOf(result, "c2")
      const approve = Approvals.approve(c1)
      const other = Ids.ApprovalId.make("other")
      assert.strictEqual(yield* rejected([Approvals.approve(c2), { ...approve, approvalId: other }]), "unknown")
      assert.strictEqual(yield* rejected([{ ...approve, parametersDigest: Digest.text("x") }]), "altered")
      assert.strictEqual(yield* rejected([{ ...approve, parametersDigest: undefined }]), "altered")
      // Bound to its own call: the digest of a sibling's parameters is no other.
      assert.strictEqual(yield* rejected([{ ...approve, parametersDigest: c2.parametersDigest }]), "altered")
      assert.strictEqual(yield* rejected([approve, Approvals.deny(c1)]), "duplicate")
      assert.strictEqual(yield* rejected([]), "InvalidOption")
      assert.strictEqual(yield* rejected([approve], "nobody"), "NothingToResume")
      assert.strictEqual(yield* rejected([Approvals.answer(c1, 1n)]), "InvalidBatch")
      yield* AgentRuntime.decide(hasty, conversationId, [approve])
      assert.strictEqual(yield* rejected([approve]), "closed")
      assert.strictEqual(yield* rejected([Approvals.approve(c2), approve]), "closed")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* rejected([Approvals.approve(c2)]), "expired")
      assert.deepStrictEqual(ran, ["pay A1"])
    }).pipe(
      Effect.provide([fresh(), layer, ScriptedModel.layer([calls([call("c1", "pay"), call("c2", "pay", "B2")])])])
    )
  })

  it.effect("on another conversation's request is unknown there", () => {
    const { layer } = noted()
    return Effect.gen(function* () {
      const mine = yield* run(hasty)
      yield* AgentRuntime.run(hasty, "go", { conversationId: "another", runId: "r2" })
      const before = yield* read(Ids.ConversationId.make("another"))
      const error = yield* Effect.flip(AgentRuntime.decide(hasty, "another", [Approvals.approve(mine.approvals[0]!)]))
      assert.isTrue(error instanceof AgentError.DecisionRejected && error.reason === "unknown")
      assert.deepStrictEqual(yield* read(Ids.ConversationId.make("another")), before)
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layerOf(() => calls([call("c1", "pay")]))]))
  })

  it.effect("after the run is over, is closed", () => {
    const { layer, ran } = noted()
    const told: Array<string> = []
    const recorder: Seams.Recorder = ({ outcome, records, runId }) =>
      Effect.sync(() => void told.push(`${runId} ${outcome} ${records.at(-1)?.payload._tag}`))
    return Effect.gen(function* () {
      const { approvals } = yield* run(hasty)
      assert.isTrue(yield* Effect.provideService(AgentRuntime.cancel(conversationId), Seams.RunRecorder, recorder))
      assert.deepStrictEqual(told, ["r1 cancelled RunEnded"])
      assert.deepStrictEqual(yield* taleFrom("suspended 1"), [
        "suspended 1",
        "superseded",
        "settled c1 rejected",
        "ended cancelled"
      ])
      assert.strictEqual(yield* rejected([Approvals.approve(approvals[0]!)]), "closed")
      assert.isFalse(yield* AgentRuntime.cancel(conversationId))
      assert.isFalse(yield* AgentRuntime.cancel("nobody"))
      assert.deepStrictEqual(ran, [])
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer(paid)]))
  })
})

describe("a request that expires", () => {
  it.effect("is denied when another, newer one is decided", () => {
    const { layer, ran } = noted({ wipe: () => Effect.never })
    return Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const doomed = killable(database)
      const model = ScriptedModel.layer([calls([call("c1", "pay"), call("c2", "wipe", "B2")])])
      yield* Effect.gen(function* () {
        yield* AgentRuntime.start(hasty, "go", { conversationId, runId: "r1" })
        yield* recorded(({ payload }) => payload._tag === "ToolCallStarted")
        yield* doomed.kill
      }).pipe(Effect.provide([doomed.layer, layer, model]))
      yield* TestClock.adjust("30 minutes")
      yield* Effect.gen(function* () {
        const first = yield* AgentRuntime.resume(hasty, conversationId)
        assert.deepStrictEqual(
          first.approvals.map(({ callId, expiresAt }) => [callId, expiresAt]),
          [
            [Ids.ToolCallId.make("c1"), 3_600_000],
            [Ids.ToolCallId.make("c2"), 5_400_000]
          ]
        )
        yield* TestClock.adjust("30 minutes")
        const result = yield* AgentRuntime.decide(hasty, conversationId, [Approvals.deny(requestOf(first, "c2"))])
        assert.strictEqual(result.text, "done")
        assert.deepStrictEqual(ran, [])
        const sent = shown((yield* prompts).at(-1))
        assert.include(sent, "Nobody approved this call in time")
        // It had begun before the crash: that nobody wants it again does not undo it.
        assert.include(sent, "It is not known whether it took effect")
      }).pipe(Effect.provide([processOver(database), layer, ScriptedModel.layer([text("done")])]))
    })
  })

  it.effect("is denied by a resume, not a moment before", () => {
    const { layer, ran } = noted()
    return Effect.gen(function* () {
      yield* run(hasty)
      yield* TestClock.adjust("59 minutes")
      assert.instanceOf(yield* Effect.flip(AgentRuntime.resume(hasty, conversationId)), AgentError.AwaitingApproval)
      yield* TestClock.adjust("1 minute")
      const result = yield* AgentRuntime.resume(hasty, conversationId)
      assert.strictEqual(result.text, "paid")
      assert.deepStrictEqual(ran, [])
      assert.deepStrictEqual(yield* taleFrom("suspended 1"), [
        "suspended 1",
        "expired",
        "settled c1 rejected",
        "resumed 2 decision clerk",
        "clerk says 2",
        "ended completed"
      ])
    }).pipe(Effect.provide([fresh(), layer, ScriptedModel.layer(paid)]))
  })
})
