/** What a run does, for whoever reads it. The run never waits for a reader. */
import type { RunEvent } from "@colloquy/capabilities/RunEvent"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"

interface RunEvents {
  readonly publish: (event: RunEvent) => void
  /** Nothing comes any more. */
  readonly end: Effect.Effect<void>
  readonly stream: Stream.Stream<RunEvent>
}

/** With `isWatched` the first reader is shown everything; whoever comes later, or without it, what comes from then on. */
export const make = Effect.fnUntraced(function* (isWatched: boolean) {
  // Behind the last event comes nothing.
  const live = yield* PubSub.unbounded<RunEvent | undefined>()
  const kept = yield* Queue.unbounded<RunEvent, Cause.Done>()
  let isFirstToCome = isWatched
  if (!isWatched) yield* Queue.shutdown(kept)
  const events: RunEvents = {
    publish: (event) => {
      PubSub.publishUnsafe(live, event)
      Queue.offerUnsafe(kept, event)
    },
    end: Effect.andThen(PubSub.end(live, undefined), Queue.end(kept)),
    stream: Stream.suspend(() => {
      if (!isFirstToCome) return fromNowOn(live)
      isFirstToCome = false
      // Once its reader is gone, nothing is kept any more.
      return Stream.ensuring(Stream.fromQueue(kept), Queue.shutdown(kept))
    })
  }
  return events
})

// --- internal ---

const fromNowOn = (live: PubSub.PubSub<RunEvent | undefined>): Stream.Stream<RunEvent> =>
  Stream.flatMap(
    Stream.takeWhile(Stream.fromPubSub(live), (event) => event !== undefined),
    (event) => (event === undefined ? Stream.empty : Stream.succeed(event))
  )
