import { type RunEvent } from "@colloquy/capabilities"
import { PromptFault } from "@colloquy/session"
import { ConversationStore } from "@colloquy/store"
import { MemoryDatabase } from "@colloquy/storage-memory"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AiError from "effect/ai/AiError"
import * as Prompt from "effect/ai/Prompt"
import { AgentRuntime, ContextOverflow } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { calls, conversationId, desk, handlers, lookUp, processOver, story, text } from "./support.ts"

const long = (words: number) => "word ".repeat(words)
const longResult = handlers({ look_up: ({ order }) => Effect.succeed({ status: `${order} ${long(400)}` }) })

/** A summary is asked for without tools. */
const isSummary = ({ toolNames }: ScriptedModel.Request): boolean => toolNames.length === 0

const contentOf = (prompt: Prompt.Prompt) => encodePrompt(prompt).content

const encodePrompt = Schema.encodeSync(Prompt.Prompt)

const asText = (prompt: Prompt.Prompt): string => JSON.stringify(contentOf(prompt))

const requests = Effect.map(ScriptedModel.Requests, (service) => service.all())

const tooLarge = AiError.make({
  module: "test",
  method: "generateText",
  reason: new AiError.InvalidRequestError({ description: "the prompt is too long" })
})

const overflow = Layer.succeed(ContextOverflow.ContextOverflow, (error: AiError.AiError) => error === tooLarge)

const records = Effect.gen(function* () {
  const store = yield* ConversationStore.ConversationStore
  return yield* Stream.runCollect(store.read({ conversationId }))
})

const compactions = Effect.map(records, (all) =>
  all.flatMap(({ payload }) => (payload._tag === "Compacted" ? [payload] : []))
)

describe("a run that grows too large", () => {
  it.effect("hides the results of old calls before the next model call, and the log keeps them", () =>
    Effect.gen(function* () {
      const compaction = { maxInputTokens: 900, targetInputTokens: 650 }
      yield* AgentRuntime.run(desk, "Where are they?", { conversationId, compaction })
      const all = yield* requests
      assert.isFalse(all.some(isSummary))
      for (const { prompt } of all) assert.deepStrictEqual(PromptFault.check(prompt), [])
      const last = asText(all.at(-1)!.prompt)
      assert.notInclude(last, `A1 ${long(3)}`)
      assert.include(last, `A4 ${long(3)}`)
      const [first] = yield* compactions
      assert.deepStrictEqual([first?.kind, first?.clearedCallIds?.[0]], ["cleared-results", "c1"])
      const kept = (yield* records).filter(({ payload }) => payload._tag === "ToolCallSettled")
      assert.strictEqual(kept.length, 4)
      for (const { payload } of yield* records) {
        if (payload._tag === "ModelResponded") assert.isAbove(payload.estimatedInputTokens ?? 0, 0)
      }
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        longResult,
        ScriptedModel.layer([
          ...["A1", "A2", "A3", "A4"].map((order, i) => calls([lookUp(`c${i + 1}`, order)])),
          text("done")
        ])
      ])
    )
  )

  const talk = (turns: number, summary: (request: ScriptedModel.Request) => ScriptedModel.Turn) =>
    ScriptedModel.layerOf((request) => {
      if (isSummary(request)) return summary(request)
      return text(`${long(60)} answer ${turns}`)
    })

  // The scripted model reports few tokens: estimates are corrected to half of themselves.
  const compaction = { maxInputTokens: 300, targetInputTokens: 150 }

  it.effect("is summarised by its own model, and later runs, also of other processes, begin with the summary", () => {
    const database = MemoryDatabase.make()
    const process = () =>
      Layer.mergeAll(
        processOver(database),
        handlers(),
        talk(1, () => text("SUMMARY: they spoke of words."))
      )
    return Effect.gen(function* () {
      const prompts = yield* Effect.gen(function* () {
        for (let i = 0; i < 6; i++) {
          yield* AgentRuntime.run(desk, `question ${i} ${long(20)}`, { conversationId, compaction })
        }
        return yield* requests
      }).pipe(Effect.provide(process()))
      assert.isTrue(prompts.some(isSummary))
      const shown = prompts.filter((request) => !isSummary(request)).at(-1)!.prompt
      assert.include(asText(shown), "SUMMARY: they spoke of words.")
      assert.notInclude(asText(shown), "question 0")
      assert.include(asText(shown), "question 5")

      yield* Effect.gen(function* () {
        yield* AgentRuntime.run(desk, "and now?", { conversationId, compaction })
        const [next] = (yield* requests).filter((request) => !isSummary(request))
        // The same prefix, byte for byte: provider caches hit.
        assert.deepStrictEqual(contentOf(next!.prompt).slice(0, shown.content.length), contentOf(shown))
        assert.isTrue((yield* story).includes("Compacted"))
      }).pipe(Effect.provide(process()))
    })
  })

  it.effect("whose summary fails goes on without its oldest turns, and says how many", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 6; i++) {
        yield* AgentRuntime.run(desk, `question ${i} ${long(20)}`, { conversationId, compaction })
      }
      const found = yield* compactions
      assert.isAbove(found.length, 0)
      assert.match(found[0]?.summary ?? "", /\d/)
      assert.isUndefined(found[0]?.model)
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        handlers(),
        talk(1, () => ScriptedModel.fail(new AiError.InvalidRequestError({ description: "no" })))
      ])
    )
  )

  for (const way of ["succeeds", "fails", "is interrupted"] as const) {
    it.effect(`a steer during a compaction that ${way} is delivered once or returned`, () =>
      Effect.gen(function* () {
        const reached = yield* Deferred.make<void>()
        const go = yield* Deferred.make<void>()
        const summary: ScriptedModel.Turn = () =>
          Deferred.succeed(reached, undefined).pipe(
            Effect.andThen(Deferred.await(go)),
            Effect.andThen(
              way === "fails"
                ? Effect.fail(
                    AiError.make({
                      module: "test",
                      method: "generateText",
                      reason: new AiError.InvalidRequestError({ description: "no" })
                    })
                  )
                : Effect.succeed(text("SUMMARY"))
            )
          )
        yield* Effect.gen(function* () {
          for (let i = 0; i < 4; i++) {
            yield* AgentRuntime.run(desk, `question ${i} ${long(20)}`, { conversationId })
          }
          const run = yield* AgentRuntime.start(desk, `question 5 ${long(60)}`, { conversationId, compaction })
          yield* Deferred.await(reached)
          const offered = yield* run.steer("STEERED")
          if (offered._tag !== "Accepted") return assert.fail(offered.reason)
          if (way === "is interrupted") yield* run.cancel
          yield* Deferred.succeed(go, undefined)
          yield* run.await
          const outcome = yield* offered.receipt.await
          const inputs = (yield* records).filter(
            ({ payload }) => payload._tag === "InputRecorded" && payload.kind === "steering"
          )
          if (way === "is interrupted") {
            assert.strictEqual(outcome._tag, "Returned")
            assert.deepStrictEqual(inputs, [])
            assert.deepStrictEqual(yield* compactions, [], "an interrupted compaction writes nothing")
          } else {
            assert.isTrue(outcome._tag === "Done" && outcome.answered)
            assert.strictEqual(inputs.length, 1)
            assert.include(asText((yield* requests).at(-1)!.prompt), "STEERED")
          }
        }).pipe(Effect.provide(talk(1, () => summary)))
      }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers()]))
    )
  }
})

describe("a request that the provider refuses as too large", () => {
  const refusing = (times: number) => {
    let refused = 0
    return ScriptedModel.layerOf((request) => {
      if (isSummary(request)) return text("SUMMARY")
      if (request.prompt.content.length > 4 && refused++ < times) return () => Effect.fail(tooLarge)
      return text(long(40))
    })
  }

  const talked = Effect.gen(function* () {
    for (let i = 0; i < 2; i++) yield* AgentRuntime.run(desk, `question ${i} ${long(40)}`, { conversationId })
  })

  it.effect("is compacted once and made once more", () =>
    Effect.gen(function* () {
      yield* talked
      const compaction = { maxInputTokens: 400 }
      const { outcome } = yield* AgentRuntime.run(desk, "again", { conversationId, compaction })
      assert.strictEqual(outcome, "completed")
      assert.strictEqual((yield* compactions).length, 1)
    }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers(), refusing(1), overflow]))
  )

  it.effect("and is so again is an error of its own; the conversation can be gone on with", () =>
    Effect.gen(function* () {
      yield* talked
      const compaction = { maxInputTokens: 400 }
      const error = yield* Effect.flip(AgentRuntime.run(desk, "again", { conversationId, compaction }))
      assert.strictEqual(error._tag, "ContextTooLarge")
      assert.isAtMost((yield* compactions).length, 1)
      assert.strictEqual((yield* AgentRuntime.run(desk, "once more", { conversationId })).outcome, "completed")
    }).pipe(
      Effect.provide([
        processOver(MemoryDatabase.make()),
        handlers(),
        ScriptedModel.layerOf((request) => {
          if (isSummary(request)) return text("SUMMARY")
          return asText(request.prompt).includes("again") && !asText(request.prompt).includes("once more")
            ? () => Effect.fail(tooLarge)
            : text(long(40))
        }),
        overflow
      ])
    )
  )

  it.effect("is an error where compaction is off, and nothing is compacted", () =>
    Effect.gen(function* () {
      yield* talked
      const error = yield* Effect.flip(AgentRuntime.run(desk, "again", { conversationId }))
      assert.isTrue(error._tag === "ContextTooLarge" && error.cause === tooLarge)
      assert.deepStrictEqual(yield* compactions, [])
    }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers(), refusing(9), overflow]))
  )
})

describe("what cannot be shrunk", () => {
  it.effect("is sent as it is, and those who watch are told", () =>
    Effect.gen(function* () {
      const events: Array<RunEvent.RunEvent> = []
      const { outcome } = yield* AgentRuntime.run(desk, long(500), {
        conversationId,
        compaction: { maxInputTokens: 100 },
        onEvent: (event) => void events.push(event)
      })
      assert.strictEqual(outcome, "completed")
      assert.isTrue(events.some(({ _tag }) => _tag === "CannotShrink"))
      assert.deepStrictEqual(yield* compactions, [])
    }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers(), ScriptedModel.layer([text("ok")])]))
  )

  for (const compaction of [
    { maxInputTokens: 0 },
    { maxInputTokens: -5 },
    { maxInputTokens: 100, targetInputTokens: 100 },
    { maxInputTokens: Number.NaN }
  ]) {
    it.effect(`${JSON.stringify(compaction)} is refused before anything is stored`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(AgentRuntime.run(desk, "go", { conversationId, compaction }))
        assert.isTrue(error._tag === "InvalidOption" && error.option.startsWith("compaction."))
        assert.deepStrictEqual(yield* story, ["ConversationCreated"])
      }).pipe(Effect.provide([processOver(MemoryDatabase.make()), handlers(), ScriptedModel.layer([])]))
    )
  }
})
