/**
 * One process at a time has a folder: the one that the lock file with the highest number names.
 *
 * A lock is never taken away, only followed by one with the next number: of many processes that find a dead holder, one
 * creates the next file. Files come into being whole (by a link), so nobody reads half a lock.
 */
import { StoreUnavailable } from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Scope } from "effect/Scope"
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { codeOf, unavailable } from "./Unavailable.ts"

/** `pid` is null once the holder has let go. The start tells a former process with our pid (as in a container) from us. */
const Holder = Schema.Struct({ pid: Schema.NullOr(Schema.Int), startedAt: Schema.Finite })
type Holder = typeof Holder.Type

/**
 * Takes the folder, creating it if it is absent, and lets it go with the scope. The failure says who has it.
 *
 * A process that was killed has let go: its pid is dead. All processes must be on one machine.
 */
export const acquire = (folder: string): Effect.Effect<void, StoreUnavailable, Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.try({ try: () => claim(resolve(folder)), catch: unavailable(`${folder} cannot be locked`) }),
      // A lock that cannot be written any more names this process, and is dead with it.
      (path) => Effect.ignore(Effect.try(() => renameSync(written(folder, { ...self, pid: null }), path)))
    )
  )

// --- internal ---

const self: Holder = { pid: process.pid, startedAt: performance.timeOrigin }

/** The path of the lock. Throws who has it. */
const claim = (folder: string): string => {
  mkdirSync(folder, { recursive: true })
  for (;;) {
    const latest = latestOf(folder)
    const holder = latest === 0 ? Option.none() : read(pathOf(folder, latest))
    if (Option.isSome(holder) && lives(holder.value)) throw heldBy(holder.value, folder, pathOf(folder, latest))
    const path = pathOf(folder, latest + 1)
    if (!create(folder, path)) continue
    if (latestOf(folder) === latest + 1) {
      for (const number of numbers(folder)) if (number <= latest) rmSync(pathOf(folder, number), { force: true })
      removeLeftovers(folder)
      return path
    }
    // The number was free because others have gone past it since we looked.
    rmSync(path, { force: true })
  }
}

const pathOf = (folder: string, number: number): string => join(folder, `lock.${number}`)

const numbers = (folder: string): ReadonlyArray<number> =>
  readdirSync(folder).flatMap((name) => (/^lock\.\d+$/.test(name) ? [Number(name.slice("lock.".length))] : []))

const latestOf = (folder: string): number => Math.max(0, ...numbers(folder))

/** A file of its own with this content, to be moved or linked. */
const written = (folder: string, holder: Holder): string => {
  const path = join(folder, `lock-${process.pid}.tmp`)
  writeFileSync(path, encodeHolder(holder))
  return path
}

/** What processes that were killed between writing and linking have left. */
const removeLeftovers = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    const pid = /^lock-(\d+)\.tmp$/.exec(name)?.[1]
    if (pid !== undefined && !lives({ ...self, pid: Number(pid) })) rmSync(join(folder, name), { force: true })
  }
}

/** False when the name is taken. */
const create = (folder: string, path: string): boolean => {
  const temporary = written(folder, self)
  try {
    linkSync(temporary, path)
    return true
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false
    throw cause
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Nothing for a lock that somebody has followed, or that lost its content with the machine's power: nobody holds it. */
const read = (path: string): Option.Option<Holder> => {
  try {
    return decodeHolder(readFileSync(path, "utf8"))
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return Option.none()
    throw cause
  }
}

const encodeHolder = Schema.encodeSync(Schema.fromJsonString(Holder))
const decodeHolder = Schema.decodeUnknownOption(Schema.fromJsonString(Holder))

const lives = ({ pid, startedAt }: Holder): boolean => {
  if (pid === null) return false
  if (pid === self.pid) return startedAt === self.startedAt
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    // Another user's process may not be signalled, but is there.
    return codeOf(cause) !== "ESRCH"
  }
}

const heldBy = ({ pid, startedAt }: Holder, folder: string, path: string): StoreUnavailable => {
  const way =
    pid === self.pid
      ? "this process has it open already; share that layer"
      : `process ${pid}, started at ${new Date(startedAt).toISOString()}, has it; ` +
        `stop that process, or delete ${path} if it is none of yours`
  const detail = `one process at a time may use the folder ${folder}, and ${way}`
  return new StoreUnavailable({ reason: "contention", retryable: true, detail, cause: null })
}
