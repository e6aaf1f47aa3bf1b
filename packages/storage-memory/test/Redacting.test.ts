/** Redacting through the shared writer, over memory: nothing of what was removed is shown any more. */
import { Conversation, Digest, Ids, type Payload, Seams } from "@colloquy/session"
import { MemoryDatabase, MemoryStorage } from "@colloquy/storage-memory"
import { ConversationStore, Conversations, StoreError } from "@colloquy/store"
import type { Writer } from "@colloquy/store/Writer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"

const conversationId = Ids.ConversationId.make("ticket-42")
const runId = Ids.RunId.make("r1")
const agent = Ids.AgentName.make("desk")
const callId = Ids.ToolCallId.make("c1")
const parametersDigest = Digest.text("yes")

const said = (text: string): Payload.Written => ({
  _tag: "InputRecorded",
  runId,
  kind: "user",
  message: { role: "user", content: [{ type: "text", text }] }
})
const started: Payload.Written = { _tag: "RunStarted", runId, agent, mode: "execute" }
const asked: ReadonlyArray<Payload.Written> = [
  {
    _tag: "ModelResponded",
    runId,
    step: 1,
    agent,
    finishReason: "tool-calls",
    content: [{ type: "tool-call", id: callId, name: "search", params: { for: "the secret" } }]
  },
  {
    _tag: "ApprovalRequested",
    runId,
    approvalId: Ids.ApprovalId.make("a1"),
    callId,
    name: "search",
    parametersDigest
  }
]

const over = (database: MemoryDatabase.MemoryDatabase, faults: MemoryStorage.Options["faults"] = {}) =>
  Layer.provideMerge(Conversations.layer, MemoryStorage.layerWith({ database, faults }))

const open = Effect.flatMap(Conversations.Conversations, ({ open }) => open(conversationId))

/** A writer with a secret in its third record, and a question behind it. */
const withSecret = Effect.tap(open, (writer) => writer.append([started, said("the secret"), said("a question")]))

const redaction = { sequences: [3], reason: "asked for" }

/** The writer shows what a rebuild from the log shows, and nothing of the secret. */
const showsNothing = Effect.fnUntraced(function* (writer: Writer) {
  const shown = JSON.stringify([writer.records(), writer.state(), writer.prompt().prompt.content])
  assert.notInclude(shown, "the secret")
  assert.include(shown, "a question")
  const store = yield* ConversationStore.ConversationStore
  const records = yield* Stream.runCollect(store.read({ conversationId }))
  const rebuilt = Result.getOrThrow(Conversation.replay(Conversation.initial(conversationId), records))
  assert.deepStrictEqual(writer.state(), rebuilt)
  assert.deepStrictEqual(writer.records(), records)
  assert.strictEqual(writer.tail().sequence, records.length)
})

const countOf = (writer: Writer, tag: string) => writer.records().filter(({ payload }) => payload._tag === tag).length

const unavailable = (retryable: boolean) =>
  new StoreError.StoreUnavailable({ reason: "connection", retryable, detail: "the answer was lost", cause: null })

/** Loses the answer to the first redaction. */
const losingAnswer = (retryable: boolean) => {
  let lost = false
  return {
    afterCommit: ({ replaced = [] }: { readonly replaced?: ReadonlyArray<unknown> }) =>
      Effect.suspend(() => {
        if (lost || replaced.length === 0) return Effect.void
        lost = true
        return Effect.fail(unavailable(retryable))
      })
  }
}

describe("Writer.redact", () => {
  it.effect("shows nothing of it any more, and goes on", () =>
    Effect.gen(function* () {
      const writer = yield* withSecret
      const { sequences } = yield* writer.redact(redaction)
      assert.deepStrictEqual(sequences, [3])
      yield* showsNothing(writer)
      yield* writer.append([said("another")])
      yield* showsNothing(writer)
    }).pipe(Effect.provide(over(MemoryDatabase.make())))
  )

  it.effect("shows nothing after it was loaded again, with or without a checkpoint since", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      for (let i = 0; i < 2; i++) {
        yield* Effect.gen(function* () {
          const writer = yield* i === 0 ? Effect.tap(withSecret, ({ redact }) => redact(redaction)) : open
          yield* showsNothing(writer)
          yield* writer.append(Array.from({ length: 80 }, (_, n) => said(`${i} ${n}`)))
          yield* showsNothing(writer)
        }).pipe(Effect.provide(over(database)))
      }
    })
  )

  it.effect("a lost answer is asked for again: the redaction is there once, and nothing is shown", () =>
    Effect.gen(function* () {
      const writer = yield* withSecret
      const fiber = yield* Effect.forkScoped(writer.redact(redaction), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.isTrue((yield* Fiber.join(fiber)).replayed)
      yield* showsNothing(writer)
      assert.strictEqual(countOf(writer, "ContentRedacted"), 1)
      yield* writer.append([said("another")])
      yield* showsNothing(writer)
    }).pipe(Effect.provide(over(MemoryDatabase.make(), losingAnswer(true))))
  )

  it.effect("an answer that is lost for good is a failure, and nothing is shown all the same", () =>
    Effect.gen(function* () {
      const writer = yield* withSecret
      assert.strictEqual((yield* Effect.flip(writer.redact(redaction)))._tag, "StoreUnavailable")
      yield* showsNothing(writer)
      assert.strictEqual(countOf(writer, "ContentRedacted"), 1)
      yield* writer.append([said("another")])
    }).pipe(Effect.provide(over(MemoryDatabase.make(), losingAnswer(false))))
  )

  it.effect("an eraser that fails is a failure, and nothing is shown all the same; repeated, it asks again", () => {
    let [asked, failing] = [0, true]
    const eraser: Seams.Eraser = {
      name: "ledger",
      erase: ({ conversationId }) =>
        Effect.suspend(() => {
          asked++
          if (!failing) return Effect.succeed({ removed: { entries: 1 }, copies: {} })
          return Effect.fail(new Seams.EraserFailed({ conversationId, eraser: "ledger", cause: "held" }))
        })
    }
    return Effect.gen(function* () {
      const writer = yield* withSecret
      assert.strictEqual((yield* Effect.flip(writer.redact(redaction)))._tag, "EraserFailed")
      yield* showsNothing(writer)
      failing = false
      const { removed } = yield* writer.redact(redaction)
      assert.deepStrictEqual([removed["ledger.entries"], asked], [1, 2])
      yield* showsNothing(writer)
    }).pipe(Effect.provide(over(MemoryDatabase.make())), Effect.provideService(Seams.Erasers, [eraser]))
  })

  it.effect("keeps no digest in the state that what was removed could be guessed from", () =>
    Effect.gen(function* () {
      const database = MemoryDatabase.make()
      yield* Effect.gen(function* () {
        const writer = yield* withSecret
        yield* writer.append(asked)
        assert.include(JSON.stringify(writer.state()), parametersDigest)
        yield* writer.redact({ ...redaction, sequences: [3, 5, 6] })
        assert.notInclude(JSON.stringify(writer.state()), parametersDigest)
        assert.strictEqual(writer.state().approvals.length, 1)
        yield* showsNothing(writer)
        yield* writer.append(Array.from({ length: 80 }, (_, n) => said(`${n}`)))
      }).pipe(Effect.provide(over(database)))
      const checkpoints = database.rows(conversationId)?.checkpoints ?? []
      assert.isNotEmpty(checkpoints)
      assert.notInclude(JSON.stringify(checkpoints), parametersDigest)
    })
  )

  it.effect("of a summary leaves its place in the window, and not its words", () =>
    Effect.gen(function* () {
      const writer = yield* withSecret
      yield* writer.append([
        { _tag: "Compacted", kind: "summary", coversThrough: 3, pinned: [], summary: "about the secret" }
      ])
      const { visibleFrom } = writer.state().window
      const { sequences } = yield* writer.redact(redaction)
      assert.deepStrictEqual(sequences, [3, 5])
      assert.strictEqual(writer.state().window.visibleFrom, visibleFrom)
      const shown = JSON.stringify([writer.records(), writer.prompt().prompt.content])
      assert.notInclude(shown, "the secret")
      assert.include(shown, "a question")
    }).pipe(Effect.provide(over(MemoryDatabase.make())))
  )

  it.effect("by one who was taken over is refused, and nothing is removed", () =>
    Effect.gen(function* () {
      const store = yield* ConversationStore.ConversationStore
      const writer = yield* withSecret
      yield* store.materialize({ conversationId, producerId: Ids.ProducerId.make("other") })
      for (let i = 0; i < 2; i++) {
        assert.strictEqual((yield* Effect.flip(writer.redact(redaction)))._tag, "FenceRejected")
      }
      assert.isTrue(writer.isStopped())
      const log = yield* Stream.runCollect(store.read({ conversationId }))
      assert.isFalse(log.some(({ payload }) => payload._tag === "Redacted"))
    }).pipe(Effect.provide(over(MemoryDatabase.make())))
  )

  it.effect("of what is not there is refused, and the writer goes on", () =>
    Effect.gen(function* () {
      const writer = yield* withSecret
      assert.strictEqual((yield* Effect.flip(writer.redact({ ...redaction, sequences: [99] })))._tag, "InvalidBatch")
      yield* writer.append([said("another")])
      yield* writer.redact(redaction)
      yield* showsNothing(writer)
    }).pipe(Effect.provide(over(MemoryDatabase.make())))
  )

  it.effect("leaves a checkpoint for nobody", () =>
    Effect.gen(function* () {
      const writer = yield* withSecret
      yield* writer.append(Array.from({ length: 80 }, (_, n) => said(`${n}`)))
      const store = yield* ConversationStore.ConversationStore
      assert.isTrue(Option.isSome(yield* store.loadCheckpoint({ conversationId })))
      yield* writer.redact(redaction)
      assert.isTrue(Option.isNone(yield* store.loadCheckpoint({ conversationId })))
    }).pipe(Effect.provide(over(MemoryDatabase.make())))
  )
})
