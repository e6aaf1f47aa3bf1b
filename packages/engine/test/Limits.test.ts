import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import { AgentRuntime } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import {
  calls,
  conversationId,
  desk,
  faultsOfLast,
  handlers,
  lookUp,
  payloads,
  processOver,
  story,
  text
} from "./support.ts"

const fresh = () => processOver(MemoryDatabase.make())

const megabytes = (count: number) => "x".repeat(count * 1024 * 1024)

const deep = (depth: number): unknown => (depth === 0 ? {} : { a: deep(depth - 1) })

const finish = ScriptedModel.finish("stop")

/** Responses that no payload can hold. */
const unstorable: ReadonlyArray<readonly [what: string, parts: ReadonlyArray<Response.PartEncoded>]> = [
  ["a text of 5 MB", [{ type: "text", text: megabytes(5) }, finish]],
  [
    "a text and reasoning of 3 MB each",
    [{ type: "reasoning", text: megabytes(3) }, { type: "text", text: megabytes(3) }, finish]
  ],
  ["parameters of 5 MB", calls([lookUp("c1", megabytes(5))])],
  ["parameters that are nested too deeply", calls([{ id: "c1", name: "look_up", params: deep(80) }])]
]

describe("a response that cannot be stored", () => {
  for (const streaming of [false, true]) {
    for (const [what, parts] of unstorable) {
      it.effect(`since it has ${what} fails the run, whose end is stored${streaming ? " (stream)" : ""}`, () =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(AgentRuntime.run(desk, "go", { conversationId, streaming }))
          assert.include(["LimitExceeded", "InvalidBatch"], error._tag)
          assert.deepStrictEqual((yield* story).slice(3), ["ended failed"])
          const end = (yield* payloads).at(-1)
          assert.isTrue(end?._tag === "RunEnded" && end.error?.tag === error._tag)
          assert.strictEqual((yield* AgentRuntime.run(desk, "again", { conversationId })).text, "ok")
          assert.deepStrictEqual(yield* faultsOfLast, [])
        }).pipe(Effect.provide([fresh(), handlers(), ScriptedModel.layer([parts, text("ok")])]))
      )
    }
  }

  it.effect("is as little in a run without a store", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(AgentRuntime.run(desk, "go"))
      assert.strictEqual(error._tag, "LimitExceeded")
    }).pipe(Effect.provide([AgentRuntime.layerEphemeral, handlers(), ScriptedModel.layer([text(megabytes(5))])]))
  )
})

describe("an error with very many words", () => {
  it.effect("ends the run all the same: the log keeps their beginning, the caller has them all", () => {
    const description = `${"🙂".repeat(1024 * 1024)}${megabytes(2)}`
    return Effect.gen(function* () {
      const error = yield* Effect.flip(AgentRuntime.run(desk, "go", { conversationId }))
      assert.isTrue(error._tag === "AiError" && error.message.includes(description))
      const end = (yield* payloads).at(-1)
      assert.isTrue(end?._tag === "RunEnded" && end.error?.tag === "AiError")
      assert.isTrue(end?._tag === "RunEnded" && end.error!.message.isWellFormed() && end.error!.message.length < 20_000)
    }).pipe(
      Effect.provide([
        fresh(),
        handlers(),
        ScriptedModel.layer([ScriptedModel.fail(new AiError.InvalidRequestError({ description }))])
      ])
    )
  })
})
