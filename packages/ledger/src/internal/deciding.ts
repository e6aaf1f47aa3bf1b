/**
 * What becomes of an entry among those that are there: pure, and the same over every driver.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Decided, LedgerState, Row, RowHead } from "../LedgerDriver.ts"
import { type LedgerEntry, rank } from "../LedgerEntry.ts"
import { Recorded } from "../LedgerModel.ts"

/** What of an entry others are compared with, and the ids of those that it stands for. */
const Meta = Schema.Struct({
  decision: Schema.String,
  triggerIds: Schema.Array(Schema.String),
  standsFor: Schema.Array(Schema.String)
})
type Meta = typeof Meta.Type

const decodeMeta = Schema.decodeOption(Schema.fromJsonString(Meta))

/**
 * - The entry is there, or another one stands for it: nothing is written.
 * - Another one has its work key, or answered all of its triggers, and ended no worse: that one stands for it, and counts
 *   one attempt more.
 * - Else it is inserted behind all others, in place of the one with its work key and of those whose triggers it answered
 *   too, if they ended no better. What is then too much goes, the oldest by the counter first.
 *
 * An entry without a work key is compared by its id alone, and nothing takes its place.
 */
export const decide = (
  { counter, rows }: LedgerState,
  entry: LedgerEntry,
  row: Pick<Row, "at" | "conversationId" | "entry" | "sources">,
  maxEntries: number
): Decided<Recorded> => {
  const { entryId, triggerIds, workKey } = entry
  // Only rows that name this entry or one of its triggers can matter: reading what a row says costs more than looking.
  const names = [entryId, ...triggerIds].map((id) => JSON.stringify(id))
  const known = rows
    .filter(
      (row) =>
        row.entryId === entryId ||
        (workKey !== "" && row.workKey === workKey) ||
        names.some((name) => row.meta.includes(name))
    )
    .map((row) => ({ row, meta: metaOf(row) }))
  const own: Meta = { decision: entry.decision, triggerIds, standsFor: [] }
  const there = known.find(({ meta, row }) => row.entryId === entryId || meta.standsFor.includes(entryId))
  if (there !== undefined) {
    const { attempts, entryId: of } = there.row
    return { value: Recorded.Duplicate({ of, attempts }), change: { settle: entryId } }
  }
  const keyed = workKey === "" ? [] : known.filter(({ row }) => row.workKey !== "")
  const better = keyed.find(({ meta, row }) =>
    row.workKey === workKey ? !isBetter(own, meta) : answers(meta, own) && rank(meta.decision) >= rank(own.decision)
  )
  if (better !== undefined) {
    const { meta, row } = better
    const attempts = row.attempts + 1
    const standsFor = [...meta.standsFor, entryId].slice(-maxStandsFor)
    return {
      value: Recorded.Duplicate({ of: row.entryId, attempts }),
      change: { settle: entryId, revise: { ordinal: row.ordinal, attempts, meta: encodeMeta({ ...meta, standsFor }) } }
    }
  }
  const replaced = keyed.filter(
    ({ meta, row }) => row.workKey === workKey || (answers(own, meta) && rank(own.decision) >= rank(meta.decision))
  )
  const gone = new Set(replaced.map(({ row }) => row.ordinal))
  const left = rows.filter(({ ordinal }) => !gone.has(ordinal))
  const trimmed = left.slice(0, Math.max(0, left.length + 1 - maxEntries)).map(({ ordinal }) => ordinal)
  const attempts = replaced.reduce((sum, { row }) => sum + row.attempts, 1)
  const standsFor = replaced.flatMap(({ meta, row }) => [...meta.standsFor, row.entryId]).slice(-maxStandsFor)
  return {
    value:
      replaced.length === 0
        ? Recorded.Inserted({ trimmed: trimmed.length })
        : Recorded.Replaced({ entryIds: replaced.map(({ row }) => row.entryId), attempts, trimmed: trimmed.length }),
    change: {
      settle: entryId,
      remove: [...gone, ...trimmed],
      insert: { ...row, ordinal: counter + 1, entryId, workKey, attempts, meta: encodeMeta({ ...own, standsFor }) },
      gone: trimmed.length,
      // It told of a turn in another way than the entry that now stands for it.
      ...(replaced.length === 0 ? {} : { account: null })
    }
  }
}

/**
 * Where the entry is there it is what is known now, at its place and with its attempts; where it is not, or another one
 * stands for it, nothing is.
 */
export const decideRevised = (
  { rows }: LedgerState,
  { decision, entryId, triggerIds }: LedgerEntry,
  row: Pick<Row, "entry" | "sources">
): Decided<boolean> => {
  const there = rows.find((row) => row.entryId === entryId)
  if (there === undefined) return { value: false }
  const { attempts, ordinal } = there
  const meta = encodeMeta({ ...metaOf(there), decision, triggerIds })
  // An account may tell of it as it was.
  return { value: true, change: { revise: { ...row, ordinal, attempts, meta }, account: null } }
}

// --- internal ---

/** So many attempts of one piece of work are recognised when they come again. */
const maxStandsFor = 256

/** What cannot be read answered nothing, and is replaced by anything with its work key. */
const metaOf = ({ meta }: RowHead): Meta =>
  Option.getOrElse(decodeMeta(meta), () => ({ decision: "failed", triggerIds: [], standsFor: [] }))

const encodeMeta = (meta: Meta): string => JSON.stringify(meta)

/** Ended better, or as well and answered more. */
const isBetter = (self: Meta, that: Meta): boolean => {
  const difference = rank(self.decision) - rank(that.decision)
  return difference > 0 || (difference === 0 && answers(self, that) && !answers(that, self))
}

/** Answered everything that the other one did, if that is anything. */
const answers = (self: Meta, that: Meta): boolean =>
  that.triggerIds.length > 0 && that.triggerIds.every((id) => self.triggerIds.includes(id))
