import { assert, describe, it } from "@effect/vitest"
import * as RunSpans from "../../page/src/charts/RunSpans.ts"
import { linear, ticks } from "../../page/src/charts/Scale.ts"
import * as StepTokens from "../../page/src/charts/StepTokens.ts"
import * as log from "./log.ts"

describe("the run's timeline", () => {
  const facts = [
    log.created,
    log.started,
    log.said("refund"),
    log.responded(1, [log.call("c")]),
    log.requested("c"),
    log.suspended,
    log.resolved("c", "approved"),
    log.callStarted("c"),
    log.settled("c"),
    log.responded(2, [log.text("done")]),
    log.ended()
  ]

  it("has a span for each model call, each wait and each tool call, from its beginning to its end", () => {
    const spans = RunSpans.ofRun(log.log(facts), "run")
    const begin = spans[0]?.start ?? 0
    assert.deepStrictEqual(
      spans.map(({ end, kind, start }) => [kind, start - begin, end === undefined ? undefined : end - begin]),
      [
        ["model", 0, 1000],
        ["wait", 2000, 4000],
        ["tool", 5000, 6000],
        ["model", 6000, 7000]
      ]
    )
  })

  it("leaves open what goes on, and closes it with its run", () => {
    const going = RunSpans.ofRun(log.log(facts.slice(0, 8)), "run")
    assert.isUndefined(going.at(-1)?.end)
    const cut = RunSpans.ofRun(log.log([...facts.slice(0, 8), log.ended("cancelled")]), "run")
    assert.isDefined(cut.at(-1)?.end)
  })

  it("does not take a denial for a failure", () => {
    const denied = RunSpans.ofRun(log.log([...facts.slice(0, 6), log.resolved("c", "denied")]), "run")
    assert.deepStrictEqual(
      denied.filter(({ kind }) => kind === "wait").map(({ end, isFailure }) => [end !== undefined, isFailure]),
      [[true, false]]
    )
  })

  it("knows the runs of a conversation in their order", () => {
    const second = facts.map((fact) => ("runId" in fact ? { ...fact, runId: "run2" } : fact))
    assert.deepStrictEqual(RunSpans.runIds(log.log([...facts, ...second.slice(1)])), ["run", "run2"])
  })
})

describe("tokens per step", () => {
  it("puts a compaction in front of the call that came behind it", () => {
    const { marks, steps } = StepTokens.fromRecords(
      log.log([
        log.created,
        log.started,
        log.responded(1, [log.text("a")]),
        { _tag: "Compacted", kind: "summary", coversThrough: 2, pinned: [], summary: "s" },
        log.responded(2, [log.text("b")])
      ])
    )
    assert.deepStrictEqual(
      steps.map(({ input, output }) => [input, output]),
      [
        [100, 10],
        [200, 10]
      ]
    )
    assert.deepStrictEqual(marks, [{ sequence: 4, before: 1, what: "summary" }])
  })
})

describe("scales", () => {
  it.each([
    [0, [0, 1]],
    [9, [0, 5, 10]],
    [970, [0, 500, 1000]]
  ] as const)("have round ticks up to %d", (max, expected) => {
    assert.deepStrictEqual(ticks(max, 2), [...expected])
  })

  it("map a domain onto a range, and an empty one onto its start", () => {
    assert.strictEqual(linear(0, 10, 100, 200)(5), 150)
    assert.strictEqual(linear(3, 3, 100, 200)(3), 100)
  })
})
