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
): Stream.Stream<LiveUpdate, ReadError> =>
  // As many at a time as wait: with a stream for each of them a hundred watchers are felt by the run.
  Stream.mapAccumArrayEffect(
    items,
    () => after,
    (before, waiting) => {
      const { holes, seen, shown } = place(before, waiting)
      return log === undefined || holes.length === 0
        ? Effect.succeed([seen, shown])
        : Effect.map(filled(log, shown, holes), (whole) => [seen, whole])
    }
  )

// --- internal ---

/** Records between two that were shown: they belong in front of the update at `index`. */
interface Hole {
  readonly index: number
  readonly after: number
  readonly through: number
}

/** What of these a watcher is shown who has seen the log through `before`, and where something is missing. */
const place = (before: number | undefined, items: ReadonlyArray<Item>) => {
  let seen = before
  const shown: Array<LiveUpdate> = []
  const holes: Array<Hole> = []
  for (const item of items) {
    switch (item._tag) {
      case "Missed":
        // It was shown what was stored, too, which its backlog does not know.
        shown.push(gapAt(seen ?? item.cursor.sequence))
        break
      case "Gap":
        // The store has lost what was shown behind the place: nothing to those who have not seen it.
        if (seen === undefined || seen <= item.cursor.sequence) break
        seen = item.cursor.sequence
        shown.push(item)
        break
      case "Recorded": {
        const { sequence } = item.record
        if (seen !== undefined && sequence <= seen) break
        if (seen !== undefined && sequence > seen + 1) {
          holes.push({ index: shown.length, after: seen, through: sequence - 1 })
        }
        seen = sequence
        shown.push(item)
        break
      }
      default:
        shown.push(item)
    }
  }
  return { seen, shown, holes }
}

const filled = Effect.fnUntraced(function* (
  log: Log,
  shown: ReadonlyArray<LiveUpdate>,
  holes: ReadonlyArray<Hole>
): Effect.fn.Return<ReadonlyArray<LiveUpdate>, ReadError> {
  const whole: Array<LiveUpdate> = []
  let done = 0
  for (const { after, index, through } of holes) {
    const missing = Stream.catchTag(between(log, after, through), "StoreUnavailable", () => Stream.empty)
    whole.push(...shown.slice(done, index), ...(yield* Stream.runCollect(missing)))
    done = index
  }
  return [...whole, ...shown.slice(done)]
})

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
