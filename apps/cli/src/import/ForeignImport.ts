/**
 * Imports a file of a foreign format: the whole file is read and checked first, and only then read again and written.
 *
 * What makes a file unfit is found in the first reading, before a database is opened: it converts every conversation and
 * encodes every record. In the second only the database can refuse a conversation, because it has another history there;
 * the others of the file are imported all the same, and file and line are said.
 *
 * A file that was imported before and has grown since continues its conversations, as long as it has grown by whole runs
 * (or by settings between them). A last run that has grown itself is another history: what the log says of its end is no
 * longer true, and a log is never rewritten. It is refused as `diverged`, and comes in under another id.
 */
import { ConversationId, ProducerId } from "@colloquy/session/Ids"
import type { LimitExceeded } from "@colloquy/session/Limits"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import type { ConversationErased, FenceRejected, ImportRejected, InvalidBatch } from "@colloquy/store/StoreError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type Conversion, toBatches, type Unstorable } from "./Batches.ts"
import { TranscriptRejected, TranscriptTooLarge } from "./ImportError.ts"
import type { Report } from "./ImportReport.ts"
import { type Name, nameAll } from "./Names.ts"
import { RepairCounts } from "./Repair.ts"
import type { Transcript } from "./Transcript.ts"
import { type TranscriptFile, transcripts } from "./TranscriptFile.ts"

/** Told how many bytes were read. */
type OnBytes = (count: number) => Effect.Effect<void>

/** A file that was found fit, and the ids of its conversations in order. */
export interface Checked {
  readonly source: TranscriptFile
  readonly names: ReadonlyArray<Name>
  /** The time of what the file gives no time for; UTC in milliseconds. */
  readonly now: number
}

/** Reads and converts everything, and writes nothing. */
export const check = Effect.fn("ForeignImport.check")(function* (
  source: TranscriptFile,
  options: { readonly prefix: string; readonly onBytes: OnBytes }
) {
  const now = yield* Clock.currentTimeMillis
  const ids: Array<string | undefined> = []
  const lines: Array<number> = []
  yield* Stream.runForEach(transcripts(source, options.onBytes), (transcript) => {
    ids.push(transcript.id)
    lines.push(transcript.place.line)
    return Effect.asVoid(convert(source, transcript, { conversationId: provisional, now }))
  })
  const names = nameAll(ids, { prefix: options.prefix, stem: source.stem })
  const wrong = names.findIndex(({ fault }) => fault !== undefined)
  if (wrong !== -1) {
    return yield* new TranscriptRejected({
      file: source.file,
      reason: "invalid",
      line: lines[wrong] ?? 0,
      detail: `${JSON.stringify(names[wrong]?.id)} cannot name a conversation: ${names[wrong]?.fault}; mend it`
    })
  }
  return { source, names, now }
})

/** Writes what was checked; each conversation all or nothing. */
export const write = Effect.fn("ForeignImport.write")(function* ({ names, now, source }: Checked, onBytes: OnBytes) {
  const store = yield* ConversationStore
  const producerId = ProducerId.make(`import/${source.shape.format}`)
  const refused: Array<Refusal> = []
  const report = {
    imported: 0,
    unchanged: 0,
    records: 0,
    renamedCallIds: 0,
    repairs: [] as Array<Report["repairs"][0]>
  }
  let place = 0
  yield* Stream.runForEach(
    transcripts(source, onBytes),
    Effect.fnUntraced(function* (transcript) {
      const name = names[place++]
      if (name === undefined) return
      const conversationId = ConversationId.make(name.id)
      const conversion = yield* convert(source, transcript, { conversationId, now })
      const { batches } = conversion
      const imported = yield* store.importBatches({ conversationId, producerId, batches }).pipe(
        Effect.catchTag(
          ["ImportRejected", "FenceRejected", "ConversationErased", "InvalidBatch", "LimitExceeded"],
          (error) =>
            Effect.sync(() => {
              refused.push({ conversationId, line: transcript.place.line, error })
            })
        )
      )
      if (imported === undefined) return
      if (imported.imported) {
        report.imported++
        report.records += imported.records
      } else report.unchanged++
      report.renamedCallIds += conversion.renamedCallIds.length
      report.repairs.push(...repairsOf(conversion, name))
    })
  )
  const [first, ...more] = refused
  if (first !== undefined) {
    const taken = report.imported + report.unchanged
    return yield* refusal(source.file, first, more.length, taken)
  }
  return report satisfies Report as Report
})

// --- internal ---

interface Refusal {
  readonly conversationId: ConversationId
  readonly line: number
  readonly error: ImportRejected | FenceRejected | ConversationErased | InvalidBatch | LimitExceeded
}

/** Ids do not change what a conversation is converted to, and names are known once all of the file was read. */
const provisional = ConversationId.make("to-be-named")

const convert = (
  { file }: TranscriptFile,
  transcript: Transcript,
  target: { readonly conversationId: ConversationId; readonly now: number }
): Effect.Effect<Conversion, TranscriptRejected | TranscriptTooLarge> =>
  Effect.fromResult(Result.mapError(toBatches(transcript, target), (fault) => unstorable(file, fault)))

const unstorable = (file: string, { cause, place }: Unstorable): TranscriptRejected | TranscriptTooLarge => {
  const where = { file, line: place.line, ...(place.message === undefined ? {} : { messageNumber: place.message }) }
  if (cause._tag === "LimitExceeded") {
    const { actual, limit, maximum } = cause
    return new TranscriptTooLarge({ ...where, limit, maximum, actual })
  }
  return new TranscriptRejected({
    ...where,
    reason: "invalid",
    detail: `${cause.message}; nothing was imported: mend it`
  })
}

const repairsOf = ({ conversationId, repairs }: Conversion, { isRepeated }: Name): Report["repairs"] => {
  const counts = new RepairCounts()
  for (const { count, kind } of repairs) counts.add(kind, count)
  if (isRepeated) counts.add("repeated-conversation-id")
  return counts.all().map(({ count, kind }) => ({ conversationId, kind, count }))
}

/** The first refusal; what became of the rest of the file is said with it. */
const refusal = (
  file: string,
  { conversationId, error, line }: Refusal,
  more: number,
  taken: number
): TranscriptRejected | FenceRejected | ConversationErased => {
  if (error._tag === "FenceRejected" || error._tag === "ConversationErased") return error
  const rest = `${more === 0 ? "" : `; so are ${more} more`}${taken === 0 ? "" : `; the other ${taken} of the file are in`}`
  if (error._tag !== "ImportRejected" || error.reason !== "diverged") {
    const detail = `the store does not take ${conversationId}: ${error.message}${rest}; mend it`
    return new TranscriptRejected({ file, reason: "invalid", line, conversationId, detail })
  }
  return new TranscriptRejected({
    file,
    reason: "diverged",
    line,
    conversationId,
    detail:
      `${conversationId} has another history in the database: a run that was imported before has grown or changed ` +
      `in the file, or the conversation was continued here${rest}. Import the file under other ids with --id-prefix, ` +
      "or into another database"
  })
}
