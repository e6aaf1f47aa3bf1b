/**
 * Appending: all records or none, behind the tail, bound by digests.
 *
 * @since 0.1.0
 */
import type { Batch } from "@colloquy/session/CanonicalRecord"
import * as Digest from "@colloquy/session/Digest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { AppendConflict } from "../StoreError.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, holds, some } from "./Expect.ts"
import { at, batch, created, note, notes, withIds, withTime } from "./Records.ts"
import type { Producer, Scenario } from "./Scenario.ts"

const other = Digest.text("another history")

/** The batch is refused with this reason, and nothing has changed. */
const conflicts = (
  owner: Producer,
  request: Parameters<Producer["attempt"]>,
  expected: Pick<AppendConflict, "reason" | "recordId">
) =>
  Effect.gen(function* () {
    const before = yield* owner.store.tail(owner)
    const error = yield* fails(owner.attempt(...request), "AppendConflict")
    yield* equal("the reason", error.reason, expected.reason)
    yield* equal("the record", error.recordId, expected.recordId)
    yield* equal("the batch", error.batchId, request[0].batchId)
    yield* equal("the real tail", error.tail, { sequence: before.sequence, digest: before.digest })
    yield* equal("the tail afterwards", yield* owner.store.tail(owner), before)
  })

const refusesRecord = (scenario: Scenario, bad: Batch) =>
  Effect.gen(function* () {
    const owner = yield* scenario.begin()
    const error = yield* fails(owner.append(bad), "InvalidBatch")
    yield* equal("the batch", error.batchId, bad.batchId)
    yield* equal("the record", error.recordId, bad.records[1]?.recordId)
    yield* equal("the number of records", (yield* scenario.log()).length, 1)
    yield* owner.append(notes(bad.batchId))
  })

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const appendCases: ReadonlyArray<ConformanceCase> = [
  make("append: the first batch takes the places from 1 on", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver()
      const { epoch, first, last, replayed, tail } = yield* owner.append(notes("b", 3))
      yield* equal("the answer", { epoch, first, last, replayed }, { epoch: 1, first: 1, last: 3, replayed: false })
      yield* equal("the tail", yield* scenario.tail(), tail)
      yield* equal("its sequence", tail.sequence, 3)
    })
  ),

  make("append: a later batch follows without a gap", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 2))
      const { first, last } = yield* owner.append(notes("c", 4))
      yield* equal("its places", { first, last }, { first: 4, last: 7 })
      const sequences = (yield* scenario.log()).map(({ sequence }) => sequence)
      yield* equal("the sequences", sequences, [1, 2, 3, 4, 5, 6, 7])
    })
  ),

  make("append: the answer gives the records as a reader gets them", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const appended = yield* owner.append(notes("b", 3))
      yield* equal("the records", appended.records(), (yield* scenario.log()).slice(1))
    })
  ),

  make("append: a reader finds what was written, and who wrote it", (scenario) =>
    Effect.gen(function* () {
      const { conversationId, epoch, producerId } = yield* scenario.begin()
      const { digest, ...rest } = yield* some("a record", Option.fromUndefinedOr((yield* scenario.log())[0]))
      yield* holds("a digest", digest !== Digest.empty, digest)
      yield* equal("the record", rest, {
        conversationId,
        sequence: 1,
        recordId: batch("created", created()).records[0]!.recordId,
        batchId: batch("created").batchId,
        at,
        epoch,
        producerId,
        schemaVersion: 1,
        payload: created()
      })
    })
  ),

  make("append: digests bind a batch to everything before it", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 3))
      yield* owner.append(notes("c", 2))
      const log = yield* scenario.log()
      let tail = Digest.empty
      for (const batchId of [batch("created").batchId, batch("b").batchId, batch("c").batchId]) {
        const records = log.filter((record) => record.batchId === batchId)
        const content = Digest.content(batchId, records)
        tail = Digest.tail(tail, content)
        const stored = yield* some("the batch", yield* scenario.store.batch({ ...owner, batchId }))
        yield* equal("its content digest", stored.contentDigest, content)
        yield* equal("its tail digest", stored.tail.digest, tail)
      }
      yield* equal("the tail's digest", (yield* scenario.tail()).digest, tail)
    })
  ),

  make("append: equal payloads have digests that cannot be compared", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver()
      yield* owner.append(batch("b", note("same"), note("same"), note("same")))
      const digests = (yield* scenario.log()).map(({ digest }) => digest)
      yield* equal("the number of different digests", new Set(digests).size, 3)
    })
  ),

  make("append: a record that is not valid refuses its whole batch", (scenario) =>
    refusesRecord(scenario, batch("b", note("fine"), { _tag: "Custom", name: "", data: null }, note("fine")))
  ),

  make("append: what JSON cannot hold is refused, not changed", (scenario) =>
    refusesRecord(scenario, batch("b", note("fine"), note(Number.NaN)))
  ),

  make("append: a value that would vanish is refused", (scenario) =>
    refusesRecord(scenario, batch("b", note("fine"), note(undefined)))
  ),

  make("append: a date is refused, not turned into text by accident", (scenario) =>
    refusesRecord(scenario, batch("b", note("fine"), note(new Date(at))))
  ),

  make("append: a time that is no whole millisecond is refused", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (const time of [0.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1]) {
        yield* fails(owner.append(withTime(notes("b"), time)), "InvalidBatch")
      }
      yield* owner.append(withTime(notes("b"), -1))
      yield* equal("the time", (yield* scenario.log())[1]?.at, -1)
    })
  ),

  make("append: an empty batch is refused", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* fails(owner.append(batch("b")), "InvalidBatch")
      yield* equal("the tail", yield* scenario.tail(), owner.tail)
    })
  ),

  make("append: an unknown conversation is not created", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin(scenario.id("known"))
      const conversationId = scenario.id("unknown")
      const error = yield* fails(owner.attempt(notes("b"), { conversationId }), "ConversationNotFound")
      yield* equal("the conversation", error.conversationId, conversationId)
      yield* fails(scenario.store.tail({ conversationId }), "ConversationNotFound")
    })
  ),

  make("append: a tail that is behind, ahead, or of another history is a conflict", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const behind = owner.tail
      yield* owner.append(notes("b", 2))
      const { digest, sequence } = owner.tail
      for (const expectedTail of [
        behind,
        { sequence: 0, digest: Digest.empty },
        { sequence: sequence + 1, digest },
        { sequence: sequence - 1, digest },
        { sequence, digest: behind.digest },
        { sequence, digest: other }
      ]) {
        yield* conflicts(owner, [notes("late"), { expectedTail }], { reason: "tail" })
      }
    })
  ),

  make("append: after a conflict, an append behind the real tail succeeds", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const stale = owner.tail
      yield* owner.append(notes("b"))
      const { tail } = yield* fails(owner.attempt(notes("c"), { expectedTail: stale }), "AppendConflict")
      const { replayed } = yield* owner.attempt(notes("c"), { expectedTail: tail })
      yield* equal("replayed", replayed, false)
    })
  ),

  make("append: a record id that is in the log is a conflict that names it", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("b", 3))
      const bad = withIds(notes("c", 3), "c/0", "b/1", "c/2")
      yield* conflicts(owner, [bad], { reason: "record-identity", recordId: bad.records[1]!.recordId })
    })
  ),

  make("append: a record id twice in one batch is a conflict that names it", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      const bad = withIds(notes("c", 4), "c/0", "twice", "c/2", "twice")
      yield* conflicts(owner, [bad], { reason: "record-identity", recordId: bad.records[1]!.recordId })
    })
  ),

  make("append: record and batch ids are a conversation's own", (scenario) =>
    Effect.gen(function* () {
      const one = yield* scenario.begin(scenario.id("one"))
      const two = yield* scenario.begin(scenario.id("two"))
      yield* one.append(notes("b", 2))
      const { replayed } = yield* two.append(notes("b", 2))
      yield* equal("replayed", replayed, false)
    })
  ),

  make("append: what was refused leaves its ids free", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* fails(owner.attempt(notes("b"), { epoch: 9 }), "FenceRejected")
      yield* fails(owner.attempt(notes("b"), { expectedTail: { sequence: 9, digest: other } }), "AppendConflict")
      const { replayed } = yield* owner.append(notes("b"))
      yield* equal("replayed", replayed, false)
    })
  )
]
