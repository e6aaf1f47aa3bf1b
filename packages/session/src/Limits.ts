/**
 * How large things may be. A conversation may have any number of records.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The most UTF-8 bytes of one payload's canonical JSON: 4 MiB. Bigger attachments go in by reference.
 *
 * @category limits
 * @since 0.1.0
 */
export const maxPayloadBytes = 4 * 1024 * 1024

/**
 * The most records of one batch.
 *
 * @category limits
 * @since 0.1.0
 */
export const maxBatchRecords = 256

/**
 * The most UTF-8 bytes of all payloads of one batch: 16 MiB.
 *
 * @category limits
 * @since 0.1.0
 */
export const maxBatchBytes = 16 * 1024 * 1024

/**
 * The deepest JSON may be nested; a payload's own object is level 1.
 *
 * @category limits
 * @since 0.1.0
 */
export const maxDepth = 64

/**
 * Something is larger than it may be. Nothing was written; the caller sends less, or sends it by reference.
 *
 * **Details**
 *
 * `maximum` and `actual` are bytes, records or levels, as the name of the limit says.
 *
 * @category errors
 * @since 0.1.0
 */
export class LimitExceeded extends Schema.TaggedError<LimitExceeded>("@colloquy/session/LimitExceeded")(
  "LimitExceeded",
  {
    limit: Schema.Literals(["payload-bytes", "batch-records", "batch-bytes", "json-depth"]),
    maximum: Schema.Finite,
    actual: Schema.Finite
  }
) {
  override get message() {
    return `${this.limit}: ${this.actual} is over the maximum of ${this.maximum}; ${remedies[this.limit]}`
  }
}

// --- internal ---

const remedies = {
  "payload-bytes": "store large content by reference (a URL or a digest) instead",
  "batch-records": "append several batches",
  "batch-bytes": "append several batches",
  "json-depth": "store deeply nested JSON as text"
}
