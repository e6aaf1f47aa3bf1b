import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import { ScriptedModel } from "../src/testing/index.ts"

const { text } = ScriptedModel

describe("the requests of a scripted model", () => {
  for (const [keep, kept] of [
    [undefined, [0, 1, 2]],
    [2, [1, 2]],
    [0, []]
  ] as const) {
    it.effect(`are kept, ${keep ?? "all"} of them, and its turns are counted all the same`, () =>
      Effect.gen(function* () {
        const answers = yield* Effect.forEach(["a", "b", "c"], (prompt) => LanguageModel.generateText({ prompt }))
        assert.deepStrictEqual(
          answers.map((answer) => answer.text),
          ["answer 0", "answer 1", "answer 2"]
        )
        const { all } = yield* ScriptedModel.Requests
        assert.deepStrictEqual(
          all().map(({ call }) => call),
          [...kept]
        )
      }).pipe(Effect.provide(ScriptedModel.layerOf(({ call }) => text(`answer ${call}`), { keep })))
    )
  }
})
