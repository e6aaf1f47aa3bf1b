/**
 * Ids derived from what a thing is. Everything that a run writes has one, so that a retry after a crash writes the same
 * ids and is recognised.
 *
 * @since 0.1.0
 */
import { hash } from "node:crypto"
import { maxIdBytes } from "./Ids.ts"
import { byteLength, cut } from "./Text.ts"

/**
 * Joins parts to one id text: two different tuples never give the same one.
 *
 * **Details**
 *
 * Parts are joined by `/`; inside a part `~` becomes `~0` and `/` becomes `~1` (the escapes of
 * [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)). A result over `Ids.maxIdBytes` keeps its beginning and ends
 * with `~2` and the SHA-256 of the whole; no escaped text contains `~2`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const derive = (...parts: readonly [string, ...Array<string>]): string => {
  const joined = parts.map(escapePart).join("/")
  if (joined.length * 3 <= maxIdBytes || byteLength(joined) <= maxIdBytes) return joined
  const mark = `~2${hash("sha256", joined, "hex")}`
  return cut(joined, maxIdBytes - mark.length) + mark
}

// --- internal ---

const escapePart = (part: string): string =>
  part.includes("~") || part.includes("/") ? part.replaceAll("~", "~0").replaceAll("/", "~1") : part
