/** What holds for every plan, over logs as an engine writes them. */
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import * as PromptFault from "@colloquy/session/PromptFault"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { CompactionOptions, CompactionPlan, Exchanges, Tokens } from "../../src/index.ts"
import { grow, Random, runs, Seed } from "./generated.ts"
import * as log from "./log.ts"

const options = (maxInputTokens: number) =>
  Result.getOrThrow(CompactionOptions.settle({ maxInputTokens, maxSummaryTokens: Math.ceil(maxInputTokens / 10) }))

const prompt: ConversationPrompt.Options = { instructions: "Help with orders." }

const subjectOf = (target: log.Log, maxInputTokens: number, meter = Exchanges.meter()): CompactionPlan.Subject => ({
  state: target.state,
  records: target.records,
  prompt,
  fixedTokens: 50,
  correction: 1,
  meter,
  options: options(maxInputTokens)
})

const projected = (target: log.Log) => ConversationPrompt.project(target.state, target.records, prompt)

const estimateOf = (target: log.Log) => 50 + Tokens.ofPrompt(projected(target).prompt)

/** Carries a plan out with a summary of the most tokens that one may have. */
const carryOut = (target: log.Log, plan: CompactionPlan.Plan, maxSummaryTokens: number): boolean => {
  if (plan._tag === "Fits" || plan._tag === "CannotShrink") return false
  const made = plan._tag === "Summarise" ? { summary: log.words(maxSummaryTokens - 1, "sum") } : {}
  target.add(CompactionPlan.toPayload(plan, made))
  return true
}

/** Grows a log, and compacts before each model call where that is due. */
const compacting = (
  seed: typeof Seed.Type,
  check: (seen: {
    readonly target: log.Log
    readonly plan: CompactionPlan.Plan
    readonly before: ReturnType<typeof projected>
    readonly estimate: number
    readonly maximum: number
  }) => void
): log.Log => {
  const target = new log.Log()
  const random = new Random(seed.seed + 1)
  const maximum = random.pick([400, 800, 2000, 4000])
  const summarise = random.chance(0.7)
  const meter = Exchanges.meter()
  grow(target, seed, () => {
    const before = projected(target)
    const estimate = estimateOf(target)
    const subject = subjectOf(target, maximum, meter)
    const plan = CompactionPlan.plan(subject, { summarise })
    carryOut(target, plan, subject.options.maxSummaryTokens)
    check({ target, plan, before, estimate, maximum })
  })
  return target
}

const said = (target: log.Log) => target.all.flatMap(({ payload }) => (payload._tag === "Compacted" ? [] : [payload]))

describe("a plan, over random logs", () => {
  it.effect.prop(
    "estimates what the projection shows",
    [Seed],
    ([seed]) =>
      Effect.sync(() =>
        compacting(seed, ({ estimate, plan }) => {
          // A message that lost its calls is not shown while it is the last one.
          assert.isAtLeast(plan.estimate, estimate)
          assert.isAtMost(plan.estimate, estimate + 700)
        })
      ),
    runs(150)
  )

  it.effect.prop(
    "gives a record that the log takes, a prompt that providers take, and fewer tokens than the maximum",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        let cuts = 0
        compacting(seed, ({ estimate, maximum, plan, target }) => {
          assert.deepStrictEqual(PromptFault.check(projected(target).prompt), [])
          if (plan._tag === "Fits") assert.isBelow(plan.estimate, maximum)
          if (plan._tag === "Fits" || plan._tag === "CannotShrink") return
          cuts++
          const after = estimateOf(target)
          assert.isBelow(after, estimate)
          assert.isAtMost(after, plan.after + 2)
          if (after < maximum) return
          assert.strictEqual(CompactionPlan.plan(subjectOf(target, maximum))._tag, "CannotShrink")
        })
        return cuts
      }),
    runs(120)
  )

  it.effect.prop(
    "parts no call from its result, and keeps what must stay",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        compacting(seed, ({ before, plan, target }) => {
          if (plan._tag === "Fits" || plan._tag === "CannotShrink") return
          const after = projected(target)
          // No repair that was not there before: no half of a pair is left.
          const repaired = new Set(before.repairs.map(({ kind, sequence }) => `${kind} ${sequence}`))
          for (const { kind, sequence } of after.repairs) assert.include([...repaired], `${kind} ${sequence}`)

          const visible = new Set(target.records.map(({ sequence }) => sequence))
          const { calls, runs: open, window } = target.state
          for (const { declaredAt } of calls) assert.include([...visible], declaredAt)
          for (const { runId } of open) {
            const first = target.all.find(({ payload }) => payload._tag === "InputRecorded" && payload.runId === runId)
            if (first !== undefined) assert.include([...visible], first.sequence)
          }
          const live = open.at(-1)
          const last = target.all.findLast(
            ({ payload }) => payload._tag === "ModelResponded" && payload.runId === live?.runId
          )
          for (const { payload, sequence } of target.all) {
            if (last === undefined || sequence < last.sequence || payload._tag !== "ToolCallSettled") continue
            assert.include([...visible], sequence)
            assert.notInclude(window.clearedCallIds, payload.callId)
          }
          // Results are shown in the order of their calls.
          const shown = before.prompt.content.flatMap((message) => (message.role === "tool" ? message.content : []))
          const settled = (id: string) =>
            target.all.find(({ payload }) => payload._tag === "ToolCallSettled" && payload.callId === id)
          const todo = shown.findLast(
            (part) => part.type === "tool-result" && part.name === "write_todos" && settled(part.id) !== undefined
          )
          if (todo?.type !== "tool-result") return
          assert.include([...visible], settled(todo.id)?.sequence)
          assert.notInclude(window.clearedCallIds, todo.id)
        })
      }),
    runs(120)
  )

  it.effect.prop(
    "clears alone where that is enough",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        compacting(seed, ({ maximum, plan, target }) => {
          if (plan._tag !== "Summarise" && plan._tag !== "LeaveOut") return
          // Undo the cut: with every result cleared that may be, the target was still out of reach.
          const before = new log.Log()
          before.add(...target.all.slice(0, -1).map(({ payload }) => payload))
          const subject = subjectOf(before, maximum)
          const again = CompactionPlan.plan({
            ...subject,
            options: { ...subject.options, targetInputTokens: plan.after }
          })
          assert.include(["Summarise", "Clear", "CannotShrink"], again._tag)
          const view = subject.meter.view(before.state, before.records, prompt)
          const most = view.exchanges
            .flatMap(({ results }) => results)
            .filter(({ isCleared, saving, sequence }) => !isCleared && saving > 0 && sequence < view.lastResponseAt)
            .reduce((sum, { saving }) => sum + saving, 0)
          const todos = view.exchanges.flatMap(({ results }) => results).filter(({ name }) => name === "write_todos")
          const kept = todos.reduce((sum, { saving }) => sum + Math.max(0, saving), 0)
          assert.isAbove(plan.estimate - most + kept, subject.options.targetInputTokens)
        })
      }),
    runs(100)
  )

  it.effect.prop(
    "is done once: the same conversation is not compacted again before it has grown",
    [Seed],
    ([seed]) =>
      Effect.sync(() =>
        compacting(seed, ({ maximum, plan, target }) => {
          if (plan._tag === "Fits" || plan._tag === "CannotShrink") return
          assert.include(["Fits", "CannotShrink"], CompactionPlan.plan(subjectOf(target, maximum))._tag)
        })
      ),
    runs(100)
  )

  it.effect.prop(
    "leaves the prefix alone between two compactions",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        let last: { readonly text: string; readonly window: unknown } | undefined
        compacting({ ...seed }, ({ target }) => {
          if (target.state.calls.length > 0) return
          const text = projected(target).prompt.content.map((message) => JSON.stringify(message))
          if (last !== undefined && last.window === target.state.window) {
            const shared = JSON.parse(last.text) as ReadonlyArray<string>
            assert.deepStrictEqual(text.slice(0, shared.length), shared)
          }
          last = { text: JSON.stringify(text), window: target.state.window }
        })
      }),
    runs(100)
  )

  it.effect.prop(
    "keeps the log whole: a reader of all of it finds everything that was said",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        const plain = new log.Log()
        grow(plain, seed, () => undefined)
        const compacted = compacting(seed, () => undefined)
        assert.deepStrictEqual(said(compacted), said(plain))
      }),
    runs(50)
  )
})
