/**
 * A copy of a file through SQLite's online backup: https://www.sqlite.org/backup.html
 *
 * - The connection that reads is its own, and holds one snapshot from the first page to the last. Without it the copy
 *   would start again at each commit of another connection, and under steady writing never end.
 * - The copy grows under another name beside its destination and is given its own at the end: whoever finds a file there
 *   finds a whole one. A process that is killed leaves only the `.partial` one.
 *
 * @internal
 */
import { StoreUnavailable } from "@colloquy/store/StoreError"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { randomUUID } from "node:crypto"
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import * as Sqlite from "node:sqlite"
import { applicationId } from "../Migrations.ts"
import { isBusy, lockSchedule, translate } from "./connections.ts"

export interface Request {
  readonly filename: string
  readonly destination: string
  readonly onProgress: (copied: number, total: number) => Effect.Effect<void>
  readonly pagesPerStep: number
}

export const backup = ({ destination, filename, onProgress, pagesPerStep }: Request) =>
  Effect.gen(function* () {
    if (existsSync(destination)) return yield* exists(destination)
    const source = yield* Effect.acquireRelease(
      Effect.try({ try: () => new Sqlite.DatabaseSync(filename, { readOnly: true }), catch: translate }),
      (database) => Effect.sync(() => database.close())
    )
    yield* Effect.try({ try: () => beginSnapshot(source), catch: translate }).pipe(
      Effect.retry({ while: isBusy, schedule: lockSchedule(Duration.seconds(10)) })
    )
    const partial = yield* Effect.acquireRelease(
      Effect.sync(() => `${destination}.${randomUUID()}.partial`),
      (path) =>
        Effect.sync(() => {
          for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(path + suffix, { force: true })
        })
    )
    const pages = yield* copy(source, partial, pagesPerStep, onProgress)
    yield* Effect.try({ try: () => place(partial, destination), catch: misplaced(destination) })
    // SQLite has synced the pages; their name is synced where the system can sync a directory.
    yield* Effect.ignore(Effect.try(() => sync(dirname(destination))))
    return pages
  }).pipe(Effect.scoped)

// --- internal ---

/** Reads, so that the snapshot is there; and sees what the file is. */
const beginSnapshot = (source: Sqlite.DatabaseSync): void => {
  if (source.isTransaction) source.exec("ROLLBACK")
  source.exec("BEGIN; SELECT count(*) FROM sqlite_master")
  const mark = source.prepare("PRAGMA application_id").get()?.["application_id"]
  if (mark === applicationId) return
  throw new StoreUnavailable({
    reason: "refused",
    retryable: false,
    detail: `the file is not one of conversations (application_id ${String(mark)}); choose another file`,
    cause: null
  })
}

/** Copies, and tells of each step. */
const copy = Effect.fnUntraced(function* (
  source: Sqlite.DatabaseSync,
  path: string,
  rate: number,
  onProgress: Request["onProgress"]
) {
  const steps = yield* Queue.unbounded<readonly [copied: number, total: number], Cause.Done>()
  const telling = yield* Effect.forkScoped(
    Stream.runForEach(Stream.fromQueue(steps), ([copied, total]) => onProgress(copied, total))
  )
  const pages = yield* copyPages(source, path, rate, (...step) => void Queue.offerUnsafe(steps, step))
  yield* Queue.end(steps)
  yield* Fiber.join(telling)
  return pages
})

/** The copy runs on another thread. Interrupted, it ends after its step, and is waited for: it uses the connection. */
const copyPages = (
  source: Sqlite.DatabaseSync,
  path: string,
  rate: number,
  onStep: (copied: number, total: number) => void
) =>
  Effect.callback<number, StoreUnavailable>((resume) => {
    let interrupted = false
    const done = Sqlite.backup(source, path, {
      rate,
      progress: ({ remainingPages, totalPages }) => {
        if (interrupted) throw new Error("interrupted")
        onStep(totalPages - remainingPages, totalPages)
      }
    }).then(
      (pages) => {
        onStep(pages, pages)
        return Effect.succeed(pages)
      },
      (cause) => Effect.fail(translate(cause))
    )
    void done.then(resume, (defect) => resume(Effect.die(defect)))
    return Effect.promise(() => {
      interrupted = true
      return done.catch(() => undefined)
    })
  })

/** Puts the copy at its destination, unless something is there by now. */
const place = (partial: string, destination: string): void => {
  try {
    // Fails where a file is, which a rename would replace.
    linkSync(partial, destination)
  } catch (cause) {
    if (codeOf(cause) === "EEXIST" || existsSync(destination)) throw cause
    // A file system without hard links.
    renameSync(partial, destination)
  }
}

const sync = (directory: string): void => {
  const descriptor = openSync(directory, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const misplaced = (destination: string) => (cause: unknown) =>
  codeOf(cause) === "EEXIST"
    ? exists(destination)
    : new StoreUnavailable({
        reason: "refused",
        retryable: false,
        detail: `the copy cannot be put at ${destination}; check the path and its permissions`,
        cause
      })

const exists = (destination: string) =>
  new StoreUnavailable({
    reason: "refused",
    retryable: false,
    detail: `the destination ${destination} exists, and is left as it is; choose another path`,
    cause: null
  })

const codeOf = (cause: unknown): unknown => (cause instanceof Error && "code" in cause ? cause.code : undefined)
