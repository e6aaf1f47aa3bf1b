import { maxBatchBytes, maxBatchRecords, maxPayloadBytes } from "@colloquy/session/Limits"
import { encodePayload } from "@colloquy/session/CanonicalRecord"
import { byteLength } from "@colloquy/session/Text"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { toBatches } from "../../src/import/Batches.ts"
import * as S from "./samples.ts"

const target = { conversationId: S.conversationId, now: S.now }

describe("toBatches", () => {
  it("cuts a run between records where a batch is full", () => {
    const steps = Array.from({ length: 200 }, (_, i) => [S.calls(`c${i}`), S.result(`c${i}`)]).flat()
    const { batches } = S.convert(S.chat(S.user("go"), ...steps))
    assert.deepStrictEqual(
      batches.map(({ batchId, records }) => [batchId, records.length]),
      [
        ["created", 1],
        ["import/run/1", maxBatchRecords],
        ["import/run/1/part/2", 403 - maxBatchRecords]
      ]
    )
  })

  it("cuts a run between records where a batch has as many bytes as it may", () => {
    const large = "x".repeat(3 * 1024 * 1024)
    const conversion = S.convert(S.chat(S.user("go"), ...Array.from({ length: 12 }, () => S.says(large))))
    for (const { records } of conversion.batches) {
      const bytes = records.reduce((sum, { payload }) => sum + byteLength(Result.getOrThrow(encodePayload(payload))), 0)
      assert.isAtMost(bytes, maxBatchBytes)
    }
    assert.strictEqual(S.all(conversion, "ModelResponded").length, 12)
    assert.strictEqual(conversion.batches.length, 4)
  })

  it("names the message that is larger than a record may be", () => {
    const fault = toBatches(S.chat(S.user("go"), S.says("x".repeat(5 * 1024 * 1024))), target)
    assert.isTrue(Result.isFailure(fault))
    if (Result.isSuccess(fault)) return
    assert.deepStrictEqual(fault.failure.place, { line: 1, message: 2 })
    assert.deepInclude(fault.failure.cause, { _tag: "LimitExceeded", limit: "payload-bytes", maximum: maxPayloadBytes })
  })

  it("names the message whose time no record can hold", () => {
    const { items, ...transcript } = S.chat(S.user("go"), S.says("ho"))
    const late = { ...transcript, items: items.map((item, i) => ({ ...item, at: i === 0 ? S.now : 1e300 })) }
    const fault = toBatches(late, target)
    assert.deepInclude(Result.isFailure(fault) ? fault.failure.cause : {}, { _tag: "InvalidPayload" })
    assert.deepStrictEqual(Result.isFailure(fault) ? fault.failure.place : {}, { line: 1, message: 2 })
  })

  it("names the message that is nested too deep", () => {
    let deep: unknown = 1
    for (let i = 0; i < 70; i++) deep = [deep]
    const fault = toBatches(S.chat(S.user("go"), S.calls("a"), S.result("a", deep)), target)
    assert.deepInclude(Result.isFailure(fault) ? fault.failure.cause : {}, {
      _tag: "LimitExceeded",
      limit: "json-depth"
    })
  })
})
