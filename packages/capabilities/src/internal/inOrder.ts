/** What one watcher is shown, in its order: every record once and without a hole, whoever wrote it. */
import type { ConversationId } from "@colloquy/session/Ids"
import type { ConversationStore } from "@colloquy/store/ConversationStore"
import type { ReadError } from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { LiveUpdate } from "../LiveUpdate.ts"
import type { Item } from "./liveChannel.ts"

/** The log that updates are of. */
export interface Log {
  readonly store: ConversationStore["Service"]
  readonly conversationId: ConversationId
}

/**
 * What is stored behind `after`, then what comes. `known` is the last record that a run which goes on has shown: the store
 * may not have it yet. A watcher who was shown more than there is now is told so first: the store has lost it.
 */
export const joined = (
  { conversationId, store }: Log,
  live: Stream.Stream<Item>,
  after: number,
  known: number
): Stream.Stream<LiveUpdate, ReadError> =>
  Stream.unwrap(
    Effect.map(tailOf({ conversationId, store }), (tail) => {
      const end = Math.max(tail, known)
      if (after > end) {
        return Stream.concat(Stream.succeed(gapAt(end)), following({ conversationId, store }, live, end))
      }
      const stored = after < tail ? between({ conversationId, store }, after, undefined) : Stream.empty
      return following({ conversationId, store }, Stream.concat(stored, live), after)
    })
  )

/**
 * Updates behind `after`. What somebody has written beside a run is read before the run's next record; where the store does
 * not answer, the hole stays, and whoever folds the updates finds it.
 */
export const following = (
  log: Log | undefined,
  items: Stream.Stream<Item, ReadError>,
  after: number | undefined
): Stream.Stream<LiveUpdate, ReadError> => {
  let seen = after
  return items.pipe(
    Stream.flatMap((update): Stream.Stream<LiveUpdate, ReadError> => {
      // It was shown what was stored, too, which its backlog does not know.
      if (update._tag === "Missed") return Stream.succeed(gapAt(seen ?? update.cursor.sequence))
      // The store has lost what was shown behind the place: nothing to those who have not seen it.
      if (update._tag === "Gap") {
        const { sequence } = update.cursor
        if (seen === undefined || seen <= sequence) return Stream.empty
        seen = sequence
        return Stream.succeed(update)
      }
      if (update._tag !== "Recorded" || seen === undefined) return Stream.succeed(update)
      const { sequence } = update.record
      if (sequence <= seen) return Stream.empty
      if (log === undefined || sequence === seen + 1) return Stream.succeed(update)
      const missing = Stream.catchTag(between(log, seen, sequence - 1), "StoreUnavailable", () => Stream.empty)
      return Stream.concat(missing, Stream.succeed(update))
    }),
    Stream.tap((update) =>
      Effect.sync(() => {
        if (update._tag === "Recorded") seen = update.record.sequence
      })
    )
  )
}

// --- internal ---

const gapAt = (sequence: number): LiveUpdate => ({ _tag: "Gap", cursor: { sequence } })

/** The end of the log; 0 where nothing is stored yet. */
const tailOf = ({ conversationId, store }: Log) =>
  store.tail({ conversationId }).pipe(
    Effect.map(({ sequence }) => sequence),
    Effect.catchTag("ConversationNotFound", () => Effect.succeed(0))
  )

const between = ({ conversationId, store }: Log, after: number, through: number | undefined) =>
  Stream.map(store.read({ conversationId, after, through }), (record): LiveUpdate => ({
    _tag: "Recorded",
    cursor: { sequence: record.sequence },
    record,
    stored: true
  }))
