/**
 * How large things may be, to the byte.
 *
 * @since 0.1.0
 */
import type { Batch } from "@colloquy/session/CanonicalRecord"
import { BatchId, ConversationId, maxIdBytes, ProducerId, RecordId } from "@colloquy/session/Ids"
import { type LimitExceeded, maxBatchBytes, maxBatchRecords, maxDepth, maxPayloadBytes } from "@colloquy/session/Limits"
import * as Effect from "effect/Effect"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { at, batch, note, noteOfBytes, noteOfDepth, notes } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

/** The batch goes in, and its payloads come out. */
const accepts = (scenario: Scenario, batch: Batch) =>
  Effect.gen(function* () {
    const owner = yield* scenario.begin()
    yield* owner.append(batch)
    const payloads = (yield* scenario.log()).slice(1).map(({ payload }) => payload)
    yield* equal("the number of payloads", payloads.length, batch.records.length)
    for (const [i, payload] of payloads.entries()) yield* equal("a payload", payload, batch.records[i]!.payload)
  })

/** The batch is refused for this limit, and nothing of it is written. */
const refuses = (scenario: Scenario, batch: Batch, expected: Pick<LimitExceeded, "limit" | "maximum" | "actual">) =>
  Effect.gen(function* () {
    const owner = yield* scenario.begin()
    const { actual, limit, maximum } = yield* fails(owner.append(batch), "LimitExceeded")
    yield* equal("the limit", { actual, limit, maximum }, expected)
    yield* equal("the tail", yield* scenario.tail(), owner.tail)
    yield* owner.append(notes(batch.batchId))
  })

/** A payload of so many bytes whose characters have four bytes each. */
const emojiNote = (bytes: number) => {
  const rest = noteOfBytes(bytes).data
  const length = typeof rest === "string" ? rest.length : 0
  return note("😀".repeat(Math.floor(length / 4)) + "x".repeat(length % 4))
}

const wholeBatch = Array.from({ length: maxBatchBytes / maxPayloadBytes }, () => noteOfBytes(maxPayloadBytes))

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const limitCases: ReadonlyArray<ConformanceCase> = [
  make("limits: as many records in a batch as may be", (scenario) => accepts(scenario, notes("b", maxBatchRecords))),

  make("limits: one record more than a batch may have", (scenario) =>
    refuses(scenario, notes("b", maxBatchRecords + 1), {
      limit: "batch-records",
      maximum: maxBatchRecords,
      actual: maxBatchRecords + 1
    })
  ),

  make("limits: a payload as large as may be", (scenario) =>
    accepts(scenario, batch("b", noteOfBytes(maxPayloadBytes)))
  ),

  make("limits: a payload as large as may be, counted in bytes and not in characters", (scenario) =>
    accepts(scenario, batch("b", emojiNote(maxPayloadBytes)))
  ),

  make("limits: a payload one byte too large", (scenario) =>
    refuses(scenario, batch("b", note("small"), noteOfBytes(maxPayloadBytes + 1)), {
      limit: "payload-bytes",
      maximum: maxPayloadBytes,
      actual: maxPayloadBytes + 1
    })
  ),

  make("limits: a payload one byte too large, of few characters", (scenario) =>
    refuses(scenario, batch("b", emojiNote(maxPayloadBytes + 1)), {
      limit: "payload-bytes",
      maximum: maxPayloadBytes,
      actual: maxPayloadBytes + 1
    })
  ),

  make("limits: a batch as large as may be", (scenario) => accepts(scenario, batch("b", ...wholeBatch))),

  make("limits: a batch that is too large", (scenario) =>
    refuses(scenario, batch("b", ...wholeBatch, noteOfBytes(100)), {
      limit: "batch-bytes",
      maximum: maxBatchBytes,
      actual: maxBatchBytes + 100
    })
  ),

  make("limits: JSON as deep as may be", (scenario) => accepts(scenario, batch("b", noteOfDepth(maxDepth)))),

  make("limits: JSON one level too deep", (scenario) =>
    refuses(scenario, batch("b", noteOfDepth(maxDepth + 1)), {
      limit: "json-depth",
      maximum: maxDepth,
      actual: maxDepth + 1
    })
  ),

  make("limits: JSON without an end is refused in time", (scenario) => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    return refuses(scenario, batch("b", note(circle)), { limit: "json-depth", maximum: maxDepth, actual: maxDepth + 1 })
  }),

  make("limits: ids as long as may be, in bytes", (scenario) =>
    Effect.gen(function* () {
      for (const letter of ["x", "é", "😀"]) {
        const bytes = new TextEncoder().encode(letter).length
        const prefix = scenario.id(letter)
        const room = maxIdBytes - new TextEncoder().encode(prefix).length
        const conversationId = ConversationId.make(prefix + letter.repeat(room / bytes) + "x".repeat(room % bytes))
        const long = letter.repeat(maxIdBytes / bytes)
        const owner = yield* scenario.takeOver(conversationId, long)
        const recordId = RecordId.make(long)
        yield* owner.append({ batchId: BatchId.make(long), records: [{ recordId, at, payload: note(letter) }] })
        const [record] = yield* scenario.log(conversationId)
        yield* equal(
          "the ids",
          [record?.conversationId, record?.recordId, record?.batchId, record?.producerId],
          [conversationId, recordId, BatchId.make(long), ProducerId.make(long)]
        )
        const { replayed } = yield* owner.attempt({
          batchId: BatchId.make(long),
          records: [{ recordId, at, payload: note(letter) }]
        })
        yield* equal("replayed", replayed, true)
      }
    })
  ),

  make("limits: a conversation may be long", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (let i = 0; i < 50; i++) yield* owner.append(notes(`b/${i}`, maxBatchRecords))
      yield* equal("the number of records", (yield* scenario.log()).length, 50 * maxBatchRecords + 1)
      yield* equal("the tail", yield* scenario.tail(), owner.tail)
    })
  )
]
