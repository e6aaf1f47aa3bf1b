/**
 * Schema versions of payloads, and the steps that turn an older payload into a current one when it is read.
 *
 * Stored bytes are never touched: digests cover them as they were written. A released version is frozen.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * The version under which payloads are written.
 *
 * @category constants
 * @since 0.1.0
 */
export const currentVersion = 1

/**
 * A record of a version that this release does not know. Nothing was changed; the caller updates the library.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnsupportedVersion extends Schema.TaggedError<UnsupportedVersion>("@colloquy/session/UnsupportedVersion")(
  "UnsupportedVersion",
  { what: Schema.String, found: Schema.Finite, supported: Schema.Finite }
) {
  override get message() {
    return `${this.what} has version ${this.found}, this release reads up to ${this.supported}: update Colloquy`
  }
}

/**
 * Pure steps by the version they start from: step `n` turns the parsed JSON of version `n` into that of `n + 1`.
 *
 * @category models
 * @since 0.1.0
 */
export type Steps = ReadonlyMap<number, (payload: unknown) => unknown>

/**
 * The steps in use. Version 1 is the first released one, so there are none by default.
 *
 * @category services
 * @since 0.1.0
 */
export const Upcasts = Context.Reference<Steps>("@colloquy/session/Upcast/Upcasts", {
  defaultValue: () => new Map()
})

/**
 * Brings the parsed JSON of a payload to the current version.
 *
 * **Details**
 *
 * Fails with `UnsupportedVersion` for a newer version, and for an older one that no step starts from.
 *
 * @category upcasting
 * @since 0.1.0
 */
export const upcast = (version: number, payload: unknown, steps: Steps): Result.Result<unknown, UnsupportedVersion> => {
  if (version > currentVersion) return Result.fail(unsupported(version))
  let upcasted = payload
  for (let from = version; from < currentVersion; from++) {
    const step = steps.get(from)
    if (step === undefined) return Result.fail(unsupported(version))
    upcasted = step(upcasted)
  }
  return Result.succeed(upcasted)
}

// --- internal ---

const unsupported = (found: number) => new UnsupportedVersion({ what: "a record", found, supported: currentVersion })
