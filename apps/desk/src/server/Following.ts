/**
 * The updates of a conversation for a page: what its run does while it does it, and every record once and in order,
 * whoever wrote it.
 */
import { ConversationTracker } from "@colloquy/capabilities/ConversationTracker"
import type { LiveUpdate } from "@colloquy/capabilities/LiveUpdate"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ConversationId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import type { ReadError } from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { isAbsent } from "./ApiErrors.ts"
import { Changes } from "./Changes.ts"

/**
 * Begins behind `after`, or without it with what comes from now on. Somebody who was shown records that the log does not
 * have, since the store failed while they were written, is shown a gap first.
 */
export const follow = Effect.fnUntraced(function* (conversationId: ConversationId, after: number | undefined) {
  const changes = yield* Changes
  const store = yield* ConversationStore
  const tracker = yield* ConversationTracker
  const tail = yield* store.tail({ conversationId }).pipe(
    Effect.map(({ sequence }) => sequence),
    // It begins with its first message.
    Effect.catchIf(isAbsent, () => Effect.succeed(0))
  )
  const start = Math.min(after ?? tail, tail)
  let seen = start

  const show = (record: CanonicalRecord, stored: boolean): LiveUpdate => {
    seen = record.sequence
    return { _tag: "Recorded", cursor: { sequence: seen }, record, stored }
  }

  /** What is stored behind what was shown. */
  const stored = (through?: number) =>
    Stream.suspend(() => store.read({ conversationId, after: seen, through })).pipe(
      Stream.catchIf(isAbsent, () => Stream.empty),
      Stream.map((record) => show(record, true))
    )

  // One after the other, so that what was seen is known where the next one is looked at.
  const live = Stream.merge(
    tracker.watch(conversationId, { after: { sequence: start } }),
    Stream.filter(changes.watch, (change) => change.conversationId === conversationId)
  ).pipe(
    Stream.flatMap((update): Stream.Stream<LiveUpdate, ReadError> => {
      if (!("_tag" in update)) return stored()
      if (update._tag !== "Recorded") return Stream.succeed(update)
      const { record } = update
      if (record.sequence <= seen) return Stream.empty
      // What no run wrote, a new title say, comes from the store.
      const missed = record.sequence > seen + 1 ? stored(record.sequence - 1) : Stream.empty
      return Stream.concat(
        missed,
        Stream.sync(() => show(record, update.stored))
      )
    })
  )
  const gap: LiveUpdate = { _tag: "Gap", cursor: { sequence: tail } }
  return after !== undefined && after > tail ? Stream.concat(Stream.succeed(gap), live) : live
})
