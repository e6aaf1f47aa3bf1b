/** The ladder: what is written, what it took, and what a failure leaves behind. */
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type * as Payload from "@colloquy/session/Payload"
import * as PromptFault from "@colloquy/session/PromptFault"
import * as MemoryStorage from "@colloquy/storage-memory/MemoryStorage"
import { Conversations } from "@colloquy/store/Conversations"
import * as StoreConversations from "@colloquy/store/Conversations"
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { Compaction, CompactionStrategy, SummaryModel, Tokens } from "../../src/index.ts"
import * as log from "./log.ts"

type Answer = string | AiError.AiError | Effect.Effect<string>

const failing = (reason: AiError.AiErrorReason) => AiError.make({ module: "test", method: "generateText", reason })
const overloaded = failing(new AiError.InternalProviderError({ description: "secret text of the prompt" }))
const limited = (seconds: number) => failing(new AiError.RateLimitError({ retryAfter: Duration.seconds(seconds) }))
const refused = failing(new AiError.InvalidRequestError({ description: "too long" }))

/** A model that gives these answers, the last one again and again; and what it was asked. */
const scripted = Effect.fnUntraced(function* (
  answers: readonly [Answer, ...Array<Answer>],
  description: SummaryModel.Description = {}
) {
  const asked: Array<string> = []
  const service = yield* LanguageModel.make({
    generateText: ({ prompt }) =>
      Effect.gen(function* () {
        const answer = answers[Math.min(asked.length, answers.length - 1)] ?? ""
        asked.push(JSON.stringify(prompt.content))
        const text = typeof answer === "string" ? answer : yield* answer
        const finish: Response.FinishPartEncoded = {
          type: "finish",
          reason: "stop",
          usage: {
            inputTokens: { uncached: 100, total: 100, cacheRead: undefined, cacheWrite: undefined },
            outputTokens: { total: 10, text: 10, reasoning: undefined }
          },
          response: undefined
        }
        return [{ type: "text", text } as const, finish]
      }),
    streamText: () => Stream.empty
  })
  return { asked, model: SummaryModel.fromService(service, description) }
})

/** A long run: `go`, then many exchanges whose results are small, so that clearing does not help. */
const long = (steps = 20, tokens = 100) => {
  const target = new log.Log(log.created(), log.started("r1"), log.said("r1", "go"))
  for (let n = 1; n <= steps; n++) {
    target.add(log.responded("r1", n, [{ type: "text", text: log.words(tokens) }, log.call(`c${n}`)]))
    target.add(log.settled("r1", n, `c${n}`, "ok"))
  }
  return target
}

const targetOf = (target: log.Log): Compaction.Target<never> => ({
  state: () => target.state,
  records: () => target.records,
  write: (payload) => Effect.sync(() => target.add(payload))
})

const written = (target: log.Log): ReadonlyArray<Payload.Compacted> =>
  target.all.flatMap(({ payload }) => (payload._tag === "Compacted" ? [payload] : []))

const call = (step: number, ownModel?: SummaryModel.SummaryModel): Compaction.Call => ({ step, prompt: {}, ownModel })

const compacted = (outcome: Compaction.Outcome): Compaction.Report =>
  outcome._tag === "Compacted" ? outcome.report : assert.fail(JSON.stringify(outcome))

const options = { maxInputTokens: 1500, maxSummaryTokens: 100 }

describe("the ladder", () => {
  it.effect("does nothing below the maximum, and estimates what is sent", () =>
    Effect.gen(function* () {
      const target = long(3)
      const compactor = yield* Compaction.make(options)
      const { _tag, estimate } = yield* compactor.beforeCall(targetOf(target), call(4))
      assert.strictEqual(_tag, "Fits")
      const { prompt } = ConversationPrompt.project(target.state, target.records)
      assert.strictEqual(estimate.raw, Tokens.ofPrompt(prompt))
      assert.deepStrictEqual(written(target), [])
    })
  )

  it.effect("clears without asking a model where that is enough", () =>
    Effect.gen(function* () {
      const target = new log.Log(log.created(), log.started("r1"), log.said("r1", "go"))
      for (let n = 1; n <= 4; n++) {
        target.add(log.responded("r1", n, [log.call(`c${n}`)]), log.settled("r1", n, `c${n}`, log.words(500)))
      }
      const { asked, model } = yield* scripted(["a summary"])
      const compactor = yield* Compaction.make({ ...options, summaryModel: model })
      const report = compacted(yield* compactor.beforeCall(targetOf(target), call(5)))
      assert.deepInclude(report, { kind: "cleared-results", callsCleared: 3, modelCalls: 0 })
      assert.strictEqual(asked.length, 0)
      assert.strictEqual(written(target)[0]?.kind, "cleared-results")
    })
  )

  it.effect("summarises with the summary model, and records what it used", () =>
    Effect.gen(function* () {
      const target = long()
      const { asked, model } = yield* scripted(["They port the theme."], { name: "small" })
      const own = yield* scripted(["not asked"])
      const compactor = yield* Compaction.make({ ...options, summaryModel: model })
      const outcome = yield* compactor.beforeCall(targetOf(target), call(21, own.model))
      const report = compacted(outcome)
      assert.deepInclude(report, { kind: "summarised", modelCalls: asked.length, model: "small", failures: [] })
      assert.strictEqual(own.asked.length, 0)
      assert.isBelow(outcome.estimate.tokens, options.maxInputTokens)
      assert.strictEqual(report.tokensAfter, outcome.estimate.tokens)
      const [record] = written(target)
      assert.deepInclude(record, { kind: "summary", summary: "They port the theme.", model: "small" })
      assert.strictEqual(record?.usage?.inputTokens.total, 100 * asked.length)
      assert.strictEqual(target.state.usage.summary.inputTokens.total, 100 * asked.length)
      assert.deepStrictEqual(PromptFault.check(ConversationPrompt.project(target.state, target.records).prompt), [])
    })
  )

  it.effect("asks the summary model again where its error says that this may help, after the delay that it names", () =>
    Effect.gen(function* () {
      const target = long()
      const { asked, model } = yield* scripted([limited(7), overloaded, "A summary."])
      const compactor = yield* Compaction.make({ ...options, maxInputTokens: 1600, summaryModel: model })
      const fiber = yield* Effect.forkChild(compactor.beforeCall(targetOf(target), call(21)))
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual(asked.length, 1)
      yield* TestClock.adjust("3 seconds")
      const report = compacted(yield* Fiber.join(fiber))
      assert.strictEqual(report.kind, "summarised")
      assert.strictEqual(asked.length, report.modelCalls)
    })
  )

  it.effect("goes on with the run's own model when the summary model fails", () =>
    Effect.gen(function* () {
      const target = long()
      const broken = yield* scripted([refused], { name: "small" })
      const own = yield* scripted(["Own words."], { name: "large" })
      const compactor = yield* Compaction.make({ ...options, summaryModel: broken.model })
      const report = compacted(yield* compactor.beforeCall(targetOf(target), call(21, own.model)))
      assert.strictEqual(broken.asked.length, 1)
      assert.deepInclude(report, { kind: "summarised", model: "large" })
      assert.deepStrictEqual(report.failures, [{ model: "small", reason: "InvalidRequestError" }])
    })
  )

  for (const [why, text, reason] of [
    ["empty", " \n ", "empty"],
    ["as long as what it covers", log.words(3000), "not-smaller"]
  ] as const) {
    it.effect(`rejects a summary that is ${why}`, () =>
      Effect.gen(function* () {
        const target = long()
        const { model } = yield* scripted([text], { name: "small" })
        const compactor = yield* Compaction.make({ ...options, summaryModel: model })
        const report = compacted(yield* compactor.beforeCall(targetOf(target), call(21)))
        assert.strictEqual(report.kind, "left-out")
        assert.deepStrictEqual(report.failures, [{ model: "small", reason }])
      })
    )
  }

  it.effect("leaves turns out with a line that counts them when no model gives a summary", () =>
    Effect.gen(function* () {
      const target = long()
      const broken = yield* scripted([refused])
      const compactor = yield* Compaction.make({ ...options, summaryModel: broken.model })
      const report = compacted(yield* compactor.beforeCall(targetOf(target), call(21, broken.model)))
      assert.deepInclude(report, { kind: "left-out", modelCalls: 1 })
      const summary = written(target)[0]?.summary ?? ""
      assert.match(
        summary,
        /^\[Left out to save room: \d+ earlier inputs and \d+ responses\. They are not summarised\.\]$/
      )
      assert.include(
        JSON.stringify(ConversationPrompt.project(target.state, target.records).prompt),
        "Left out to save"
      )
    })
  )

  it.effect("adds to the count when turns are left out again, and keeps the summary before", () =>
    Effect.gen(function* () {
      const target = long()
      const { model } = yield* scripted(["A summary."])
      yield* (yield* Compaction.make({ ...options, summaryModel: model })).beforeCall(targetOf(target), call(21))
      const without = yield* Compaction.make(options)
      let left = 0
      for (let n = 21; n <= 60; n++) {
        target.add(log.responded("r1", n, [{ type: "text", text: log.words(100) }, log.call(`c${n}`)]))
        target.add(log.settled("r1", n, `c${n}`, "ok"))
        const outcome = yield* without.beforeCall(targetOf(target), call(n + 1))
        if (outcome._tag === "Compacted") left += outcome.report.responses
      }
      const summary = written(target).at(-1)?.summary ?? ""
      assert.isAbove(written(target).length, 2)
      assert.match(
        summary,
        new RegExp(`^A summary\\.\\n\\n\\[Left out to save room: 0 earlier inputs and ${left} responses\\.`)
      )
    })
  )

  it.effect("splits what is too large for the summary model between exchanges, and folds", () =>
    Effect.gen(function* () {
      const target = long(60)
      const { asked, model } = yield* scripted(["first part", "both parts", "all parts"], { maxInputTokens: 2200 })
      const compactor = yield* Compaction.make({ ...options, summaryModel: model })
      const report = compacted(yield* compactor.beforeCall(targetOf(target), call(61)))
      assert.strictEqual(report.kind, "summarised")
      assert.isAbove(asked.length, 2)
      assert.include(asked[1], "first part")
      assert.include(asked[2], "both parts")
      assert.strictEqual(written(target)[0]?.summary, "all parts")
    })
  )

  it.effect("splits again when the model says that a part is too large", () =>
    Effect.gen(function* () {
      const target = long(60)
      const { asked, model } = yield* scripted([refused, refused, "A summary."], {
        maxInputTokens: 100_000,
        isContextOverflow: (error) => error.reason._tag === "InvalidRequestError"
      })
      const compactor = yield* Compaction.make({ ...options, summaryModel: model })
      const report = compacted(yield* compactor.beforeCall(targetOf(target), call(61)))
      assert.strictEqual(report.kind, "summarised")
      assert.isAbove(asked.length, 4)
    })
  )

  it.effect("makes no more calls than it may", () =>
    Effect.gen(function* () {
      const target = long(60)
      const { asked, model } = yield* scripted(["A summary."], { maxInputTokens: 1000 })
      const compactor = yield* Compaction.make({ ...options, maxSummaryCalls: 3, summaryModel: model })
      const report = compacted(yield* compactor.beforeCall(targetOf(target), call(61)))
      assert.deepInclude(report, { kind: "left-out", modelCalls: 0 })
      assert.strictEqual(asked.length, 0)
      assert.strictEqual(report.failures[0]?.reason, "too-many-calls")
    })
  )
})

describe("a compaction that fails", () => {
  it.effect("asks no summary model again before it has cooled down, and goes on without", () =>
    Effect.gen(function* () {
      const target = long()
      const { asked, model } = yield* scripted([refused, "A summary."])
      const compactor = yield* Compaction.make({ ...options, summaryModel: model, cooldown: "5 minutes" })
      compacted(yield* compactor.beforeCall(targetOf(target), call(21)))
      for (let n = 21; n <= 34; n++)
        target.add(log.responded("r1", n, log.words(100)), log.said("r1", "more", "steering"))
      assert.strictEqual(compacted(yield* compactor.beforeCall(targetOf(target), call(35))).kind, "left-out")
      assert.strictEqual(asked.length, 1)
      yield* TestClock.adjust("5 minutes")
      for (let n = 35; n <= 50; n++)
        target.add(log.responded("r1", n, log.words(100)), log.said("r1", "more", "steering"))
      assert.strictEqual(compacted(yield* compactor.beforeCall(targetOf(target), call(51))).kind, "summarised")
    })
  )

  it.effect("writes nothing, however often it is tried", () =>
    Effect.gen(function* () {
      const target = new log.Log(log.created(), log.started("r1"), log.said("r1", log.words(3000)))
      const { asked, model } = yield* scripted([refused])
      const compactor = yield* Compaction.make({ ...options, summaryModel: model })
      const before = target.all.length
      for (let step = 1; step <= 50; step++) {
        const outcome = yield* compactor.beforeCall(targetOf(target), call(step))
        assert.strictEqual(outcome._tag, "CannotShrink")
      }
      assert.strictEqual(target.all.length, before)
      assert.strictEqual(asked.length, 0)
    })
  )

  it.effect("does not loop: two attempts in a step, whatever the provider says", () =>
    Effect.gen(function* () {
      const target = long(30)
      const compactor = yield* Compaction.make(options)
      const outcomes: Array<string> = []
      for (let i = 0; i < 35; i++) {
        const outcome = yield* compactor.afterOverflow(targetOf(target), call(31))
        outcomes.push(outcome._tag === "CannotShrink" ? outcome.reason : outcome._tag)
      }
      assert.isAtMost(written(target).length, Compaction.maxAttemptsPerStep)
      assert.strictEqual(outcomes.at(-1), "attempts-spent")
    })
  )

  it.effect("is interrupted without a trace, and can be made again", () =>
    Effect.gen(function* () {
      const target = long()
      const reached = yield* Deferred.make<void>()
      const hanging = Effect.andThen(Deferred.succeed(reached, undefined), Effect.never)
      const { model } = yield* scripted([hanging, "A summary."])
      const compactor = yield* Compaction.make({ ...options, summaryModel: model })
      const before = target.state
      const fiber = yield* Effect.forkChild(compactor.beforeCall(targetOf(target), call(21)))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(target.state, before)
      assert.strictEqual(compacted(yield* compactor.beforeCall(targetOf(target), call(21))).kind, "summarised")
    })
  )

  it.effect("says why in the log of the program, and nothing that was said", () => {
    const lines: Array<string> = []
    const capture = Logger.make(({ message }) => {
      lines.push(JSON.stringify(message))
    })
    return Effect.gen(function* () {
      const target = long()
      const { model } = yield* scripted([refused, overloaded], { name: "small" })
      const compactor = yield* Compaction.make({ ...options, summaryModel: model, summaryRetries: 0 })
      yield* compactor.beforeCall(targetOf(target), call(21))
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0], "small: InvalidRequestError")
      for (const said of ["secret text", "too long", "room room"]) assert.notInclude(lines.join(), said)
    }).pipe(Effect.provide(Logger.layer([capture])))
  })

  it.effect("fails with what the log says when it cannot be written", () =>
    Effect.gen(function* () {
      const target = long()
      const compactor = yield* Compaction.make(options)
      const broken = { ...targetOf(target), write: () => Effect.fail("no disk") }
      assert.strictEqual(yield* Effect.flip(compactor.beforeCall(broken, call(21))), "no disk")
    })
  )

  it.effect("writes nothing when somebody else has compacted the conversation meanwhile", () =>
    Effect.gen(function* () {
      const target = long()
      const other = yield* Compaction.make(options)
      const meanwhile = Effect.as(other.beforeCall(targetOf(target), call(21)), "A summary.")
      const { model } = yield* scripted([meanwhile])
      const compactor = yield* Compaction.make({ ...options, summaryModel: model })
      const outcome = yield* compactor.beforeCall(targetOf(target), call(21))
      assert.deepInclude(outcome, { _tag: "CannotShrink", reason: "moved" })
      assert.strictEqual(written(target).length, 1)
    })
  )
})

const proposing =
  (payload: Payload.Compacted): CompactionStrategy.Strategy =>
  (request) =>
    Effect.map(CompactionStrategy.ladder({ ...request, models: [] }), (proposal) => ({ ...proposal, payload }))

describe("another strategy", () => {
  it.effect("takes the place of ours", () =>
    Effect.gen(function* () {
      const target = long()
      const compactor = yield* Compaction.make(options).pipe(
        Effect.provideService(
          CompactionStrategy.CompactionStrategy,
          proposing({ _tag: "Compacted", kind: "summary", coversThrough: 40, pinned: [3], summary: "mine" })
        )
      )
      compacted(yield* compactor.beforeCall(targetOf(target), call(21)))
      assert.strictEqual(written(target)[0]?.summary, "mine")
    })
  )

  it.effect("cannot break the log, nor write what makes nothing smaller", () =>
    Effect.gen(function* () {
      const target = long()
      for (const [payload, reason] of [
        [{ _tag: "Compacted", kind: "summary", coversThrough: 9999, pinned: [], summary: "ahead" }, "not-legal"],
        [{ _tag: "Compacted", kind: "cleared-results", coversThrough: 5, pinned: [], clearedCallIds: [] }, "no-gain"]
      ] as const) {
        const compactor = yield* Compaction.make(options).pipe(
          Effect.provideService(CompactionStrategy.CompactionStrategy, proposing(payload))
        )
        const outcome = yield* compactor.beforeCall(targetOf(target), call(21))
        assert.deepInclude(outcome, { _tag: "CannotShrink", reason })
      }
      assert.deepStrictEqual(written(target), [])
    })
  )
})

describe("on demand", () => {
  const storage = StoreConversations.layer.pipe(Layer.provideMerge(MemoryStorage.layer))

  const stored = Effect.fnUntraced(function* () {
    const conversations = yield* Conversations
    const writer = yield* conversations.open(log.conversationId)
    const payloads = long()
      .all.slice(1)
      .map(({ payload }) => payload as Payload.Written)
    yield* writer.append(payloads)
    return writer
  })

  it.effect("shows what would go, and writes nothing", () =>
    Effect.gen(function* () {
      const writer = yield* stored()
      const tail = writer.tail()
      const plan = yield* Compaction.preview(log.conversationId, options)
      assert.strictEqual(plan._tag, "Summarise")
      if (plan._tag === "Summarise") assert.isAbove(plan.covered.length, 3)
      assert.deepStrictEqual(writer.tail(), tail)
      yield* writer.append([{ _tag: "MetadataChanged", title: "still mine" }])
    }).pipe(Effect.provide(storage))
  )

  it.effect("compacts a stored conversation below its maximum too, and whoever loads it sees the same", () =>
    Effect.gen(function* () {
      const writer = yield* stored()
      const { model } = yield* scripted(["A summary."])
      const demand = { ...options, maxInputTokens: 100_000, targetInputTokens: 800, summaryModel: model }
      const report = compacted(yield* Compaction.compact(log.conversationId, demand))
      assert.strictEqual(report.kind, "summarised")
      assert.include(JSON.stringify(writer.prompt().prompt), "A summary.")
      assert.isAtMost(Tokens.ofPrompt(writer.prompt().prompt), 800)
      assert.strictEqual((yield* Compaction.compact(log.conversationId, demand))._tag, "Fits")
    }).pipe(Effect.provide(storage))
  )

  it.effect("refuses options that make no sense", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Compaction.preview(log.conversationId, { maxInputTokens: 0 }))
      assert.strictEqual(error._tag, "InvalidCompactionOption")
    }).pipe(Effect.provide(storage))
  )
})
