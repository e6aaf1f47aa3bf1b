import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ids from "../src/Ids.ts"
import { byteLength } from "../src/Text.ts"
import { Random, runs, Seed } from "./random.ts"

const isId = Schema.is(Ids.ConversationId)

describe("an id", () => {
  it("has 1 to 512 UTF-8 bytes, whatever the script", () => {
    assert.isFalse(isId(""))
    for (const character of ["a", "é", "中", "\u{1f600}"]) {
      const bytes = byteLength(character)
      const most = Math.floor(Ids.maxIdBytes / bytes)
      const filled = character.repeat(most) + "a".repeat(Ids.maxIdBytes - most * bytes)
      assert.strictEqual(byteLength(filled), 512)
      assert.isTrue(isId(filled), character)
      assert.isFalse(isId(`${filled}a`), character)
    }
    assert.include(Ids.idFault("中".repeat(171)), "this one has 513")
  })

  it("has no control characters, and any other character", () => {
    for (let code = 0; code <= 0xff; code++) {
      const isControl = code < 0x20 || (code >= 0x7f && code <= 0x9f)
      assert.strictEqual(isId(`a${String.fromCharCode(code)}b`), !isControl, `U+${code.toString(16)}`)
    }
    assert.isTrue(isId("Zoë / 中文 ~ \u{1f600} \u2028"))
  })

  it("has no half of a surrogate pair", () => {
    for (const half of ["\ud83d", "\ude00", "a\ud83d", "\ude00a", "\ude00\ud83d"]) {
      assert.include(Ids.idFault(half), "surrogate")
      assert.isFalse(isId(half))
    }
    assert.isTrue(isId("\ud83d\ude00"))
  })

  it("is checked alike under every brand", () => {
    const {
      AgentName,
      ApprovalId,
      BatchId,
      ConversationId,
      ProducerId,
      RecordId,
      RunId,
      SettingsId,
      SubmissionId,
      TenantId,
      ToolCallId
    } = Ids
    const brands = [
      AgentName,
      ApprovalId,
      BatchId,
      ConversationId,
      ProducerId,
      RecordId,
      RunId,
      SettingsId,
      SubmissionId,
      TenantId,
      ToolCallId
    ]
    for (const brand of brands) {
      assert.isTrue(Schema.is(brand)("id"))
      for (const bad of ["", "a\u0000", "\ud800", "a".repeat(513), 1, null]) assert.isFalse(Schema.is(brand)(bad))
    }
  })
})

// Short texts of few characters, so that different tuples come close to each other; now and then a long one.
const parts = (random: Random): [string, ...Array<string>] => {
  const part = () => {
    const piece = random.array(3, () => random.pick(["a", "/", "~", "0", "1", "2", "~2", "中"])).join("")
    return random.chance(0.1) ? piece.repeat(random.int(100, 300)) : piece
  }
  return [part(), ...random.array(3, part)]
}

describe("a derived id", () => {
  it("joins its parts, and escapes the separator inside them", () => {
    assert.strictEqual(Ids.derive("run-1", "step", "2"), "run-1/step/2")
    assert.strictEqual(Ids.derive("a/b", "c~d", "~1"), "a~1b/c~0d/~01")
    assert.strictEqual(Ids.derive("a", "", "b"), "a//b")
  })

  it("stays within the bound, and keeps its beginning", () => {
    const exact = Ids.derive("a".repeat(510), "b")
    assert.strictEqual(exact, `${"a".repeat(510)}/b`)
    const long = Ids.derive("a".repeat(511), "b")
    assert.strictEqual(byteLength(long), 512)
    assert.match(long, /^a{446}~2[0-9a-f]{64}$/)
    assert.isTrue(isId(Ids.derive("\u{1f600}".repeat(200), "b")))
  })

  it.effect.prop(
    "is one for one tuple",
    [Seed],
    ([{ seed }]) =>
      Effect.sync(() => {
        const random = new Random(seed)
        const tuples = new Map<string, string>()
        for (let i = 0; i < 400; i++) {
          const tuple = parts(random)
          const id = Ids.derive(...tuple)
          const written = JSON.stringify(tuple)
          assert.strictEqual(tuples.get(id) ?? written, written, id)
          assert.strictEqual(Ids.derive(...tuple), id)
          tuples.set(id, written)
        }
      }),
    runs(100)
  )

  it.effect.prop(
    "is an id when its parts are",
    [Seed],
    ([{ seed }]) =>
      Effect.sync(() => {
        const random = new Random(seed)
        for (let i = 0; i < 50; i++) {
          const [first, ...rest] = parts(random).map((part) => (part === "" ? "x" : part))
          const id = Ids.derive(first ?? "x", ...rest)
          assert.isUndefined(Ids.idFault(id), id)
        }
      }),
    runs(50)
  )
})
