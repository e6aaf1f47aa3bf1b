/**
 * A watcher's picture of a conversation, folded from updates. Folding the same updates twice, or from an earlier cursor on,
 * gives the same picture: what is seen is known by its place. A record that does not follow the last one is not taken: the
 * view has a gap until those between are loaded.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type { Cursor, LiveUpdate, Piece } from "./LiveUpdate.ts"

/**
 * A response that is coming.
 *
 * @category models
 * @since 0.1.0
 */
export interface Coming {
  readonly runId: RunId
  readonly step: number
  readonly text: string
  readonly reasoning: string
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ConversationView {
  /** In order, without gap or double behind the first. */
  readonly records: ReadonlyArray<CanonicalRecord>
  /** What is not in the records yet. */
  readonly coming: Coming | undefined
  /** The latest preliminary result of each call that has none yet, by call id. */
  readonly progress: ReadonlyMap<string, unknown>
  /** Join from here. After a gap the stored records behind it must be loaded. */
  readonly cursor: Cursor
  readonly hasGap: boolean
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const empty: ConversationView = {
  records: [],
  coming: undefined,
  progress: new Map(),
  cursor: { sequence: 0 },
  hasGap: false
}

/**
 * The picture with one more update. It copies the records at hand when it takes one more: for many at once there is
 * {@link foldAll}.
 *
 * @category folding
 * @since 0.1.0
 */
export const fold = (view: ConversationView, update: LiveUpdate): ConversationView => foldAll(view, [update])

/**
 * The picture with more updates, in their order: as folding one after the other, at the cost of a single copy of the
 * records. What it was given stays as it is; the records are the same array when none of these changes them.
 *
 * @category folding
 * @since 0.1.0
 */
export const foldAll = (view: ConversationView, updates: Iterable<LiveUpdate>): ConversationView => {
  let own: Array<CanonicalRecord> | undefined
  // What nobody but this fold has seen it may add to.
  const growing = (records: ReadonlyArray<CanonicalRecord>) => (records === own ? own : (own = [...records]))
  let folded = view
  for (const update of updates) folded = withUpdate(folded, update, growing)
  return folded
}

// --- internal ---

/** Gives an array of these records that may be added to. */
type Growing = (records: ReadonlyArray<CanonicalRecord>) => Array<CanonicalRecord>

const withUpdate = (view: ConversationView, update: LiveUpdate, growing: Growing): ConversationView => {
  switch (update._tag) {
    case "Recorded":
      return withRecord(view, update.record, growing)
    case "Text":
      return piece(view, update, "text")
    case "Reasoning":
      return piece(view, update, "reasoning")
    case "Reset": {
      const { coming } = view
      const isVoid = coming !== undefined && coming.runId === update.runId && coming.step === update.step
      return isVoid ? { ...view, coming: { ...coming, text: "", reasoning: "" }, cursor: update.cursor } : view
    }
    case "ToolProgress":
      return { ...view, progress: new Map([...view.progress, [update.callId, update.result]]) }
    case "CannotShrink":
      return view
    case "Gap":
      return withoutLost(view, update.cursor.sequence)
  }
}

/** What was shown behind the place that can be joined from need not be in the store: it may have lost it. */
const withoutLost = (view: ConversationView, through: number): ConversationView => ({
  ...view,
  records: view.records.filter(({ sequence }) => sequence <= through),
  coming: undefined,
  cursor: { sequence: Math.min(view.cursor.sequence, through) },
  hasGap: true
})

const withRecord = (view: ConversationView, record: CanonicalRecord, growing: Growing): ConversationView => {
  const { payload, sequence } = record
  const last = view.records.at(-1)?.sequence
  if (last !== undefined && sequence <= last) return view
  // Only a watcher that has seen nothing may begin anywhere.
  const known = last ?? view.cursor.sequence
  if (known > 0 && sequence > known + 1) return { ...view, hasGap: true }
  const isOver = endsComing(view.coming, payload)
  const records = growing(payload._tag === "ContentRedacted" ? redact(view.records, payload.sequences) : view.records)
  records.push(record)
  return {
    ...view,
    records,
    coming: isOver ? undefined : view.coming,
    progress: payload._tag === "ToolCallSettled" ? without(view.progress, payload.callId) : view.progress,
    cursor: isOver ? { sequence } : { ...view.cursor, sequence },
    hasGap: false
  }
}

/** Its response is recorded, its run is over, or a crash has cut it off: nobody goes on with it. */
const endsComing = (coming: Coming | undefined, payload: Payload.Payload): boolean => {
  if (coming === undefined) return false
  switch (payload._tag) {
    case "ModelResponded":
      return payload.runId === coming.runId && coming.step <= payload.step
    case "RunEnded":
    case "RunResumed":
      return payload.runId === coming.runId
    default:
      return false
  }
}

const redact = (records: ReadonlyArray<CanonicalRecord>, sequences: ReadonlyArray<number>) => {
  const named = new Set(sequences)
  return records.map((record) =>
    named.has(record.sequence) ? { ...record, payload: Payload.redact(record.payload) } : record
  )
}

const without = (progress: ConversationView["progress"], callId: string): ConversationView["progress"] => {
  if (!progress.has(callId)) return progress
  const rest = new Map(progress)
  rest.delete(callId)
  return rest
}

const piece = (view: ConversationView, { cursor, offset, runId, step, text }: Piece, kind: "text" | "reasoning") => {
  const isSame = view.coming?.runId === runId && view.coming.step === step
  // A response that is recorded has all of its pieces.
  if (!isSame && hasResponse(view, runId, step)) return view
  const coming = isSame && view.coming !== undefined ? view.coming : { runId, step, text: "", reasoning: "" }
  const known = coming[kind]
  if (offset > known.length) return { ...view, hasGap: true }
  if (offset + text.length <= known.length) return view
  return { ...view, coming: { ...coming, [kind]: known + text.slice(known.length - offset) }, cursor }
}

const hasResponse = ({ records }: ConversationView, runId: RunId, step: number): boolean =>
  records.findLast(
    ({ payload }) => payload._tag === "ModelResponded" && payload.runId === runId && payload.step >= step
  ) !== undefined
