/**
 * Any text goes in and comes out exactly, and digests do not depend on how it was written.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { ProducerId } from "@colloquy/session/Ids"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, some } from "./Expect.ts"
import { batch, called, created, note, notes, renamed, said, started, withIds } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

/** What is stored of a note with this data. */
const stored = (scenario: Scenario, data: unknown) =>
  Effect.gen(function* () {
    const owner = yield* scenario.begin()
    yield* owner.append(batch("b", note(data)))
    const record = (yield* scenario.log()).at(-1)
    return record?.payload._tag === "Custom" ? record.payload.data : undefined
  })

const roundTrips = (scenario: Scenario, data: unknown) =>
  Effect.flatMap(stored(scenario, data), (found) => equal("the data", found, data))

/**
 * Texts that have been lost or changed on their way.
 *
 * @category texts
 * @since 0.1.0
 */
export const texts: ReadonlyArray<readonly [name: string, text: string]> = [
  ["NUL", "before\u0000after"],
  ["only NUL", "\u0000"],
  ["the six characters of an escaped NUL", "before\\u0000after"],
  ["NUL beside its escape", "\u0000\\u0000\u0000\\\\u0000"],
  ["every control character", Array.from({ length: 160 }, (_, i) => String.fromCharCode(i)).join("")],
  ["quotes and backslashes", `"\\"'\`\\\\"\\`],
  ["text behind the basic plane", "😀👩‍👩‍👧‍👦🏳️‍🌈𝒜𐍈"],
  ["noncharacters and the byte order mark", "\ufeffa\uffff\ufffe\ufdd0"],
  ["line separators", "a\u2028b\u2029c\r\n\u0085"],
  ["composed and decomposed letters", "\u00e9e\u0301"],
  ["text from right to left", "\u202eשלום\u202c مرحبا"]
]

/** The stored batch is recognised again in another spelling: both have one digest. */
const sameBatch = (scenario: Scenario, one: unknown, two: unknown) =>
  Effect.gen(function* () {
    const owner = yield* scenario.begin()
    const first = yield* owner.append(batch("b", note(one)))
    const again = yield* owner.append(batch("b", note(two)))
    yield* equal("replayed", again.replayed, true)
    yield* equal("the digests", again.records()[0]?.digest, first.records()[0]?.digest)
    yield* equal("the data", again.records()[0]?.payload, note(two))
  })

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const unicodeCases: ReadonlyArray<ConformanceCase> = [
  ...texts.map(([name, text]) =>
    make(`unicode: ${name}, as text and as a key`, (scenario) => roundTrips(scenario, { [text]: [text] }))
  ),

  make("unicode: an emoji at every offset", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver()
      const data = Array.from({ length: 72 }, (_, i) => `${"x".repeat(i)}😀${"é".repeat(i % 5)}`)
      yield* owner.append(batch("b", ...data.map(note)))
      yield* equal(
        "the payloads",
        (yield* scenario.log()).map(({ payload }) => payload),
        data.map(note)
      )
    })
  ),

  make("unicode: an emoji around each edge of a large payload", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const data = [4_093, 4_094, 4_095, 4_096, 65_533, 65_534, 65_535, 65_536].map(
        (size) => `${"x".repeat(size)}😀😀x`
      )
      yield* owner.append(batch("b", ...data.map(note)))
      yield* equal(
        "the payloads",
        (yield* scenario.log()).slice(1).map(({ payload }) => payload),
        data.map(note)
      )
    })
  ),

  make("unicode: a lone surrogate is stored as U+FFFD", (scenario) =>
    Effect.gen(function* () {
      const found = yield* stored(scenario, { "k\udc00": ["\ud83d", "a\ud83db", "\ude00\ud83d", "😀\ude00"] })
      yield* equal("the data", found, { "k\ufffd": ["\ufffd", "a\ufffdb", "\ufffd\ufffd", "😀\ufffd"] })
    })
  ),

  make("unicode: a lone surrogate and U+FFFD have one digest", (scenario) =>
    sameBatch(
      scenario,
      { text: "half of an emoji: \ud83d", "key\udc00": "x".repeat(100) + "\ud800" },
      { text: "half of an emoji: \ufffd", "key\ufffd": "x".repeat(100) + "\ufffd" }
    )
  ),

  make("unicode: keys in any order have one digest", (scenario) =>
    sameBatch(
      scenario,
      { b: 1, a: { "😀": 1, "\uffff": 2, "": 3, "10": 4, "9": 5 }, Z: [] },
      { Z: [], a: { "9": 5, "10": 4, "": 3, "\uffff": 2, "😀": 1 }, b: 1 }
    )
  ),

  make("unicode: a lone surrogate in what a person says, a title and a tool's arguments", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver()
      yield* owner.append(batch("created", created({ title: "half\ud83d" })))
      const response = called(1, "c1")
      const content = [{ type: "tool-call" as const, id: "c1", name: "search\udc00", params: { q: "\ud83d" } }]
      yield* owner.append(batch("b", started(), said("half\ud83d"), { ...response, content }))
      const payloads = (yield* scenario.log()).map(({ payload }) => payload)
      yield* equal("the payloads", payloads, [
        created({ title: "half\ufffd" }),
        started(),
        said("half\ufffd"),
        { ...response, content: [{ type: "tool-call", id: "c1", name: "search\ufffd", params: { q: "\ufffd" } }] }
      ])
      yield* equal("the title in the list", (yield* scenario.listed())[0]?.title, "half\ufffd")
    })
  ),

  make("unicode: a title with NUL and an emoji in the list", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (const title of ["a\u0000b", "\u0000", "", "😀", "\\u0000", 'it\'s "quoted"']) {
        yield* owner.append(batch(`title ${title.length} ${title.codePointAt(0) ?? 0}`, renamed(title)))
        yield* equal("the title in the list", (yield* scenario.listed())[0]?.title, title)
      }
    })
  ),

  make("unicode: numbers come back as they were", (scenario) =>
    roundTrips(scenario, [
      0,
      1e21,
      1e-7,
      0.1,
      5e-324,
      Number.MAX_VALUE,
      Number.MAX_SAFE_INTEGER,
      2 ** 64,
      -1.5,
      123e-20
    ])
  ),

  make("unicode: empty and nested values come back as they were", (scenario) =>
    roundTrips(scenario, ["", {}, [], [[]], { "": {} }, null, true, false, { constructor: 1, toString: 2 }])
  ),

  make("unicode: ids are compared byte by byte", (scenario) =>
    Effect.gen(function* () {
      const spellings = [
        "a",
        "A",
        "a ",
        "\u00e1",
        "a\u0301",
        "\uff41",
        "a\u200b",
        "%",
        "_",
        "'",
        "\\",
        "1",
        "01",
        "1.0",
        "😀",
        "\ufffd"
      ]
      for (const spelling of spellings) {
        const owner = yield* scenario.begin(scenario.id(`in ${spelling}`), spelling)
        yield* owner.append(notes(spelling))
      }
      const owner = yield* scenario.begin()
      for (const spelling of spellings) {
        const { replayed } = yield* owner.append(withIds(notes(spelling), spelling))
        yield* equal(`a batch ${spelling} is a new one`, replayed, false)
      }
      const ids = (yield* scenario.log()).slice(1).map(({ recordId }) => recordId)
      yield* equal(
        "the record ids",
        ids,
        spellings.map((spelling) => withIds(notes("x"), spelling).records[0]!.recordId)
      )
      for (const spelling of spellings) {
        const stored = yield* some("the batch", yield* scenario.store.batch({ ...owner, ...notes(spelling) }))
        yield* equal("its id", stored.batchId, notes(spelling).batchId)
        const conversationId = scenario.id(`in ${spelling}`)
        const { producerId } = yield* scenario.store.tail({ conversationId })
        yield* equal("the owner", producerId, ProducerId.make(spelling))
      }
      yield* fails(scenario.store.tail({ conversationId: scenario.id("in B") }), "ConversationNotFound")
    })
  )
]
