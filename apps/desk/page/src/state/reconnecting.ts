/**
 * Keeps a connection while the page is shown: joins again whenever it ends, soon at first and then ever more rarely, and at
 * once when the browser is back on the network.
 *
 * Browsers have six connections to a host for all tabs together (https://fetch.spec.whatwg.org/#connections leaves the
 * number to them). A tab that nobody looks at gives its own back, and joins where it was once it is shown again.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const firstDelayMillis = 200
const longestDelayMillis = 3000

/** Who only looks into another tab for a moment finds this one as it was. */
const hiddenMillis = 5000

/**
 * Runs `join` again and again. `isOpen` says after an end whether the join had succeeded (the next delay is then the
 * shortest); `onLost` is told why it ended, unless it was given back. Ends only by interruption.
 */
export const reconnecting = <E, R>(
  join: Effect.Effect<void, E, R>,
  options: { readonly isOpen: () => boolean; readonly onLost: (error: E | undefined) => void }
): Effect.Effect<never, never, R> =>
  Effect.gen(function* () {
    let delay = firstDelayMillis
    while (true) {
      yield* shown
      const ended = join.pipe(
        Effect.as(undefined),
        Effect.catch(Effect.succeed),
        Effect.map((error) => ({ error }))
      )
      const lost = yield* Effect.raceFirst(ended, Effect.as(hiddenForLong, undefined))
      if (options.isOpen()) delay = firstDelayMillis
      if (lost === undefined) continue
      options.onLost(lost.error)
      yield* Effect.race(Effect.sleep(delay), online)
      delay = Math.min(delay * 2, longestDelayMillis)
    }
  })

/** Ends events when nothing has come for longer than the server is ever silent: nobody may be there any more. */
export const whileHeard = <A, E, R>(events: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
  Stream.timeout(events, silentMillis)

// --- internal ---

/** The server gives a sign of life every 15 seconds. */
const silentMillis = 40_000

const online = Effect.callback<void>((resume) => {
  const listen = () => resume(Effect.void)
  addEventListener("online", listen, { once: true })
  return Effect.sync(() => removeEventListener("online", listen))
})

/** Waits until the page is shown, or is not. */
const visibility = (state: DocumentVisibilityState) =>
  Effect.callback<void>((resume) => {
    const look = () => {
      if (document.visibilityState === state) resume(Effect.void)
    }
    look()
    document.addEventListener("visibilitychange", look)
    return Effect.sync(() => document.removeEventListener("visibilitychange", look))
  })

const shown = visibility("visible")

const hiddenForLong = Effect.gen(function* () {
  do {
    yield* visibility("hidden")
    yield* Effect.race(Effect.sleep(hiddenMillis), shown)
  } while (document.visibilityState === "visible")
})
