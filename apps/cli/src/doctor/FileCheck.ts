/**
 * Looks at a database from outside, as a file among files: nothing is opened and nothing is changed.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { statfsSync } from "node:fs"
import { bytesText } from "../TerminalText.ts"
import { type Limits, maxLogBytes, type Problem } from "./Problem.ts"

/** What is wrong with the file and its folder. One that is missing is the only problem then. */
export const check = Effect.fnUntraced(function* (file: string, limits: Limits) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const info = yield* Effect.option(fs.stat(file))
  if (Option.isNone(info) || (info.value.type === "File" && Number(info.value.size) === 0)) {
    return [
      {
        problem: "file-missing",
        detail: `there is no database at ${file}`,
        remedy: "correct --db, or restore a backup there; chat and import make a new one"
      }
    ] satisfies ReadonlyArray<Problem>
  }
  const folder = path.dirname(path.resolve(file))
  const found: Array<Problem> = []
  for (const [what, at] of [
    ["file", file],
    ["folder", folder]
  ] as const) {
    const remedy = `chmod u+w ${at}, or mount it writable; SQLite writes its log beside the file`
    if (!(yield* isWritable(at)))
      found.push({ problem: "read-only", detail: `the ${what} ${at} may not be written`, remedy })
  }
  const free = yield* Effect.option(Effect.try(() => statfsSync(folder)))
  const freeBytes = Option.map(free, ({ bavail, bsize }) => bavail * bsize)
  if (Option.isSome(freeBytes) && freeBytes.value < limits.minFreeBytes) {
    found.push({
      problem: "low-disk-space",
      detail: `${bytesText(freeBytes.value)} are free on the disk of ${folder}`,
      remedy: "make room there: a full disk refuses every append until there is some"
    })
  }
  const log = yield* Effect.option(fs.stat(`${file}-wal`))
  if (Option.isSome(log) && Number(log.value.size) > maxLogBytes) {
    found.push({
      problem: "large-log",
      detail: `the log ${file}-wal has ${bytesText(Number(log.value.size))}`,
      remedy: "end the process that reads an old state of the file (a long transaction or backup); the next one cuts it"
    })
  }
  for (const name of yield* leftovers(folder)) {
    found.push({
      problem: "leftover-file",
      detail: `${path.join(folder, name)} was left by a backup or an export that was killed`,
      remedy: `remove it: rm ${path.join(folder, name)}`
    })
  }
  return found
})

// --- internal ---

/** Root may write anything; others may not, so the mode counts too. */
const isWritable = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(path)
  const isAllowed = yield* Effect.isSuccess(fs.access(path, { writable: true }))
  return isAllowed && (info.mode & 0o222) !== 0
})

const ageOfLeftoverMillis = 10 * 60 * 1000

const leftovers = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const now = yield* Clock.currentTimeMillis
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), (): Array<string> => [])
  return yield* Effect.filter(names.filter(isPart), (name) =>
    Effect.map(Effect.option(fs.stat(path.join(folder, name))), (info) => {
      const writtenAt = Option.flatMap(info, ({ mtime }) => mtime)
      // One that is written now belongs to somebody.
      return Option.isSome(writtenAt) && now - writtenAt.value.getTime() > ageOfLeftoverMillis
    })
  )
})

/** Names that `backup` and `export --out` give to what is not whole yet. */
const isPart = (name: string): boolean => /\.[0-9a-f-]{36}\.partial$|\.\d+\.part$/.test(name)
