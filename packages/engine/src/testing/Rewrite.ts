/**
 * Writes recorded payloads as they were, where nothing makes them anew.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type * as Payload from "@colloquy/session/Payload"
import type { Writer, WriteError } from "@colloquy/store/Writer"
import * as Effect from "effect/Effect"
import type { RecordedLog } from "./RecordedLog.ts"

/**
 * Writes recorded payloads as they were.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rewrite {
  /** Writes the records at these places that were not written yet. */
  readonly write: (
    from: number,
    to: number,
    isWanted: (record: CanonicalRecord) => boolean
  ) => Effect.Effect<void, WriteError>
  /** A record at a place was made anew, as the one at this sequence. */
  readonly made: (index: number, sequence: number) => void
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const makeRewrite = ({ records }: RecordedLog, writer: Writer): Rewrite => {
  const sequences = new Map<number, number>()
  const written = new Set<number>()
  const made = (index: number, sequence: number) => {
    written.add(index)
    sequences.set(records[index]?.sequence ?? 0, sequence)
  }
  const shift = (payload: Payload.Written): Payload.Written => {
    if (payload._tag !== "Compacted") return payload
    const moved = (sequence: number) => sequences.get(sequence) ?? sequence
    return { ...payload, coversThrough: moved(payload.coversThrough), pinned: payload.pinned.map(moved) }
  }
  return {
    made,
    write: Effect.fnUntraced(function* (from: number, to: number, isWanted: (record: CanonicalRecord) => boolean) {
      for (let i = from; i < to; i++) {
        const record = records[i]
        if (record === undefined || written.has(i) || !isWanted(record)) continue
        const { payload } = record
        if (payload._tag === "Redacted") continue
        const [fresh] = yield* writer.append([shift(payload)])
        if (fresh !== undefined) made(i, fresh.sequence)
      }
    })
  }
}
