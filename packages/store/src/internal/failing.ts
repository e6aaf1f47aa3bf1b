/**
 * Drivers that hit a failpoint on each side of every write.
 */
import * as Effect from "effect/Effect"
import type { Commit, ConversationDriver } from "../ConversationDriver.ts"
import type { Failpoint, SettingsWrite, Write } from "../Failpoints.ts"
import type { SettingsDriver } from "../SettingsDriver.ts"
import type { StoreUnavailable } from "../StoreError.ts"

type Driver = ConversationDriver["Service"]
type Hit = (point: Failpoint) => Effect.Effect<void, StoreUnavailable>

export const around = (driver: Driver, hit: Hit | undefined): Driver => {
  if (hit === undefined) return driver
  const sides = sidesOf(hit)
  return {
    ...driver,
    commit: (commit) => sides(writeOf(commit), driver.commit(commit)),
    erase: (id, updatedAt) => sides("erase.empty", driver.erase(id, updatedAt)),
    discard: (id) => sides("discard", driver.discard(id)),
    scrub: sides("scrub", driver.scrub)
  }
}

export const aroundSettings = (driver: SettingsDriver["Service"], hit: Hit | undefined): SettingsDriver["Service"] => {
  if (hit === undefined) return driver
  const sides = sidesOf(hit)
  return {
    ...driver,
    put: (row, expected) => sides("settings.put", driver.put(row, expected)),
    remove: (id) => sides("settings.remove", driver.remove(id))
  }
}

// --- internal ---

const sidesOf =
  (hit: Hit) =>
  <A>(write: Write | SettingsWrite, effect: Effect.Effect<A, StoreUnavailable>) =>
    Effect.andThen(
      hit(`${write}.before`),
      Effect.tap(effect, () => hit(`${write}.after`))
    )

/** Each verb's commits have a form of their own. */
const writeOf = ({
  adopt,
  batches,
  checkpoint,
  conversationId,
  guard,
  head,
  keepCheckpoints,
  replaced
}: Commit): Write => {
  if (conversationId.includes("\u0000")) return "staging.part"
  if (adopt !== undefined) return "staging.adopt"
  if (guard === "absent") {
    if (head.producerId !== null) return "materialize"
    return head.forkedFrom === null ? "import" : "fork"
  }
  if (replaced !== undefined) return "redact"
  if (checkpoint !== undefined) return "checkpoint.save"
  if (batches !== undefined) return guard.producerId === null ? "import.extend" : "append"
  if (keepCheckpoints !== undefined) return "checkpoint.prune"
  return head.producerId === null ? "erase.close" : "materialize"
}
