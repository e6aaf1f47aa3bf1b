/**
 * The kept rewrite of turns that a block has no room for, and what must be true of it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * A rewrite by the auxiliary model. `covers` are the ids of its entries, oldest first, and the last one is what it is kept
 * under; `lines` are the exact lines of those turns, and every identifier in them occurs in `text`.
 *
 * @category models
 * @since 0.1.0
 */
export const Account = Schema.Struct({
  covers: Schema.Array(Schema.String),
  lines: Schema.Array(Schema.String),
  text: Schema.String
})
/** @since 0.1.0 */
export interface Account extends Schema.Schema.Type<typeof Account> {}
