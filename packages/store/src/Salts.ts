/**
 * The random bytes that are drawn for each record at its first write.
 *
 * @since 0.1.0
 */
import { saltBytes } from "@colloquy/session/Digest"
import * as Context from "effect/Context"
import { randomFillSync } from "node:crypto"

/**
 * Draws one salt of 16 bytes. Tests provide their own, to have the same digests every time.
 *
 * @category services
 * @since 0.1.0
 */
export const Salts = Context.Reference<() => Uint8Array>("@colloquy/store/Salts", {
  defaultValue: () => pooled
})

// --- internal ---

const poolBytes = saltBytes * 256
let pool = new Uint8Array(0)
let offset = 0

/** One call of the system's generator for 256 salts: a call for each would cost more than the digest. */
const pooled = (): Uint8Array => {
  if (offset === pool.length) {
    pool = randomFillSync(new Uint8Array(poolBytes))
    offset = 0
  }
  offset += saltBytes
  return pool.subarray(offset - saltBytes, offset)
}
