/**
 * Redacting: words go, ids, digests and facts stay; ordered, fenced and idempotent as an append is.
 *
 * @since 0.1.0
 */
import { stateVersion } from "@colloquy/session/ConversationState"
import * as Digest from "@colloquy/session/Digest"
import { BatchId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { decode, exported } from "./Archives.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails, holds } from "./Expect.ts"
import {
  asked,
  batch,
  called,
  created,
  ended,
  note,
  notes,
  renamed,
  said,
  settled,
  started,
  suspended
} from "./Records.ts"
import {
  redaction,
  redactIt,
  beginWithNotes,
  stateOf,
  promptOf,
  isWhole,
  tagsOf,
  withoutWords,
  changesNothing,
  summarised,
  answered,
  everything
} from "./Redactions.ts"

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const redactCases: ReadonlyArray<ConformanceCase> = [
  make("redact: payload and salt go, everything else stays", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      const before = yield* scenario.store.export(owner)
      const log = yield* scenario.log()
      const report = yield* redactIt(owner, [3])
      yield* equal("what was removed", report.sequences, [3])
      yield* equal("the places", [report.first, report.last, report.replayed], [5, 5, false])
      const after = yield* scenario.store.export(owner)
      const kept = after.batches.flatMap(({ records }) => records)
      yield* equal(
        "the salts",
        kept.map(({ salt }) => salt === null),
        [false, false, true, false, false]
      )
      yield* equal("the batches without words", withoutWords(after), withoutWords(before))
      yield* equal(
        "the other records",
        [kept[0], kept[1], kept[3]],
        before.batches.flatMap(({ records }) => records).filter(({ sequence }) => sequence !== 3)
      )
      const read = yield* scenario.log()
      yield* equal("the record", read[2], {
        ...log[2]!,
        payload: { _tag: "Redacted", tag: "Custom", facts: { _tag: "Custom", name: "note" } }
      })
      yield* isWhole(scenario)
    })
  ),

  make("redact: the record that says so", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      const report = yield* redactIt(owner, [4, 2], { author: "Ann" })
      const last = (yield* scenario.log()).at(-1)
      yield* equal("its payload", last?.payload, {
        _tag: "ContentRedacted",
        sequences: [2, 4],
        reason: "asked for",
        author: "Ann"
      })
      yield* equal("its records", report.records(), [last!])
      yield* equal("its batch", last?.batchId, BatchId.make("redaction"))
      yield* equal("the tail", report.tail, yield* scenario.tail())
      yield* equal("what others removed", report.removed, {})
      yield* owner.append(notes("its owner goes on"))
    })
  ),

  make("redact: a record of every kind keeps its facts, and the state is as before", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver()
      for (const [i, payload] of everything.entries()) yield* owner.append(batch(`b/${i}`, payload))
      const before = yield* stateOf(scenario)
      yield* redactIt(
        owner,
        everything.map((_, i) => i + 1)
      )
      const { log, state } = yield* stateOf(scenario)
      yield* equal(
        "the payloads",
        log.slice(0, -1).map(({ payload }) => payload),
        before.log.map(({ payload }) => Payload.redact(payload))
      )
      yield* equal(
        "the state but its place",
        Struct.omit(state, ["sequence", "epoch"]),
        Struct.omit(before.state, ["sequence", "epoch"])
      )
      const lines = yield* exported(scenario)
      yield* holds("no secret", !lines.some((line) => line.includes("secret")), lines)
      yield* isWhole(scenario)
    })
  ),

  make("redact: open calls and approvals stay open", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", started(), said("a secret"), called(1, "c1", "c2"), asked("c2")))
      yield* redactIt(owner, [3, 4])
      const { state } = yield* stateOf(scenario)
      yield* equal(
        "the open calls",
        state.calls.map(({ callId }): string => callId),
        ["c1", "c2"]
      )
      const callIds = ["c1", "c2", "c3"]
      const known = yield* scenario.store.hasCallIds({ conversationId: scenario.id(), callIds })
      yield* equal("the declared ids", [...known].toSorted(), ["c1", "c2"])
      yield* owner.append(batch("c", settled(1, "c1"), suspended("c2")))
      yield* isWhole(scenario)
      yield* equal(
        "the status",
        (yield* scenario.listed()).map(({ status }) => status),
        ["awaiting-approval"]
      )
    })
  ),

  make("redact: a model is not shown it any more", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", started(), said("a secret"), answered(1, "no secrets here"), ended()))
      yield* redactIt(owner, [3])
      const shown = yield* promptOf(scenario)
      yield* holds("the answer alone", shown.includes("no secrets") && !shown.includes("a secret"), shown)
    })
  ),

  make("redact: a redacted log is exported and imported with the same tails", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      yield* redactIt(owner, [2, 4])
      yield* owner.append(notes("c", 2))
      const lines = yield* exported(scenario)
      const elsewhere = scenario.tenant("elsewhere")
      const { imported, tail } = yield* elsewhere.store.import(Stream.fromIterable(lines))
      yield* equal("the answer", { imported, tail }, { imported: true, tail: owner.tail })
      yield* equal("the archive", yield* exported(elsewhere), lines)
      yield* isWhole(elsewhere)
      const again = yield* scenario.store.import(Stream.fromIterable(lines))
      yield* equal("taken again", again.imported, false)
    })
  ),

  make("redact: an archive from before it is known, and brings nothing back", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      const lines = yield* exported(scenario)
      yield* redactIt(owner, [3])
      const { imported } = yield* scenario.store.import(Stream.fromIterable(lines))
      yield* equal("what was imported", imported, false)
      yield* equal("the record", (yield* scenario.log())[2]?.payload._tag, "Redacted")
    })
  ),

  make("redact: nothing can be guessed from the digest that stays", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", said("yes")))
      const line = decode((yield* exported(scenario))[4]!)
      yield* redactIt(owner, [2])
      const kept = decode((yield* exported(scenario))[4]!)
      if (!("record" in line) || !("record" in kept)) return yield* equal("a record", kept, line)
      const { digest, payload, schemaVersion } = line.record
      yield* equal("the salt", kept.record.salt, null)
      yield* equal("the digest", kept.record.digest, digest)
      const guess = Digest.record(new Uint8Array(0), schemaVersion, payload)
      yield* holds("a digest that needs the salt", guess !== digest, guess)
    })
  ),

  make("redact: every checkpoint goes", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      const { state } = yield* stateOf(scenario)
      yield* scenario.store.saveCheckpoint({ ...owner, ...owner.tail, stateVersion, state })
      yield* redactIt(owner, [3])
      yield* equal("a checkpoint", Option.isNone(yield* scenario.store.loadCheckpoint(owner)), true)
      const again = yield* stateOf(scenario)
      yield* scenario.store.saveCheckpoint({ ...owner, ...owner.tail, stateVersion, state: again.state })
      yield* equal("a new one", Option.isSome(yield* scenario.store.loadCheckpoint(owner)), true)
    })
  ),

  make("redact: summaries that cover the record go too, and those that were made of them", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("one", 3))
      yield* owner.append(batch("early", summarised(2, "of the first")))
      yield* owner.append(batch("early too", summarised(3, "of the secret")))
      yield* owner.append(notes("two", 2))
      yield* owner.append(batch("late", summarised(4, "of both")))
      yield* owner.append(batch("latest", summarised(8, "of all")))
      const { sequences } = yield* redactIt(owner, [3])
      yield* equal("what was removed", sequences, [3, 6, 9, 10])
      const tags = tagsOf(yield* scenario.log())
      yield* equal(
        "the summaries",
        [tags[4], tags[5], tags[8], tags[9]],
        ["Compacted", "Redacted Compacted", "Redacted Compacted", "Redacted Compacted"]
      )
      yield* isWhole(scenario)
    })
  ),

  make("redact: a summary by its own place takes along those that were made of it", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(notes("one", 3))
      yield* owner.append(batch("first", summarised(2, "a secret")))
      yield* owner.append(batch("second", summarised(4, "still a secret")))
      const { sequences } = yield* redactIt(owner, [5])
      yield* equal("what was removed", sequences, [5, 6])
    })
  ),

  make("redact: the title goes with its record, and only with its own", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.takeOver()
      yield* owner.append(batch("created", created({ title: "first" })))
      yield* owner.append(batch("renamed", renamed("second")))
      const titles = Effect.map(scenario.listed(), (listed) => listed.map(({ title }) => title))
      yield* redactIt(owner, [1])
      yield* equal("the title", yield* titles, ["second"])
      yield* redactIt(owner, [2], { batchId: BatchId.make("another redaction") })
      yield* equal("no title", yield* titles, [undefined])
      yield* owner.append(batch("again", renamed("third")))
      yield* equal("a new title", yield* titles, ["third"])
    })
  ),

  make("redact: what was removed already can be named again", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      yield* redactIt(owner, [3])
      const before = (yield* scenario.log())[2]
      const { replayed, sequences } = yield* redactIt(owner, [3, 4], { batchId: BatchId.make("again") })
      yield* equal("the answer", { replayed, sequences }, { replayed: false, sequences: [3, 4] })
      yield* equal("the record", (yield* scenario.log())[2], before)
      yield* isWhole(scenario)
    })
  ),

  make("redact: the record of a redaction can be redacted", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      const request = redaction(owner, [3])
      yield* redactIt(owner, [3])
      yield* redactIt(owner, [5], { batchId: BatchId.make("again") })
      yield* equal("the log", tagsOf(yield* scenario.log()).slice(2), [
        "Redacted Custom",
        "Custom",
        "Redacted ContentRedacted",
        "ContentRedacted"
      ])
      yield* equal("the first one again", (yield* scenario.store.redact(request)).replayed, true)
      yield* isWhole(scenario)
    })
  ),

  make("redact: a batch with a redacted record is recognised by its ids alone", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      yield* redactIt(owner, [3])
      const retried = batch("b", note("the first secret"), note("the second secret"), note("the third secret"))
      const { first, last, records, replayed } = yield* changesNothing(scenario, owner.attempt(retried))
      yield* equal("the answer", { first, last, replayed }, { first: 2, last: 4, replayed: true })
      yield* equal("its records", tagsOf(records()), ["Custom", "Redacted Custom", "Custom"])
      const other = batch("b", note("the first secret"), note("anything"), note("the third secret"))
      yield* equal("with other words in its place", (yield* owner.attempt(other)).replayed, true)
      const wrong = batch("b", note("something else"), note("the second secret"), note("the third secret"))
      const { reason } = yield* fails(owner.attempt(wrong), "AppendConflict")
      yield* equal("the reason", reason, "batch-content")
    })
  ),

  make("redact: observers see the record that says so", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      const observed = yield* Effect.forkScoped(
        Stream.runCollect(Stream.take(scenario.store.observe({ conversationId: scenario.id(), after: 4 }), 2)),
        { startImmediately: true }
      )
      yield* redactIt(owner, [3])
      yield* owner.append(notes("later"))
      const seen = yield* Fiber.join(observed)
      yield* equal("what is observed", tagsOf(seen), ["ContentRedacted", "Custom"])
      const from = Stream.take(scenario.store.observe({ conversationId: scenario.id(), after: 0 }), 5)
      yield* equal("what a later one observes", tagsOf(yield* Stream.runCollect(from))[2], "Redacted Custom")
    })
  ),

  make("redact: reading in every way shows what is left", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* beginWithNotes(scenario)
      yield* redactIt(owner, [3])
      const log = yield* scenario.log()
      const { conversationId } = owner
      const backwards = yield* Stream.runCollect(scenario.store.read({ conversationId, reverse: true }))
      yield* equal("backwards", backwards, log.toReversed())
      const alone = yield* Stream.runCollect(scenario.store.read({ conversationId, after: 2, through: 3 }))
      yield* equal("alone", alone, log.slice(2, 3))
      const unchecked = yield* Stream.runCollect(scenario.store.read({ conversationId, verify: false }))
      yield* equal("unchecked", unchecked, log)
    })
  ),

  make("redact: the list has the same line, but for its time and tail", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      yield* owner.append(batch("b", renamed("A title"), started(), said("a secret")))
      const [before] = yield* scenario.listed()
      yield* redactIt(owner, [3, 4])
      const [after] = yield* scenario.listed()
      yield* equal("the line", Struct.omit(after!, ["updatedAt"]), {
        ...Struct.omit(before!, ["updatedAt"]),
        tail: owner.tail
      })
    })
  ),

  make("redact: many records of a large log at once", (scenario) =>
    Effect.gen(function* () {
      const owner = yield* scenario.begin()
      for (let i = 0; i < 8; i++) yield* owner.append(notes(`b/${i}`, 250))
      const wanted = Array.from({ length: 1_000 }, (_, i) => 2 + 2 * i)
      const { sequences } = yield* redactIt(owner, wanted)
      yield* equal("what was removed", sequences, wanted)
      const redacted = (yield* scenario.log()).filter(({ payload }) => payload._tag === "Redacted")
      yield* equal(
        "the redacted records",
        redacted.map(({ sequence }) => sequence),
        wanted
      )
      yield* isWhole(scenario)
    })
  )
]
