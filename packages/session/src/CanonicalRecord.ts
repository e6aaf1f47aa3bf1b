/**
 * One persisted fact of a conversation: what a producer makes, what a reader gets, and the text between the two.
 *
 * A payload is encoded once, as canonical JSON. Those bytes are stored, hashed, exported and decoded; nothing encodes
 * them again.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CanonicalJson from "./CanonicalJson.ts"
import { BatchId, ConversationId, ProducerId, RecordId } from "./Ids.ts"
import { LimitExceeded, maxPayloadBytes } from "./Limits.ts"
import * as Payload from "./Payload.ts"
import { byteLength } from "./Text.ts"
import * as Upcast from "./Upcast.ts"
import { Digest } from "./Vocabulary.ts"

const Instant = Schema.Int

/**
 * A record as its producer makes it. `at` is UTC in milliseconds since 1970; it informs, the sequence orders.
 *
 * @category models
 * @since 0.1.0
 */
export const NewRecord = Schema.Struct({ recordId: RecordId, at: Instant, payload: Payload.Written })
/** @since 0.1.0 */
export interface NewRecord extends Schema.Schema.Type<typeof NewRecord> {}

/**
 * Records that are appended together, all or none: 1 to 256 of them.
 *
 * @category models
 * @since 0.1.0
 */
export const Batch = Schema.Struct({ batchId: BatchId, records: Schema.Array(NewRecord) })
/** @since 0.1.0 */
export interface Batch extends Schema.Schema.Type<typeof Batch> {}

/**
 * A record as a reader gets it, in its place in the log.
 *
 * @category models
 * @since 0.1.0
 */
export const CanonicalRecord = Schema.Struct({
  conversationId: ConversationId,
  sequence: Payload.Sequence,
  recordId: RecordId,
  batchId: BatchId,
  at: Instant,
  epoch: Schema.Natural,
  producerId: ProducerId,
  schemaVersion: Schema.Natural,
  digest: Digest,
  payload: Payload.Payload
})
/** @since 0.1.0 */
export interface CanonicalRecord extends Schema.Schema.Type<typeof CanonicalRecord> {}

/**
 * A payload that is not one of ours: an unknown tag, a missing or a wrong field, or something JSON cannot hold.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidPayload extends Schema.TaggedError<InvalidPayload>("@colloquy/session/InvalidPayload")(
  "InvalidPayload",
  { reason: Schema.String }
) {
  override get message() {
    return `the payload is not valid: ${this.reason}`
  }
}

/**
 * The canonical JSON of a payload, ready to be hashed and stored.
 *
 * **Details**
 *
 * Fails with `InvalidPayload` for a payload of another shape, with fields of its own, or with something JSON cannot
 * hold; with `LimitExceeded` over {@link maxPayloadBytes} or when nested too deep.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encodePayload = (payload: Payload.Written): Result.Result<string, InvalidPayload | LimitExceeded> => {
  const checked = checkWritten(payload)
  if (Result.isFailure(checked)) {
    return Result.fail(new InvalidPayload({ reason: unknownTag(payload) ?? checked.failure.message }))
  }
  const text = CanonicalJson.encode(checked.success)
  if (Result.isFailure(text)) {
    return Result.fail(
      text.failure._tag === "NotJson" ? new InvalidPayload({ reason: text.failure.message }) : text.failure
    )
  }
  // A UTF-16 code unit is at most three UTF-8 bytes, so most payloads need no count.
  if (text.success.length * 3 > maxPayloadBytes) {
    const actual = byteLength(text.success)
    if (actual > maxPayloadBytes) {
      return Result.fail(new LimitExceeded({ limit: "payload-bytes", maximum: maxPayloadBytes, actual }))
    }
  }
  return Result.succeed(text.success)
}

/**
 * Reads a stored payload, bringing older versions up to date.
 *
 * **Details**
 *
 * Fails with `InvalidPayload` for text that is no JSON or an unknown tag, with `UnsupportedVersion` for a version that
 * this release does not know.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodePayload = (
  schemaVersion: number,
  text: string,
  steps: Upcast.Steps
): Result.Result<Payload.Payload, InvalidPayload | Upcast.UnsupportedVersion> => {
  let json: unknown
  try {
    json = CanonicalJson.parse(text)
  } catch (cause) {
    return Result.fail(new InvalidPayload({ reason: `not JSON (${String(cause)})` }))
  }
  if (schemaVersion !== Upcast.currentVersion) {
    const upcasted = Upcast.upcast(schemaVersion, json, steps)
    if (Result.isFailure(upcasted)) return Result.fail(upcasted.failure)
    json = upcasted.success
  }
  return Result.mapError(
    checkStored(json),
    (error) => new InvalidPayload({ reason: unknownTag(json) ?? error.message })
  )
}

// --- internal ---

const stripWritten = Schema.decodeUnknownResult(Payload.Written)
const refuseExcess = Schema.decodeUnknownResult(Payload.Written, { onExcessProperty: "error" })

/** Decoding strips what is not declared; looking for it while decoding costs three times as much as comparing. */
const checkWritten = (payload: Payload.Written) => {
  const stripped = stripWritten(payload)
  return Result.isSuccess(stripped) && hasSameFields(payload, stripped.success) ? stripped : refuseExcess(payload)
}

/** Opaque parts are the same object in both, and are not looked into. */
const hasSameFields = (whole: object, stripped: object): boolean => {
  let fields = 0
  for (const name in whole) {
    const before: unknown = whole[name as keyof typeof whole]
    if (before === undefined) continue
    fields++
    const after: unknown = stripped[name as keyof typeof stripped]
    if (before === after || typeof before !== "object" || before === null) continue
    if (typeof after !== "object" || after === null || !hasSameFields(before, after)) return false
  }
  for (const _ in stripped) fields--
  return fields === 0
}

const checkStored = Schema.decodeUnknownResult(Payload.Payload)

const tags: ReadonlySet<unknown> = new Set(Payload.Payload.members.map((member) => member.fields._tag.schema.literal))

const unknownTag = (payload: unknown): string | undefined => {
  const tag = typeof payload === "object" && payload !== null && "_tag" in payload ? payload._tag : undefined
  return tags.has(tag) ? undefined : `unknown tag ${JSON.stringify(tag)}`
}
