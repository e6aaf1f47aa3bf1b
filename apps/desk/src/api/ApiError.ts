/**
 * What the desk's API fails with. Each says in `message` what happened and what to do about it.
 */
import * as Schema from "effect/Schema"

/**
 * There is no such thing. The same words for what does not exist and for what is somebody else's: who asks learns
 * nothing of it.
 */
export class NotFound extends Schema.TaggedError<NotFound>("@colloquy/desk/NotFound")(
  "NotFound",
  { message: Schema.String },
  { httpApiStatus: 404 }
) {}

/** Whoever asks may not. Nothing was done. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>("@colloquy/desk/Unauthorized")(
  "Unauthorized",
  { message: Schema.String },
  { httpApiStatus: 401 }
) {}

/** A run of the conversation goes on: steer it, queue what is to be said, or wait for its end. Nothing was stored. */
export class Busy extends Schema.TaggedError<Busy>("@colloquy/desk/Busy")(
  "Busy",
  { message: Schema.String },
  { httpApiStatus: 409 }
) {}

/** No run of the conversation goes on that could be told something. Nothing was stored: send it as a message. */
export class NothingRuns extends Schema.TaggedError<NothingRuns>("@colloquy/desk/NothingRuns")(
  "NothingRuns",
  { message: Schema.String },
  { httpApiStatus: 409 }
) {}

/**
 * What was asked for does not fit the conversation as it is. Nothing was stored. `reason` is for programs: the tag of
 * what the library says, or of a decision on an approval one of `unknown`, `closed`, `altered` and `expired`.
 */
export class Refused extends Schema.TaggedError<Refused>("@colloquy/desk/Refused")(
  "Refused",
  { reason: Schema.String, message: Schema.String },
  { httpApiStatus: 409 }
) {}

/** The request is not one: correct it. Nothing was done. */
export class BadRequest extends Schema.TaggedError<BadRequest>("@colloquy/desk/BadRequest")(
  "BadRequest",
  { message: Schema.String },
  { httpApiStatus: 400 }
) {}

/** The request has more bytes than the desk reads. Nothing was done. */
export class TooLarge extends Schema.TaggedError<TooLarge>("@colloquy/desk/TooLarge")(
  "TooLarge",
  { maximumBytes: Schema.Natural, message: Schema.String },
  { httpApiStatus: 413 }
) {}

/** The caller asks too often. `retryAfter` is in seconds, at least 1; the header of that name says the same. */
export class TooMany extends Schema.TaggedError<TooMany>("@colloquy/desk/TooMany")(
  "TooMany",
  { retryAfter: Schema.Natural, message: Schema.String },
  { httpApiStatus: 429 }
) {}

/** The store does not answer, or holds something that cannot be read. Ask again; the server's log says more. */
export class Unavailable extends Schema.TaggedError<Unavailable>("@colloquy/desk/Unavailable")(
  "Unavailable",
  { message: Schema.String },
  { httpApiStatus: 503 }
) {}
