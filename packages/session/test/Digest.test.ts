import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as Digest from "../src/Digest.ts"
import { BatchId, RecordId } from "../src/Ids.ts"

const salt = Uint8Array.from({ length: Digest.saltBytes }, (_, i) => i)
const batchId = BatchId.make("batch/é")
const payload = '{"_tag":"ModeChanged","mode":"plan \u{1f600} \\u0000"}'

const u32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

/** Independent of the implementation: the documented layout, piece by piece. */
const sha256 = (...pieces: ReadonlyArray<string | Uint8Array>): string => {
  const hash = createHash("sha256")
  for (const piece of pieces) hash.update(piece)
  return hash.digest("hex")
}
const bytesOf = (text: string) => new TextEncoder().encode(text)
const prefixed = (text: string) => [u32(bytesOf(text).length), text]
const fromHex = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))

describe("the digest of a record", () => {
  it("covers salt, version and payload, and nothing else", () => {
    const digest = Digest.record(salt, 1, payload)
    assert.strictEqual(digest, "bc30bbca33aa4e4688e9957f9bfd25311e9f86105b1109e2c913fa588bd79c0f")
    assert.strictEqual(digest, sha256(salt, u32(1), payload))
  })

  it("is the same of what lies in one piece", () => {
    const whole = Buffer.concat([salt, u32(1), bytesOf(payload)])
    assert.strictEqual(Digest.recordInOnePiece(whole), Digest.record(salt, 1, payload))
  })

  it("changes with the salt, the version and the payload", () => {
    const digests = [
      Digest.record(salt, 1, payload),
      Digest.record(salt.toReversed(), 1, payload),
      Digest.record(salt, 2, payload),
      Digest.record(salt, 1, `${payload} `)
    ]
    assert.strictEqual(new Set(digests).size, digests.length)
  })

  it.each(["", "a", "\u{1f600}".repeat(3000), "中".repeat(8191), "中".repeat(8192), "x".repeat(100_000)])(
    "is right for texts of every size",
    (text) => {
      assert.strictEqual(Digest.record(salt, 1, text), sha256(salt, u32(1), text))
    }
  )
})

describe("the digest of a batch's content", () => {
  const first = { recordId: RecordId.make("a"), digest: Digest.record(salt, 1, "1") }
  const second = { recordId: RecordId.make("中/\u{1f600}"), digest: Digest.record(salt, 1, "2") }

  it("covers the batch id and the records in order", () => {
    const digest = Digest.content(batchId, [first, second])
    assert.strictEqual(digest, "0d8bb389657abe27a32e40e7f788ab45c468bbe6c34cafc7fbe9e7260a396554")
    assert.strictEqual(
      digest,
      sha256(
        ...prefixed(batchId),
        u32(2),
        ...[first, second].flatMap(({ digest, recordId }) => [...prefixed(recordId), fromHex(digest)])
      )
    )
    assert.notStrictEqual(Digest.content(batchId, [second, first]), digest)
    assert.notStrictEqual(Digest.content(BatchId.make("other"), [first, second]), digest)
    assert.notStrictEqual(Digest.content(batchId, [first]), digest)
    assert.notStrictEqual(Digest.content(batchId, [{ ...first, recordId: RecordId.make("b") }, second]), digest)
  })

  it("does not run ids into each other", () => {
    const digest = (...ids: ReadonlyArray<string>) =>
      Digest.content(
        batchId,
        ids.map((id) => ({ recordId: RecordId.make(id), digest: Digest.empty }))
      )
    assert.notStrictEqual(digest("ab", "c"), digest("a", "bc"))
  })

  it("does not depend on when, by whom, where or under which epoch it is written", () => {
    const elsewhere = { ...first, at: 1, epoch: 7, producerId: "another", conversationId: "another" }
    assert.strictEqual(Digest.content(batchId, [elsewhere, second]), Digest.content(batchId, [first, second]))
  })
})

describe("the tail digest", () => {
  it("chains the contents from 32 zero bytes on", () => {
    const content = Digest.content(batchId, [])
    const one = Digest.tail(Digest.empty, content)
    assert.strictEqual(Digest.empty, "0".repeat(64))
    assert.strictEqual(one, "58dd267304821effb8bd3bc6d61e3d539c56b65d7cf8a3f4bad961a5532f1133")
    assert.strictEqual(one, sha256(new Uint8Array(32), fromHex(content)))
    assert.strictEqual(Digest.tail(one, content), sha256(fromHex(one), fromHex(content)))
    assert.notStrictEqual(Digest.tail(content, one), Digest.tail(one, content))
  })
})

describe("a digest", () => {
  it("of a text is its plain SHA-256", () => {
    assert.strictEqual(Digest.text("é"), sha256("é"))
  })

  it("is 64 lower-case hex digits, or 32 bytes", () => {
    const digest = Digest.text("x")
    assert.isTrue(Schema.is(Digest.Digest)(digest))
    for (const bad of [digest.toUpperCase(), digest.slice(1), `${digest}0`, ` ${digest}`, `${digest}\n`]) {
      assert.isFalse(Schema.is(Digest.Digest)(bad))
    }
    assert.deepStrictEqual([...Digest.toBytes(digest)], [...fromHex(digest)])
    assert.strictEqual(Digest.fromBytes(Digest.toBytes(digest)), digest)
    // A view into a larger buffer, as database drivers give.
    const column = new Uint8Array([9, ...fromHex(digest), 9]).subarray(1, 33)
    assert.strictEqual(Digest.fromBytes(column), digest)
    assert.throws(() => Digest.fromBytes(new Uint8Array(31)), /32 bytes, not 31/)
  })
})
