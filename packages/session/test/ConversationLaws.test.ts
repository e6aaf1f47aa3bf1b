import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { CanonicalRecord } from "../src/CanonicalRecord.ts"
import * as Conversation from "../src/Conversation.ts"
import { ConversationState } from "../src/ConversationState.ts"
import * as Payload from "../src/Payload.ts"
import { call, conversationId, created, ended, recordAt, responded, run, said, settled, started } from "./log.ts"
import { Random, runs, Seed } from "./random.ts"
import { randomLog } from "./randomLog.ts"
import { usage } from "./samples.ts"

const initial = Conversation.initial(conversationId)
const replay = (from: ConversationState, records: Iterable<CanonicalRecord>) =>
  Result.getOrThrow(Conversation.replay(from, records))

const encode = Schema.encodeEffect(Schema.fromJsonString(ConversationState))
const decode = Schema.decodeEffect(Schema.fromJsonString(ConversationState))

/** What a redaction takes from a state: digests of parameters, and the grants that were bound to one. */
const withoutDigests = (state: ConversationState) => ({
  ...state,
  approvals: state.approvals.map(({ approvalId, callId, name, runId }) => ({ approvalId, callId, name, runId })),
  grants: state.grants.filter(({ scope }) => scope !== "conversation-exact-parameters")
})

describe("the reducer, over random logs", () => {
  it.effect.prop(
    "takes a legal log, and finds nothing wrong with it",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        const records = randomLog(seed)
        const state = replay(initial, records)
        assert.strictEqual(state.sequence, records.length)
        assert.deepStrictEqual(Conversation.replayLenient(initial, records), { state, violations: [] })
      }),
    runs(200)
  )

  it.effect.prop(
    "gives the same for a log that is split, kept as text and taken up again",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const records = randomLog(seed)
        const whole = replay(initial, records)
        const at = new Random(seed.seed).int(0, records.length)
        const checkpoint = yield* encode(replay(initial, records.slice(0, at)))
        assert.deepStrictEqual(replay(yield* decode(checkpoint), records.slice(at)), whole)
      }),
    runs(150)
  )

  it.effect.prop(
    "keeps after each append what the log rebuilds",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        const records = randomLog(seed)
        let kept = initial
        records.forEach((record, i) => {
          kept = Result.getOrThrow(Conversation.evolve(kept, record))
          if (i % 7 === 0) assert.deepStrictEqual(kept, replay(initial, records.slice(0, i + 1)))
        })
      }),
    runs(60)
  )

  it.effect.prop(
    "has a state that is its own encoding",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const state = replay(initial, randomLog(seed))
        assert.deepStrictEqual(yield* decode(yield* encode(state)), state)
        assert.deepStrictEqual(yield* Schema.encodeEffect(ConversationState)(state), state)
      }),
    runs(100)
  )

  it.effect.prop(
    "leaves the state it was given as it was",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const records = randomLog(seed)
        let state = initial
        for (const record of records) {
          const before = yield* encode(state)
          const next = Result.getOrThrow(Conversation.evolve(state, record))
          assert.strictEqual(yield* encode(state), before)
          state = next
        }
      }),
    runs(20)
  )

  it.effect.prop(
    "reads facts alone: a redacted log gives the same state",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        const records = randomLog(seed)
        const random = new Random(seed.seed)
        const redactedShare = random.pick([0.2, 1])
        const redacted = records.map((record) =>
          random.chance(redactedShare) ? { ...record, payload: Payload.redact(record.payload) } : record
        )
        const expected = withoutDigests(replay(initial, records))
        assert.deepStrictEqual(withoutDigests(replay(initial, redacted)), expected)
      }),
    runs(150)
  )

  it.effect.prop(
    "orders by sequence: times that stand still or run backwards change nothing",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        const records = randomLog(seed)
        const state = replay(initial, records)
        for (const at of [() => 0, (sequence: number) => -sequence]) {
          const timed = records.map((record) => ({ ...record, at: at(record.sequence) }))
          assert.deepStrictEqual(replay(initial, timed), state)
        }
      }),
    runs(30)
  )

  it.effect.prop(
    "survives any damage when it is lenient",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const random = new Random(seed.seed)
        const records = random.shuffle(randomLog(seed)).slice(0, 40)
        const { state, violations } = Conversation.replayLenient(initial, records)
        assert.isAtMost(violations.length, records.length)
        assert.deepStrictEqual(yield* decode(yield* encode(state)), state)
      }),
    runs(60)
  )
})

/** Closed runs of ten records each: an input, two steps with three parallel calls, an answer. */
const closedRun = (first: number, name: string): Array<CanonicalRecord> => {
  const runId = run(name)
  const ids = ["a", "b", "c"].map((part) => `${name}/${part}`)
  return [
    started(name),
    said("Where is it?", { runId }),
    responded(
      1,
      ids.map((id) => call(id)),
      { runId, usage }
    ),
    ...ids.map((id) => settled(1, id, "x".repeat(1000), { runId })),
    responded(2, "There.", { runId, usage }),
    said("Thank you.", { runId, kind: "follow-up" }),
    responded(3, "You are welcome.", { runId, usage }),
    ended({ runId, usage })
  ].map((payload, i) => recordAt(first + i, payload))
}

describe("the state of a long conversation", () => {
  it("does not grow with the log, and copies no message", () => {
    let state = replay(initial, [recordAt(1, created())])
    const sizes: Array<number> = []
    for (let i = 0; i < 1000; i++) {
      state = replay(state, closedRun(state.sequence + 1, `run-${i}`))
      if (i === 9 || i === 999) sizes.push(JSON.stringify(state).length)
    }
    assert.strictEqual(state.sequence, 10_001)
    const [after100, after10000] = sizes
    assert(after100 !== undefined && after10000 !== undefined)
    // Room for more digits of sequences, run names and token counts.
    assert.isAtMost(after10000, after100 + 64)
    assert.isBelow(after10000, 1200)
  })

  it("holds an open batch once, whatever its results hold", () => {
    const records = closedRun(2, "run").slice(0, 3)
    const state = replay(initial, [recordAt(1, created()), ...records])
    assert.lengthOf(state.calls, 3)
    assert.notInclude(JSON.stringify(state), "Where is it?")
  })
})
