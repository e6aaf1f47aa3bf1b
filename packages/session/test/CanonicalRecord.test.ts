import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import * as CanonicalRecord from "../src/CanonicalRecord.ts"
import { maxPayloadBytes } from "../src/Limits.ts"
import type * as Payload from "../src/Payload.ts"
import { byteLength } from "../src/Text.ts"
import { call, created, recordAt, responded, said, settled } from "./log.ts"
import { Random, runs, Seed } from "./random.ts"
import { samples, tags, writable } from "./samples.ts"

const encode = (payload: Payload.Written) => Effect.fromResult(CanonicalRecord.encodePayload(payload))
const decode = (text: string, version = 1) => Effect.fromResult(CanonicalRecord.decodePayload(version, text, new Map()))

/** What encoding gives for something that the types would not let through. */
const encodeUnchecked = (payload: unknown) =>
  // A caller in plain JavaScript is not held back by the types.
  Effect.fromResult(CanonicalRecord.encodePayload(payload as Payload.Written))

const custom = (data: unknown): Payload.Custom => ({ _tag: "Custom", name: "x", data })

describe("a payload", () => {
  it("has a sample of every tag", () => {
    assert.deepStrictEqual(Object.keys(samples).toSorted(), tags.toSorted())
    assert.lengthOf(writable, tags.length - 1)
  })

  it.effect.each(writable)("is read as it was written: $_tag", (payload) =>
    Effect.gen(function* () {
      const text = yield* encode(payload)
      assert.deepStrictEqual(yield* decode(text), payload)
      assert.strictEqual(yield* encode(payload), text)
    })
  )

  it.effect("is stored as canonical JSON", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* encode({ name: "x", data: { b: 1, a: -0, c: undefined }, _tag: "Custom" }),
        '{"_tag":"Custom","data":{"a":0,"b":1},"name":"x"}'
      )
    })
  )

  it.effect("is read whatever the order of its keys", () =>
    Effect.gen(function* () {
      const read = yield* decode('{"mode":"plan","_tag":"ModeChanged"}')
      assert.deepStrictEqual(read, { _tag: "ModeChanged", mode: "plan" })
    })
  )

  it.effect.prop(
    "is read as it was written, whatever opaque JSON it holds",
    [Seed],
    ([{ seed }]) =>
      Effect.gen(function* () {
        const random = new Random(seed)
        const json = () => random.json(3)
        const payloads: ReadonlyArray<Payload.Written> = [
          custom(json()),
          created({ title: random.text(), metadata: json() }),
          said(random.text()),
          settled(1, "c", json()),
          responded(1, [call("c", random.text(), { params: json() })])
        ]
        for (const payload of payloads) {
          const text = yield* encode(payload)
          const read = yield* decode(text)
          assert.deepStrictEqual(read, payload)
          assert.strictEqual(text, Result.getOrThrow(CanonicalJson.encode(read)))
        }
      }),
    runs(100)
  )

  it.effect("has no half of a surrogate pair once it is written", () =>
    Effect.gen(function* () {
      const torn = "a\ud83d"
      for (const payload of [
        said(torn),
        said("x", { context: torn, author: torn }),
        settled(1, "c", { [torn]: torn }),
        responded(1, [call("c", torn, { params: { [torn]: torn } })]),
        created({ title: torn })
      ]) {
        const text = yield* encode(payload)
        assert.isTrue(text.isWellFormed())
        assert.include(text, "a\ufffd")
        assert.strictEqual(yield* encodeUnchecked(yield* decode(text)), text)
      }
    })
  )

  it.effect("never becomes one with the text undefined in it", () =>
    Effect.gen(function* () {
      const options = { openai: { itemId: undefined } }
      const content = [{ type: "tool-call", id: "c", name: "search", params: {}, options }]
      const text = yield* encodeUnchecked({ ...responded(1, []), content })
      assert.notInclude(text, "undefined")
      assert.notInclude(text, "itemId")
    })
  )
})

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])

describe("writing a payload", () => {
  const refused = (payload: unknown) => Effect.flip(encodeUnchecked(payload))

  it.effect("refuses fields of somebody's own", () =>
    Effect.gen(function* () {
      for (const payload of writable) {
        const error = yield* refused({ ...payload, extra: "x" })
        assert.strictEqual(error._tag, "InvalidPayload")
        assert.include(error.message, '"extra"')
      }
      const within = { ...samples.RunEnded, usage: { inputTokens: { guessed: 1 }, outputTokens: {} } }
      assert.include((yield* refused(within)).message, '"guessed"')
    })
  )

  it.effect("names an unknown tag", () =>
    Effect.gen(function* () {
      for (const [payload, name] of [
        [{ _tag: "Nope" }, '"Nope"'],
        [{ mode: "x" }, "undefined"],
        [null, "undefined"]
      ] as const) {
        const error = yield* refused(payload)
        assert.strictEqual(error.message, `the payload is not valid: unknown tag ${name}`)
      }
    })
  )

  it.effect("refuses what only a redaction may put there", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* refused(samples.Redacted))._tag, "InvalidPayload")
    })
  )

  it.effect("refuses a missing or a wrong field, and names it", () =>
    Effect.gen(function* () {
      const { runId: _, ...withoutRun } = samples.RunEnded
      assert.include((yield* refused(withoutRun)).message, '"runId"')
      assert.include((yield* refused({ ...samples.ModelResponded, step: 0 })).message, '"step"')
      assert.include((yield* refused({ ...samples.ModelResponded, content: "text" })).message, '"content"')
      assert.include((yield* refused({ ...samples.ModelResponded, finishReason: "tired" })).message, '"finishReason"')
    })
  )

  it.effect("refuses what JSON cannot hold, with the path to it", () =>
    Effect.gen(function* () {
      for (const [data, what] of [
        [new Date(0), "Date"],
        [1n, "bigint"],
        [new Uint8Array(1), "Uint8Array"],
        [Number.NaN, "NaN"],
        [() => 1, "function"]
      ] as const) {
        const error = yield* refused(custom({ deep: [data] }))
        assert.strictEqual(error._tag, "InvalidPayload")
        assert.match(error.message, new RegExp(`\\$\\.data\\.deep\\[0\\]: ${what}`))
      }
    })
  )

  it.effect("refuses nothing where something must stand: a void result is null", () =>
    Effect.gen(function* () {
      for (const payload of [
        custom(undefined),
        settled(1, "c", undefined, { result: undefined }),
        { ...samples.SubmissionAccepted, input: undefined }
      ]) {
        assert.include((yield* refused(payload)).message, "undefined")
      }
      assert.deepStrictEqual(yield* decode(yield* encode(settled(1, "c", null))), settled(1, "c", null))
    })
  )

  it.effect("takes 4 MiB, and not a byte more", () =>
    Effect.gen(function* () {
      const around = byteLength(yield* encode(custom("")))
      for (const character of ["a", "\u{1f600}", '"']) {
        const bytes = byteLength(JSON.stringify(character)) - 2
        const room = maxPayloadBytes - around
        const filled = character.repeat(Math.floor(room / bytes)) + "a".repeat(room % bytes)
        assert.strictEqual(byteLength(yield* encode(custom(filled))), 4 * 1024 * 1024)
        const error = yield* refused(custom(`${filled}a`))
        assert.deepInclude(
          { ...error },
          { _tag: "LimitExceeded", limit: "payload-bytes", maximum: 4_194_304, actual: 4_194_305 }
        )
      }
    })
  )

  it.effect("takes 64 levels of JSON, its own object among them", () =>
    Effect.gen(function* () {
      yield* encode(custom(nested(63)))
      assert.strictEqual((yield* refused(custom(nested(64))))._tag, "LimitExceeded")
    })
  )
})

describe("reading a payload", () => {
  const unreadable = (text: string) => Effect.flip(decode(text))

  it.effect("refuses what is no JSON, no payload or an unknown one", () =>
    Effect.gen(function* () {
      assert.include((yield* unreadable('{"_tag":"Cus')).message, "not JSON")
      assert.include((yield* unreadable("")).message, "not JSON")
      assert.include((yield* unreadable('{"_tag":"Later"}')).message, 'unknown tag "Later"')
      assert.include((yield* unreadable("[]")).message, "unknown tag")
      assert.include((yield* unreadable("null")).message, "unknown tag")
      assert.include((yield* unreadable('{"_tag":"ModeChanged"}')).message, '"mode"')
      assert.include((yield* unreadable('{"_tag":"Custom","name":"x"}')).message, '"data"')
    })
  )

  it.effect("reads what a redaction left", () =>
    Effect.gen(function* () {
      const text = Result.getOrThrow(CanonicalJson.encode(samples.Redacted))
      assert.deepStrictEqual(yield* decode(text), samples.Redacted)
    })
  )

  const parts: ReadonlyArray<readonly [string, unknown]> = [
    ["an unknown part", { type: "poem", text: "x" }],
    ["a part of a user", { type: "tool-approval-response", approvalId: "a", approved: true }],
    ["a text without text", { type: "text" }],
    ["a call without parameters", { type: "tool-call", id: "c", name: "n" }],
    ["a call without an id", { type: "tool-call", id: "", name: "n", params: {} }],
    ["a call with a control character in its id", { type: "tool-call", id: "c\u0000", name: "n", params: {} }],
    ["a result without its flag", { type: "tool-result", id: "c", name: "n", result: 1 }],
    ["options that are a list", { type: "text", text: "x", options: [] }],
    ["a file of unknown data", { type: "file", mediaType: "a/b", data: { _tag: "Blob" } }]
  ]
  it.effect.each(parts)("refuses a response with %s", ([, part]) =>
    Effect.gen(function* () {
      const error = yield* unreadable(JSON.stringify({ ...samples.ModelResponded, content: [part] }))
      assert.include(error.message, '"content"')
    })
  )

  it.effect("refuses an input that is no user message", () =>
    Effect.gen(function* () {
      for (const message of [
        { role: "assistant", content: "x" },
        { role: "user" },
        { role: "user", content: [{ type: "tool-call", id: "c", name: "n", params: {} }] }
      ]) {
        const error = yield* unreadable(JSON.stringify({ ...samples.InputRecorded, message }))
        assert.include(error.message, '"message"')
      }
      const plain = said("", { message: { role: "user", content: "just text" } })
      assert.deepStrictEqual(yield* decode(JSON.stringify(plain)), plain)
    })
  )
})

describe("an envelope", () => {
  it("checks ids, places and digests", () => {
    const is = Schema.is(CanonicalRecord.CanonicalRecord)
    const record = recordAt(1, samples.ModeChanged)
    assert.isTrue(is(record))
    for (const wrong of [
      { sequence: 0 },
      { sequence: 1.5 },
      { epoch: -1 },
      { digest: "ABC" },
      { recordId: "" },
      { at: 0.5 },
      { conversationId: "a\n" }
    ]) {
      assert.isFalse(is({ ...record, ...wrong }), JSON.stringify(wrong))
    }
  })
})
