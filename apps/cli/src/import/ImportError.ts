/**
 * Why a file is not imported. Each names the file and the place, and says what to do.
 */
import { ConversationId } from "@colloquy/session/Ids"
import * as Schema from "effect/Schema"

/**
 * The file cannot be read: it is absent, a directory, a pipe, or not ours to read.
 */
export class FileUnreadable extends Schema.TaggedError<FileUnreadable>("@colloquy/cli/FileUnreadable")(
  "FileUnreadable",
  { file: Schema.String, detail: Schema.String }
) {
  override get message() {
    return `${this.file} cannot be read: ${this.detail}`
  }
}

/**
 * A file of somebody else's format was not taken.
 *
 * `line` is 1-based, 0 where it is about the whole file; `byte` is the 1-based place in that line. All reasons but
 * `diverged` are found before anything is written (`invalid` once more should a store refuse what was found valid):
 *
 * - `empty`: there is nothing in it.
 * - `format`: it has no shape that is known, or not the one that was asked for.
 * - `encoding`: it is not UTF-8.
 * - `torn`: a line, or the document, is not whole JSON.
 * - `invalid`: something has no valid id, or cannot be stored.
 * - `diverged`: the stored conversation of this id has another history.
 */
export class TranscriptRejected extends Schema.TaggedError<TranscriptRejected>("@colloquy/cli/TranscriptRejected")(
  "ImportRejected",
  {
    file: Schema.String,
    reason: Schema.Literals(["empty", "format", "encoding", "torn", "invalid", "diverged"]),
    line: Schema.Natural,
    byte: Schema.optionalKey(Schema.Natural),
    messageNumber: Schema.optionalKey(Schema.Natural),
    conversationId: Schema.optionalKey(ConversationId),
    detail: Schema.String
  }
) {
  override get message() {
    return `${this.file}${placeOf(this)} is refused (${this.reason}): ${this.detail}`
  }
}

/**
 * Something in the file is larger than a record may be. Nothing was written.
 */
export class TranscriptTooLarge extends Schema.TaggedError<TranscriptTooLarge>("@colloquy/cli/TranscriptTooLarge")(
  "LimitExceeded",
  {
    file: Schema.String,
    line: Schema.Natural,
    messageNumber: Schema.optionalKey(Schema.Natural),
    limit: Schema.String,
    maximum: Schema.Finite,
    actual: Schema.Finite
  }
) {
  override get message() {
    const { actual, limit, maximum } = this
    return (
      `${this.file}${placeOf(this)} is over a limit (${limit}: ${actual}, at most ${maximum}); nothing was imported: ` +
      "replace large content by a reference to it (a URL or a digest), then import again"
    )
  }
}

/** Everything that reading a foreign file fails with. */
export type TranscriptError = FileUnreadable | TranscriptRejected | TranscriptTooLarge

// --- internal ---

const placeOf = (place: { readonly line: number; readonly byte?: number; readonly messageNumber?: number }): string =>
  [
    place.line === 0 ? "" : `, line ${place.line}`,
    place.byte === undefined ? "" : `, byte ${place.byte}`,
    place.messageNumber === undefined ? "" : `, message ${place.messageNumber}`
  ].join("")
