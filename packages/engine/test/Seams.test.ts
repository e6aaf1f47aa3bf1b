import { Ids, Seams } from "@colloquy/session"
import { Conversations, ConversationStore } from "@colloquy/store"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Prompt from "effect/ai/Prompt"
import * as AiError from "effect/ai/AiError"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { heldAt } from "./speaking.ts"
import {
  calls,
  conversationId,
  desk,
  faultsOfLast,
  handlers,
  lookUp,
  payloads,
  processOver,
  recorded,
  refund,
  text,
  ticking,
  unavailable
} from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())

const lastPrompt = Effect.map(ScriptedModel.Requests, (requests) =>
  JSON.stringify(requests.all().at(-1)?.prompt.content)
)

const refused = ScriptedModel.fail(new AiError.InvalidRequestError({ description: "no" }))

/** A recorder that notes what it is told. */
const noting = () => {
  const told: Array<Seams.EndedTurn> = []
  const layer = Layer.succeed(Seams.RunRecorder, (turn) => Effect.sync(() => void told.push(turn)))
  return { told, layer }
}

/** Seams that note what they can read, as a run starts and as it ends. */
const notingPast = () => {
  const read: Array<ReadonlyArray<string>> = []
  const look = (past: Seams.PastRecords | undefined, id = conversationId) =>
    past === undefined
      ? Effect.sync(() => void read.push(["no store"]))
      : Effect.map(Effect.orDie(Stream.runCollect(past(id))), (records) => {
          read.push(records.map(({ payload }) => payload._tag))
        })
  const layer = Layer.merge(
    Layer.succeed(Seams.TurnPreamble, (_turn, past) => Effect.as(look(past), undefined)),
    Layer.succeed(Seams.RunRecorder, (_turn, past) =>
      Effect.andThen(look(past), look(past, Ids.ConversationId.make("nowhere")))
    )
  )
  return { read, layer }
}

const tagsOf = ({ records }: Seams.EndedTurn) => records.map(({ payload }) => payload._tag)

const preamble = (text: string | undefined) => Effect.provideService(Seams.TurnPreamble, () => Effect.succeed(text))

describe("what seams may read", () => {
  it.effect("is what the store has that the run writes to, the last record first; nothing where nothing is", () => {
    const { layer, read } = notingPast()
    return Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "Hello", { conversationId })
      assert.deepStrictEqual(read, [
        ["ConversationCreated"],
        ["RunEnded", "ModelResponded", "InputRecorded", "RunStarted", "ConversationCreated"],
        []
      ])
    }).pipe(Effect.provide([handlers(), ScriptedModel.layer([text("Hi.")]), fresh(), layer]))
  })

  it.effect("is undefined without a store", () => {
    const { layer, read } = notingPast()
    return Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "Hello")
      assert.deepStrictEqual(read[0], ["no store"])
    }).pipe(Effect.provide([handlers(), ScriptedModel.layer([text("Hi.")]), AgentRuntime.layerEphemeral, layer]))
  })
})

describe("a turn's preamble", () => {
  it.effect("is recorded with the input, shown in this run's model calls, and in no later one", () =>
    Effect.gen(function* () {
      const turns: Array<Seams.Turn> = []
      yield* AgentRuntime.run(desk, "Where is A1?", {
        conversationId,
        runId: "r1",
        conversationKey: "k",
        inputId: "i"
      }).pipe(
        Effect.provideService(Seams.TurnPreamble, (turn) =>
          Effect.sync(() => {
            turns.push(turn)
            return "It rains."
          })
        )
      )
      assert.deepStrictEqual(turns, [
        {
          conversationId,
          runId: "r1",
          agent: "desk",
          mode: "execute",
          conversationKey: "k",
          workKey: "i",
          visibleRuns: []
        }
      ] as ReadonlyArray<unknown>)
      const requests = (yield* ScriptedModel.Requests).all()
      assert.strictEqual(requests.length, 2)
      for (const { prompt } of requests) {
        const content = JSON.stringify(prompt.content)
        assert.isBelow(content.indexOf("It rains."), content.indexOf("Where is A1?"))
        assert.include(content, "It rains.")
      }
      yield* AgentRuntime.run(desk, "And now?", { conversationId })
      assert.notInclude(yield* lastPrompt, "It rains.")
      assert.include(yield* lastPrompt, "Where is A1?")
      const input = (yield* payloads).find(({ _tag }) => _tag === "InputRecorded")
      assert.isTrue(input?._tag === "InputRecorded" && input.context === "It rains.")
    }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([calls([lookUp("c1")]), text("a"), text("b")])]))
  )

  it.effect("is the stored one when the run is resumed, whatever would be said now", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      let commits = 0
      const dying = { beforeCommit: () => Effect.suspend(() => (++commits > 3 ? unavailable() : Effect.void)) }
      yield* AgentRuntime.run(desk, "go", { conversationId, persistence: "strict" }).pipe(
        preamble("It rains."),
        Effect.flip,
        Effect.provide([processOver(database, dying), handlers(), ScriptedModel.layer([text("lost")])])
      )
      yield* Effect.gen(function* () {
        yield* preamble("The sun shines.")(AgentRuntime.resume(desk, conversationId))
        assert.include(yield* lastPrompt, "It rains.")
        assert.notInclude(yield* lastPrompt, "The sun shines.")
      }).pipe(Effect.provide([processOver(database), handlers(), ScriptedModel.layer([text("ok")])]))
    })
  )

  for (const nothing of [undefined, ""]) {
    it.effect(`that says ${JSON.stringify(nothing)} leaves the input as it is`, () =>
      Effect.gen(function* () {
        yield* preamble(nothing)(AgentRuntime.run(desk, "go", { conversationId }))
        const input = (yield* payloads).find(({ _tag }) => _tag === "InputRecorded")
        assert.isFalse(input !== undefined && "context" in input)
      }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([text("ok")])]))
    )
  }
})

describe("who records runs", () => {
  it.effect("is told once of a run, with all its records, and of none that was told before", () => {
    const { layer, told } = noting()
    return Effect.gen(function* () {
      const options = { conversationId, conversationKey: "k", workKey: "w" }
      yield* AgentRuntime.run(desk, "one", { ...options, runId: "r1" })
      yield* AgentRuntime.run(desk, "two", { ...options, runId: "r2" })
      assert.deepStrictEqual(
        told.map(({ conversationKey, outcome, runId, workKey }) => [runId, outcome, conversationKey, workKey]),
        [
          ["r1", "completed", "k", "w"],
          ["r2", "completed", "k", "w"]
        ] as ReadonlyArray<unknown>
      )
      assert.deepStrictEqual(tagsOf(told[0]!), [
        "RunStarted",
        "InputRecorded",
        "ModelResponded",
        "ToolCallStarted",
        "ToolCallSettled",
        "ModelResponded",
        "RunEnded"
      ])
      const records = [...told[0]!.records, ...told[1]!.records]
      assert.deepStrictEqual(
        records.map(({ payload }) => payload),
        (yield* payloads).slice(1)
      )
    }).pipe(
      Effect.provide([
        Layer.provide(fresh(), layer),
        handlers(),
        ScriptedModel.layer([calls([lookUp("c1")]), text("a"), text("b")])
      ])
    )
  })

  it.effect("is told nothing of what was redacted while the run went on, also where a summary hides it", () => {
    const { layer, told } = noting()
    return Effect.gen(function* () {
      const paid = yield* heldAt
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "My card is 4242.", { conversationId })
        yield* paid.reached
        const writer = yield* Conversations.Conversations.use(({ open }) => open(conversationId))
        const summary = "They want a refund."
        yield* writer.append([{ _tag: "Compacted", kind: "summary", coversThrough: 3, pinned: [2], summary }])
        yield* writer.redact({ sequences: [3], reason: "a card" })
        yield* paid.open
        assert.strictEqual((yield* run.await).outcome, "completed")
        assert.deepStrictEqual(tagsOf(told[0]!), [
          "RunStarted",
          "Redacted",
          "ModelResponded",
          "ToolCallStarted",
          "ToolCallSettled",
          "ModelResponded",
          "RunEnded"
        ])
        assert.notInclude(JSON.stringify(told), "4242")
      }).pipe(Effect.provide(handlers({ refund: () => paid.hold })))
    }).pipe(
      Effect.scoped,
      Effect.provide([Layer.provide(fresh(), layer), ScriptedModel.layer([calls([refund("c1")]), text("Paid.")])])
    )
  })

  it.effect("is told of runs that fail, that are stopped, and that have no conversation", () => {
    const { layer, told } = noting()
    return Effect.gen(function* () {
      yield* Effect.exit(AgentRuntime.run(desk, "one", { conversationId }))
      const run = yield* AgentRuntime.start(desk, "two", { conversationId })
      yield* recorded(({ payload }) => payload._tag === "ToolCallStarted")
      yield* run.cancel
      yield* AgentRuntime.run(desk, "three")
      assert.deepStrictEqual(
        told.map(({ conversationId, outcome }) => [conversationId, outcome]),
        [
          [conversationId, "failed"],
          [conversationId, "cancelled"],
          [undefined, "completed"]
        ]
      )
    }).pipe(
      Effect.provide([
        Layer.provide(fresh(), layer),
        handlers({ refund: () => Effect.never }),
        ScriptedModel.layer([refused, calls([refund("c1")]), text("ok")])
      ])
    )
  })

  it.effect("is told of a resumed run with what was written before, and of one that a new run closed", () =>
    Effect.gen(function* () {
      for (const how of ["resumed", "closed"] as const) {
        const database = MemoryDatabase.make()
        let commits = 0
        const dying = { beforeCommit: () => Effect.suspend(() => (++commits > 4 ? unavailable() : Effect.void)) }
        const { layer, told } = noting()
        const options = { conversationId, runId: "r1", workKey: "w1" }
        yield* AgentRuntime.run(desk, "go", { ...options, persistence: "strict" }).pipe(
          Effect.flip,
          Effect.provide([
            Layer.provide(processOver(database, dying), layer),
            handlers(),
            ScriptedModel.layer([calls([lookUp("c1")])])
          ])
        )
        assert.deepStrictEqual(told, [])
        yield* Effect.gen(function* () {
          if (how === "resumed") yield* AgentRuntime.resume(desk, conversationId)
          else yield* AgentRuntime.run(desk, "again", { conversationId, runId: "r2" })
        }).pipe(
          Effect.provide([Layer.provide(processOver(database), layer), handlers(), ScriptedModel.layer([text("ok")])])
        )
        const [first, ...others] = told
        assert.isTrue(first?.runId === "r1" && first.workKey === "w1" && first.conversationId === conversationId)
        if (how === "resumed") {
          assert.strictEqual(first?.outcome, "completed")
          assert.isTrue(tagsOf(first!).includes("RunResumed"))
          assert.deepStrictEqual(others, [])
        } else {
          assert.strictEqual(first?.outcome, "failed")
          assert.isTrue(tagsOf(first!).includes("RepairAnnotated"))
          assert.deepStrictEqual(
            others.map(({ outcome, runId }) => [runId, outcome]),
            [["r2", "completed"]] as ReadonlyArray<unknown>
          )
        }
        assert.strictEqual(tagsOf(first!)[0], "RunStarted")
      }
    })
  )

  it.effect("is told of a run that waited for people once it is over: decided, or stopped", () => {
    const Guarded = Tool.make("guarded", { parameters: Schema.Struct({}), success: Schema.String, needsApproval: true })
    const kit = Toolkit.make(Guarded)
    const guard = Agent.make({ name: "guard", instructions: "x", toolkit: kit })
    const { layer, told } = noting()
    return Effect.gen(function* () {
      for (const runId of ["r1", "r2"]) {
        const waiting = yield* AgentRuntime.run(guard, "go", { conversationId, runId, workKey: `w ${runId}` })
        const [request] = waiting.approvals
        assert.isDefined(request)
        if (runId === "r1") {
          const { approvalId, parametersDigest } = request!
          const decision = { approvalId, parametersDigest, decision: "approved" } as const
          assert.deepStrictEqual(told, [])
          yield* AgentRuntime.decide(guard, conversationId, [decision])
        } else assert.isTrue(yield* AgentRuntime.cancel(conversationId))
      }
      assert.deepStrictEqual(
        told.map(({ outcome, runId, workKey }) => [runId, outcome, workKey]),
        [
          ["r1", "completed", "w r1"],
          ["r2", "cancelled", "w r2"]
        ] as ReadonlyArray<unknown>
      )
      for (const turn of told) {
        assert.isTrue(tagsOf(turn)[0] === "RunStarted" && tagsOf(turn).at(-1) === "RunEnded")
        assert.include(tagsOf(turn), "ApprovalResolved")
      }
    }).pipe(
      Effect.provide([
        Layer.provide(fresh(), layer),
        kit.toLayer({ guarded: () => Effect.succeed("done") }),
        ScriptedModel.layer([
          calls([{ id: "c1", name: "guarded", params: {} }]),
          text("ok"),
          calls([{ id: "c2", name: "guarded", params: {} }])
        ])
      ])
    )
  })

  it.effect("of the caller comes before the layer's", () => {
    const outer = noting()
    const own = noting()
    return Effect.gen(function* () {
      yield* Effect.provide(AgentRuntime.run(desk, "go", { conversationId }), own.layer)
      yield* AgentRuntime.run(desk, "go", { conversationId })
      assert.deepStrictEqual([own.told.length, outer.told.length], [1, 1])
    }).pipe(Effect.provide([Layer.provide(fresh(), outer.layer), handlers(), ScriptedModel.layerOf(() => text("ok"))]))
  })

  it.effect("and dies of it costs the run nothing", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* AgentRuntime.run(desk, "go", { conversationId })).text, "ok")
      const error = yield* Effect.flip(AgentRuntime.run(desk, "go", { conversationId }))
      assert.strictEqual(error._tag, "AiError")
      assert.strictEqual((yield* AgentRuntime.run(desk, "go", { conversationId })).text, "fine")
    }).pipe(
      Effect.provideService(Seams.RunRecorder, () => Effect.die("the recorder broke")),
      Effect.provide([fresh(), handlers(), ScriptedModel.layer([text("ok"), refused, text("fine")])])
    )
  )

  it.effect("is not told of an end that is not stored: whoever resumes the run tells of it", () => {
    const { layer, told } = noting()
    return Effect.gen(function* () {
      let commits = 0
      const down = { beforeCommit: () => Effect.suspend(() => (++commits > 3 ? unavailable() : Effect.void)) }
      const result = yield* ticking(AgentRuntime.run(desk, "go", { conversationId })).pipe(
        Effect.provide([
          Layer.provide(processOver(MemoryDatabase.make(), down), layer),
          handlers(),
          ScriptedModel.layer([text("ok")])
        ])
      )
      assert.isFalse(result.persisted)
      assert.deepStrictEqual(told, [])
    })
  })
})

const turn = (input: string, history: Prompt.Prompt, options: { readonly streaming?: boolean } = {}) =>
  Effect.gen(function* () {
    const kept = yield* Deferred.make<Prompt.Prompt>()
    const onHistory = (next: Prompt.Prompt) => Effect.asVoid(Deferred.succeed(kept, next))
    const exit = yield* Effect.exit(AgentRuntime.run(desk, input, { conversationId, history, onHistory, ...options }))
    return { exit, history: yield* Deferred.await(kept) }
  })

describe("a history that the caller keeps", () => {
  it.effect("comes back extended, turn by turn; the store is never touched", () =>
    Effect.gen(function* () {
      let history = Prompt.make([
        { role: "system", content: "Old instructions." },
        { role: "user", content: "Hello" },
        { role: "system", content: "A note." },
        { role: "assistant", content: [{ type: "text", text: "Hi" }] }
      ])
      const lengths: Array<number> = []
      for (const streaming of [false, true, false, true]) {
        const next = (yield* turn("Where is A1?", history, { streaming })).history
        assert.deepStrictEqual(next.content.slice(0, history.content.length), history.content)
        lengths.push(next.content.length - history.content.length)
        history = next
        assert.deepStrictEqual(yield* faultsOfLast, [])
      }
      // The input, the call, its result, the answer: no turn adds what another one has.
      assert.deepStrictEqual(lengths, [4, 4, 4, 4])
      const ids = history.content.flatMap(({ content }) =>
        typeof content === "string" ? [] : content.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))
      )
      assert.deepStrictEqual(ids, ["c1", "c1_2", "c1_3", "c1_4"])
      const store = yield* ConversationStore.ConversationStore
      assert.strictEqual((yield* Effect.flip(store.tail({ conversationId })))._tag, "ConversationNotFound")
      // The agent's own instructions stand in front of what was said, in place of the old ones.
      const { prompt } = (yield* ScriptedModel.Requests).all().at(-1)!
      assert.deepStrictEqual(
        prompt.content.filter(({ role }) => role === "system").map(({ content }) => content),
        ["Help with orders."]
      )
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layerOf(({ call }) => (call % 2 === 0 ? calls([lookUp("c1")]) : text("ok")))
      ])
    )
  )

  it.effect("comes back with what was said also from a run that failed", () =>
    Effect.gen(function* () {
      const failed = yield* turn("Where is A1?", Prompt.empty)
      assert.strictEqual(failed.exit._tag, "Failure")
      assert.include(JSON.stringify(failed.history.content), "Where is A1?")
      const next = yield* turn("Well?", failed.history)
      assert.strictEqual(next.exit._tag, "Success")
      assert.deepStrictEqual(yield* faultsOfLast, [])
      assert.include(yield* lastPrompt, "Where is A1?")
    }).pipe(Effect.provide([AgentRuntime.layerEphemeral, handlers(), ScriptedModel.layer([refused, text("ok")])]))
  )
})
