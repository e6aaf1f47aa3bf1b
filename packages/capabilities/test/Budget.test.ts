import { RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { Budget } from "../src/index.ts"
import * as log from "./compaction/log.ts"

const r1 = RunId.make("r1")
const start = 1_700_000_000_000
const second = 1000

/** Records a second apart. */
const tallyOf = (...payloads: ReadonlyArray<Payload.Payload>) =>
  Budget.advance(
    Budget.empty,
    payloads.map((payload, i) => ({ ...log.recordAt(i + 1, payload), at: start + i * second })),
    prices
  )

const prices: Budget.Prices = {
  models: { large: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
  otherwise: { input: 100, output: 100 }
}

const used = (
  input: number,
  output: number,
  rest: { readonly cacheRead?: number; readonly uncached?: number } = {}
) => ({
  inputTokens: { total: input, ...rest },
  outputTokens: { total: output }
})

const answered = (step: number, input: number, output: number, model = "large", ...calls: ReadonlyArray<string>) =>
  log.responded(
    "r1",
    step,
    calls.map((id) => log.call(id)),
    { usage: used(input, output), model }
  )

const running = [log.created(), log.started("r1"), log.said("r1", "go")]

const check = (budget: Budget.Budget, tally: Budget.Tally, rest: { now?: number; landed?: boolean } = {}) =>
  Budget.check(budget, tally, { runId: r1, now: start, ...rest })

const fault = (budget: Budget.Budget) => {
  const made = Budget.make(budget)
  return Result.isFailure(made) ? made.failure.option : "none"
}

describe("a budget", () => {
  it("lets a run go on within its limits", () => {
    const tally = tallyOf(...running, answered(1, 900, 99))
    assert.deepStrictEqual(check({ perRun: { tokens: 1000 } }, tally), Budget.Verdict.Within())
    assert.deepStrictEqual(check({}, tally), Budget.Verdict.Within())
  })

  it("lands softly at the limit itself, and is exhausted once it has", () => {
    const tally = tallyOf(...running, answered(1, 900, 100))
    const reason = { scope: "run", limit: "tokens", used: 1000, maximum: 1000 } as const
    assert.deepStrictEqual(check({ perRun: { tokens: 1000 } }, tally), Budget.Verdict.SoftLanding({ reason }))
    assert.deepStrictEqual(
      check({ perRun: { tokens: 1000 } }, tally, { landed: true }),
      Budget.Verdict.Exhausted({ reason })
    )
  })

  it("counts calls, but not those that the provider ran", () => {
    const executed = { ...log.call("srv"), providerExecuted: true } as log.Part
    const tally = tallyOf(...running, log.responded("r1", 1, [log.call("a"), log.call("b"), executed]))
    assert.strictEqual(tally.conversation.toolCalls, 2)
    assert.strictEqual(check({ perRun: { toolCalls: 3 } }, tally)._tag, "Within")
    assert.strictEqual(check({ perRun: { toolCalls: 2 } }, tally)._tag, "SoftLanding")
  })

  it("counts money by the model's prices, and what has none by the price for others", () => {
    assert.closeTo(
      Budget.costOf(used(1_000_000, 100_000, { uncached: 200_000, cacheRead: 800_000 }), "large", prices),
      0.6 + 0.24 + 1.5,
      1e-9
    )
    assert.closeTo(Budget.costOf(used(1_000_000, 0), "unknown", prices), 100, 1e-9)
    assert.closeTo(Budget.costOf(used(1_000_000, 0), undefined, prices), 100, 1e-9)
    const tally = tallyOf(...running, answered(1, 1_000_000, 0))
    assert.strictEqual(check({ perRun: { cost: 3 }, prices }, tally)._tag, "SoftLanding")
    assert.strictEqual(check({ perRun: { cost: 3.01 }, prices }, tally)._tag, "Within")
  })

  it("counts what summaries and background agents use", () => {
    const tally = tallyOf(
      ...running,
      {
        _tag: "Compacted",
        kind: "summary",
        coversThrough: 1,
        pinned: [],
        summary: "s",
        usage: used(50, 5),
        model: "large"
      },
      { _tag: "BackgroundSettled", taskId: "t", outcome: "completed", usage: used(20, 2) }
    )
    assert.strictEqual(tally.conversation.tokens, 77)
    assert.strictEqual(tally.runs.get("r1")?.spent.tokens, 55)
  })

  it("counts the time in which a run goes on, and not that in which it waits", () => {
    const waiting = tallyOf(
      ...running,
      answered(1, 1, 1, "large", "a"),
      log.requested("r1", "a1", "a"),
      log.suspended("r1", "a1")
    )
    assert.strictEqual(waiting.runs.get("r1")?.spent.wallTime, 4 * second)
    const hour = start + 3600 * second
    assert.strictEqual(check({ perRun: { wallTime: "5 seconds" } }, waiting, { now: hour })._tag, "Within")
    const resumed = Budget.advance(waiting, [{ ...log.recordAt(9, log.resumed("r1", 2)), at: hour }])
    assert.strictEqual(
      check({ perRun: { wallTime: "5 seconds" } }, resumed, { now: hour + 0.9 * second })._tag,
      "Within"
    )
    assert.strictEqual(
      check({ perRun: { wallTime: "5 seconds" } }, resumed, { now: hour + second })._tag,
      "SoftLanding"
    )
  })

  it("does not count the time between a crash and the resumption", () => {
    const crashed = tallyOf(...running, answered(1, 1, 1))
    const hour = start + 3600 * second
    const resumed = Budget.advance(crashed, [{ ...log.recordAt(9, log.resumed("r1", 2)), at: hour }])
    assert.strictEqual(resumed.runs.get("r1")?.spent.wallTime, 2 * second)
  })

  it("of a conversation that was used up before the run lets no call through", () => {
    const first = [...running, answered(1, 900, 100), log.ended("r1")]
    const tally = tallyOf(...first, log.started("r2"))
    const budget = { perConversation: { tokens: 1000 } }
    const run = { runId: RunId.make("r2"), now: start }
    assert.strictEqual(Budget.check(budget, tally, run)._tag, "Exhausted")
    assert.strictEqual(Budget.check({ perRun: { tokens: 1000 } }, tally, run)._tag, "Within")
    assert.deepStrictEqual([...tally.runs.keys()], ["r2"])
  })

  it("reads a redacted log as it reads the original", () => {
    const payloads = [...running, answered(1, 900, 100, "large", "a")]
    const { conversation } = tallyOf(
      ...payloads.slice(0, 2),
      ...payloads.slice(2).map((payload) => Payload.redact(payload))
    )
    assert.deepStrictEqual(conversation, tallyOf(...payloads).conversation)
  })

  it("is the same counted at once and counted record by record", () => {
    const payloads = [
      ...running,
      answered(1, 9, 1, "large", "a"),
      log.settled("r1", 1, "a", "ok"),
      answered(2, 9, 1),
      log.ended("r1")
    ]
    const records = payloads.map((payload, i) => log.recordAt(i + 1, payload))
    let kept = Budget.empty
    for (const record of records) kept = Budget.advance(kept, [record], prices)
    assert.deepStrictEqual(kept, Budget.advance(Budget.empty, records, prices))
  })

  it("with limits that make no sense is refused", () => {
    assert.strictEqual(fault({ perRun: { tokens: 0 } }), "perRun.tokens")
    assert.strictEqual(fault({ perConversation: { toolCalls: -1 } }), "perConversation.toolCalls")
    assert.strictEqual(fault({ perRun: { wallTime: "0 seconds" } }), "perRun.wallTime")
    assert.strictEqual(fault({ perRun: { tokens: Number.NaN } }), "perRun.tokens")
    assert.strictEqual(fault({ perRun: { cost: 1 } }), "perRun.cost")
    assert.strictEqual(fault({ prices: { models: {}, otherwise: { input: -1, output: 0 } } }), "prices.otherwise.input")
    assert.strictEqual(fault({ perRun: { cost: 1, tokens: 5 }, prices }), "none")
  })
})
