import { CanonicalRecord, Ids, Input, Limits } from "@colloquy/session"
import { MemoryStorage } from "@colloquy/storage-memory"
import { Conversations, type StoreError } from "@colloquy/store"
import { assert, describe, it } from "@effect/vitest"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"
import { CommandQueues } from "../src/index.ts"
import { conversationId, deliverAll, opened, openedIn, receiptOf, refusalOf, textsOf } from "./given.ts"

const said = (options: Prompt.ProviderOptions) => [Prompt.makePart("text", { text: "hello", options })]

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

describe("an offer", () => {
  it.effect("is accepted while a run has its queues open, with a receipt that names it", () =>
    Effect.gen(function* () {
      const { queues } = yield* opened()
      const receipt = yield* receiptOf(queues.steer(conversationId, "and B2?", { inputId: "i1" }))
      assert.deepInclude(receipt, { conversationId, kind: "steering", inputId: "i1" })
      assert.deepStrictEqual(yield* receipt.state, CommandQueues.State.Accepted())
    })
  )

  it.effect("without an id has one of its own", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const first = yield* receiptOf(queues.steer(conversationId, "again"))
      const second = yield* receiptOf(queues.steer(conversationId, "again"))
      assert.notStrictEqual(first.inputId, second.inputId)
      assert.deepStrictEqual(textsOf(yield* run.takeSteering), ["again", "again"])
    })
  )

  it.effect("is not kept when no run has queues open", () =>
    Effect.gen(function* () {
      const queues = yield* CommandQueues.make()
      assert.strictEqual(yield* refusalOf(queues.steer(conversationId, "hello")), "no-run")
      const { run } = yield* openedIn(queues)
      assert.deepStrictEqual(yield* run.takeOrClose, [])
    })
  )

  it.effect("is not kept when the run takes no more, until its scope is over", () =>
    Effect.gen(function* () {
      const { end, queues, run } = yield* opened()
      assert.deepStrictEqual(yield* run.takeOrClose, [])
      assert.strictEqual(yield* refusalOf(queues.steer(conversationId, "hello")), "ending")
      assert.strictEqual(yield* refusalOf(queues.followUp(conversationId, "hello")), "ending")
      yield* end
      assert.strictEqual(yield* refusalOf(queues.steer(conversationId, "hello")), "no-run")
    })
  )

  it.effect("to one conversation is not seen by another", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const another = Ids.ConversationId.make("another")
      const other = yield* queues.open(another)
      yield* queues.steer(another, "hello")
      assert.deepStrictEqual(yield* run.takeSteering, [])
      assert.deepStrictEqual(textsOf(yield* other.takeSteering), ["hello"])
    })
  )

  it.effect("of nothing is refused, whether a run goes on or not", () =>
    Effect.gen(function* () {
      const { end, queues, run } = yield* opened()
      assert.instanceOf(yield* Effect.flip(queues.steer(conversationId, " \n")), Input.EmptyInput)
      assert.instanceOf(yield* Effect.flip(queues.followUp(conversationId, [])), Input.EmptyInput)
      assert.deepStrictEqual(yield* run.takeOrClose, [])
      yield* end
      assert.instanceOf(yield* Effect.flip(queues.steer(conversationId, "")), Input.EmptyInput)
    })
  )

  it.effect("to a full queue fails and keeps nothing; the queues of two kinds are bounded apart", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened({ capacity: 2 })
      yield* queues.steer(conversationId, "1")
      yield* queues.steer(conversationId, "2")
      const full = yield* Effect.flip(queues.steer(conversationId, "3", { inputId: "i3" }))
      assert.instanceOf(full, CommandQueues.QueueFull)
      assert.deepInclude(full, { conversationId, kind: "steering", capacity: 2 })
      yield* receiptOf(queues.followUp(conversationId, "later"))
      assert.deepStrictEqual(textsOf(yield* run.takeSteering), ["1", "2"])
      yield* receiptOf(queues.steer(conversationId, "3, again", { inputId: "i3" }))
      assert.deepStrictEqual(textsOf(yield* run.takeSteering), ["3, again"])
    })
  )

  it.effect("holds 64 of each kind unless told otherwise", () =>
    Effect.gen(function* () {
      const { queues } = yield* opened()
      const offers = Array.from({ length: 64 }, (_, i) => queues.followUp(conversationId, `${i}`))
      yield* Effect.forEach(offers, receiptOf)
      assert.deepInclude(yield* Effect.flip(queues.followUp(conversationId, "65")), { _tag: "QueueFull", capacity: 64 })
    })
  )
})

describe("an offer of the same id", () => {
  it.effect("is one input with one receipt, wherever it has got to", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened({ capacity: 1 })
      const offer = receiptOf(queues.steer(conversationId, "hello", { inputId: "i1" }))
      const receipt = yield* offer
      assert.strictEqual(yield* offer, receipt, "accepted, though the queue is full")
      const taken = yield* run.takeSteering
      assert.strictEqual(yield* offer, receipt, "taken")
      yield* deliverAll(run, taken)
      assert.strictEqual(yield* offer, receipt, "delivered")
      yield* run.answered
      assert.strictEqual(yield* offer, receipt, "done")
      assert.deepStrictEqual(yield* run.takeOrClose, [], "it was read once")
      assert.strictEqual(yield* offer, receipt, "in the log of a run that takes no more")
    })
  )

  it.effect("with other content, or of the other kind, is a conflict and keeps nothing", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      yield* queues.steer(conversationId, "hello", { inputId: "i1" })
      const other = yield* Effect.flip(queues.steer(conversationId, "goodbye", { inputId: "i1" }))
      assert.instanceOf(other, CommandQueues.InputConflict)
      assert.deepInclude(other, { conversationId, inputId: "i1" })
      const kind = yield* Effect.flip(queues.followUp(conversationId, "hello", { inputId: "i1" }))
      assert.instanceOf(kind, CommandQueues.InputConflict)
      const taken = yield* run.takeOrClose
      assert.deepStrictEqual(textsOf(taken), ["hello"])
      yield* deliverAll(run, taken)
      assert.deepStrictEqual(yield* run.takeOrClose, [])
      const late = yield* Effect.flip(queues.steer(conversationId, "goodbye", { inputId: "i1" }))
      assert.instanceOf(late, CommandQueues.InputConflict, "what is in the log keeps its id")
    })
  )

  it.effect("is compared by what it says: not by the order of keys, nor by its author", () =>
    Effect.gen(function* () {
      const { queues } = yield* opened()
      const offer = (options: Prompt.ProviderOptions, author: string) =>
        receiptOf(queues.steer(conversationId, said(options), { inputId: "i1", author }))
      const receipt = yield* offer({ a: { x: 1, y: 2 } }, "ann")
      assert.strictEqual(yield* offer({ a: { y: 2, x: 1 } }, "bob"), receipt)
      const other = yield* Effect.flip(offer({ a: { x: 1 } }, "ann"))
      assert.instanceOf(other, CommandQueues.InputConflict)
    })
  )

  it.effect("after it was handed back is a new offer", () =>
    Effect.gen(function* () {
      const { end, queues, run } = yield* opened()
      const receipt = yield* receiptOf(queues.steer(conversationId, "hello", { inputId: "i1" }))
      yield* run.close("failed")
      assert.strictEqual(yield* refusalOf(queues.steer(conversationId, "hello", { inputId: "i1" })), "ending")
      yield* end
      const next = yield* openedIn(queues)
      const again = yield* receiptOf(queues.steer(conversationId, "hello, again", { inputId: "i1" }))
      assert.notStrictEqual(again, receipt)
      assert.deepStrictEqual(textsOf(yield* next.run.takeSteering), ["hello, again"])
      assert.strictEqual((yield* receipt.state)._tag, "Returned")
    })
  )

  it.effect("is the same id when the log could not tell it apart", () =>
    Effect.gen(function* () {
      const { queues } = yield* opened()
      const receipt = yield* receiptOf(queues.steer(conversationId, "hello", { inputId: "i\ud800" }))
      assert.strictEqual(receipt.inputId, "i\ufffd")
      assert.strictEqual(yield* receiptOf(queues.steer(conversationId, "hello", { inputId: "i\udfff" })), receipt)
    })
  )
})

describe("what is offered", () => {
  const parts = [
    Prompt.makePart("text", { text: "look at this \u{1f468}\u200d\u{1f469}\u200d\u{1f467}" }),
    Prompt.makePart("file", { mediaType: "image/png", data: new Uint8Array([0, 1, 254, 255]) }),
    Prompt.makePart("file", { mediaType: "application/pdf", fileName: "bill.pdf", data: "JVBERi0=" }),
    Prompt.makePart("file", { mediaType: "image/*", data: new URL("https://shop.example/a1.png") }),
    Prompt.makePart("text", { text: "", options: { provider: { cache: true } } })
  ]

  it.effect.each(["steer", "followUp"] as const)("arrives as it is, images and files too: %s", (way) =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      yield* queues[way](conversationId, parts, { inputId: "i1", author: "ann" })
      const message = yield* Input.toMessage(parts)
      const kind = way === "steer" ? "steering" : "follow-up"
      assert.deepStrictEqual(yield* run.takeOrClose, [{ kind, inputId: "i1", message, author: "ann" }])
    })
  )

  it.effect("is stored, and shown to a model, as if it had started the run", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      yield* queues.steer(conversationId, parts, { inputId: "i1" })
      const [command] = yield* run.takeSteering
      const writer = yield* (yield* Conversations.Conversations).open(conversationId)
      const runId = Ids.RunId.make("run")
      yield* writer.append([
        { _tag: "RunStarted", runId, agent: Ids.AgentName.make("desk"), mode: "execute" },
        { _tag: "InputRecorded", runId, kind: "user", message: yield* Input.toMessage(parts) },
        { _tag: "InputRecorded", runId, kind: command!.kind, inputId: "i1", message: command!.message }
      ])
      const messages = writer
        .records()
        .flatMap(({ payload }) => (payload._tag === "InputRecorded" ? [payload.message] : []))
      assert.deepStrictEqual(messages[1], messages[0])
      const shown = writer
        .prompt()
        .prompt.content.flatMap((message) => (message.role === "user" ? message.content : []))
      assert.strictEqual(shown.length, 8)
      assert.deepStrictEqual(shown.slice(4), shown.slice(0, 4))
    }).pipe(Effect.provide(Layer.provide(Conversations.layer, MemoryStorage.layer)))
  )

  it.effect("comes back as it was when it is handed back", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const receipt = yield* receiptOf(queues.steer(conversationId, parts, { inputId: "i1" }))
      yield* run.close("cancelled")
      const message = yield* Input.toMessage(parts)
      const command = { kind: "steering", inputId: "i1", message } as const
      assert.deepStrictEqual(yield* receipt.await, CommandQueues.State.Returned({ command, reason: "cancelled" }))
    })
  )

  it.effect("is refused when no record can hold it, before a run could fail over it", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const large = yield* Effect.flip(queues.steer(conversationId, "a".repeat(Limits.maxPayloadBytes)))
      assert.instanceOf(large, Limits.LimitExceeded)
      const options: Prompt.ProviderOptions = { provider: { "\ud800": 1, "\udfff": 2 } }
      const noJson = yield* Effect.flip(queues.steer(conversationId, said(options)))
      assert.instanceOf(noJson, CanonicalRecord.InvalidPayload)
      assert.deepStrictEqual(yield* run.takeOrClose, [])
    })
  )

  it.effect("fits its record, whatever the id of the run, when it is the most that is accepted", () =>
    Effect.gen(function* () {
      const { queues, run } = yield* opened()
      const tooLarge = yield* Effect.flip(
        queues.steer(conversationId, "a".repeat(Limits.maxPayloadBytes), { inputId: "i1", author: "ann" })
      )
      if (tooLarge._tag !== "LimitExceeded") return assert.fail(tooLarge._tag)
      const most = "a".repeat(Limits.maxPayloadBytes - (tooLarge.actual - tooLarge.maximum))
      yield* receiptOf(queues.steer(conversationId, most, { inputId: "i1", author: "ann" }))
      const [command] = yield* run.takeSteering
      const written = CanonicalRecord.encodePayload({
        _tag: "InputRecorded",
        runId: Ids.RunId.make("\\".repeat(512)),
        kind: "steering",
        inputId: "i1",
        author: "ann",
        message: command!.message
      })
      assert.strictEqual(Result.getOrThrow(written).length, Limits.maxPayloadBytes)
    })
  )
})

describe("types", () => {
  it("say what offering fails with, and that a run reads and closes without a service", () => {
    type Service = Context.Service.Shape<typeof CommandQueues.CommandQueues>
    type Error = Effect.Error<ReturnType<Service["steer"]>>
    const offering: Same<
      Error,
      | Input.EmptyInput
      | CanonicalRecord.InvalidPayload
      | Limits.LimitExceeded
      | CommandQueues.QueueFull
      | CommandQueues.InputConflict
      | StoreError.StoreUnavailable
    > = true
    const both: Same<ReturnType<Service["steer"]>, ReturnType<Service["followUp"]>> = true
    const taking: Same<
      CommandQueues.RunQueues["takeOrClose"],
      Effect.Effect<ReadonlyArray<CommandQueues.Command>, StoreError.StoreUnavailable>
    > = true
    const closing: Same<ReturnType<CommandQueues.RunQueues["close"]>, Effect.Effect<void>> = true
    type Outcome = Effect.Success<CommandQueues.Receipt["await"]>["_tag"]
    const outcome: Same<Outcome, "Done" | "Returned"> = true
    type Reached = Effect.Success<CommandQueues.Receipt["delivered"]>["_tag"]
    const reached: Same<Reached, "Delivered" | "Done" | "Returned"> = true
    assert.isTrue(offering && both && taking && closing && outcome && reached)
  })
})
