import { Ids } from "@colloquy/session"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Prompt from "effect/ai/Prompt"
import { EphemeralConversations } from "../src/index.ts"

const id = Ids.ConversationId.make("chat-1")
const user = (text: string) => Prompt.makeMessage("user", { content: [Prompt.makePart("text", { text })] })
const history = (...texts: ReadonlyArray<string>) => Prompt.fromMessages(texts.map(user))
const service = EphemeralConversations.EphemeralConversations
const withLimits = (options: EphemeralConversations.Options) =>
  Effect.provide(EphemeralConversations.layerWith(options))

describe("conversations of a process", () => {
  it.effect("keep the exact history, give it back, and forget it", () =>
    Effect.gen(function* () {
      const conversations = yield* service
      yield* conversations.create(id, history("one"))
      yield* conversations.append(id, [user("two")])
      assert.deepStrictEqual(yield* conversations.snapshot(id), history("one", "two"))
      const exported = JSON.parse(JSON.stringify(yield* conversations.export(id)))
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(Prompt.Prompt)(exported), history("one", "two"))
      assert.isTrue(yield* conversations.remove(id))
      assert.isFalse(yield* conversations.remove(id))
      assert.strictEqual((yield* Effect.flip(conversations.snapshot(id)))._tag, "UnknownEphemeral")
    }).pipe(Effect.provide(EphemeralConversations.layer))
  )

  it.effect("take a history that extends theirs, and no other", () =>
    Effect.gen(function* () {
      const conversations = yield* service
      yield* conversations.create(id, history("one", "two"))
      yield* conversations.recordHistory(id, history("one", "two", "three"))
      for (const [other, at] of [
        [history("one", "2", "three", "four"), 1],
        [history("one", "two"), 2],
        [Prompt.empty, 0]
      ] as const) {
        const error = yield* Effect.flip(conversations.recordHistory(id, other))
        assert.isTrue(error._tag === "HistoryDiverged" && error.at === at)
      }
      assert.deepStrictEqual(yield* conversations.snapshot(id), history("one", "two", "three"))
    }).pipe(Effect.provide(EphemeralConversations.layer))
  )

  it.effect("a history that went through JSON is the same history", () =>
    Effect.gen(function* () {
      const conversations = yield* service
      yield* conversations.create(id, history("one"))
      const decoded = yield* Schema.decodeUnknownEffect(Prompt.Prompt)(yield* conversations.export(id))
      yield* conversations.recordHistory(id, Prompt.fromMessages([...decoded.content, user("two")]))
      assert.deepStrictEqual(yield* conversations.snapshot(id), history("one", "two"))
    }).pipe(Effect.provide(EphemeralConversations.layer))
  )

  it.effect("an id names one", () =>
    Effect.gen(function* () {
      const conversations = yield* service
      yield* conversations.create(id)
      assert.strictEqual((yield* Effect.flip(conversations.create(id)))._tag, "EphemeralExists")
    }).pipe(Effect.provide(EphemeralConversations.layer))
  )
})

describe("limits", () => {
  const exceeded = Effect.fnUntraced(function* (
    does: Effect.Effect<unknown, EphemeralConversations.EphemeralLimitExceeded | { readonly _tag: string }>
  ) {
    const error = yield* Effect.flip(does)
    return error instanceof EphemeralConversations.EphemeralLimitExceeded
      ? [error.limit, error.maximum, error.actual]
      : assert.fail(error._tag)
  })

  it.effect("of conversations", () =>
    Effect.gen(function* () {
      const conversations = yield* service
      yield* conversations.create(id)
      const other = Ids.ConversationId.make("chat-2")
      assert.deepStrictEqual(yield* exceeded(conversations.create(other)), ["maxConversations", 1, 2])
      yield* conversations.remove(id)
      yield* conversations.create(other)
    }).pipe(withLimits({ maxConversations: 1 }))
  )

  it.effect("of messages: exactly at it is kept, one over is not, and nothing is kept in part", () =>
    Effect.gen(function* () {
      const conversations = yield* service
      yield* conversations.create(id, history("one"))
      assert.deepStrictEqual(yield* exceeded(conversations.append(id, [user("2"), user("3"), user("4")])), [
        "maxMessages",
        3,
        4
      ])
      assert.deepStrictEqual(yield* conversations.snapshot(id), history("one"))
      yield* conversations.append(id, [user("2"), user("3")])
    }).pipe(withLimits({ maxMessages: 3 }))
  )

  it.effect("of bytes, of one and of all; what is removed makes room", () =>
    Effect.gen(function* () {
      const conversations = yield* service
      const other = Ids.ConversationId.make("chat-2")
      yield* conversations.create(id)
      yield* conversations.create(other)
      const big = user("é".repeat(400))
      assert.strictEqual(
        (yield* exceeded(conversations.append(id, [user("é".repeat(600))]))).at(0),
        "maxConversationBytes"
      )
      yield* conversations.append(id, [big])
      assert.strictEqual((yield* exceeded(conversations.append(other, [big]))).at(0), "maxTotalBytes")
      yield* conversations.remove(id)
      yield* conversations.append(other, [big])
    }).pipe(withLimits({ maxConversationBytes: 1000, maxTotalBytes: 1500 }))
  )

  it.effect("that are none are defects", () =>
    Effect.gen(function* () {
      for (const value of [0, -1, 1.5, Number.NaN]) {
        const exit = yield* Effect.exit(EphemeralConversations.make({ maxMessages: value }))
        assert.include(String(exit), "maxMessages")
      }
    })
  )
})
