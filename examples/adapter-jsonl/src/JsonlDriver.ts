/**
 * The encoded driver over a folder of files: reads come from an image in memory, and a change goes to the disk first.
 *
 * Changes take turns. Each is decided on the image, made durable, and only then applied, so that nobody reads what a crash
 * could take back. What is written is not interrupted; what waits for its turn may be.
 */
import { MemoryDatabase, MemoryDriver } from "@colloquy/storage-memory"
import { type Commit, ConversationDriver } from "@colloquy/store/ConversationDriver"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as FolderLock from "./FolderLock.ts"
import * as JsonlFiles from "./JsonlFiles.ts"
import * as Line from "./Line.ts"

/** Has the folder until the scope ends. */
export const make = Effect.fnUntraced(function* (folder: string, sync: boolean) {
  yield* FolderLock.acquire(folder)
  const files = JsonlFiles.make(folder, sync)
  const image = yield* files.load
  const turns = yield* Semaphore.make(1)
  const inTurn = <A>(body: () => Effect.Effect<A, StoreUnavailable>) =>
    turns.withPermit(Effect.uninterruptible(Effect.suspend(body)))
  // After the last change, and before the lock goes.
  yield* Effect.addFinalizer(() => turns.withPermit(files.close))

  /** Takes content away: nothing of the old file stays. */
  const rewrite = Effect.fnUntraced(function* (commit: Commit) {
    const after = copyOf(image, [commit.conversationId, commit.adopt])
    const rows = after.commit(commit) === "committed" ? after.rows(commit.conversationId) : undefined
    if (rows === undefined) return "refused"
    yield* files.rewrite(rows)
    // A crash here leaves staged rows behind, as one in the middle of an import does.
    if (commit.adopt !== undefined) yield* files.remove(commit.adopt)
    return image.commit(commit)
  })

  const append = Effect.fnUntraced(function* (commit: Commit) {
    if (!image.accepts(commit)) return "refused"
    yield* files.append(Line.fromCommit(commit), commit.guard === "absent")
    return image.commit(commit)
  })

  return ConversationDriver.of({
    ...MemoryDriver.make(image),
    commit: (commit) =>
      inTurn(() => (commit.replaced === undefined && commit.adopt === undefined ? append(commit) : rewrite(commit))),
    erase: (id, updatedAt) =>
      inTurn(() => {
        const after = copyOf(image, [id])
        const rows = after.rows(id)
        if (rows === undefined || rows.head.erased) return Effect.succeed(image.erase(id, updatedAt))
        after.erase(id, updatedAt)
        return Effect.map(files.rewrite(after.rows(id) ?? rows), () => image.erase(id, updatedAt))
      }),
    discard: (id) =>
      inTurn(() => (image.rows(id) === undefined ? Effect.void : Effect.map(files.remove(id), () => image.discard(id))))
  })
})

// --- internal ---

const copyOf = (image: MemoryDatabase.MemoryDatabase, ids: ReadonlyArray<string | undefined>) => {
  const copy = MemoryDatabase.make()
  for (const id of ids) {
    const rows = id === undefined ? undefined : image.rows(id)
    if (rows !== undefined) for (const line of Line.fromRows(rows)) Line.replay(copy, line)
  }
  return copy
}
