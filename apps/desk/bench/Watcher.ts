/** A reader of a conversation's events, which counts what it is shown. */
import * as Line from "./Line.ts"

export interface Counts {
  events: number
  /** Characters. */
  length: number
  records: number
  /** Records that came twice, or not behind the one before. */
  faults: number
  /** How often it was too slow. */
  gaps: number
}

export interface Watcher extends Line.Line {
  readonly counts: Counts
  /** Resolved by the end of a run. */
  readonly ended: Promise<void>
}

/** Watches behind a sequence. */
export const watch = (url: string, conversationId: string, after: number): Watcher => {
  const counts: Counts = { events: 0, length: 0, records: 0, faults: 0, gaps: 0 }
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let sequence = after
  const line = Line.open(`${url}/api/conversations/${conversationId}/events?after=${after}`, (name, data, length) => {
    counts.events++
    counts.length += length
    if (name !== "update") return
    const update = data as Update
    if (update._tag === "Gap") counts.gaps++
    if (update._tag !== "Recorded") return
    counts.records++
    if (update.record.sequence !== sequence + 1) counts.faults++
    sequence = update.record.sequence
    if (update.record.payload._tag === "RunEnded") resolve()
  })
  return { ...line, counts, ended }
}

// --- internal ---

/** What is counted of an update. */
interface Update {
  readonly _tag: string
  readonly record: { readonly sequence: number; readonly payload: { readonly _tag: string } }
}
