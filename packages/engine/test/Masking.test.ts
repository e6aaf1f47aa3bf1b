import { type RunEvent, SecretMask } from "@colloquy/capabilities"
import { ConversationStore } from "@colloquy/store"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, text } from "./support.ts"

const secret = "swordfish-4711"
const mask = Result.getOrThrow(SecretMask.make({ literals: [secret] }))

describe("a run with a mask", () => {
  for (const streaming of [false, true]) {
    it.effect(`stores and shows no secret, and its model sees none ${streaming ? "(streamed)" : ""}`, () =>
      Effect.gen(function* () {
        const events: Array<RunEvent.RunEvent> = []
        const result = yield* AgentRuntime.run(desk, `my password is ${secret}`, {
          conversationId,
          streaming,
          mask,
          onEvent: (event) => void events.push(event)
        })
        const store = yield* ConversationStore.ConversationStore
        const records = yield* Stream.runCollect(store.read({ conversationId }))
        const requests = (yield* ScriptedModel.Requests).all()
        for (const seen of [result, events, records, requests.map(({ prompt }) => prompt)]) {
          assert.notInclude(JSON.stringify(seen), secret)
        }
        assert.include(result.text, "[masked]")
      }).pipe(
        Effect.provide([
          processOver(MemoryDatabase.make()),
          handlers({ look_up: () => Effect.succeed({ status: `key ${secret}` }) }),
          ScriptedModel.layer([
            calls([lookUp("c1", secret)], `I use ${secret}.`),
            ScriptedModel.chunks(ScriptedModel.split(text(`It was ${secret}.`), 3))
          ])
        ])
      )
    )
  }
})
