import { ConversationId, ProducerId } from "@colloquy/session/Ids"
import * as MemoryStorage from "@colloquy/storage-memory/MemoryStorage"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { PromptCheck } from "../src/PromptCheck.ts"
import type { Transcript } from "../src/import/Transcript.ts"
import * as S from "./import/samples.ts"

const conversationId = ConversationId.make("c")

const check = (transcript: Transcript) =>
  Effect.gen(function* () {
    const store = yield* ConversationStore
    const { batches } = S.convert(transcript)
    yield* store.importBatches({ conversationId, producerId: ProducerId.make("test"), batches })
    const check = new PromptCheck(conversationId)
    yield* Stream.runForEach(store.read({ conversationId }), (record) => Effect.sync(() => check.read(record)))
    return check
  }).pipe(Effect.provide(MemoryStorage.layer))

describe("PromptCheck", () => {
  it.effect("makes a prompt at the end of every run", () =>
    Effect.gen(function* () {
      const { faults, prompts } = yield* check(S.chat(S.user("a"), S.says("b"), S.user("c"), S.user("d")))
      assert.deepStrictEqual({ faults, prompts }, { faults: [], prompts: 3 })
    })
  )

  it.effect("counts each repair once, however many prompts show it", () =>
    Effect.gen(function* () {
      const thinking = { type: "thinking", thinking: "hm", thinkingSignature: "s" }
      const found = yield* check(
        S.pi(
          S.piUser("a"),
          S.piSays([thinking, { type: "toolCall", id: "x", name: "look", arguments: {} }]),
          S.piUser("b"),
          S.piSays([]),
          S.piUser("c"),
          S.piSays([thinking])
        )
      )
      assert.deepStrictEqual(found.faults, [])
      assert.deepStrictEqual(found.counts(), [
        { conversationId, kind: "call-without-result", count: 1 },
        { conversationId, kind: "empty-message", count: 1 },
        { conversationId, kind: "reasoning-without-content", count: 1 }
      ])
    })
  )
})
