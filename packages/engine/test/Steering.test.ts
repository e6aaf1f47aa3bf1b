import { CommandQueues } from "@colloquy/capabilities"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as AiError from "effect/ai/AiError"
import * as Prompt from "effect/ai/Prompt"
import { AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { acceptedBy, heldAt, inputs, refusal, textsOf, withQueues } from "./speaking.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, refund, story, text } from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())

const requests = Effect.map(ScriptedModel.Requests, ({ all }) => all())

describe("steering", () => {
  it.effect(
    "during a tool step is read before the next model call; no tool is skipped, no call in flight touched",
    () =>
      Effect.gen(function* () {
        const tool = yield* heldAt
        const ran: Array<string> = []
        yield* Effect.gen(function* () {
          const run = yield* AgentRuntime.start(desk, "go", { conversationId })
          yield* tool.reached
          const receipt = yield* acceptedBy(run.steer("and B2?", { inputId: "s1", author: "ann" }))
          assert.strictEqual((yield* receipt.state)._tag, "Accepted")
          yield* tool.open
          assert.strictEqual((yield* run.await).text, "done")
          assert.sameMembers(ran, ["refund", "look_up"])
          const [first, second, ...others] = (yield* requests).map(textsOf)
          assert.deepStrictEqual([first, second, others.length], [["go"], ["go", "and B2?"], 0])
          assert.deepStrictEqual(yield* inputs, [
            ["user", "go", undefined],
            ["steering", "and B2?", "s1"]
          ])
          const outcome = yield* receipt.await
          assert.isTrue(outcome._tag === "Done" && outcome.answered && outcome.sequence === 9)
        }).pipe(
          Effect.provide(
            handlers({
              look_up: () =>
                Effect.as(
                  Effect.tap(tool.hold, () => Effect.sync(() => ran.push("look_up"))),
                  { status: "ok" }
                ),
              refund: () => Effect.sync(() => void ran.push("refund"))
            })
          )
        )
      }).pipe(Effect.provide([fresh(), ScriptedModel.layer([calls([lookUp("c1"), refund("c2")]), text("done")])]))
  )

  it.effect("while the model answers leaves that call alone: its answer is stored, and one more call reads it", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId })
        yield* answer.reached
        const receipt = yield* acceptedBy(run.steer("wait"))
        yield* answer.open
        assert.strictEqual((yield* run.await).text, "answer 1")
        assert.deepStrictEqual((yield* story).slice(1), [
          "RunStarted",
          "InputRecorded",
          "responded 1",
          "InputRecorded",
          "responded 2",
          "ended completed"
        ])
        assert.strictEqual((yield* receipt.await)._tag, "Done")
      }).pipe(
        Effect.provide(
          ScriptedModel.layerOf(
            ({ call }) =>
              () =>
                Effect.as(call === 0 ? answer.hold : Effect.void, text(`answer ${call}`))
          )
        )
      )
    }).pipe(Effect.provide([fresh(), handlers()]))
  )

  it.effect("at the round limit still gets one more model call, with tools out of use", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId, maxToolRounds: 1 })
        yield* answer.reached
        yield* acceptedBy(run.steer("one more thing"))
        yield* answer.open
        const result = yield* run.await
        assert.deepStrictEqual([result.outcome, result.text], ["limit-reached", "answer 2"])
        assert.deepStrictEqual(
          (yield* requests).map(({ toolChoice }) => toolChoice),
          ["auto", "none", "none"]
        )
      }).pipe(
        Effect.provide(
          ScriptedModel.layerOf(({ call }) => {
            if (call === 0) return calls([lookUp("c1")])
            return () => Effect.as(call === 1 ? answer.hold : Effect.void, text(`answer ${call}`))
          })
        )
      )
    }).pipe(Effect.provide([fresh(), handlers()]))
  )

  it.effect("is accepted while the run loads, and is in its first model call", () =>
    Effect.gen(function* () {
      const loading = yield* heldAt
      const layer = processOver(MemoryDatabase.make(), { beforeCommit: () => loading.hold })
      yield* Effect.gen(function* () {
        const starting = yield* Effect.forkChild(AgentRuntime.run(desk, "go", { conversationId }))
        yield* loading.reached
        const queues = yield* CommandQueues.CommandQueues
        const receipt = yield* acceptedBy(queues.steer(conversationId, "early"))
        yield* loading.open
        yield* starting.pipe(Fiber.join)
        assert.deepStrictEqual((yield* requests).map(textsOf), [["go", "early"]])
        assert.strictEqual((yield* receipt.await)._tag, "Done")
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.provide([handlers(), ScriptedModel.layer([text("ok")])]))
  )

  it.effect("is for the run that ends, or refused, while another start waits for the gate", () =>
    Effect.gen(function* () {
      const end = yield* heldAt
      let commits = 0
      // Materialize, creation, start, answer with end.
      const layer = processOver(MemoryDatabase.make(), {
        beforeCommit: () => Effect.suspend(() => (++commits === 4 ? end.hold : Effect.void))
      })
      yield* Effect.gen(function* () {
        const queues = yield* CommandQueues.CommandQueues
        const first = yield* AgentRuntime.start(desk, "one", { conversationId })
        yield* end.reached
        const second = yield* Effect.forkChild(AgentRuntime.run(desk, "two", { conversationId }))
        yield* Effect.yieldNow
        assert.strictEqual(yield* refusal(queues.steer(conversationId, "nobody's")), "ending")
        const third = yield* Effect.forkChild(
          AgentRuntime.steerOrRun(desk, "three", { conversationId, inputId: "three" })
        )
        yield* Effect.yieldNow
        yield* end.open
        yield* first.await
        yield* second.pipe(Fiber.join)
        const came = yield* third.pipe(Fiber.join)
        if (came._tag === "Started") yield* came.run.await
        else yield* came.receipt.await
        const said = (yield* inputs).map(([, said]) => said)
        assert.deepStrictEqual(said, ["one", "two", "three"])
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.provide([handlers(), ScriptedModel.layerOf(() => text("ok"))]))
  )

  it.effect("brings images and files through as they are", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      const parts = [
        Prompt.makePart("text", { text: "look" }),
        Prompt.makePart("file", { mediaType: "image/png", data: new Uint8Array([1, 2, 3]) }),
        Prompt.makePart("file", { mediaType: "application/pdf", fileName: "bill.pdf", data: new URL("https://a.b/c") })
      ]
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, parts, { conversationId })
        yield* answer.reached
        yield* acceptedBy(run.steer(parts))
        yield* acceptedBy(run.followUp(parts))
        yield* answer.open
        yield* run.await
        const [direct, steered, followed] = (yield* requests)
          .at(-1)!
          .prompt.content.filter(({ role }) => role === "user")
        assert.deepStrictEqual(steered, direct)
        assert.deepStrictEqual(followed, direct)
      }).pipe(
        Effect.provide(
          ScriptedModel.layerOf(
            ({ call }) =>
              () =>
                Effect.as(call === 0 ? answer.hold : Effect.void, text("ok"))
          )
        )
      )
    }).pipe(Effect.provide([fresh(), handlers()]))
  )

  it.effect("reaches a run without a conversation by its handle", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go")
        const other = yield* AgentRuntime.start(desk, "other")
        yield* answer.reached
        const receipt = yield* acceptedBy(run.steer("more"))
        yield* acceptedBy(run.followUp("and more"))
        yield* answer.open
        assert.strictEqual((yield* run.await).text, "go, more, and more")
        assert.strictEqual((yield* other.await).text, "other")
        assert.strictEqual((yield* receipt.await)._tag, "Done")
        assert.strictEqual(yield* refusal(run.steer("late")), "no-run")
      }).pipe(
        Effect.provide(
          ScriptedModel.layerOf((request) => () => Effect.as(answer.hold, text(textsOf(request).join(", "))))
        )
      )
    }).pipe(Effect.provide([AgentRuntime.layerEphemeral, handlers()]))
  )

  it.effect("of a conversation that nobody runs is refused", () =>
    Effect.gen(function* () {
      const queues = yield* CommandQueues.CommandQueues
      assert.strictEqual(yield* refusal(queues.steer(conversationId, "hello?")), "no-run")
      assert.strictEqual(yield* refusal(queues.followUp(conversationId, "hello?")), "no-run")
    }).pipe(Effect.provide(fresh()))
  )
})

describe("follow-ups", () => {
  it.effect("are read only when the run would stop, first come first served, behind all steering", () =>
    Effect.gen(function* () {
      const tool = yield* heldAt
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId })
        yield* tool.reached
        for (const said of ["f1", "f2"]) yield* acceptedBy(run.followUp(said))
        for (const said of ["s1", "s2"]) yield* acceptedBy(run.steer(said))
        yield* tool.open
        yield* run.await
        assert.deepStrictEqual((yield* requests).map(textsOf), [
          ["go"],
          ["go", "s1", "s2"],
          ["go", "s1", "s2", "f1", "f2"]
        ])
        assert.deepStrictEqual(
          (yield* inputs).map(([kind]) => kind),
          ["user", "steering", "steering", "follow-up", "follow-up"]
        )
      }).pipe(Effect.provide(handlers({ look_up: () => Effect.as(tool.hold, { status: "ok" }) })))
    }).pipe(
      Effect.provide([
        fresh(),
        ScriptedModel.layerOf(({ call }) => (call === 0 ? calls([lookUp("c1")]) : text(`answer ${call}`)))
      ])
    )
  )

  it.effect("and steering are read one at a time where the queues say so", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId })
        yield* answer.reached
        for (const said of ["f1", "f2"]) yield* acceptedBy(run.followUp(said))
        for (const said of ["s1", "s2"]) yield* acceptedBy(run.steer(said))
        yield* answer.open
        yield* run.await
        assert.deepStrictEqual(
          (yield* requests).map((request) => textsOf(request).at(-1)),
          ["go", "s1", "s2", "f1", "f2"]
        )
      }).pipe(
        Effect.provide(
          ScriptedModel.layerOf(
            ({ call }) =>
              () =>
                Effect.as(call === 0 ? answer.hold : Effect.void, text("ok"))
          )
        )
      )
    }).pipe(Effect.provide([withQueues({ drain: "one" }), handlers()]))
  )

  it.effect("a thousand at once are all in the log, in order", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      const said = Array.from({ length: 1_000 }, (_, i) => `s${i}`)
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId })
        yield* answer.reached
        const receipts = yield* Effect.forEach(said, (text) => acceptedBy(run.steer(text)), {
          concurrency: "unbounded"
        })
        yield* answer.open
        yield* run.await
        assert.deepStrictEqual(textsOf((yield* requests).at(-1)!), ["go", ...said])
        const outcomes = yield* Effect.forEach(receipts, (receipt) => receipt.await)
        assert.isTrue(
          outcomes.every((outcome, i) => outcome._tag === "Done" && outcome.answered && outcome.sequence === 5 + i)
        )
      }).pipe(
        Effect.provide(
          ScriptedModel.layerOf(
            ({ call }) =>
              () =>
                Effect.as(call === 0 ? answer.hold : Effect.void, text("ok"))
          )
        )
      )
    }).pipe(Effect.provide([withQueues({ capacity: 1_000 }), handlers()]))
  )

  it.effect("the same id twice is one input, also that of the input that the run began with", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId, inputId: "first" })
        yield* answer.reached
        const one = yield* acceptedBy(run.steer("more", { inputId: "x" }))
        const two = yield* acceptedBy(run.steer("more", { inputId: "x" }))
        assert.strictEqual(one, two)
        const conflict = yield* Effect.flip(run.steer("other words", { inputId: "x" }))
        assert.strictEqual(conflict._tag, "InputConflict")
        const again = yield* acceptedBy(run.steer("go", { inputId: "first" }))
        const others = yield* acceptedBy(run.followUp("not that", { inputId: "first-2" }))
        yield* answer.open
        yield* run.await
        assert.deepStrictEqual(yield* again.await, { _tag: "Done", sequence: 3, answered: true })
        assert.strictEqual((yield* others.await)._tag, "Done")
        assert.deepStrictEqual(
          (yield* inputs).map(([, said]) => said),
          ["go", "more", "not that"]
        )
      }).pipe(
        Effect.provide(
          ScriptedModel.layerOf(
            ({ call }) =>
              () =>
                Effect.as(call === 0 ? answer.hold : Effect.void, text("ok"))
          )
        )
      )
    }).pipe(Effect.provide([fresh(), handlers()]))
  )

  it.effect("an input that is in the log already does not make the run call its model once more", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId, inputId: "first" })
        yield* answer.reached
        const receipt = yield* acceptedBy(run.followUp("go", { inputId: "first" }))
        yield* answer.open
        yield* run.await
        assert.strictEqual((yield* requests).length, 1)
        assert.deepStrictEqual(yield* receipt.await, { _tag: "Done", sequence: 3, answered: true })
      }).pipe(Effect.provide(ScriptedModel.layerOf(() => () => Effect.as(answer.hold, text("ok")))))
    }).pipe(Effect.provide([fresh(), handlers()]))
  )
})

describe("a receipt", () => {
  for (const [how, outcome] of [
    ["fails", { _tag: "Returned", reason: "failed" }],
    ["is cancelled", { _tag: "Returned", reason: "cancelled" }]
  ] as const) {
    it.effect(`says that the input comes back when the run ${how} before it is read`, () =>
      Effect.gen(function* () {
        const answer = yield* heldAt
        yield* Effect.gen(function* () {
          const run = yield* AgentRuntime.start(desk, "go", { conversationId })
          yield* answer.reached
          const steered = yield* acceptedBy(run.steer("s"))
          const followed = yield* acceptedBy(run.followUp("f"))
          if (how === "fails") yield* answer.open
          else yield* run.cancel
          yield* Effect.exit(run.await)
          for (const receipt of [steered, followed]) {
            const found = yield* receipt.await
            assert.deepInclude(found, outcome)
            assert.isTrue(found._tag === "Returned" && found.command.inputId === receipt.inputId)
          }
          assert.strictEqual((yield* inputs).length, 1)
        }).pipe(
          Effect.provide(ScriptedModel.layerOf(() => () => Effect.andThen(answer.hold, Effect.fail(refusedByModel))))
        )
      }).pipe(Effect.provide([fresh(), handlers()]))
    )
  }

  it.effect("of what was delivered says whether it was answered when the run fails", () =>
    Effect.gen(function* () {
      const tool = yield* heldAt
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", { conversationId })
        yield* tool.reached
        const receipt = yield* acceptedBy(run.steer("s"))
        yield* tool.open
        assert.deepStrictEqual(yield* receipt.delivered, { _tag: "Delivered", sequence: 7 })
        yield* Effect.exit(run.await)
        assert.deepStrictEqual(yield* receipt.await, { _tag: "Done", sequence: 7, answered: false })
      }).pipe(Effect.provide(handlers({ look_up: () => Effect.as(tool.hold, { status: "ok" }) })))
    }).pipe(
      Effect.provide([
        fresh(),
        ScriptedModel.layerOf(({ call }) => (call === 0 ? calls([lookUp("c1")]) : () => Effect.fail(refusedByModel)))
      ])
    )
  )
})

const refusedByModel = AiError.make({
  module: "test",
  method: "generateText",
  reason: new AiError.InvalidRequestError({ description: "no" })
})
