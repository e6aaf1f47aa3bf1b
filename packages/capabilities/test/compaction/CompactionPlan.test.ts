/** The rules of a plan, one by one: given a log and a maximum, what goes and what stays. */
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import * as Digest from "@colloquy/session/Digest"
import { ConversationId, ToolCallId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import * as PromptFault from "@colloquy/session/PromptFault"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { CompactionOptions, CompactionPlan, Exchanges, Summary } from "../../src/index.ts"
import * as log from "./log.ts"

const subjectOf = (
  target: log.Log,
  options: CompactionOptions.Options,
  rest: Partial<CompactionPlan.Subject> = {}
): CompactionPlan.Subject => ({
  state: target.state,
  records: target.records,
  prompt: {},
  fixedTokens: 0,
  correction: 1,
  meter: Exchanges.meter(),
  options: Result.getOrThrow(CompactionOptions.settle(options)),
  ...rest
})

const planOf = (
  target: log.Log,
  options: CompactionOptions.Options,
  rest: Partial<CompactionPlan.Subject> = {},
  summarise = true
) => CompactionPlan.plan(subjectOf(target, options, rest), { summarise })

const cut = (plan: CompactionPlan.Plan): CompactionPlan.Cut => {
  if (plan._tag !== "Summarise" && plan._tag !== "LeaveOut") return assert.fail(`no cut: ${JSON.stringify(plan)}`)
  return plan
}

/** A step with one call, and its result. */
const step = (n: number, tokens: number, name = "search", run = "r1") => [
  log.responded(run, n, [log.call(`c${n}`, name)]),
  log.settled(run, n, `c${n}`, log.words(tokens), { name })
]

const begun = (...payloads: ReadonlyArray<Payload.Written>) =>
  new log.Log(log.created(), log.started("r1"), log.said("r1", "go"), ...payloads)

const projected = (target: log.Log) => {
  const { prompt } = ConversationPrompt.project(target.state, target.records)
  assert.deepStrictEqual(PromptFault.check(prompt), [])
  return JSON.stringify(prompt.content)
}

const ids = (...names: ReadonlyArray<string>) => names.map((name) => ToolCallId.make(name))

describe("a conversation below its maximum", () => {
  it("fits", () => assert.strictEqual(planOf(begun(...step(1, 100)), { maxInputTokens: 1000 })._tag, "Fits"))

  it("does not at the maximum itself", () => {
    const target = begun(...step(1, 100), ...step(2, 100))
    const { estimate } = planOf(target, { maxInputTokens: 10_000 })
    assert.strictEqual(planOf(target, { maxInputTokens: estimate + 1 })._tag, "Fits")
    assert.notStrictEqual(planOf(target, { maxInputTokens: estimate, stepTokens: 1 })._tag, "Fits")
  })

  it("counts tools and the correction", () => {
    const target = begun(...step(1, 100))
    const plain = planOf(target, { maxInputTokens: 10_000 }).estimate
    assert.strictEqual(planOf(target, { maxInputTokens: 10_000 }, { fixedTokens: 500 }).estimate, plain + 500)
    assert.strictEqual(planOf(target, { maxInputTokens: 10_000 }, { correction: 2 }).estimate, plain * 2)
  })
})

describe("results", () => {
  it("are cleared oldest first, until the target is met, and no more", () => {
    const target = begun(...step(1, 300), ...step(2, 300), ...step(3, 300), ...step(4, 300))
    const plan = planOf(target, { maxInputTokens: 1000, targetInputTokens: 800 })
    if (plan._tag !== "Clear") return assert.fail(plan._tag)
    assert.deepStrictEqual(plan.callIds, ids("c1", "c2"))
    target.add(CompactionPlan.toPayload(plan))
    assert.include(projected(target), ConversationPrompt.clearedResult)
    assert.strictEqual(planOf(target, { maxInputTokens: 1000, targetInputTokens: 800 })._tag, "Fits")
  })

  it("that the model has not read stay, however large", () => {
    const target = begun(...step(1, 300), ...step(2, 2000))
    const plan = planOf(target, { maxInputTokens: 1000, stepTokens: 1 })
    if (plan._tag !== "Clear") return assert.fail(plan._tag)
    assert.deepStrictEqual(plan.callIds, ids("c1"))
  })

  it("that are smaller than the mark in their place stay", () => {
    const target = begun(...step(1, 3), ...step(2, 600), ...step(3, 600))
    const plan = planOf(target, { maxInputTokens: 1000, targetInputTokens: 700 })
    if (plan._tag !== "Clear") return assert.fail(plan._tag)
    assert.deepStrictEqual(plan.callIds, ids("c2"))
  })

  it("of a pinned tool's latest call stay", () => {
    const target = begun(
      ...step(1, 300, "write_todos"),
      ...step(2, 300, "write_todos"),
      ...step(3, 300),
      ...step(4, 300)
    )
    const plan = planOf(target, { maxInputTokens: 1000, targetInputTokens: 500, stepTokens: 1, maxSummaryTokens: 1 })
    const cleared: ReadonlyArray<string> = plan._tag === "Clear" ? plan.callIds : cut(plan).clearedCallIds
    assert.notInclude(cleared, "c2")
  })

  it("of calls that are out of reach behind an open call stay", () => {
    const target = begun(...step(1, 400), log.responded("r1", 2, [log.call("open")]))
    target.add(
      log.started("r2"),
      log.said("r2", "again"),
      ...step(3, 400, "search", "r2"),
      ...step(4, 400, "search", "r2")
    )
    const plan = planOf(target, { maxInputTokens: 1000, stepTokens: 1 })
    if (plan._tag !== "Clear") return assert.fail(plan._tag)
    assert.deepStrictEqual(plan.callIds, ids("c1"))
    target.add(CompactionPlan.toPayload(plan))
  })
})

describe("a cut", () => {
  const many = (steps: number, tokens: number) =>
    begun(
      ...Array.from({ length: steps }, (_, i) =>
        log.responded("r1", i + 1, [{ type: "text", text: log.words(tokens) }, log.call(`c${i + 1}`)])
      ).flatMap((response, i) => [response, log.settled("r1", i + 1, `c${i + 1}`, "ok")])
    )

  it("takes the oldest exchanges, as many as it must", () => {
    const target = many(10, 100)
    const plan = cut(planOf(target, { maxInputTokens: 1000, maxSummaryTokens: 50 }))
    assert.isAtMost(plan.after, 500)
    const less = plan.covered.slice(0, -1).reduce((sum, { tokens }) => sum + tokens, 0)
    assert.isAbove(plan.estimate - less + 50 + Summary.frameTokens, 500)
    target.add(CompactionPlan.toPayload(CompactionPlan.Plan.Summarise(plan), { summary: "ten steps" }))
    assert.include(projected(target), "ten steps")
  })

  it("keeps the first input of the run that goes on, also when its first act was a call", () => {
    const target = many(10, 100)
    const plan = cut(planOf(target, { maxInputTokens: 1000 }))
    assert.include(plan.pinned, 3)
    target.add(CompactionPlan.toPayload(CompactionPlan.Plan.LeaveOut(plan)))
    assert.include(projected(target), '"text":"go"')
  })

  it("does not keep the input of a run that is over", () => {
    const target = many(10, 100)
    target.add(log.ended("r1"), log.started("r2"), log.said("r2", "next"))
    const plan = cut(planOf(target, { maxInputTokens: 1000 }))
    assert.notInclude(plan.pinned, 3)
  })

  it("moves to before the call when it would fall between a call and its result", () => {
    const target = begun(...step(1, 50))
    target.add(log.responded("r1", 2, [{ type: "text", text: log.words(600) }, log.call("a"), log.call("b")]))
    target.add(log.settled("r1", 2, "b", "ok"), log.settled("r1", 2, "a", "ok"), ...step(3, 300))
    const plan = cut(planOf(target, { maxInputTokens: 900, stepTokens: 1, maxSummaryTokens: 20 }))
    // Through the last result of the second step.
    assert.strictEqual(plan.coversThrough, 8)
  })

  it("leaves the last exchange alone: over the maximum with it alone, it cannot shrink", () => {
    const target = begun(...step(1, 3000))
    const plan = planOf(target, { maxInputTokens: 1000 })
    assert.deepInclude(plan, { _tag: "CannotShrink", reason: "fixed-part" })
  })

  it("goes past a dead call", () => {
    const target = many(10, 100)
    target.add(log.responded("r1", 11, [log.call("dead")]), log.ended("r1", "failed"))
    target.add(log.started("r2"), log.said("r2", "again"), log.responded("r2", 1, log.words(300)))
    const plan = cut(planOf(target, { maxInputTokens: 1000, targetInputTokens: 400, maxSummaryTokens: 20 }))
    assert.isAbove(plan.coversThrough, 24)
    target.add(CompactionPlan.toPayload(CompactionPlan.Plan.LeaveOut(plan)))
    assert.notInclude(projected(target), "dead")
  })

  it("is stopped by an open call, and says so", () => {
    const target = begun(log.responded("r1", 1, [log.call("open")]))
    target.add(log.started("r2"), log.said("r2", log.words(2000)), log.responded("r2", 1, "yes"))
    const plan = planOf(target, { maxInputTokens: 1000 })
    assert.deepInclude(plan, { _tag: "CannotShrink", reason: "open-call" })
  })

  it("does not take what a handler reports on the way for a result", () => {
    const target = begun(log.responded("r1", 1, [{ type: "text", text: log.words(900) }, log.call("slow")]))
    target.add({ _tag: "Custom", name: "progress", data: { callId: "slow", result: "pending" } })
    assert.deepInclude(planOf(target, { maxInputTokens: 500 }), { _tag: "CannotShrink" })
    target.add(log.settled("r1", 1, "slow", "done"), log.responded("r1", 2, [log.call("c2")]))
    target.add(log.settled("r1", 2, "c2", "ok"))
    assert.strictEqual(cut(planOf(target, { maxInputTokens: 500 })).coversThrough, 6)
  })

  it("keeps the latest call of a pinned tool with its result, and hides what else that response asked for", () => {
    const target = begun(
      log.responded("r1", 1, [log.call("todo", "write_todos", { todos: ["pack"] }), log.call("big")]),
      log.settled("r1", 1, "todo", { todos: ["pack"] }, { name: "write_todos" }),
      log.settled("r1", 1, "big", log.words(600)),
      ...step(2, 400),
      ...step(3, 300)
    )
    target.add(log.responded("r1", 4, log.words(500)), log.said("r1", "and?", "steering"))
    target.add(log.responded("r1", 5, "so"), log.said("r1", "and?", "steering"))
    const plan = cut(planOf(target, { maxInputTokens: 1000, targetInputTokens: 400, maxSummaryTokens: 20 }))
    assert.includeMembers([...plan.pinned], [4, 5, 6])
    assert.include<string>(plan.clearedCallIds.join(), "big")
    target.add(CompactionPlan.toPayload(CompactionPlan.Plan.LeaveOut(plan)))
    assert.include(projected(target), '"todos":["pack"]')
  })

  it("keeps a pinned response's superseded request closed", () => {
    const target = begun(
      log.responded("r1", 1, [log.call("todo", "write_todos"), log.call("pay")]),
      log.requested("r1", "a1", "pay"),
      log.settled("r1", 1, "todo", "ok", { name: "write_todos" }),
      log.suspended("r1", "a1"),
      log.resumed("r1", 2),
      log.said("r1", "no, wait", "steering"),
      log.responded("r1", 2, log.words(900)),
      log.resolved("a1", "superseded"),
      log.settled("r1", 1, "pay", null, { outcome: "rejected", isFailure: true }),
      log.responded("r1", 3, log.words(300)),
      log.said("r1", "go on", "follow-up")
    )
    const plan = cut(planOf(target, { maxInputTokens: 1000, targetInputTokens: 600, maxSummaryTokens: 20 }))
    target.add(CompactionPlan.toPayload(CompactionPlan.Plan.LeaveOut(plan)))
    assert.notInclude(projected(target), '"id":"pay"')
  })

  it("keeps what a background agent came to while nobody has been told", () => {
    const target = many(10, 100)
    const taskId = "scout"
    target.add({
      _tag: "BackgroundStarted",
      taskId,
      agent: target.state.agent ?? assert.fail(),
      conversationId: ConversationId.make("child")
    })
    target.add({ _tag: "BackgroundSettled", taskId, outcome: "completed", summary: "found it" })
    const at = target.state.sequence
    target.add(
      log.responded("r1", 11, log.words(300)),
      log.said("r1", "go on", "follow-up"),
      log.responded("r1", 12, "yes")
    )
    assert.include(
      cut(planOf(target, { maxInputTokens: 1000, targetInputTokens: 300, maxSummaryTokens: 20 })).pinned,
      at
    )
  })

  it("keeps the instructions of an imported transcript", () => {
    const target = new log.Log(log.created({ instructions: "Never refund." }), log.started("r1"), log.said("r1", "go"))
    for (let n = 1; n <= 10; n++) target.add(log.responded("r1", n, log.words(100)), log.said("r1", "more", "steering"))
    target.add(CompactionPlan.toPayload(CompactionPlan.Plan.LeaveOut(cut(planOf(target, { maxInputTokens: 1000 })))))
    assert.include(projected(target), "Never refund.")
  })

  it("names what stays cleared behind it, and takes in the summary before", () => {
    const target = many(10, 100)
    const options = { maxInputTokens: 1000, maxSummaryTokens: 40 }
    target.add(
      CompactionPlan.toPayload(CompactionPlan.Plan.Summarise(cut(planOf(target, options))), { summary: "first" })
    )
    for (let n = 11; n <= 13; n++) target.add(...step(n, 220))
    const clear = planOf(target, { ...options, targetInputTokens: 900 })
    target.add(CompactionPlan.toPayload(clear._tag === "Clear" ? clear : assert.fail(clear._tag)))
    const hidden = target.state.window.clearedCallIds
    for (let n = 15; n <= 20; n++)
      target.add(log.responded("r1", n, log.words(150)), log.said("r1", "more", "steering"))
    const plan = cut(planOf(target, { ...options, targetInputTokens: 900 }))
    assert.strictEqual(plan.recap, "first")
    const kept = new Set(
      target.records.flatMap(({ payload, sequence }) =>
        payload._tag === "ToolCallSettled" && sequence > plan.coversThrough ? [payload.callId] : []
      )
    )
    assert.includeMembers(
      [...plan.clearedCallIds],
      hidden.filter((id) => kept.has(id))
    )
  })

  it("means the same in a fork", () => {
    const target = many(10, 100)
    const plan = cut(planOf(target, { maxInputTokens: 1000 }))
    target.add(CompactionPlan.toPayload(CompactionPlan.Plan.LeaveOut(plan)))
    const before = projected(target)
    const from = {
      conversationId: ConversationId.make("parent"),
      sequence: target.state.sequence,
      digest: Digest.empty
    }
    target.add({ _tag: "Forked", from })
    assert.strictEqual(projected(target), before)
  })

  it("reads a redacted log as it reads the original", () => {
    const target = many(10, 100)
    const redacted = new log.Log(...target.all.slice(0, 3).map(({ payload }) => payload as Payload.Written))
    redacted.add(...target.all.slice(3).map(({ payload }) => Payload.redact(payload)))
    for (const one of [target, redacted])
      one.add(
        log.responded("r1", 11, log.words(1200)),
        log.said("r1", "more", "steering"),
        log.responded("r1", 12, "yes")
      )
    assert.isAtLeast(cut(planOf(redacted, { maxInputTokens: 1000 })).coversThrough, 24)
  })
})

describe("a conversation that cannot be shrunk", () => {
  const stuck = begun(...step(1, 3000))

  it("is left alone until it has grown by a step", () => {
    const { estimate } = planOf(stuck, { maxInputTokens: 1000 })
    const again = (fixedTokens: number) =>
      planOf(stuck, { maxInputTokens: 1000, stepTokens: 100 }, { stuckAt: estimate, fixedTokens })
    assert.deepInclude(again(99), { reason: "not-grown" })
    assert.deepInclude(again(100), { reason: "fixed-part" })
  })

  it("is not written to for less than a step", () => {
    const target = begun(...step(1, 60), ...step(2, 1000))
    assert.strictEqual(planOf(target, { maxInputTokens: 1000, stepTokens: 200 })._tag, "CannotShrink")
    assert.strictEqual(planOf(target, { maxInputTokens: 1000, stepTokens: 10 })._tag, "Clear")
  })

  it("gives what it can when the provider has refused it", () => {
    const target = begun(...step(1, 60), ...step(2, 1000))
    assert.strictEqual(planOf(target, { maxInputTokens: 5000 }, { occasion: "overflow" })._tag, "Clear")
    assert.strictEqual(planOf(target, { maxInputTokens: 5000 }, { occasion: "demand" })._tag, "Fits")
  })
})

const fault = (options: CompactionOptions.Options) => {
  const settled = CompactionOptions.settle(options)
  return Result.isFailure(settled) ? settled.failure.option : "none"
}

describe("options", () => {
  it("of zero or less, or out of order, are faults that name the option", () => {
    assert.strictEqual(fault({ maxInputTokens: 0 }), "maxInputTokens")
    assert.strictEqual(fault({ maxInputTokens: -5 }), "maxInputTokens")
    assert.strictEqual(fault({ maxInputTokens: Number.NaN }), "maxInputTokens")
    assert.strictEqual(fault({ maxInputTokens: 10.5 }), "maxInputTokens")
    assert.strictEqual(fault({ maxInputTokens: 100, targetInputTokens: 0 }), "targetInputTokens")
    assert.strictEqual(fault({ maxInputTokens: 100, targetInputTokens: 100 }), "targetInputTokens")
    assert.strictEqual(fault({ maxInputTokens: 100, stepTokens: -1 }), "stepTokens")
    assert.strictEqual(fault({ maxInputTokens: 100, maxSummaryTokens: 0 }), "maxSummaryTokens")
    assert.strictEqual(fault({ maxInputTokens: 100, summaryRetries: -1 }), "summaryRetries")
    assert.strictEqual(fault({ maxInputTokens: 100, maxSummaryCalls: 0 }), "maxSummaryCalls")
    assert.strictEqual(fault({ maxInputTokens: 100, summaryRetries: 0 }), "none")
  })
})
