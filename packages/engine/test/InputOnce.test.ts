/** An input that its source delivers more than once is run once, and its sender is told where it is. */
import { SecretMask } from "@colloquy/capabilities"
import { Limits } from "@colloquy/session"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { Conversations, ConversationStore } from "@colloquy/store"
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { AgentError, AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { acceptedBy, heldAt, inputs } from "./speaking.ts"
import { conversationId, desk, handlers, payloads, processOver, text } from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())

const first = { conversationId, inputId: "m1" }

/** What a start is told of an input that is there. */
const refusal = <A, E, R>(starting: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(starting), (error) => {
    assert.instanceOf(error, AgentError.InputExists)
    const { kind, sequence, words } = error
    const runId: string = error.runId
    return { kind, runId, sequence, words }
  })

/** A process of its own, and how many records it has read. */
const reading = (database: MemoryDatabase.MemoryDatabase) => {
  let records = 0
  const store = Layer.effect(
    ConversationStore.ConversationStore,
    ConversationStore.ConversationStore.useSync((store) => ({
      ...store,
      read: (request) => Stream.tap(store.read(request), () => Effect.sync(() => void records++))
    }))
  ).pipe(Layer.provide(MemoryStorage.layerWith({ database })))
  return { layer: Layer.provideMerge(AgentRuntime.layer, store), count: () => records }
}

const says = (...answers: ReadonlyArray<string>) => ScriptedModel.layer(answers.map(text))

describe("an input that has started a run", () => {
  it.effect("starts no second one, three times, also in another process; other words are another input", () => {
    const database = MemoryDatabase.make()
    const process = () => Layer.mergeAll(processOver(database), handlers(), says("Hi."))
    const known = { kind: "user", runId: "ca0df2c9/input/m1", sequence: 3, words: "same" } as const
    return Effect.gen(function* () {
      yield* Effect.gen(function* () {
        const { runId } = yield* AgentRuntime.run(desk, "Hello", first)
        assert.strictEqual(runId, "ca0df2c9/input/m1")
        assert.deepStrictEqual(yield* refusal(AgentRuntime.run(desk, "Hello", first)), known)
      }).pipe(Effect.provide(process()))
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* refusal(AgentRuntime.run(desk, "Hello", first)), known)
        assert.deepStrictEqual(yield* refusal(AgentRuntime.steerOrRun(desk, "Hello", first)), known)
        assert.deepStrictEqual(yield* refusal(AgentRuntime.followUpOrRun(desk, "Bye", first)), {
          ...known,
          words: "other"
        })
        assert.deepStrictEqual(
          (yield* inputs).map(([, said]) => said),
          ["Hello"]
        )
      }).pipe(Effect.provide(process()))
    })
  })

  it.effect("is known while that run goes on, and while it loads: one of three starts, the others are told", () =>
    Effect.gen(function* () {
      const answer = yield* heldAt
      yield* Effect.gen(function* () {
        const say = Effect.result(AgentRuntime.steerOrRun(desk, "Hello", first))
        const told = yield* Effect.all([say, say, say], { concurrency: "unbounded" })
        const [started, ...others] = told.flatMap((one) => (Result.isSuccess(one) ? [one.success._tag] : []))
        assert.strictEqual(started, "Started")
        assert.deepStrictEqual(others, [])
        for (const one of told) if (Result.isFailure(one)) assert.instanceOf(one.failure, AgentError.InputExists)
        yield* answer.reached
        assert.strictEqual((yield* refusal(AgentRuntime.start(desk, "Hello", first))).words, "same")
        assert.strictEqual((yield* refusal(AgentRuntime.steerOrRun(desk, "Bye", first))).words, "other")
        const other = yield* Effect.flip(AgentRuntime.start(desk, "Bye", { conversationId, inputId: "m2" }))
        assert.instanceOf(other, AgentError.ConversationBusy)
        yield* answer.open
      }).pipe(Effect.provide(ScriptedModel.layerOf(() => () => Effect.as(answer.hold, text("Hi.")))))
    }).pipe(Effect.provide([fresh(), handlers()]))
  )

  it.effect("is known to another process, which leaves the run alone that has it, also where it was steered in", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      const [one, two] = [yield* Layer.build(processOver(database)), yield* Layer.build(processOver(database))]
      const answer = yield* heldAt
      const model = ScriptedModel.layerOf(
        ({ call }) =>
          () =>
            Effect.as(call === 1 ? answer.hold : Effect.void, text("ok"))
      )
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "Hello", first)
        yield* acceptedBy(run.followUp("And?", { inputId: "m2" }))
        yield* answer.reached
        const again = (words: string, inputId: string) =>
          Effect.provideContext(refusal(AgentRuntime.steerOrRun(desk, words, { conversationId, inputId })), two)
        assert.deepInclude(yield* again("Hello", "m1"), { kind: "user", words: "same" })
        assert.deepInclude(yield* again("And?", "m2"), { kind: "follow-up", words: "same" })
        assert.deepInclude(yield* again("Or?", "m2"), { kind: "follow-up", words: "other" })
        yield* answer.open
        assert.strictEqual((yield* run.await).outcome, "completed")
        assert.deepInclude(yield* again("And?", "m2"), { kind: "follow-up", words: "same" })
      }).pipe(Effect.provideContext(one), Effect.provide([handlers(), model]))
    })
  )

  it.effect("is known where a summary hides it: the index has its run", () => {
    const database = MemoryDatabase.make()
    const writer = Conversations.Conversations.use(({ open }) => open(conversationId))
    return Effect.gen(function* () {
      yield* Effect.gen(function* () {
        yield* AgentRuntime.run(desk, "Hello", first)
        const coversThrough = (yield* writer).tail().sequence
        const summary = "They said hello."
        yield* (yield* writer).append([{ _tag: "Compacted", kind: "summary", coversThrough, pinned: [], summary }])
      }).pipe(Effect.scoped, Effect.provide([processOver(database), handlers(), says("Hi.")]))
      yield* Effect.gen(function* () {
        assert.isFalse((yield* writer).records().some(({ sequence }) => sequence === 3))
        assert.deepInclude(yield* refusal(AgentRuntime.run(desk, "Hello", first)), { sequence: 3, words: "same" })
        assert.deepInclude(yield* refusal(AgentRuntime.run(desk, "Bye", first)), { sequence: 3, words: "other" })
      }).pipe(Effect.scoped, Effect.provide([processOver(database), handlers(), says()]))
    })
  })

  it.effect("is run again, after a failure, under an id of its caller's", () =>
    Effect.gen(function* () {
      yield* Effect.exit(AgentRuntime.run(desk, "Hello", first))
      assert.deepInclude(yield* refusal(AgentRuntime.run(desk, "Hello", first)), {
        runId: "ca0df2c9/input/m1",
        words: "same"
      })
      const again = yield* AgentRuntime.run(desk, "Hello", { ...first, runId: "second try" })
      assert.strictEqual(again.text, "Hi.")
      const starts = (yield* payloads).flatMap((payload) => (payload._tag === "RunStarted" ? [payload] : []))
      assert.deepStrictEqual(
        starts.map(({ runId, workKey }) => `${runId}: ${workKey}`),
        ["ca0df2c9/input/m1: m1", "second try: m1"]
      )
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([ScriptedModel.fail(new AiError.InvalidRequestError({ description: "no" })), text("Hi.")])
      ])
    )
  )

  it.effect("says the same where its secrets are masked, and nothing that can be compared once it is redacted", () => {
    const mask = Result.getOrThrow(SecretMask.make({ literals: ["swordfish-4711"] }))
    const secret = "My password is swordfish-4711."
    return Effect.gen(function* () {
      yield* AgentRuntime.run(desk, secret, { ...first, mask })
      assert.notInclude(JSON.stringify(yield* inputs), secret)
      assert.strictEqual((yield* refusal(AgentRuntime.run(desk, secret, { ...first, mask }))).words, "same")
      const writer = yield* Conversations.Conversations.use(({ open }) => open(conversationId))
      yield* writer.redact({ sequences: [3], reason: "a key" })
      assert.strictEqual((yield* refusal(AgentRuntime.run(desk, secret, first))).words, "redacted")
    }).pipe(Effect.scoped, Effect.provide([fresh(), handlers(), says("Thank you.")]))
  })

  it.effect("names no run where nothing is stored", () =>
    Effect.gen(function* () {
      const one = yield* AgentRuntime.run(desk, "Hello", { inputId: "m1" })
      const two = yield* AgentRuntime.run(desk, "Hello", { inputId: "m1" })
      assert.notStrictEqual(one.runId, two.runId)
    }).pipe(Effect.provide([fresh(), handlers(), says("Hi.", "Hi.")]))
  )
})

describe("an input that a run was told while it went on", () => {
  it.effect("starts no run of its own, and is not told a later one again", () =>
    Effect.gen(function* () {
      const [answer, later] = [yield* heldAt, yield* heldAt]
      yield* Effect.gen(function* () {
        const run = yield* AgentRuntime.start(desk, "go", first)
        yield* answer.reached
        const more = { conversationId, inputId: "m2" }
        const offered = yield* AgentRuntime.followUpOrRun(desk, "more", more)
        assert.isTrue(offered._tag === "Accepted" && offered.receipt.kind === "follow-up")
        yield* answer.open
        yield* run.await
        const { sequence, ...known } = yield* refusal(AgentRuntime.start(desk, "more", more))
        assert.deepStrictEqual(known, { kind: "follow-up", runId: run.runId, words: "same" })
        const next = yield* AgentRuntime.start(desk, "next", { conversationId, inputId: "m3" })
        yield* later.reached
        assert.strictEqual((yield* refusal(AgentRuntime.steerOrRun(desk, "more", more))).sequence, sequence)
        const receipt = yield* acceptedBy(next.followUp("more", { inputId: "m2" }))
        yield* later.open
        yield* next.await
        assert.deepStrictEqual(yield* receipt.await, { _tag: "Done", sequence, answered: true })
        assert.deepStrictEqual(
          (yield* inputs).map(([, said]) => said),
          ["go", "more", "next"]
        )
      }).pipe(
        Effect.provide(
          ScriptedModel.layerOf(
            ({ call }) =>
              () =>
                Effect.as(call === 0 ? answer.hold : call === 2 ? later.hold : Effect.void, text("ok"))
          )
        )
      )
    }).pipe(Effect.provide([fresh(), handlers()]))
  )

  it.effect("is not brought back by its source once it is redacted", () =>
    Effect.gen(function* () {
      const held = [yield* heldAt, yield* heldAt]
      const model = ScriptedModel.layerOf(
        ({ call }) =>
          () =>
            Effect.as(held[call]?.hold ?? Effect.void, text("ok"))
      )
      yield* Effect.gen(function* () {
        const [answer, later] = held
        const secret = "My card is 4242."
        const run = yield* AgentRuntime.start(desk, secret, first)
        yield* answer!.reached
        yield* answer!.open
        yield* run.await
        const writer = yield* Conversations.Conversations.use(({ open }) => open(conversationId))
        yield* writer.redact({ sequences: [3], reason: "a card" })
        const next = yield* AgentRuntime.start(desk, "next", { conversationId, inputId: "m2" })
        yield* later!.reached
        const receipt = yield* acceptedBy(next.followUp(secret, { inputId: "m1" }))
        yield* later!.open
        yield* next.await
        assert.deepStrictEqual(yield* receipt.await, { _tag: "Done", sequence: 3, answered: true })
        assert.notInclude(JSON.stringify(yield* payloads), "4242")
      }).pipe(Effect.scoped, Effect.provide(model))
    }).pipe(Effect.provide([fresh(), handlers()]))
  )
})

describe("looking for an input", () => {
  const length = 50_000

  /** A long log that no summary has shortened, by a process that is over. */
  const written = (database: MemoryDatabase.MemoryDatabase) =>
    Effect.gen(function* () {
      const writer = yield* Conversations.Conversations.use(({ open }) => open(conversationId))
      const note = { _tag: "Custom" as const, name: "note", data: null }
      while (writer.tail().sequence < length) {
        const missing = Math.min(Limits.maxBatchRecords, length - writer.tail().sequence)
        yield* writer.append(Array.from({ length: missing }, () => note))
      }
    }).pipe(Effect.scoped, Effect.provide(processOver(database)))

  it.effect(
    "reads no more of a long log than a start does, in the process that has it at hand and in the next one",
    () =>
      Effect.gen(function* () {
        const read: Array<ReadonlyArray<number>> = []
        for (const ids of [[], ["m1", "m2"]]) {
          const database = MemoryDatabase.make()
          yield* written(database)
          const { layer, count } = reading(database)
          yield* Effect.gen(function* () {
            yield* AgentRuntime.run(desk, "Hello", { conversationId, inputId: ids[0], earlierRuns: "ledger" })
            const first = count()
            yield* AgentRuntime.run(desk, "Hello", { conversationId, inputId: ids[1], earlierRuns: "ledger" })
            read.push([first, count() - first])
          }).pipe(Effect.provide([layer, handlers(), says("Hi.", "Hi.")]))
        }
        assert.deepStrictEqual(read, [
          [length, 0],
          [length, 0]
        ])
      })
  )
})

describe("what a conversation is created with", () => {
  it.effect("counts for the run that creates it, and for no later one", () =>
    Effect.gen(function* () {
      yield* AgentRuntime.run(desk, "Hello", { conversationId, creation: { title: "Greetings", metadata: { a: 1 } } })
      yield* AgentRuntime.run(desk, "Hello", { conversationId, creation: { title: "Others" } })
      const created = (yield* payloads).filter(({ _tag }) => _tag === "ConversationCreated")
      assert.deepStrictEqual(created, [{ _tag: "ConversationCreated", title: "Greetings", metadata: { a: 1 } }])
      const store = yield* ConversationStore.ConversationStore
      assert.strictEqual((yield* store.summary({ conversationId })).title, "Greetings")
    }).pipe(Effect.provide([fresh(), handlers(), says("Hi.", "Hi.")]))
  )
})
