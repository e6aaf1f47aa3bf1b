/**
 * Keeps a connection: joins again whenever it ends, soon at first and then ever more rarely, and at once when the browser
 * is back on the network.
 */
import * as Effect from "effect/Effect"

const firstDelayMillis = 200
const longestDelayMillis = 3000

/**
 * Runs `join` again and again. `isOpen` says after an end whether the join had succeeded (the next delay is then the
 * shortest); `onLost` is told why it ended. Ends only by interruption.
 */
export const reconnecting = <E, R>(
  join: Effect.Effect<void, E, R>,
  options: { readonly isOpen: () => boolean; readonly onLost: (error: E | undefined) => void }
): Effect.Effect<never, never, R> =>
  Effect.gen(function* () {
    let delay = firstDelayMillis
    while (true) {
      const error = yield* join.pipe(Effect.as(undefined), Effect.catch(Effect.succeed))
      if (options.isOpen()) delay = firstDelayMillis
      options.onLost(error)
      yield* Effect.race(Effect.sleep(delay), online)
      delay = Math.min(delay * 2, longestDelayMillis)
    }
  })

// --- internal ---

const online = Effect.callback<void>((resume) => {
  const listen = () => resume(Effect.void)
  addEventListener("online", listen, { once: true })
  return Effect.sync(() => removeEventListener("online", listen))
})
