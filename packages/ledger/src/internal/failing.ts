/** A driver of ledgers that hits a failpoint on each side of every write. */
import * as Effect from "effect/Effect"
import type { Failpoint, Write } from "../Failpoints.ts"
import type { LedgerDriver } from "../LedgerDriver.ts"
import type { LedgerUnavailable } from "../LedgerError.ts"

type Driver = LedgerDriver["Service"]

export const around = (
  driver: Driver,
  hit: ((point: Failpoint) => Effect.Effect<void, LedgerUnavailable>) | undefined
): Driver => {
  if (hit === undefined) return driver
  const sides = <A>(write: Write, effect: Effect.Effect<A, LedgerUnavailable>) =>
    Effect.andThen(
      hit(`${write}.before`),
      Effect.tap(effect, () => hit(`${write}.after`))
    )
  return {
    ...driver,
    update: (ledger, decide) => sides("update", driver.update(ledger, decide)),
    begin: (ledger, begun, limit) => sides("begin", driver.begin(ledger, begun, limit)),
    settle: (ledger, entryIds) => sides("settle", driver.settle(ledger, entryIds)),
    remove: (removal) => sides("remove", driver.remove(removal)),
    scrub: sides("scrub", driver.scrub),
    alias: (request) => sides("alias", driver.alias(request))
  }
}
