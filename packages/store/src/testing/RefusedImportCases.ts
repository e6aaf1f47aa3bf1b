/**
 * Archives that are torn, altered or not valid: refused with the reason and the line, and nothing is written.
 *
 * @since 0.1.0
 */
import * as Digest from "@colloquy/session/Digest"
import { RecordId } from "@colloquy/session/Ids"
import { maxBatchRecords, maxPayloadBytes } from "@colloquy/session/Limits"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ImportRejected } from "../StoreError.ts"
import { exported, type Lines, made, under, withBatch, withHeader, withRecord } from "./Archives.ts"
import { type ConformanceCase, make } from "./Case.ts"
import { equal, fails } from "./Expect.ts"
import { batch, created, note, noteOfBytes, notes, withIds } from "./Records.ts"
import type { Scenario } from "./Scenario.ts"

/**
 * The archive of a log of five records under an id that is free. Its lines: 1 header, 2 batch, 3 record, 4 batch, 5 and
 * 6 records, 7 batch, 8 and 9 records.
 */
const archive = (scenario: Scenario) =>
  Effect.gen(function* () {
    const owner = yield* scenario.begin(scenario.id("original"))
    yield* owner.append(notes("b", 2))
    yield* owner.append(notes("c", 2))
    return under(scenario.id(), yield* exported(scenario, owner.conversationId))
  })

const nothingWritten = (scenario: Scenario) =>
  Effect.gen(function* () {
    const conversationId = scenario.id()
    yield* fails(scenario.store.tail({ conversationId }), "ConversationNotFound")
    const listed = (yield* scenario.listed()).filter((summary) => summary.conversationId === conversationId)
    yield* equal("what the list has", listed, [])
  })

const refused = (scenario: Scenario, lines: Lines, reason: ImportRejected["reason"], line: number) =>
  Effect.gen(function* () {
    const error = yield* fails(scenario.store.import(Stream.fromIterable(lines)), "ImportRejected")
    yield* equal("the reason", error.reason, reason)
    yield* equal("the line", error.line, line)
    yield* nothingWritten(scenario)
  })

const unsupported = (scenario: Scenario, lines: Lines) =>
  Effect.gen(function* () {
    const error = yield* fails(scenario.store.import(Stream.fromIterable(lines)), "UnsupportedVersion")
    yield* equal("the versions", { found: error.found, supported: error.supported }, { found: 2, supported: 1 })
    yield* nothingWritten(scenario)
  })

/** Another hex digit in the last place. */
const flipped = <A extends string>(hex: A): A => `${hex.slice(0, -1)}${hex.endsWith("0") ? "1" : "0"}` as A

const otherDigest = (digest: Digest.Digest) => Digest.Digest.make(flipped(digest))

const without = (lines: Lines, ...numbers: ReadonlyArray<number>) => lines.filter((_, i) => !numbers.includes(i + 1))

const take = (lines: Lines, ...numbers: ReadonlyArray<number>) => numbers.map((number) => lines[number - 1]!)

const damages: ReadonlyArray<
  readonly [name: string, damage: (lines: Lines) => Lines, reason: ImportRejected["reason"], line: number]
> = [
  [
    "a byte of a payload",
    (lines) => withRecord(lines, 5, ({ payload }) => ({ payload: payload.replace("note 0", "note 1") })),
    "altered",
    5
  ],
  [
    "a payload that is no JSON any more",
    (lines) => withRecord(lines, 5, ({ payload }) => ({ payload: payload.slice(1) })),
    "invalid",
    5
  ],
  [
    "a byte of a salt",
    (lines) => withRecord(lines, 5, ({ salt }) => ({ salt: salt === null ? null : flipped(salt) })),
    "altered",
    5
  ],
  ["a salt that is gone", (lines) => withRecord(lines, 5, () => ({ salt: null })), "altered", 5],
  [
    "a record's digest",
    (lines) => withRecord(lines, 5, ({ digest }) => ({ digest: otherDigest(digest) })),
    "altered",
    5
  ],
  ["a record's id", (lines) => withRecord(lines, 5, () => ({ recordId: RecordId.make("other") })), "altered", 6],
  ["a batch's id", (lines) => withBatch(lines, 4, () => ({ batchId: notes("other").batchId })), "altered", 6],
  [
    "a batch's content digest",
    (lines) => withBatch(lines, 4, ({ content }) => ({ content: otherDigest(content) })),
    "altered",
    6
  ],
  ["a batch's tail digest", (lines) => withBatch(lines, 4, ({ tail }) => ({ tail: otherDigest(tail) })), "altered", 6],
  ["a batch's epoch over the header's", (lines) => withBatch(lines, 4, () => ({ epoch: 2 })), "altered", 4],
  ["the header's tail", (lines) => withHeader(lines, ({ tail }) => ({ tail: otherDigest(tail) })), "altered", 9],
  ["more records in the header than there are", (lines) => withHeader(lines, () => ({ records: 6 })), "torn", 9],
  ["fewer records in the header than there are", (lines) => withHeader(lines, () => ({ records: 3 })), "altered", 9],
  ["batches in another order", (lines) => take(lines, 1, 2, 3, 7, 8, 9, 4, 5, 6), "altered", 4],
  ["records in another order", (lines) => take(lines, 1, 2, 3, 4, 6, 5, 7, 8, 9), "altered", 5],
  ["records that changed places, sequences mended", (lines) => swapped(lines, 5, 6), "altered", 6],
  ["a missing record", (lines) => without(lines, 5), "altered", 5],
  ["a missing last record of a batch", (lines) => without(lines, 6), "altered", 6],
  ["a missing last record", (lines) => without(lines, 9), "torn", 8],
  ["a missing line of a batch", (lines) => without(lines, 4), "altered", 4],
  ["a missing batch", (lines) => without(lines, 4, 5, 6), "altered", 4],
  ["a missing last batch", (lines) => without(lines, 7, 8, 9), "torn", 6],
  ["a doubled record", (lines) => take(lines, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9), "altered", 6],
  ["a doubled line of a batch", (lines) => take(lines, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9), "altered", 5],
  ["a doubled batch", (lines) => take(lines, 1, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8, 9), "altered", 7],
  ["a record behind the end", (lines) => take(lines, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9), "altered", 10],
  ["a line cut in the middle", (lines) => lines.map((line, i) => (i === 4 ? line.slice(0, 40) : line)), "torn", 5],
  ["two lines fused into one", (lines) => [...take(lines, 1, 2, 3, 4), lines[4]! + lines[5]!], "torn", 5],
  ["no header", (lines) => without(lines, 1), "format", 1],
  ["a header of something else", (lines) => [lines[0]!.replace("colloquy-", "other-"), ...lines.slice(1)], "format", 1],
  ["a line of something else", (lines) => [...lines, `{"hello":"world"}`], "format", 10],
  [
    "an id that is none",
    (lines) => lines.map((line) => line.replace(`"recordId":"b/1"`, `"recordId":""`)),
    "format",
    6
  ],
  ["a second header", (lines) => take(lines, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9), "format", 2],
  ["a second archive behind the first", (lines) => [...lines, ...lines], "format", 10],
  ["no lines at all", () => [], "format", 0]
]

/** Each line names the place of the other, so that only the digests tell. */
const swapped = (lines: Lines, one: number, two: number): Lines => {
  const exchanged = lines.map((line, i) => (i === one - 1 ? lines[two - 1]! : i === two - 1 ? lines[one - 1]! : line))
  return withRecord(
    withRecord(exchanged, one, ({ sequence }) => ({ sequence: sequence - 1 })),
    two,
    ({ sequence }) => ({ sequence: sequence + 1 })
  )
}

/** Changes the payload of one record. */
const at = (place: number, change: (text: string) => string) => (text: string, sequence: number) =>
  sequence === place ? change(text) : text

const b = notes("b", 2)
const madeOf = (scenario: Scenario, ...batches: Parameters<typeof made>[1]) =>
  made(scenario.id(), [batch("created", created()), ...batches])

/**
 * The cases of this file.
 *
 * @category cases
 * @since 0.1.0
 */
export const refusedImportCases: ReadonlyArray<ConformanceCase> = [
  ...damages.map(([name, damage, reason, line]) =>
    make(`import refuses: ${name}`, (scenario) =>
      Effect.gen(function* () {
        const lines = yield* archive(scenario)
        yield* refused(scenario, damage(lines), reason, line)
        const imported = yield* scenario.store.import(Stream.fromIterable(lines))
        yield* equal("the whole file afterwards", imported.imported, true)
      })
    )
  ),

  make("import refuses: a file cut at any place of its last line", (scenario) =>
    Effect.gen(function* () {
      const lines = yield* archive(scenario)
      const last = lines.at(-1)!
      for (let end = 1; end < last.length; end += 7) {
        yield* refused(scenario, [...lines.slice(0, -1), last.slice(0, end)], "torn", 9)
      }
    })
  ),

  make("import refuses: a newer version of the format", (scenario) =>
    Effect.gen(function* () {
      yield* unsupported(
        scenario,
        withHeader(yield* archive(scenario), () => ({ version: 2 }))
      )
    })
  ),

  make("import refuses: a record of a newer version", (scenario) =>
    unsupported(scenario, made(scenario.id(), [batch("created", created()), b], { schemaVersion: 2 }))
  ),

  make("import refuses: a payload with an unknown tag, digests mended", (scenario) => {
    const payloads = at(3, (text) => text.replace("Custom", "Costume"))
    return refused(scenario, made(scenario.id(), [batch("created", created()), b], { payloads }), "invalid", 6)
  }),

  make("import refuses: a redacted payload that still has its salt", (scenario) => {
    const redacted = `{"_tag":"Redacted","facts":{"_tag":"Custom","name":"note"},"tag":"Custom"}`
    const payloads = at(3, () => redacted)
    return refused(scenario, made(scenario.id(), [batch("created", created()), b], { payloads }), "altered", 6)
  }),

  make("import refuses: a batch with too many records", (scenario) =>
    refused(scenario, madeOf(scenario, notes("b", maxBatchRecords + 1)), "invalid", 4)
  ),

  make("import refuses: a payload that is too large", (scenario) => {
    const payloads = at(2, (text) => text.replace("xxx", "xxxx"))
    const batches = [batch("created", created()), batch("b", noteOfBytes(maxPayloadBytes))]
    return refused(scenario, made(scenario.id(), batches, { payloads }), "invalid", 5)
  }),

  make("import refuses: two records with one id", (scenario) =>
    refused(scenario, madeOf(scenario, b, withIds(notes("c", 2), "c/0", "b/1")), "invalid", 9)
  ),

  make("import refuses: two batches with one id", (scenario) =>
    refused(scenario, madeOf(scenario, b, { ...b, records: notes("c", 2).records }), "invalid", 9)
  ),

  make("import refuses: an altered copy of what is stored", (scenario) =>
    Effect.gen(function* () {
      const lines = yield* archive(scenario)
      yield* scenario.store.import(Stream.fromIterable(lines))
      const altered = withRecord(lines, 5, () => ({ payload: JSON.stringify(note("another")) }))
      const error = yield* fails(scenario.store.import(Stream.fromIterable(altered)), "ImportRejected")
      yield* equal("the reason", error.reason, "altered")
      yield* equal("the stored log", yield* exported(scenario), lines)
    })
  )
]
