/**
 * Which runs go on in this process, and what they do while they do it.
 *
 * A run never waits for a watcher. Each watcher has a backlog of its own; when it is full the oldest updates go, and the
 * watcher is told from where to reload. Text comes merged, at most every so often; anything else goes out at once, behind
 * what was pending before it.
 *
 * @since 0.1.0
 */
import { type AgentName, ConversationId, type RunId } from "@colloquy/session/Ids"
import type { Mode } from "@colloquy/session/Payload"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import type { ReadError } from "@colloquy/store/StoreError"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as LiveUpdates from "./internal/liveUpdates.ts"
import type { Cursor, LiveUpdate } from "./LiveUpdate.ts"
import type { RunEvent } from "./RunEvent.ts"

/**
 * A run with a conversation in this process. `startedAt` is UTC, milliseconds; with `ended` it is over.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunInfo {
  readonly conversationId: ConversationId
  readonly runId: RunId
  readonly agent: AgentName
  readonly model: string | undefined
  readonly mode: Mode
  readonly startedAt: number
  readonly ended: boolean
}

/**
 * Updates are not tracked here: provide `ConversationTracker.layerUpdates`.
 *
 * @category errors
 * @since 0.1.0
 */
export class TrackingDisabled extends Schema.TaggedError<TrackingDisabled>("@colloquy/capabilities/TrackingDisabled")(
  "TrackingDisabled",
  { conversationId: ConversationId }
) {
  override get message() {
    return `the updates of ${this.conversationId} are not tracked: provide ConversationTracker.layerUpdates`
  }
}

/**
 * The run's side of its tracking.
 *
 * @category models
 * @since 0.1.0
 */
export interface TrackedRun {
  /** Shows an event to whoever watches; never waits. */
  readonly publish: (event: RunEvent) => void
  /** Another agent, model or mode is at work. */
  readonly changed: (change: Partial<Pick<RunInfo, "agent" | "model" | "mode">>) => void
}

/**
 * @category services
 * @since 0.1.0
 */
export class ConversationTracker extends Context.Service<
  ConversationTracker,
  {
    /** The runs that go on now, in the order of their starts. */
    readonly runs: Effect.Effect<ReadonlyArray<RunInfo>>
    /** The runs that go on now, then each start, change and end, with no gap and no double between. Does not end. */
    readonly watchRuns: Stream.Stream<RunInfo>
    /**
     * The updates of a conversation, across its runs, also before there is any. Does not end. With `after` it begins
     * with what is stored behind that cursor and what has come of the response since: joining twice gives the same view.
     *
     * Where there is a `ConversationStore`, records that others write are shown too, in their places: between runs as soon
     * as the store knows of them, beside a run before its next record. With an `after` behind the end of the log, whose
     * records the store has lost, it begins with a `Gap`; so it tells whoever was shown, by a run that is over, what never
     * came to the store. A hole that the store could not fill, since it did not answer,
     * `ConversationView.fold` reports as a gap: join again from its cursor.
     */
    readonly watch: (
      conversationId: ConversationId,
      options?: { readonly after?: Cursor | undefined }
    ) => Stream.Stream<LiveUpdate, TrackingDisabled | ReadError>
    /** Tells of a run for as long as the scope lasts. */
    readonly track: (
      run: Pick<RunInfo, "agent" | "conversationId" | "mode" | "model" | "runId">
    ) => Effect.Effect<TrackedRun, never, Scope.Scope>
  }
>()("@colloquy/capabilities/ConversationTracker") {}

export type { Options } from "./internal/liveUpdates.ts"

/**
 * The tracker of a process; without options it tells of runs only. A backlog that is no whole number of at least 1 is a
 * defect: it stands in the program.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (options: LiveUpdates.Options | undefined) {
  const store = yield* Effect.serviceOption(ConversationStore)
  const running = new Map<RunId, RunInfo>()
  // Numbered, so that a newcomer tells those that its snapshot has from those behind it.
  const changes = yield* PubSub.unbounded<{ readonly version: number; readonly run: RunInfo }>()
  let version = 0
  const updates = options === undefined ? undefined : yield* LiveUpdates.make(options, Option.getOrUndefined(store))

  const tell = (run: RunInfo) => void PubSub.publishUnsafe(changes, { version: ++version, run })

  const track: ConversationTracker["Service"]["track"] = Effect.fnUntraced(function* (run) {
    const startedAt = yield* Clock.currentTimeMillis
    let info: RunInfo = { ...run, startedAt, ended: false }
    const put = (next: RunInfo) => {
      info = next
      running.set(run.runId, next)
      tell(next)
    }
    const live = updates === undefined ? undefined : yield* updates.open(run.conversationId)
    yield* Effect.acquireRelease(
      Effect.sync(() => put(info)),
      () =>
        Effect.sync(() => {
          running.delete(run.runId)
          tell({ ...info, ended: true })
        })
    )
    return {
      publish: (event) => live?.(run.runId, event),
      changed: (change) => put({ ...info, ...change })
    }
  })

  return ConversationTracker.of({
    runs: Effect.sync(() => [...running.values()]),
    watchRuns: Stream.unwrap(
      Effect.gen(function* () {
        const subscription = yield* PubSub.subscribe(changes)
        const now = version
        const snapshot = [...running.values()]
        const later = Stream.filter(Stream.fromSubscription(subscription), (change) => change.version > now)
        return Stream.concat(
          Stream.fromIterable(snapshot),
          Stream.map(later, ({ run }) => run)
        )
      })
    ),
    watch: (conversationId, { after } = {}) =>
      updates === undefined
        ? Stream.fail(new TrackingDisabled({ conversationId }))
        : updates.watch(conversationId, after),
    track
  })
})

/**
 * Tells of runs, not of what they do.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<ConversationTracker> = Layer.effect(ConversationTracker, make(undefined))

/**
 * Tells of runs, and of what they do. Where there is a `ConversationStore`, watchers can join from a cursor, and are shown
 * what others write between runs.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerUpdates = (options: LiveUpdates.Options = {}): Layer.Layer<ConversationTracker> =>
  Layer.effect(ConversationTracker, make(options))
