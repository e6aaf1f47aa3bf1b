/**
 * The random names of the fences around quoted words.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import { randomBytes } from "node:crypto"

/**
 * Draws the name of a block's fences: eight characters that nobody knew when they wrote what is inside. Tests provide their
 * own, to have the same block every time.
 *
 * @category services
 * @since 0.1.0
 */
export const Fences = Context.Reference<() => string>("@colloquy/ledger/Fences", {
  defaultValue: () => () => randomBytes(4).toString("hex")
})
