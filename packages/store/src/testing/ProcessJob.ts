/**
 * What a child process is told to do, and what it tells: it appends batches, and takes its conversation over again
 * whenever somebody else has.
 *
 * @since 0.1.0
 */
import type { Batch } from "@colloquy/session/CanonicalRecord"
import * as Digest from "@colloquy/session/Digest"
import { ConversationId, ProducerId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ConversationStore } from "../ConversationStore.ts"
import type { Materialized } from "../StoreModel.ts"
import { batch, created, note } from "./Records.ts"

/**
 * The batches `from` to `to` (exclusive; without it until the process is killed) of one producer.
 *
 * @category models
 * @since 0.1.0
 */
export const Job = Schema.Struct({
  conversationId: ConversationId,
  producerId: ProducerId,
  from: Schema.Natural,
  to: Schema.optionalKey(Schema.Natural)
})
/** @since 0.1.0 */
export interface Job extends Schema.Schema.Type<typeof Job> {}

/**
 * How often a job was fenced, found another tail, and was told that the store is not available for now.
 *
 * @category models
 * @since 0.1.0
 */
export const Counts = Schema.Struct({ fenced: Schema.Natural, moved: Schema.Natural, unavailable: Schema.Natural })
/** @since 0.1.0 */
export interface Counts extends Schema.Schema.Type<typeof Counts> {}

/**
 * How many records each batch of a job has; the batch `created`, which comes first in every log, has one.
 *
 * @category batches
 * @since 0.1.0
 */
export const recordsOfBatch = 3

/**
 * A batch of a job: the same, whoever makes it, and however often. Every tenth is large.
 *
 * @category batches
 * @since 0.1.0
 */
export const batchOf = ({ producerId }: Pick<Job, "producerId">, n: number): Batch => {
  const text = n % 10 === 9 ? "x".repeat(50_000) : "x"
  return batch(`${producerId} ${n}`, ...Array.from({ length: recordsOfBatch }, (_, i) => note({ n, i, text })))
}

/**
 * Does a job. `acknowledged` is told each batch that is in the log, `toldToWait` each time that the store is not available
 * for now. Fails with what no retry mends.
 *
 * @category running
 * @since 0.1.0
 */
export const work = Effect.fnUntraced(function* (
  store: ConversationStore["Service"],
  { conversationId, from, producerId, to = Infinity }: Job,
  acknowledged: (n: number) => void,
  toldToWait: () => void = () => undefined
) {
  let fenced = 0
  let moved = 0
  let unavailable = 0
  let place: Materialized = { epoch: 0, tail: { sequence: 0, digest: Digest.empty } }
  let owned = false

  /** Whether the batch is in. When it is not, the next try may succeed. */
  const attempt = (batch: Batch) =>
    Effect.gen(function* () {
      if (!owned) place = yield* store.materialize({ conversationId, producerId })
      owned = true
      const request = { conversationId, batch, expectedTail: place.tail, epoch: place.epoch, producerId }
      const { epoch, replayed, tail } = yield* store.append(request)
      // A replay says where its batch was put, which is not where the log ends.
      if (replayed) owned = false
      else place = { epoch, tail }
      return true
    }).pipe(
      Effect.catch((error) => {
        if (error._tag === "FenceRejected") fenced++
        else if (error._tag === "AppendConflict" && error.reason === "tail") moved++
        else if (error._tag === "StoreUnavailable" && error.retryable) unavailable++
        else return Effect.fail(error)
        if (error._tag === "StoreUnavailable") toldToWait()
        else owned = false
        return Effect.succeed(false)
      })
    )

  const commit = Effect.fnUntraced(function* (batch: Batch) {
    for (let tries = 0; tries < maxTries; tries++) if (yield* attempt(batch)) return
    return yield* Effect.die(new Error(`${batch.batchId} of ${producerId} is not in after ${maxTries} tries`))
  })

  yield* commit(batch("created", created()))
  for (let n = from; n < to; n++) {
    yield* commit(batchOf({ producerId }, n))
    acknowledged(n)
  }
  return { fenced, moved, unavailable } satisfies Counts
})

// --- internal ---

/** A producer that is always fenced, or told to wait, makes no progress. */
const maxTries = 10_000
