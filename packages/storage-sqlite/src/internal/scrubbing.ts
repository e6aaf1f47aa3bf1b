/**
 * Makes the bytes of what was removed from a file go.
 */
import type { Script } from "./script.ts"

/**
 * Deleted content is overwritten in the pages; the log of pages keeps the old ones until it is taken over and cut. A
 * client of somebody else may not overwrite: then only a new file without the free places helps. `pending` while somebody
 * who reads keeps the log from being cut.
 */
export const scrub = function* (): Script<"gone" | "pending"> {
  const [secure] = yield { sql: "PRAGMA secure_delete", parameters: [] }
  if (secure?.[0] !== 1) yield { sql: "VACUUM", parameters: [] }
  const [row] = yield { sql: "PRAGMA wal_checkpoint(TRUNCATE)", parameters: [] }
  return row?.[0] === 0 ? "gone" : "pending"
}
