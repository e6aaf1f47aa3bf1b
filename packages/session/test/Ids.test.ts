import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Ids from "../src/Ids.ts"
import { byteLength } from "../src/Text.ts"

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
