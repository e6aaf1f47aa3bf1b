/** Who records runs is told of each one that has ended, with its records. */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { OpenRun } from "@colloquy/session/ConversationState"
import { derive } from "@colloquy/session/DerivedId"
import type { ConversationId, RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type * as Seams from "@colloquy/session/Seams"
import type { ReadError } from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Journal } from "../Journal.ts"
import type { Storage } from "./shared.ts"
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

/** Notes the ends that a run writes, and reads what the log has of each run once that is told. */
export const recording = (
  turn: Seams.Turn,
  recorder: Seams.Recorder | undefined,
  journal: Pick<Journal, "conversationId" | "isStored" | "records" | "state">,
  store: Storage["store"] | undefined
): Recording => {
  if (recorder === undefined) return { onRecords: () => undefined, tell: Effect.void }
  const ended: Array<EndRecord> = []

  /** None is kept from when it was written: it may have been redacted since. */
  const recordsFrom = (runId: RunId): Effect.Effect<ReadonlyArray<CanonicalRecord>, ReadError> => {
    const { conversationId } = journal
    const atHand = journal.records()
    const { visibleFrom } = journal.state().window
    const isStart = isStartOf(runId)
    const isWhole = atHand.some((record) => record.sequence >= visibleFrom && isStart(record))
    // A summary may hide the beginning of a run before it is over.
    return isWhole || store === undefined || conversationId === undefined
      ? Effect.succeed(atHand)
      : backTo(isStart, store, conversationId)
  }

  const tellOf = Effect.fnUntraced(function* (end: EndRecord) {
    const { outcome, runId } = end.payload
    const own = ownOf(yield* recordsFrom(runId), runId)
    const whose = runId === turn.runId ? turn : turnOf(own, { ...turn, ...startOf(own), runId })
    yield* recorder({ ...whose, outcome, records: own })
  })

  return {
    onRecords: (fresh) => void ended.push(...fresh.filter(isEnd)),
    tell: Effect.suspend(() => {
      if (!journal.isStored()) return Effect.void
      return Effect.forEach(
        ended.splice(0),
        (end) =>
          Effect.catchCause(tellOf(end), (cause) =>
            logFault(`the recorder of runs broke at run ${end.payload.runId}`, cause)
          ),
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

/** Records with an open run's start among them: where a summary hides it, that one from the log. */
export const withStart = (
  records: ReadonlyArray<CanonicalRecord>,
  { runId, startedAt }: OpenRun,
  store: Storage["store"],
  conversationId: ConversationId
): Effect.Effect<ReadonlyArray<CanonicalRecord>, ReadError> =>
  records.some(isStartOf(runId))
    ? Effect.succeed(records)
    : Stream.runCollect(store.read({ conversationId, after: startedAt - 1, limit: 1 }))

// --- internal ---

type EndRecord = CanonicalRecord & { readonly payload: { readonly _tag: "RunEnded" } }

const isEnd = (record: CanonicalRecord): record is EndRecord => record.payload._tag === "RunEnded"

/** What the log has from a run's start on, read from its end: the run may begin long behind the conversation. */
const backTo = (
  isStart: (record: CanonicalRecord) => boolean,
  store: Storage["store"],
  conversationId: ConversationId
): Effect.Effect<ReadonlyArray<CanonicalRecord>, ReadError> =>
  store.read({ conversationId, reverse: true }).pipe(
    Stream.takeUntil(isStart),
    Stream.runCollect,
    Effect.map((records) => records.toReversed())
  )

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

const isStartOf =
  (runId: RunId) =>
  ({ payload }: CanonicalRecord): boolean => {
    const facts = Payload.legible(payload)
    return facts._tag === "RunStarted" && facts.runId === runId
  }

const startOf = (own: ReadonlyArray<CanonicalRecord>): Payload.RunStarted | undefined => {
  const start = own.find(({ payload }) => payload._tag === "RunStarted")
  return start?.payload._tag === "RunStarted" ? start.payload : undefined
}
