/**
 * What settings may hold: any text, as much as there is room for, and nothing that JSON cannot.
 *
 * @since 0.1.0
 */
import { maxIdBytes, SettingsId } from "@colloquy/session/Ids"
import { type LimitExceeded, maxDepth, maxPayloadBytes } from "@colloquy/session/Limits"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { InvalidSettings } from "../StoreError.ts"
import type { ConformanceCase } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { make, type SettingsScenario, type SettingsStores } from "./SettingsScenario.ts"
import { texts } from "./UnicodeCases.ts"

const roundTrips = (scenario: SettingsScenario, settings: unknown) =>
  Effect.gen(function* () {
    yield* scenario.put(settings)
    yield* equal("what is stored", yield* scenario.content(), settings)
  })

/** The put is refused where there are none and over what is there, and nothing of it is written. */
const refused = <E extends { readonly _tag: string }>(
  scenario: SettingsScenario,
  put: Effect.Effect<unknown, E>,
  check: (put: Effect.Effect<unknown, E>) => Effect.Effect<void, unknown>
) =>
  Effect.gen(function* () {
    yield* check(put)
    yield* equal("what is listed", yield* scenario.listed(), [])
    yield* scenario.put({ before: true })
    yield* check(put)
    const { revision, settings } = yield* scenario.store.get(scenario.id())
    yield* equal("what is stored", { revision, settings }, { revision: 1, settings: { before: true } })
  })

const refusedAs = (
  scenario: SettingsScenario,
  reason: InvalidSettings["reason"],
  settings: unknown,
  expectedRevision?: number
) =>
  refused(scenario, scenario.put(settings, expectedRevision), (put) =>
    Effect.flatMap(fails(put, "InvalidSettings"), (error) => equal("the reason", error.reason, reason))
  )

const refusedFor = (
  scenario: SettingsScenario,
  settings: unknown,
  expected: Pick<LimitExceeded, "limit" | "maximum" | "actual">
) =>
  refused(scenario, scenario.put(settings), (put) =>
    Effect.flatMap(fails(put, "LimitExceeded"), ({ actual, limit, maximum }) =>
      equal("the limit", { actual, limit, maximum }, expected)
    )
  )

/** Settings whose JSON has so many bytes. */
const ofBytes = (bytes: number, letter = "x") => {
  const room = bytes - `{"text":""}`.length
  const size = new TextEncoder().encode(letter).length
  return { text: letter.repeat(Math.floor(room / size)) + "x".repeat(room % size) }
}

/** Settings nested so many levels deep. */
const ofDepth = (levels: number): unknown => (levels === 1 ? {} : { deeper: ofDepth(levels - 1) })

/** What a caller without types could pass. */
const forged = (text: string) => SettingsId.make(text, { disableChecks: true })

const noIds: ReadonlyArray<readonly [name: string, text: string]> = [
  ["empty", ""],
  ["NUL", "a\u0000b"],
  ["a control character", "\u0001tenant\u0001id"],
  ["a line break", "a\n"],
  ["a control character behind ASCII", "a\u0085"],
  ["half of a surrogate pair", "a\ud83d"],
  ["too long", "é".repeat(maxIdBytes / 2) + "x"]
]

class Options {
  readonly tone = "brief"
}

const noSettings: ReadonlyArray<readonly [name: string, settings: unknown]> = [
  ["null", null],
  ["undefined", undefined],
  ["a text", "{}"],
  ["a number", 1],
  ["a boolean", true],
  ["an array", [{}]],
  ["a function", () => ({})],
  ["a date", new Date(0)],
  ["a map", new Map([["a", 1]])],
  ["an object of a class", new Options()],
  ["a NaN inside", { a: [{ b: Number.NaN }] }],
  ["an infinite number inside", { a: Number.POSITIVE_INFINITY }],
  ["a big integer inside", { a: 1n }],
  ["undefined inside of an array", { a: [1, undefined] }],
  ["a hole in an array", { a: Array.from({ length: 2 }) }],
  ["a function inside", { a: () => 1 }],
  ["a symbol inside", { a: Symbol("a") }],
  ["a date inside", { a: new Date(0) }],
  ["bytes inside", { a: new Uint8Array(1) }],
  ["two keys that differ only in a lone surrogate", { "a\ud800": 1, "a\udc00": 2 }]
]

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const settingsInputCases: ReadonlyArray<ConformanceCase<SettingsStores>> = [
  ...texts.map(([name, text]) =>
    make(`settings unicode: ${name}, as text and as a key`, (scenario) => roundTrips(scenario, { [text]: [text] }))
  ),

  make("settings unicode: a lone surrogate is stored as U+FFFD", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.put({ "k\udc00": ["\ud83d", "a\ud83db", "\ude00\ud83d", "😀\ude00"] })
      yield* equal("what is stored", yield* scenario.content(), {
        "k\ufffd": ["\ufffd", "a\ufffdb", "\ufffd\ufffd", "😀\ufffd"]
      })
    })
  ),

  make("settings unicode: an emoji around each edge of large settings", (scenario) =>
    Effect.gen(function* () {
      for (const size of [4_083, 4_084, 4_085, 4_086, 65_524, 65_525, 65_526]) {
        yield* roundTrips(scenario, { text: `${"x".repeat(size)}😀😀x` })
      }
    })
  ),

  make("settings unicode: ids are compared byte by byte", (scenario) =>
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
        "1",
        "01",
        "1.0",
        "😀"
      ]
      for (const spelling of spellings) {
        const settingsId = scenario.id(spelling)
        const { revision } = yield* scenario.store.put({ settingsId, settings: { spelling }, expectedRevision: 0 })
        yield* equal(`${spelling} is new`, revision, 1)
      }
      for (const spelling of spellings) {
        const { settings, settingsId } = yield* scenario.store.get(scenario.id(spelling))
        yield* equal(
          "what is stored",
          { settings, settingsId },
          {
            settings: { spelling },
            settingsId: scenario.id(spelling)
          }
        )
      }
      yield* fails(scenario.store.get(scenario.id("B")), "SettingsNotFound")
    })
  ),

  make("settings unicode: numbers come back as they were", (scenario) =>
    roundTrips(scenario, { n: [0, 1e21, 1e-7, 0.1, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, 2 ** 64, -1.5] })
  ),

  make("settings unicode: empty and nested values come back as they were", (scenario) =>
    Effect.gen(function* () {
      yield* roundTrips(scenario, {})
      yield* roundTrips(scenario, { "": ["", {}, [], [[]], { "": {} }, null, true, false] })
      yield* roundTrips(scenario, { constructor: 1, toString: 2, "9": 3, "10": 4 })
    })
  ),

  make("settings unicode: a key named __proto__ is one like any other", (scenario) =>
    Effect.gen(function* () {
      const settings: unknown = JSON.parse(`{"__proto__":{"admin":true},"a":1}`)
      yield* scenario.put(settings)
      const stored = yield* scenario.content()
      yield* equal("its keys", Object.keys(stored).toSorted(), ["__proto__", "a"])
      yield* equal("a property that is not there", "admin" in stored, false)
    })
  ),

  make("settings unicode: an undefined property is absent", (scenario) =>
    Effect.gen(function* () {
      yield* scenario.put({ a: undefined, b: { c: undefined } })
      yield* equal("what is stored", yield* scenario.content(), { b: {} })
    })
  ),

  ...["x", "é", "😀"].map((letter) =>
    make(`settings limits: as large as may be, in bytes of ${letter}`, (scenario) =>
      roundTrips(scenario, ofBytes(maxPayloadBytes, letter))
    )
  ),

  ...["x", "é", "😀"].map((letter) =>
    make(`settings limits: one byte too large, in bytes of ${letter}`, (scenario) =>
      refusedFor(scenario, ofBytes(maxPayloadBytes + 1, letter), {
        limit: "payload-bytes",
        maximum: maxPayloadBytes,
        actual: maxPayloadBytes + 1
      })
    )
  ),

  make("settings limits: as deep as may be", (scenario) => roundTrips(scenario, ofDepth(maxDepth))),

  make("settings limits: one level too deep", (scenario) =>
    refusedFor(scenario, ofDepth(maxDepth + 1), { limit: "json-depth", maximum: maxDepth, actual: maxDepth + 1 })
  ),

  make("settings limits: without an end is refused in time", (scenario) => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    return refusedFor(scenario, circle, { limit: "json-depth", maximum: maxDepth, actual: maxDepth + 1 })
  }),

  make("settings limits: ids as long as may be, in bytes", (scenario) =>
    Effect.gen(function* () {
      for (const letter of ["x", "é", "😀"]) {
        const bytes = new TextEncoder().encode(letter).length
        const prefix = scenario.id(letter)
        const room = maxIdBytes - new TextEncoder().encode(prefix).length
        const settingsId = SettingsId.make(prefix + letter.repeat(room / bytes) + "x".repeat(room % bytes))
        yield* scenario.store.put({ settingsId, settings: { letter } })
        yield* equal("the id", (yield* scenario.store.get(settingsId)).settingsId, settingsId)
      }
    })
  ),

  ...noIds.map(([name, text]) =>
    make(`settings input: an id that is none: ${name}`, (scenario) =>
      Effect.gen(function* () {
        const settingsId = forged(text)
        const error = yield* fails(scenario.store.put({ settingsId, settings: {} }), "InvalidSettings")
        yield* equal("the reason", error.reason, "id")
        yield* fails(scenario.store.get(settingsId), "SettingsNotFound")
        yield* equal("whether they were there", yield* scenario.store.remove(settingsId), false)
        const all = yield* Stream.runCollect(scenario.store.list())
        yield* equal(
          "such ids in the list",
          all.filter((one) => one.settingsId === settingsId),
          []
        )
      })
    )
  ),

  ...noSettings.map(([name, settings]) =>
    make(`settings input: content that is none: ${name}`, (scenario) => refusedAs(scenario, "content", settings))
  ),

  ...[-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53].map((revision) =>
    make(`settings input: a revision that is none: ${revision}`, (scenario) =>
      refusedAs(scenario, "expected-revision", {}, revision)
    )
  )
]
