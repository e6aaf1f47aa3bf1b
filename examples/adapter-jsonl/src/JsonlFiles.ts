/**
 * The files of a folder, one for each conversation, in lines: appended to, or replaced as a whole.
 *
 * Each change is on the disk before it is answered, and there as a whole or not at all. One that failed has not happened;
 * where that cannot be made sure of, the folder takes no further change until it is opened again.
 */
import { MemoryDatabase } from "@colloquy/storage-memory"
import { StoreUnavailable } from "@colloquy/store/StoreError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import { open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Line from "./Line.ts"
import { unavailable } from "./Unavailable.ts"

/** `sync: false`: changes survive a crash of the process, but not of the machine. Callers take turns. */
export const make = (folder: string, sync: boolean) => {
  let stopped: StoreUnavailable | undefined

  const stop = (detail: string): void => {
    stopped ??= new StoreUnavailable({
      reason: "refused",
      retryable: false,
      detail: `${folder} ${detail}`,
      cause: null
    })
  }

  const change = (what: string, body: () => Promise<void>): Effect.Effect<void, StoreUnavailable> =>
    Effect.suspend(() =>
      stopped === undefined
        ? Effect.tryPromise({ try: body, catch: unavailable(`${what} in ${folder}`) })
        : Effect.fail(stopped)
    )

  /** A change that must not fail in the middle: nobody knows then what is on the disk. */
  const decisive = async (body: () => Promise<void>): Promise<void> => {
    try {
      await body()
    } catch (cause) {
      stop("has a change of which nobody knows whether it is on the disk: open the folder again")
      throw cause
    }
  }

  /** A new name, or one that is gone, is on the disk when the folder is. */
  const syncFolder = async (): Promise<void> => {
    if (!sync) return
    await using handle = await open(folder)
    await handle.sync()
  }

  const pathOf = (conversationId: string): string => join(folder, nameOf(conversationId))

  return {
    /** The rows of all files. Cuts off what a crash has left of a last line, and removes what was never made a file. */
    load: Effect.tryPromise({
      try: async () => {
        const image = MemoryDatabase.make()
        for (const name of await readdir(folder)) {
          // Of a rewrite that a crash has cut. Those of a lock are of others who ask for the folder just now.
          if (name.endsWith(`${extension}.tmp`)) await rm(join(folder, name))
          if (name.endsWith(extension)) await loadFile(image, folder, name)
        }
        return image
      },
      catch: unavailable(`${folder} cannot be read`)
    }),

    append: (line: Line.Line, isFirst: boolean) =>
      change("a line cannot be appended", async () => {
        await using handle = await open(pathOf(line.conversationId), "a")
        const { size } = await handle.stat()
        try {
          await handle.appendFile(Line.encode(line))
          if (sync) await handle.sync()
          if (isFirst) await syncFolder()
        } catch (cause) {
          await decisive(async () => {
            await handle.truncate(size)
            await handle.sync()
          })
          throw cause
        }
      }),

    /** Makes these rows the whole content of their file. */
    rewrite: (rows: MemoryDatabase.Rows) =>
      change("a file cannot be written", async () => {
        const path = pathOf(rows.head.conversationId)
        const temporary = `${path}.tmp`
        try {
          await using handle = await open(temporary, "w")
          await writeFile(handle, Line.fromRows(rows).map(Line.encode))
          if (sync) await handle.sync()
        } catch (cause) {
          await rm(temporary, { force: true })
          throw cause
        }
        await decisive(async () => {
          await rename(temporary, path)
          await syncFolder()
        })
      }),

    remove: (conversationId: string) =>
      change("a file cannot be removed", () =>
        decisive(async () => {
          await rm(pathOf(conversationId), { force: true })
          await syncFolder()
        })
      ),

    close: Effect.sync(() => stop("was closed: open it again"))
  }
}

// --- internal ---

const extension = ".ndjson"

/** Ids may hold what no file name may; JSON tells apart even lone surrogates, which UTF-8 cannot. */
const nameOf = (conversationId: string): string =>
  createHash("sha256").update(JSON.stringify(conversationId)).digest("hex") + extension

const loadFile = async (image: MemoryDatabase.MemoryDatabase, folder: string, name: string): Promise<void> => {
  const path = join(folder, name)
  const bytes = await readFile(path)
  let end = 0
  for (let number = 1; end < bytes.length; number++) {
    const next = bytes.indexOf(lineFeed, end) + 1
    const isLast = next === 0 || next === bytes.length
    // A block that never reached the disk reads as NULs, even in front of a line feed that did.
    if (isLast && (next === 0 || bytes.includes(0, end))) break
    const line = Line.decode(bytes.toString("utf8", end, next - 1))
    if (Result.isFailure(line)) throw damaged(path, number, String(line.failure))
    const { conversationId } = line.success
    if (nameOf(conversationId) !== name) throw damaged(path, number, `it is of ${JSON.stringify(conversationId)}`)
    const follows = Line.replay(image, line.success)
    if (!follows || !Line.isWhole(image.rows(conversationId)!))
      throw damaged(path, number, "lines before it are missing")
    end = next
  }
  if (end < bytes.length) {
    await using handle = await open(path, "r+")
    await handle.truncate(end)
    await handle.sync()
  }
}

const lineFeed = 10

const damaged = (path: string, line: number, why: string): StoreUnavailable =>
  new StoreUnavailable({
    reason: "damaged",
    retryable: false,
    detail: `line ${line} of ${path} is damaged (${why}): restore a backup of the file, or move it elsewhere`,
    cause: null
  })
