/**
 * The channels of conversations that run or are watched: runs publish to them, and between runs what others store is read
 * into them.
 *
 *     nobody ──watch──▶ watched ──run──▶ running ──its end──▶ watched ──leave──▶ nobody
 *                       the store is observed   the run publishes   the store is observed
 */
import type { ConversationId, RunId } from "@colloquy/session/Ids"
import type { ConversationStore } from "@colloquy/store/ConversationStore"
import type { ReadError } from "@colloquy/store/StoreError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { Cursor, LiveUpdate } from "../LiveUpdate.ts"
import type { RunEvent } from "../RunEvent.ts"
import * as InOrder from "./inOrder.ts"
import * as LiveChannel from "./liveChannel.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** How long text is collected before it is shown (default 100 ms). */
  readonly publishInterval?: Duration.Input | undefined
  /** How many updates wait for a watcher before the oldest go (default 256). */
  readonly maxPendingUpdates?: number | undefined
}

interface Tracked {
  readonly channel: LiveChannel.LiveChannel
  /** Text waits to be shown. */
  readonly pending: Latch.Latch
  runs: number
}

export const make = Effect.fnUntraced(function* (
  { maxPendingUpdates = 256, publishInterval = "100 millis" }: Options,
  store: ConversationStore["Service"] | undefined
) {
  if (!Number.isSafeInteger(maxPendingUpdates) || maxPendingUpdates < 1) {
    return yield* Effect.die(
      new RangeError(`maxPendingUpdates is ${maxPendingUpdates}: it must be a whole number of at least 1`)
    )
  }
  const interval = Duration.fromInputUnsafe(publishInterval)
  const channels = new Map<ConversationId, Tracked>()
  const observers = yield* FiberMap.make<ConversationId>()
  // A run or a watcher may outlive the tracker that it was told to.
  let isOpen = true
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isOpen = false
    })
  )

  const channelOf = (conversationId: ConversationId): Tracked => {
    const known = channels.get(conversationId)
    if (known !== undefined) return known
    const tracked = { channel: LiveChannel.make(), pending: Latch.makeUnsafe(false), runs: 0 }
    channels.set(conversationId, tracked)
    return tracked
  }

  /** Reads what others store for as long as somebody watches and nothing runs; returns once it misses nothing more. */
  const observe = Effect.fnUntraced(function* (conversationId: ConversationId) {
    const tracked = channels.get(conversationId)
    if (tracked === undefined || !isOpen) return
    const { channel } = tracked
    if (tracked.runs > 0 || channel.watchers() === 0) {
      yield* FiberMap.remove(observers, conversationId)
      if (tracked.runs > 0) return
      if (channel.watchers() === 0) {
        if (channels.get(conversationId) === tracked) channels.delete(conversationId)
        return
      }
      // Somebody came meanwhile, and found that the store was observed.
    }
    if (store === undefined || (yield* FiberMap.has(observers, conversationId))) return
    // What comes from here on is shown; of a store that does not answer, what comes once it does.
    const known = channel.sequence() > 0 ? Option.some(0) : yield* Effect.option(tailOf(store, conversationId))
    // Meanwhile a run may have begun, or the watcher left.
    if (!isOpen || tracked.runs > 0 || channel.watchers() === 0) return
    yield* FiberMap.run(
      observers,
      conversationId,
      Effect.gen(function* () {
        // What a run has shown and could not store before its end is not stored any more.
        if (channel.sequence() > 0) channel.lost((yield* store.tail({ conversationId })).sequence)
        const end = Option.isSome(known) ? known.value : yield* tailOf(store, conversationId)
        const after = channel.sequence() > 0 ? channel.sequence() : end
        yield* Stream.runForEach(store.observe({ conversationId, after }), (record) =>
          Effect.sync(() => channel.stored(record))
        )
      }).pipe(
        // A conversation that is not there yet may be begun by somebody else, in another process too.
        Effect.retry({ while: isPassing, schedule: Schedule.spaced("1 second") }),
        // Erased or damaged: whoever joins is told, and a run that begins is shown.
        Effect.ignore
      ),
      { onlyIfMissing: true }
    )
  })

  const open = Effect.fnUntraced(function* (conversationId: ConversationId) {
    const tracked = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const tracked = channelOf(conversationId)
        tracked.runs++
        return tracked
      }),
      (tracked) =>
        Effect.suspend(() => {
          tracked.runs--
          if (tracked.runs === 0) tracked.channel.ended()
          return observe(conversationId)
        })
    )
    yield* observe(conversationId)
    const { channel, pending } = tracked
    yield* Effect.forkScoped(
      Effect.forever(
        Effect.gen(function* () {
          yield* pending.await
          yield* Effect.sleep(interval)
          yield* pending.close
          channel.flush()
        })
      )
    )
    return (runId: RunId, event: RunEvent) => {
      channel.publish(runId, event)
      if (channel.isPending()) pending.openUnsafe()
    }
  })

  const watch = (conversationId: ConversationId, after: Cursor | undefined): Stream.Stream<LiveUpdate, ReadError> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const { backlog, coming } = yield* Effect.acquireRelease(
          Effect.sync(() => channelOf(conversationId).channel.watch(maxPendingUpdates, after?.sequence ?? 0)),
          ({ leave }) =>
            Effect.suspend(() => {
              leave()
              return observe(conversationId)
            })
        )
        // Before what is stored is read: what comes meanwhile is observed.
        yield* observe(conversationId)
        const live = Stream.concat(Stream.fromIterable(coming), backlog.stream)
        const log = store === undefined ? undefined : { store, conversationId }
        if (log === undefined || after === undefined) return InOrder.following(log, live, after?.sequence)
        return InOrder.joined(log, live, after.sequence, shownByRun(channels.get(conversationId)))
      })
    )

  return { open, watch }
})

// --- internal ---

const isPassing = ({ _tag }: ReadError): boolean => _tag === "StoreUnavailable" || _tag === "ConversationNotFound"

/** The last record that a run which goes on has shown; 0 when there is none. */
const shownByRun = (tracked: Tracked | undefined): number =>
  tracked === undefined || tracked.runs === 0 ? 0 : tracked.channel.sequence()

/** The end of the log; 0 where there is none. */
const tailOf = (
  store: ConversationStore["Service"],
  conversationId: ConversationId
): Effect.Effect<number, ReadError> =>
  store.tail({ conversationId }).pipe(
    Effect.map(({ sequence }) => sequence),
    Effect.catchTag("ConversationNotFound", () => Effect.succeed(0))
  )
