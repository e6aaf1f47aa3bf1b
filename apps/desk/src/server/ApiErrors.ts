/**
 * What the library says, in the words of the API.
 */
import * as StoreError from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import { Busy, NotFound, Refused, Unavailable } from "../api/ApiError.ts"

interface Failure {
  readonly _tag: string
  readonly message: string
}

/** The answer for what does not exist and for what is somebody else's: every byte of it is the same. */
export const noConversation = new NotFound({ message: "there is no such conversation" })

/** The same for orders. */
export const noOrder = new NotFound({ message: "there is no such order" })

/** Whether a conversation is not there, or not any more, or cannot be: the text is no id. */
export const isAbsent = (error: Failure): boolean => StoreError.isAbsent(error) || error._tag === "InvalidId"

export const busy = new Busy({ message: "a run goes on: steer it, queue what is to be said, or wait for its end" })

/**
 * What is left once an endpoint has told everything that a caller can do something about: the store, and faults of
 * ours.
 */
export const unavailable = (error: Failure): Effect.Effect<never, Unavailable> =>
  Effect.andThen(Effect.logError(error), Effect.fail(new Unavailable({ message: `${error.message}: ask again` })))

/** Says of a conversation that it is absent, and of everything else that the store does not answer. */
export const ofStore = <A, E extends Failure, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, NotFound | Unavailable, R> => Effect.catch(effect, absentOrUnavailable)

/** What {@link ofStore} says of an error. */
export const absentOrUnavailable = (error: Failure): Effect.Effect<never, NotFound | Unavailable> =>
  isAbsent(error) ? Effect.fail(noConversation) : unavailable(error)

/** What a caller can do something about is refused in the library's words; of everything else the store is to blame. */
export const refusedOrUnavailable = (error: Failure): Effect.Effect<never, Refused | Unavailable> =>
  faults.has(error._tag) ? unavailable(error) : Effect.fail(new Refused({ reason: error._tag, message: error.message }))

/** As {@link refusedOrUnavailable}, for a conversation that must be there. */
export const refusedOrAbsent = (error: Failure): Effect.Effect<never, NotFound | Refused | Unavailable> =>
  isAbsent(error) ? Effect.fail(noConversation) : refusedOrUnavailable(error)

// --- internal ---

const faults: ReadonlySet<string> = new Set([
  "StoreUnavailable",
  "CorruptRecord",
  "UnsupportedVersion",
  "FenceRejected",
  "AppendConflict",
  "CheckpointRejected",
  "IllegalRecord",
  "EraserFailed"
])
