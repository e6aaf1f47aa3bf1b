/** The worker that sweeps turns past their retention. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { LedgerUnavailable } from "../LedgerError.ts"
import type { Removed } from "../LedgerDriver.ts"
import * as LedgerMetrics from "../LedgerMetrics.ts"
import type { LedgerSettings } from "../LedgerSettings.ts"

export const run = ({
  interval,
  settings,
  sweep
}: {
  readonly interval: Duration.Duration
  readonly settings: LedgerSettings["Service"]
  readonly sweep: (before: number) => Effect.Effect<Removed, LedgerUnavailable>
}): Effect.Effect<void> => {
  const sweepOnce = Effect.gen(function* () {
    const { enabled, retentionDays } = yield* settings.current
    if (!enabled) return
    const now = yield* Clock.currentTimeMillis
    const kept = Math.max(Duration.toMillis(Duration.days(retentionDays)), Duration.toMillis(interval))
    const { entries } = yield* sweep(Math.floor(now - kept))
    if (entries === 0) return
    yield* LedgerMetrics.count(LedgerMetrics.removed, { cause: "swept" }, entries)
    yield* Effect.logInfo(`${entries} turns past ${retentionDays} days were swept from the ledger`)
  }).pipe(
    Effect.catch((error) =>
      Effect.andThen(
        LedgerMetrics.count(LedgerMetrics.failures, { operation: "sweep" }),
        Effect.logError(`the ledger was not swept: ${error.message}`)
      )
    ),
    Effect.withSpan("SessionLedger.sweep")
  )
  const ticks = Stream.fromSchedule(Schedule.spaced(interval))
  return Stream.runForEach(Stream.merge(ticks, settings.changes), () => sweepOnce)
}
