/**
 * What can go wrong with a ledger, the same for every adapter.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const error = "@colloquy/ledger"

/**
 * The database did not do it; the reasons are those of a conversation store. With `retryable` the same call may succeed
 * later. A write that failed may have happened all the same: writing the same entry again is recognised.
 *
 * @category errors
 * @since 0.1.0
 */
export class LedgerUnavailable extends Schema.TaggedError<LedgerUnavailable>(`${error}/LedgerUnavailable`)(
  "LedgerUnavailable",
  {
    reason: Schema.Literals(["contention", "connection", "disk-full", "read-only", "damaged", "refused", "other"]),
    retryable: Schema.Boolean,
    detail: Schema.String,
    cause: Schema.Defect()
  }
) {
  override get message() {
    return `the ledger is unavailable (${this.reason}): ${this.detail}`
  }
}

/**
 * What was asked for cannot be done: nothing was written, and the caller mends it.
 *
 * **Details**
 *
 * - `entry`: it is not one: an id, a key or a field is not valid.
 * - `max-entries`: not a whole number of at least 1.
 * - `alias`: a key cannot stand for itself, nor for another one while it has entries of its own: erase those first, or
 *   alias the other way round.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidLedgerRequest extends Schema.TaggedError<InvalidLedgerRequest>(`${error}/InvalidLedgerRequest`)(
  "InvalidLedgerRequest",
  { what: Schema.Literals(["entry", "max-entries", "alias"]), detail: Schema.String }
) {
  override get message() {
    return `the ledger refuses this (${this.what}): ${this.detail}`
  }
}
