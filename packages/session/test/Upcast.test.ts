import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import * as CanonicalRecord from "../src/CanonicalRecord.ts"
import * as Digest from "../src/Digest.ts"
import * as Upcast from "../src/Upcast.ts"
import { tags } from "./samples.ts"

// A made-up version 0, in which a mode was a number.
const stored = '{"_tag":"ModeChanged","mode":1}'
const steps: Upcast.Steps = new Map([
  [
    0,
    (payload) =>
      typeof payload === "object" && payload !== null && "mode" in payload
        ? { ...payload, mode: payload.mode === 1 ? "plan" : "execute" }
        : payload
  ]
])

/** Frozen: written by the release that first had this version. Never made again, only opened. */
interface Fixture {
  readonly tag: string
  readonly payload: string
  /** Absent where a redaction took it, and with it what the digest covers. */
  readonly salt?: string
  readonly digest?: string
}
const fixtures = (version: number): ReadonlyArray<Fixture> =>
  JSON.parse(readFileSync(new URL(`fixtures/v${version}.json`, import.meta.url), "utf8"))

const failure = <A, E>(result: Result.Result<A, E>): E => {
  if (Result.isSuccess(result)) throw new Error("succeeded")
  return result.failure
}

describe("upcasting", () => {
  it("reads an older payload as a current one", () => {
    assert.deepStrictEqual(Result.getOrThrow(CanonicalRecord.decodePayload(0, stored, steps)), {
      _tag: "ModeChanged",
      mode: "plan"
    })
  })

  it("leaves a current payload alone", () => {
    const text = '{"_tag":"ModeChanged","mode":"1"}'
    assert.deepStrictEqual(Result.getOrThrow(CanonicalRecord.decodePayload(1, text, steps)), {
      _tag: "ModeChanged",
      mode: "1"
    })
  })

  it("does not touch what it was given", () => {
    const parsed: unknown = JSON.parse(stored)
    Result.getOrThrow(Upcast.upcast(0, parsed, steps))
    assert.strictEqual(JSON.stringify(parsed), stored)
  })

  it("chains the steps, each from its own version", () => {
    const chain: Upcast.Steps = new Map(
      [-2, -1, 0].map((version) => [version, (seen: unknown) => [...(Array.isArray(seen) ? seen : []), version]])
    )
    assert.deepStrictEqual(Result.getOrThrow(Upcast.upcast(-2, [], chain)), [-2, -1, 0])
    assert.deepStrictEqual(Result.getOrThrow(Upcast.upcast(0, [], chain)), [0])
    assert.deepStrictEqual(Result.getOrThrow(Upcast.upcast(1, [], chain)), [])
  })

  it("checks what a step made", () => {
    const broken: Upcast.Steps = new Map([[0, () => ({ _tag: "ModeChanged", mode: 5 })]])
    assert.strictEqual(failure(CanonicalRecord.decodePayload(0, stored, broken))._tag, "InvalidPayload")
  })

  it("refuses a newer version than it knows", () => {
    const error = failure(CanonicalRecord.decodePayload(2, stored, steps))
    assert.strictEqual(error._tag, "UnsupportedVersion")
    if (error._tag === "UnsupportedVersion") {
      assert.strictEqual(error.found, 2)
      assert.strictEqual(error.supported, Upcast.currentVersion)
    }
    assert.match(error.message, /version 2.*up to 1/)
  })

  it("refuses an older version that no step starts from", () => {
    const error = failure(CanonicalRecord.decodePayload(0, stored, new Map()))
    assert.strictEqual(error._tag, "UnsupportedVersion")
    assert.include(error.message, "version 0")
    const gap: Upcast.Steps = new Map([[-1, (payload) => payload]])
    assert.strictEqual(failure(Upcast.upcast(-1, {}, gap)).found, -1)
  })

  it("has no steps by default: version 1 is the first", () => {
    assert.strictEqual(Upcast.currentVersion, 1)
    assert.strictEqual(Context.get(Context.empty(), Upcast.Upcasts).size, 0)
  })
})

describe("a record that version 1 stored", () => {
  const stored = fixtures(1)

  it("is there for every tag", () => {
    assert.deepStrictEqual(
      stored.map(({ tag }) => tag),
      tags
    )
  })

  it.effect.each(stored)("is read and keeps its digest: $tag", ({ digest, payload, salt, tag }) =>
    Effect.gen(function* () {
      const read = yield* Effect.fromResult(CanonicalRecord.decodePayload(1, payload, new Map()))
      assert.strictEqual(read._tag, tag)
      assert.deepStrictEqual<unknown>(read, JSON.parse(payload))
      if (salt !== undefined) assert.strictEqual(Digest.record(Buffer.from(salt, "hex"), 1, payload), digest)
      assert.strictEqual(salt === undefined, tag === "Redacted")
    })
  )
})
