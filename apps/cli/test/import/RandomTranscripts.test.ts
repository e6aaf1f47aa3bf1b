/**
 * Laws of importing that hold whatever the order and the ids of a transcript are.
 */
import * as MemoryStorage from "@colloquy/storage-memory/MemoryStorage"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { ConversationId, ProducerId } from "@colloquy/session/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { PromptCheck } from "../../src/PromptCheck.ts"
import type { Transcript } from "../../src/import/Transcript.ts"
import * as S from "./samples.ts"

/** A small generator of the same numbers every time: https://en.wikipedia.org/wiki/Linear_congruential_generator */
const numbers = (seed: number) => {
  let state = seed >>> 0
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Messages in any order, with few ids, so that most are repeated, missing or answered twice. */
const randomMessages = (seed: number): ReadonlyArray<unknown> => {
  const next = numbers(seed)
  const id = () => ["a", "b", "a_2", "", "x\u0001"][next(5)]!
  return Array.from({ length: 5 + next(30) }, (_, i) => {
    switch (next(7)) {
      case 0:
        return S.user(`input ${i}`)
      case 1:
        return S.says(next(4) === 0 ? "" : `answer ${i}`)
      case 2:
      case 3:
        return S.calls(...Array.from({ length: 1 + next(3) }, id))
      case 4:
      case 5:
        return S.result(id(), `result ${i}`)
      default:
        return S.system(`system ${i}`)
    }
  })
}

const seeds = Array.from({ length: 300 }, (_, i) => i + 1)

const countCalls = (transcript: Transcript): number =>
  transcript.items.reduce(
    (sum, item) =>
      sum + (item._tag === "Response" ? item.content.filter(({ type }) => type === "tool-call").length : 0),
    0
  )

describe("any transcript", () => {
  it("keeps every call under an id of its own, and every result", () => {
    for (const seed of seeds) {
      const transcript = S.chat(...randomMessages(seed))
      const conversion = S.convert(transcript)
      const ids = S.all(conversion, "ModelResponded").flatMap(({ content }) =>
        content.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))
      )
      assert.strictEqual(ids.length, countCalls(transcript), `seed ${seed}`)
      assert.strictEqual(new Set(ids).size, ids.length, `seed ${seed}`)
      const {
        "call-without-result": dead = 0,
        "repeated-result": twice = 0,
        "result-without-call": alone = 0
      } = S.repairs(conversion)
      const settled = S.all(conversion, "ToolCallSettled").length
      assert.strictEqual(settled + dead, ids.length, `seed ${seed}`)
      assert.strictEqual(
        settled + twice + alone,
        transcript.items.filter(({ _tag }) => _tag === "Result").length,
        `seed ${seed}`
      )
    }
  })

  it("repeats its beginning when it grows by whole runs", () => {
    for (const seed of seeds) {
      const messages = randomMessages(seed)
      const whole = S.convert(S.chat(...messages)).batches
      for (const [place, message] of messages.entries()) {
        if (typeof message !== "object" || message === null || !("role" in message) || message.role !== "user") continue
        const part = S.convert(S.chat(...messages.slice(0, place))).batches
        assert.deepStrictEqual(whole.slice(0, part.length), part, `seed ${seed}, before message ${place}`)
      }
    }
  })

  it.effect("is a log without violations, whose prompts providers take", () =>
    Effect.gen(function* () {
      const store = yield* ConversationStore
      for (const seed of seeds) {
        const conversationId = ConversationId.make(`c${seed}`)
        const { batches } = S.convert(S.chat(...randomMessages(seed)))
        yield* store.importBatches({ conversationId, producerId: ProducerId.make("test"), batches })
        const { faults } = yield* store.verify({ conversationId })
        assert.deepStrictEqual(faults, [], `seed ${seed}`)
        const check = new PromptCheck(conversationId)
        yield* Stream.runForEach(store.read({ conversationId }), (record) => Effect.sync(() => check.read(record)))
        assert.deepStrictEqual(check.faults, [], `seed ${seed}`)
      }
    }).pipe(Effect.provide(MemoryStorage.layer))
  )
})
