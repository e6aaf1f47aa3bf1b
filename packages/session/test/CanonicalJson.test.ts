import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import { Random, runs, Seed } from "./random.ts"

const encoded = (value: unknown): string => Result.getOrThrow(CanonicalJson.encode(value))

const refusal = (value: unknown) => {
  const result = CanonicalJson.encode(value)
  if (Result.isSuccess(result)) throw new Error(`accepted as ${result.success}`)
  return result.failure
}

/** A value nested in so many arrays and objects. */
const nested = (levels: number, innermost: unknown): unknown => {
  let value = innermost
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

/** The same value with the keys of its objects set in another order. */
const reordered = (random: Random, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => reordered(random, item))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    random.shuffle(Object.entries(value)).map(([key, property]) => [key, reordered(random, property)])
  )
}

describe("canonical JSON", () => {
  it("orders keys by UTF-16 code unit", () => {
    // The sample of RFC 8785, section 3.2.3: U+1F600 sorts as its first surrogate, before U+FB33.
    const keys = {
      "\u20ac": "Euro",
      "\r": "CR",
      "\ufb33": "Dalet",
      "1": "One",
      "\u{1f600}": "Smile",
      "\u0080": "C",
      "\u00f6": "o"
    }
    assert.strictEqual(
      encoded(keys),
      '{"\\r":"CR","1":"One","\u0080":"C","\u00f6":"o","\u20ac":"Euro","\u{1f600}":"Smile","\ufb33":"Dalet"}'
    )
    assert.strictEqual(encoded({ b: 1, a: { d: 2, c: [{ f: 3, e: 4 }] } }), '{"a":{"c":[{"e":4,"f":3}],"d":2},"b":1}')
    assert.strictEqual(encoded({ "10": 1, "9": 2, "": 3 }), '{"":3,"10":1,"9":2}')
  })

  // RFC 8785, appendix B.
  it.each([
    [0x00000000_00000000n, "0"],
    [0x80000000_00000000n, "0"],
    [0x00000000_00000001n, "5e-324"],
    [0x80000000_00000001n, "-5e-324"],
    [0x7fefffff_ffffffffn, "1.7976931348623157e+308"],
    [0xffefffff_ffffffffn, "-1.7976931348623157e+308"],
    [0x43400000_00000000n, "9007199254740992"],
    [0xc3400000_00000000n, "-9007199254740992"],
    [0x44300000_00000000n, "295147905179352830000"],
    [0x44b52d02_c7e14af5n, "9.999999999999997e+22"],
    [0x44b52d02_c7e14af6n, "1e+23"],
    [0x44b52d02_c7e14af7n, "1.0000000000000001e+23"],
    [0x444b1ae4_d6e2ef4en, "999999999999999700000"],
    [0x444b1ae4_d6e2ef4fn, "999999999999999900000"],
    [0x444b1ae4_d6e2ef50n, "1e+21"],
    [0x3eb0c6f7_a0b5ed8cn, "9.999999999999997e-7"],
    [0x3eb0c6f7_a0b5ed8dn, "0.000001"],
    [0x41b3de43_55555553n, "333333333.3333332"],
    [0x41b3de43_55555557n, "333333333.33333343"],
    [0xbecbf647_612f3696n, "-0.0000033333333333333333"],
    [0x43143ff3_c1cb0959n, "1424953923781206.2"]
  ])("writes the number with the bits %i as %s", (bits, text) => {
    const view = new DataView(new ArrayBuffer(8))
    view.setBigUint64(0, bits)
    assert.strictEqual(encoded(view.getFloat64(0)), text)
  })

  it("writes strings as RFC 8785 does", () => {
    assert.strictEqual(encoded('\u20ac$\u000f\nA\'B"\\\\"/'), '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"')
    assert.strictEqual(encoded("\b\t\f\r\u007f\u2028\u{1f600}"), '"\\b\\t\\f\\r\u007f\u2028\u{1f600}"')
    for (let code = 0; code < 0x20; code++) {
      const character = String.fromCharCode(code)
      assert.strictEqual(encoded(character), JSON.stringify(character))
      // Long texts take another way to the same form.
      assert.strictEqual(encoded(character + "a".repeat(100)), JSON.stringify(character + "a".repeat(100)))
    }
  })

  it("leaves out what is undefined, and writes -0 as 0", () => {
    assert.strictEqual(encoded({ a: undefined, b: -0, c: { d: undefined } }), '{"b":0,"c":{}}')
    assert.strictEqual(encoded(Object.assign(Object.create(null), { a: null })), '{"a":null}')
  })

  it("tells a NUL from the six characters that escape one", () => {
    const both = "\u0000 \\u0000"
    assert.strictEqual(encoded(both), '"\\u0000 \\\\u0000"')
    assert.strictEqual(JSON.parse(encoded({ [both]: both }))[both], both)
  })

  it("keeps a key that has a meaning in JavaScript", () => {
    const text = '{"__proto__":{"a":1},"constructor":2,"toString":3}'
    assert.strictEqual(encoded(JSON.parse(text)), text)
  })

  it("turns a lone surrogate into U+FFFD, in values and in keys", () => {
    assert.strictEqual(
      encoded(["\ud83d", "a\ude00b", "\ude00\ud83d", "\ud83d\ude00"]),
      '["\ufffd","a\ufffdb","\ufffd\ufffd","\u{1f600}"]'
    )
    assert.strictEqual(encoded("x".repeat(100) + "\ud83d"), `"${"x".repeat(100)}\ufffd"`)
    assert.strictEqual(encoded({ "b\ud83d": 1, a: 2 }), '{"a":2,"b\ufffd":1}')
    assert.strictEqual(encoded({ "\ud800": 1, "\uffff": 2, "\ue000": 3 }), '{"\ue000":3,"\ufffd":1,"\uffff":2}')
  })

  it("leaves a text that spells the escape of a surrogate as it is", () => {
    assert.strictEqual(encoded({ b: "\\ud83d", a: "\\\\ude00" }), String.raw`{"a":"\\\\ude00","b":"\\ud83d"}`)
    assert.strictEqual(encoded(["\\ud83d", "\ud83d"]), String.raw`["\\ud83d",` + '"\ufffd"]')
  })

  it("orders keys of more shapes than it remembers, each time it meets them", () => {
    for (let turn = 0; turn < 2; turn++) {
      for (let n = 0; n < 600; n++) {
        const [first, last] = [`b${n}`, `a${n}`]
        assert.strictEqual(encoded({ [first]: 1, [last]: 2 }), `{"${last}":2,"${first}":1}`)
        assert.strictEqual(encoded({ [first]: 1, a: 2 }), `{"a":2,"${first}":1}`)
      }
    }
  })

  it("refuses two keys that become one", () => {
    const error = refusal({ a: [{ "x\ud800": 1, "x\udc00": 2 }] })
    assert.strictEqual(error._tag, "NotJson")
    assert.strictEqual(error.message, "$.a[0].x\ufffd: two keys differ only in a lone surrogate")
    // An undefined property is absent, so nothing is lost.
    assert.strictEqual(encoded({ "x\ud800": undefined, "x\ufffd": 2 }), '{"x\ufffd":2}')
  })

  class Point {
    readonly x = 1
  }
  const loop: Record<string, unknown> = {}
  loop["self"] = loop

  it.each<[string, unknown, RegExp]>([
    ["NaN", Number.NaN, /NaN is not a JSON number/],
    ["Infinity", Number.POSITIVE_INFINITY, /Infinity is not/],
    ["-Infinity", Number.NEGATIVE_INFINITY, /-Infinity is not/],
    ["a big integer", 1n, /bigint has no JSON form/],
    ["a date", new Date(0), /Date has no JSON form/],
    ["a map", new Map([["a", 1]]), /Map has no JSON form/],
    ["a set", new Set([1]), /Set has no JSON form/],
    ["bytes", new Uint8Array([1]), /Uint8Array has no JSON form/],
    ["a class instance", new Point(), /Point has no JSON form/],
    ["an error", new Error("no"), /Error has no JSON form/],
    ["a boxed number", Object(1), /Number has no JSON form/],
    ["a function", () => 1, /function has no JSON form/],
    ["a symbol", Symbol("s"), /symbol has no JSON form/],
    ["undefined in an array", [1, undefined], /^\$\.a\[1\]\.b\[1\]: undefined has no JSON form/]
  ])("refuses %s, and says where it stands", (_, value, reason) => {
    const error = refusal({ z: 1, a: ["ok", { b: value }] })
    assert.strictEqual(error._tag, "NotJson")
    assert.match(error.message, reason)
    assert.isTrue(error.message.startsWith("$.a[1].b"), error.message)
  })

  it("refuses undefined itself", () => {
    assert.strictEqual(refusal(undefined).message, "$: undefined has no JSON form")
  })

  it("may be nested 64 levels deep", () => {
    const deepest = nested(64, "leaf")
    assert.deepStrictEqual(JSON.parse(encoded(deepest)), deepest)
    for (const tooDeep of [nested(65, "leaf"), nested(64, {}), nested(500, 1), loop]) {
      const error = refusal(tooDeep)
      assert.strictEqual(error._tag, "LimitExceeded")
      if (error._tag === "LimitExceeded") {
        assert.deepInclude({ ...error }, { limit: "json-depth", maximum: 64, actual: 65 })
      }
    }
  })

  it("says what is wrong at the deepest level, and not that it is deep", () => {
    const error = refusal(nested(64, Number.NaN))
    assert.strictEqual(error._tag, "NotJson")
    assert.match(error.message, /NaN is not a JSON number/)
  })

  it.effect.prop(
    "is one text for one value, whatever order its keys were set in",
    [Seed],
    ([{ seed }]) =>
      Effect.sync(() => {
        const random = new Random(seed)
        const value = random.json(4)
        assert.strictEqual(encoded(reordered(random, value)), encoded(value))
      }),
    runs(300)
  )

  it.effect.prop(
    "reads back as the value, and encodes again to the same text",
    [Seed],
    ([{ seed }]) =>
      Effect.sync(() => {
        const value = new Random(seed).json(4)
        const text = encoded(value)
        assert.deepStrictEqual(JSON.parse(text), value)
        assert.strictEqual(encoded(JSON.parse(text)), text)
      }),
    runs(300)
  )

  it.effect.prop(
    "is well-formed text, and stays the same, for torn text too",
    [Seed],
    ([{ seed, size }]) =>
      Effect.sync(() => {
        const random = new Random(seed)
        const key = random.tornText(size).replaceAll("\\", "/")
        const value = [random.tornText(size), { [key]: random.tornText(size) }]
        const text = encoded(value)
        assert.isTrue(text.isWellFormed())
        assert.strictEqual(encoded(JSON.parse(text)), text)
        assert.deepStrictEqual(JSON.parse(text)[0], typeof value[0] === "string" ? value[0].toWellFormed() : undefined)
      }),
    runs(300)
  )
})

describe("reading", () => {
  it("gives escaped keys as they are, also where the engine's parser does not", () => {
    // Read one after the other, the second key comes out as the first in some versions of V8.
    for (const key of ["\\", "\r", '"', 'a"b', "\n", "a\\", "\\:"]) {
      const text = Result.getOrThrow(CanonicalJson.encode({ a: 1, [key]: true }))
      assert.deepStrictEqual(Object.keys(CanonicalJson.parse(text) as object).toSorted(), ["a", key].toSorted())
    }
  })

  it("reads white space, and an escaped quote before a colon inside of a text", () => {
    const text = ' { "a\\n" : [ 1 , { "b" : "{\\"c\\":1}" } ] , "__proto__" : null } '
    const value = CanonicalJson.parse(text)
    assert.deepStrictEqual(JSON.stringify(value), '{"a\\n":[1,{"b":"{\\"c\\":1}"}],"__proto__":null}')
  })

  it.each(['{"a\\n":}', '{"a\\n":1', '{"a\\n":1}}', '{"a\\n":01x}', '{"a\\n" 1}', '{"a\\q":1}', '{"a\\n":[1 2]}'])(
    "refuses %s as the engine does",
    (text) => {
      assert.throws(() => CanonicalJson.parse(text), SyntaxError)
      assert.throws(() => JSON.parse(text), SyntaxError)
    }
  )
})
