import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { CanonicalRecord } from "../src/CanonicalRecord.ts"
import * as Conversation from "../src/Conversation.ts"
import * as ConversationPrompt from "../src/ConversationPrompt.ts"
import * as Payload from "../src/Payload.ts"
import * as PromptFault from "../src/PromptFault.ts"
import * as ToolCalls from "../src/ToolCalls.ts"
import { damagedLog, randomOptions } from "./damage.ts"
import { call, cleared, conversationId, created, log, responded, said, settled, started, summarised } from "./log.ts"
import { Random, runs, Seed } from "./random.ts"
import { randomLog } from "./randomLog.ts"

const initial = Conversation.initial(conversationId)
const encode = Schema.encodeEffect(Schema.fromJsonString(Prompt.Prompt))
const decode = Schema.decodeEffect(Schema.fromJsonString(Prompt.Prompt))
const isPayload = Schema.is(Payload.Payload)

const replay = (records: ReadonlyArray<CanonicalRecord>) => Effect.fromResult(Conversation.replay(initial, records))

const project = (records: ReadonlyArray<CanonicalRecord>, options: ConversationPrompt.Options = {}) =>
  ConversationPrompt.project(Conversation.replayLenient(initial, records).state, records, options)

/** The prompt is one that a provider takes, and the same after it was text. */
const assertSendable = (prompt: Prompt.Prompt) =>
  Effect.gen(function* () {
    assert.deepStrictEqual(PromptFault.check(prompt), [])
    const text = yield* encode(prompt)
    assert.strictEqual(yield* encode(yield* decode(text)), text)
  })

/** Each message as the text that would be sent. */
const messagesOf = Effect.fnUntraced(function* (
  records: ReadonlyArray<CanonicalRecord>,
  options: ConversationPrompt.Options
) {
  const state = Result.getOrThrow(Conversation.replay(initial, records))
  const { prompt } = ConversationPrompt.project(state, records, options)
  return yield* Effect.forEach(prompt.content, (message) => encode(Prompt.fromMessages([message])))
})

describe("the prompt of any log", () => {
  it.effect.prop(
    "is one that a provider takes",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const { prompt } = project(randomLog(seed), randomOptions(new Random(seed.seed)))
        yield* assertSendable(prompt)
      }),
    runs(200)
  )

  it.effect.prop(
    "is one that a provider takes, however the log is damaged",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const records = damagedLog(seed)
        assert.isTrue(records.every(({ payload }) => isPayload(payload)))
        const before = JSON.stringify(records)
        const { prompt } = project(records, randomOptions(new Random(seed.seed)))
        yield* assertSendable(prompt)
        assert.strictEqual(JSON.stringify(records), before)
      }),
    runs(1000)
  )

  it.effect.prop(
    "has nothing to repair when nothing was cut off, left empty or removed",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        const records = randomLog(seed, { compaction: false })
        const { repairs } = project(records)
        const expected = ["call-without-result", "empty-message", "reasoning-without-content"]
        assert.deepStrictEqual(
          repairs.filter(({ kind }) => !expected.includes(kind)),
          []
        )
        // Every call that is said to lack its result does.
        const results = new Set(
          records.flatMap(({ payload }) => (payload._tag === "ToolCallSettled" ? [`${payload.callId}`] : []))
        )
        assert.isTrue(repairs.every(({ callId }) => callId === undefined || !results.has(callId)))
      }),
    runs(100)
  )

  it.effect.prop(
    "does not depend on records outside the visible window",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const records = randomLog(seed)
        const state = Result.getOrThrow(Conversation.replay(initial, records))
        const { pinned, visibleFrom } = state.window
        const visible = records.filter(({ sequence }) => sequence >= visibleFrom || pinned.includes(sequence))
        const whole = yield* encode(ConversationPrompt.project(state, records).prompt)
        assert.strictEqual(yield* encode(ConversationPrompt.project(state, visible).prompt), whole)
      }),
    runs(100)
  )
})

describe("the prompt of a log that grows", () => {
  it("shows nothing behind the state it is asked for", () => {
    const records = log(created(), started(), said("one"), said("two"))
    const state = Result.getOrThrow(Conversation.replay(initial, records.slice(0, 3)))
    assert.lengthOf(ConversationPrompt.project(state, records).prompt.content, 1)
  })

  it.effect.prop(
    "only ever gets longer between points with no open call",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const records = randomLog(seed, { context: false, compaction: false, repair: false })
        const options = randomOptions(new Random(seed.seed))
        let state = initial
        let earlier: ReadonlyArray<string> = []
        for (const record of records) {
          state = Result.getOrThrow(Conversation.evolve(state, record))
          if (state.calls.length > 0) continue
          const later = yield* messagesOf(records.slice(0, record.sequence), options)
          assert.deepStrictEqual(later.slice(0, earlier.length), earlier, `at record ${record.sequence}`)
          earlier = later
        }
      }),
    runs(150)
  )
})

describe("results", () => {
  it.effect.prop(
    "stand in the order of their calls, whatever order they settled in",
    [Seed],
    ([{ seed }]) =>
      Effect.gen(function* () {
        const random = new Random(seed)
        const ids = Array.from({ length: random.int(2, 6) }, (_, i) => `call_${i + 1}`)
        const settledIn = (order: ReadonlyArray<string>) =>
          messagesOf(
            log(
              created(),
              started(),
              said("go"),
              responded(
                1,
                ids.map((id) => call(id))
              ),
              ...order.map((id) => settled(1, id)),
              responded(2, "done")
            ),
            {}
          )
        const inOrder = yield* settledIn(ids)
        assert.deepStrictEqual(yield* settledIn(random.shuffle(ids)), inOrder)
        const places = ids.map((id) => inOrder.join("").indexOf(`result of ${id}"`))
        assert.deepStrictEqual(
          places.toSorted((a, b) => a - b),
          places
        )
        assert.isAbove(places[0] ?? -1, 0)
      }),
    runs(50)
  )

  it.effect.prop(
    "are all shown, each with its call, however a provider repeats its ids",
    [Seed],
    ([{ seed }]) =>
      Effect.gen(function* () {
        const random = new Random(seed)
        const used = new Set<string>()
        const payloads: Array<Payload.Payload> = [created(), started(), said("go")]
        const expected: Array<string> = []
        for (let step = 1; step <= 5; step++) {
          const calls = Array.from({ length: random.int(1, 4) }, (_, i) =>
            call(random.pick(["call_1", "call_1_2", "call_2"]), "search", { params: `${step}.${i}` })
          )
          const { content } = ToolCalls.rename(calls, (id) => used.has(id))
          const ids = ToolCalls.declaredIds(content)
          for (const id of ids) used.add(id)
          const results = ids.map((id, i) => settled(step, id, `result of ${step}.${i}`))
          expected.push(...ids.map((_, i) => `${step}.${i}`))
          payloads.push(responded(step, content), ...random.shuffle(results))
        }
        const records = log(...payloads)
        const { prompt, repairs } = ConversationPrompt.project(yield* replay(records), records)
        assert.deepStrictEqual(repairs, [])
        const parts = prompt.content.flatMap((message): ReadonlyArray<Prompt.Part> =>
          typeof message.content === "string" ? [] : message.content
        )
        const calls = parts.filter((part) => part.type === "tool-call")
        assert.deepStrictEqual<unknown>(
          calls.map(({ params }) => params),
          expected
        )
        for (const { id, params } of calls) {
          const results = parts.filter((part) => part.type === "tool-result").filter((part) => part.id === id)
          assert.deepStrictEqual<unknown>(
            results.map(({ result }) => result),
            [`result of ${String(params)}`]
          )
        }
      }),
    runs(100)
  )
})

const shownOf = ({ prompt }: ConversationPrompt.Projection) => JSON.stringify(prompt.content)

describe("the whole prompt", () => {
  const before = [
    created(),
    started(),
    said("the first word"),
    responded(1, [call("c1")]),
    settled(1, "c1", "found it")
  ]

  it.effect("shows what compactions hide, and no summary and no cleared result in its place", () =>
    Effect.gen(function* () {
      const compacted = log(...before, cleared(5, "c1"), summarised(5), said("the last word"))
      const state = yield* replay(compacted)
      const visible = shownOf(ConversationPrompt.project(state, compacted))
      assert.notInclude(visible, "the first word")
      assert.include(visible, "all until 5")
      const plain = log(...before, said("the last word"))
      const whole = ConversationPrompt.projectWhole(state, compacted)
      assert.deepStrictEqual(shownOf(whole), shownOf(ConversationPrompt.project(yield* replay(plain), plain)))
      yield* assertSendable(whole.prompt)
    })
  )

  it.effect.prop(
    "of any log is one that a provider takes",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const records = damagedLog(seed)
        const { state } = Conversation.replayLenient(initial, records)
        yield* assertSendable(ConversationPrompt.projectWhole(state, records).prompt)
      }),
    runs(100)
  )
})
