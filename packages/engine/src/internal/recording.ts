/** Who records runs is told of each one that has ended, with its records. */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { derive } from "@colloquy/session/DerivedId"
import { type RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import type * as Seams from "@colloquy/session/Seams"
import * as Effect from "effect/Effect"
import type { Journal } from "../Journal.ts"
import { logFault } from "./spans.ts"

export interface Recording {
  /** Takes in what is written. */
  readonly onRecords: (fresh: ReadonlyArray<CanonicalRecord>) => void
  /**
   * Tells the recorder of every run whose end was written: the run itself, and those that were closed at its head. Of a
   * run that the store does not have nobody is told; a recorder that dies costs the run nothing.
   */
  readonly tell: Effect.Effect<void>
}

/** Gathers what a run writes, behind what the log has of it. */
export const recording = (
  turn: Seams.Turn,
  recorder: Seams.Recorder | undefined,
  journal: Pick<Journal, "isStored" | "records">
): Recording => {
  if (recorder === undefined) return { onRecords: () => undefined, tell: Effect.void }
  // A summary may hide the beginning of a run before it is over.
  const records = [...journal.records()]
  const ended: Array<EndRecord> = []
  return {
    onRecords: (fresh) => {
      records.push(...fresh)
      ended.push(...fresh.filter(isEnd))
    },
    tell: Effect.suspend(() => {
      if (!journal.isStored()) return Effect.void
      // The log has what others wrote, too, and what was written while the store failed as it is stored.
      const all = [...new Map([...records, ...journal.records()].map((record) => [record.recordId, record])).values()]
      const inOrder = all.toSorted((a, b) => a.sequence - b.sequence)
      return Effect.forEach(
        ended.splice(0),
        ({ payload: { outcome, runId } }) => {
          const own = ownOf(inOrder, runId)
          const whose = runId === turn.runId ? turn : turnOf(own, { ...turn, ...startOf(own), runId })
          return Effect.catchCause(recorder({ ...whose, outcome, records: own }), (cause) =>
            logFault(`the recorder of runs broke at run ${runId}`, cause)
          )
        },
        { discard: true }
      )
    })
  }
}

/** What the log says of a run that goes on, or went. */
export const turnOf = (
  records: ReadonlyArray<CanonicalRecord>,
  turn: Pick<Seams.Turn, "agent" | "conversationId" | "mode" | "runId">
): Seams.Turn => {
  const { agent, conversationId, mode, runId } = turn
  const { conversationKey, workKey } = startOf(records.filter(isOf(runId))) ?? {}
  return { agent, conversationId, mode, runId, conversationKey, workKey: workKey ?? runId }
}

// --- internal ---

type EndRecord = CanonicalRecord & { readonly payload: { readonly _tag: "RunEnded" } }

const isEnd = (record: CanonicalRecord): record is EndRecord => record.payload._tag === "RunEnded"

/** The records of a run, and what others have noted while it went on. */
const ownOf = (records: ReadonlyArray<CanonicalRecord>, runId: RunId): ReadonlyArray<CanonicalRecord> => {
  const isOwn = isOf(runId)
  const own = records.filter(isOwn)
  const first = own[0]?.sequence ?? Number.POSITIVE_INFINITY
  const last = own.at(-1)?.sequence ?? 0
  const isNote = ({ payload, sequence }: CanonicalRecord) =>
    payload._tag === "Custom" && sequence > first && sequence < last
  return records.filter((record) => isOwn(record) || isNote(record))
}

/** Records of a run name it, or have ids that were made from it: what happens to its approvals, its tasks, its agent. */
const isOf = (runId: RunId) => {
  const made = `${derive("run", runId)}/`
  return ({ payload, recordId }: CanonicalRecord): boolean =>
    "runId" in payload ? payload.runId === runId : recordId.startsWith(made)
}

const startOf = (own: ReadonlyArray<CanonicalRecord>): Payload.RunStarted | undefined => {
  const start = own.find(({ payload }) => payload._tag === "RunStarted")
  return start?.payload._tag === "RunStarted" ? start.payload : undefined
}
