import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import type { CanonicalRecord } from "../src/CanonicalRecord.ts"
import * as Conversation from "../src/Conversation.ts"
import * as ConversationEntry from "../src/ConversationEntry.ts"
import * as ConversationPrompt from "../src/ConversationPrompt.ts"
import * as Payload from "../src/Payload.ts"
import { asking, calling, running } from "./given.ts"
import {
  call,
  cleared,
  conversationId,
  created,
  ended,
  forked,
  handedOff,
  log,
  modeChanged,
  requested,
  resolved,
  responded,
  resumed,
  run,
  said,
  settled,
  started,
  summarised,
  suspended,
  taskStarted
} from "./log.ts"
import { Random, runs, Seed } from "./random.ts"
import { randomLog } from "./randomLog.ts"
import { usage } from "./samples.ts"

type Entry = ConversationEntry.ConversationEntry

const entriesOf = (records: Iterable<CanonicalRecord>) => ConversationEntry.fromRecords(conversationId, records)
const entries = (...payloads: ReadonlyArray<Payload.Payload>) => entriesOf(log(...payloads))
const last = (...payloads: ReadonlyArray<Payload.Payload>) => entries(...payloads).at(-1)

/** What an entry is about, in one word and its texts. */
const told = (entry: Entry): string => {
  if (entry.isSummary) return "summary"
  const [first] = entry.messages
  if (first === undefined) return entry.endsRun ? "end" : "go on"
  if (first.role !== "tool") return first.role
  return `results ${entry.messages.length}`
}

describe("entries", () => {
  const conversation = [
    ...running,
    said("Where is it?"),
    responded(1, [call("c1"), call("c2")]),
    settled(1, "c2"),
    settled(1, "c1"),
    said("The red one!", { kind: "steering" }),
    responded(2, [call("c3")], { model: "m", usage }),
    settled(2, "c3"),
    responded(3, "At belt 4."),
    ended({ mode: "plan" })
  ]

  it("are one for each input, response, step's results and run's end", () => {
    assert.deepStrictEqual(entries(...conversation).map(told), [
      "user",
      "assistant",
      "results 2",
      "user",
      "assistant",
      "results 1",
      "assistant",
      "end"
    ])
  })

  it("name agent, model, usage and time", () => {
    const all = entries(...conversation)
    const withModel = all[4]
    assert.deepStrictEqual<unknown>(withModel, {
      agent: "desk",
      messages: [{ role: "assistant", content: [call("c3")] }],
      at: 1_700_000_000_008,
      model: "m",
      usage,
      endsRun: false,
      isSummary: false
    })
    // The entry of several results has the time of the last one.
    assert.strictEqual(all[2]?.at, 1_700_000_000_006)
    assert.deepInclude(all.at(-1), { endsRun: true, mode: "plan", messages: [] })
    assert.notProperty(all[0], "model")
  })

  it("tell of a failure", () => {
    const error = { tag: "RateLimitError", message: "try later" }
    assert.deepStrictEqual(last(...running, ended({ outcome: "failed", error }))?.error, error)
  })

  it("name the agent that work was handed to", () => {
    const after = [...running, handedOff("desk", "luggage"), said("x")]
    assert.strictEqual(last(...after)?.agent, "luggage")
  })

  it("keep the results of a step together over a crash", () => {
    const told1 = entries(...calling, settled(1, "c1"), resumed(2, { cause: "crash" }), settled(1, "c2")).map(told)
    assert.deepStrictEqual(told1, ["assistant", "results 2"])
  })

  it("are not made of what only the log needs", () => {
    const quiet = [
      created(),
      modeChanged("plan"),
      taskStarted("t"),
      { _tag: "Custom", name: "n", data: 1 } as const,
      { _tag: "MetadataChanged", title: "t" } as const
    ]
    assert.deepStrictEqual(entries(...quiet), [])
  })
})

describe("the last entry", () => {
  it("does not end the run that a crash cut off", () => {
    for (const cut of [
      [...running, said("x")],
      [...running, said("x"), responded(1, "y", { partial: true })],
      calling,
      [...calling, settled(1, "c1")],
      [...calling, settled(1, "c1"), settled(1, "c2")],
      [...running, said("x"), ended(), started("r2"), said("y", { runId: run("r2") })]
    ]) {
      assert.isFalse(last(...cut)?.endsRun)
    }
  })

  it("ends a run that is over, however it ended", () => {
    for (const outcome of ["completed", "failed", "cancelled", "limit-reached"] as const) {
      assert.isTrue(last(...calling, ended({ outcome }))?.endsRun)
    }
  })

  it("ends a run that waits for people, until a decision lets it go on", () => {
    const waiting = [...asking, suspended("a1")]
    assert.deepInclude(last(...waiting), { endsRun: true, mode: "execute" })
    const decided = [...waiting, resolved("a1", "approved")]
    assert.isTrue(last(...decided)?.endsRun)
    assert.isFalse(last(...decided, resumed(2))?.endsRun)
  })

  it("ends what was written outside a run", () => {
    assert.isTrue(last(...running, said("x"), ended(), summarised(2))?.endsRun)
    const asked = [...running, said("x"), responded(1, [call("c1")]), requested("a1", "c1")]
    assert.isTrue(last(...asked, suspended("a1"), summarised(2))?.endsRun)
    assert.isFalse(last(...running, said("x"), summarised(2))?.endsRun)
  })

  it("ends the run that was open where the log was forked", () => {
    assert.isTrue(last(...calling, forked())?.endsRun)
    assert.deepStrictEqual(entries(...calling, ended(), forked()).map(told), ["assistant", "end"])
  })

  it("is the same when its content was removed", () => {
    const all = [...calling, settled(1, "c1"), settled(1, "c2"), ended({ error: { tag: "T", message: "m" } })]
    const redacted = entries(...all.map((payload) => Payload.redact(payload)))
    assert.deepStrictEqual(
      redacted.map(({ endsRun, messages }) => [endsRun, messages.length]),
      [
        [false, 0],
        [false, 0],
        [true, 0]
      ]
    )
    assert.notProperty(redacted.at(-1), "error")
    assert.isFalse(last(...running, Payload.redact(said("x")))?.endsRun)
  })

  it.effect.prop(
    "ends a run exactly when none was cut off",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        const records = randomLog(seed, { abandoned: false })
        const random = new Random(seed.seed)
        const share = random.pick([0, 0, 0.3, 1])
        const redacted = records.map((record) =>
          random.chance(share) ? { ...record, payload: Payload.redact(record.payload) } : record
        )
        let state = Conversation.initial(conversationId)
        let cursor = ConversationEntry.start(conversationId)
        let final: Entry | undefined
        for (const record of redacted) {
          state = Result.getOrThrow(Conversation.evolve(state, record))
          const next = ConversationEntry.advance(cursor, [record])
          cursor = next.cursor
          final = ConversationEntry.finish(cursor).at(-1) ?? next.entries.at(-1) ?? final
          // A run starts together with its first input.
          if (record.payload._tag === "RunStarted" || final === undefined) continue
          const isStart = record.payload._tag === "Redacted" && record.payload.tag === "RunStarted"
          if (isStart) continue
          const isCut = state.runs.some(({ status }) => status === "running")
          assert.strictEqual(final.endsRun, !isCut, `at record ${record.sequence}`)
        }
      }),
    runs(150)
  )
})

describe("a summary", () => {
  const before = [
    ...running,
    said("Where is it?"),
    responded(1, [call("c1"), call("c2")]),
    requested("a1", "c1"),
    resolved("a1", "approved", { scope: "conversation" }),
    settled(1, "c1"),
    settled(1, "c2"),
    taskStarted("t"),
    ended({ mode: "plan" })
  ]

  it("shows the recap, the messages that stay, and what goes on", () => {
    const entry = last(...before, summarised(7, { pinned: [3], model: "small", usage }))
    assert(entry !== undefined)
    assert.isTrue(entry.isSummary)
    assert.deepStrictEqual<unknown>(
      entry.messages.map((message) => JSON.stringify(message.content)),
      [
        JSON.stringify([{ type: "text", text: ConversationPrompt.recap("all until 7") }]),
        JSON.stringify([{ type: "text", text: "Where is it?" }]),
        JSON.stringify([{ type: "tool-result", id: "c2", name: "search", isFailure: false, result: "result of c2" }])
      ]
    )
    assert.deepInclude<unknown>(entry, {
      mode: "plan",
      grants: [{ name: "search", scope: "conversation" }],
      model: "small",
      usage
    })
    assert.deepStrictEqual<unknown>(
      entry.tasks?.map(({ taskId }) => taskId),
      ["t"]
    )
  })

  it("of a summary does not repeat what the first one covers", () => {
    const entry = last(...before, summarised(7, { pinned: [3] }), summarised(10))
    assert.lengthOf(entry?.messages ?? [], 1)
  })

  it("is not made of results that were cleared", () => {
    const all = entries(...before, cleared(9, "c1"))
    assert.deepStrictEqual(all, entries(...before))
    const kept = last(...before, cleared(9, "c1"), summarised(3))
    assert.lengthOf(kept?.messages ?? [], 4)
  })
})

describe("entries, over random logs", () => {
  const codec = Schema.fromJsonString(Schema.Array(ConversationEntry.ConversationEntry))

  it.effect.prop(
    "are the same for a log that is read in pieces",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        const records = randomLog(seed)
        const random = new Random(seed.seed)
        let cursor = ConversationEntry.start(conversationId)
        const pieces: Array<Entry> = []
        for (let at = 0; at < records.length;) {
          const until = at + random.int(0, 5)
          const next = ConversationEntry.advance(cursor, records.slice(at, until))
          pieces.push(...next.entries)
          cursor = next.cursor
          at = until
        }
        assert.deepStrictEqual([...pieces, ...ConversationEntry.finish(cursor)], entriesOf(records))
      }),
    runs(150)
  )

  it.effect.prop(
    "are their own JSON, in both directions",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const all = entriesOf(randomLog(seed))
        const text = yield* Schema.encodeEffect(codec)(all)
        const read = yield* Schema.decodeEffect(codec)(text)
        assert.deepStrictEqual(read, all)
        assert.deepStrictEqual(JSON.parse(JSON.stringify(all)), all)
        assert.strictEqual(yield* Schema.encodeEffect(codec)(read), text)
        assert.deepStrictEqual(CanonicalJson.encode(JSON.parse(text)), CanonicalJson.encode(all))
      }),
    runs(60)
  )
})
