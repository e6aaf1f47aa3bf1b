/** A disk that is soon full. */
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { directory } from "./files.ts"

/** A file system of one megabyte, gone with the scope. */
export const smallDisk = Effect.gen(function* () {
  const path = yield* directory
  yield* Effect.acquireRelease(
    Effect.sync(() => execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", path], { stdio: "ignore" })),
    () => Effect.sync(() => execFileSync("umount", ["--lazy", path], { stdio: "ignore" }))
  )
  return path
})

export const cannotMount = ((): boolean => {
  try {
    Effect.runSync(Effect.scoped(smallDisk))
    return false
  } catch {
    return true
  }
})()

/** The name of a test that needs one. */
export const onSmallDisk = (name: string) =>
  `${name}${cannotMount ? " (skipped: no file system can be mounted here)" : ""}`
