/**
 * A file that is there whole or not at all: written beside its place, then moved there.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/**
 * There is a file at the place of the new one. Nothing was changed.
 *
 * @public
 */
export class FileExists extends Schema.TaggedError<FileExists>("@colloquy/cli/FileExists")("FileExists", {
  path: Schema.String
}) {
  override get message() {
    return `${this.path} is there already: choose another name, or overwrite it with --force`
  }
}

/**
 * The file cannot be written. What was written of it is removed.
 *
 * @public
 */
export class FileUnwritable extends Schema.TaggedError<FileUnwritable>("@colloquy/cli/FileUnwritable")(
  "FileUnwritable",
  { path: Schema.String, detail: Schema.String }
) {
  override get message() {
    return `${this.path} cannot be written: ${this.detail}`
  }
}

/**
 * Writes lines into a new file. An existing one is replaced only with `force`, and only once the new one is on disk.
 * Failure and interruption leave neither the new file nor a part of it.
 */
export const write = Effect.fn("NewFile.write")(function* <E, R>(
  path: string,
  lines: Stream.Stream<string, E, R>,
  { force }: { readonly force: boolean }
) {
  const fs = yield* FileSystem.FileSystem
  const unwritable = (error: PlatformError) =>
    new FileUnwritable({ path, detail: details[error.reason._tag] ?? error.message })
  const refuseExisting = Effect.gen(function* () {
    if (!force && (yield* Effect.mapError(fs.exists(path), unwritable))) return yield* new FileExists({ path })
  })
  yield* refuseExisting
  const part = `${path}.${process.pid}.part`
  const writePart = Effect.scoped(
    Effect.gen(function* () {
      const file = yield* Effect.mapError(fs.open(part, { flag: "wx" }), unwritable)
      yield* Stream.runForEachArray(lines, (some) =>
        Effect.mapError(file.writeAll(encoder.encode(some.map((line) => `${line}\n`).join(""))), unwritable)
      )
      yield* Effect.mapError(file.sync, unwritable)
    })
  )
  yield* writePart.pipe(
    Effect.andThen(refuseExisting),
    Effect.andThen(Effect.mapError(fs.rename(part, path), unwritable)),
    // Without the part, a second removal finds nothing, which is what was wanted.
    Effect.onError(() => Effect.ignore(fs.remove(part)))
  )
})

// --- internal ---

const encoder = new TextEncoder()

const details: { readonly [reason: string]: string | undefined } = {
  NotFound: "there is no such folder; create it, or choose another place",
  PermissionDenied: "it may not be written; check the permissions of the folder",
  BadResource: "it is a folder, or part of the path is a file; name a file"
}
