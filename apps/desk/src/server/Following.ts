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

/**
 * Begins behind `after`, or without it with what comes from now on. Somebody who was shown records that the log does
 * not have, since the store failed while they were written, is shown a gap first.
 */
export const follow = Effect.fnUntraced(function* (conversationId: ConversationId, after: number | undefined) {
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

  const live = Stream.flatMap(
    tracker.watch(conversationId, { after: { sequence: start } }),
    (update): Stream.Stream<LiveUpdate, ReadError> => {
      if (update._tag !== "Recorded") return Stream.succeed(update)
      const { record, stored } = update
      if (record.sequence <= seen) return Stream.empty
      const shown = Stream.sync(() => show(record, stored))
      if (record.sequence === seen + 1) return shown
      // A new title, say, that came beside a run: a page need not join again for it.
      const between = store.read({ conversationId, after: seen, through: record.sequence - 1 })
      return Stream.concat(
        Stream.map(between, (record) => show(record, true)),
        shown
      )
    }
  )
  const gap: LiveUpdate = { _tag: "Gap", cursor: { sequence: tail } }
  return after !== undefined && after > tail ? Stream.concat(Stream.succeed(gap), live) : live
})
