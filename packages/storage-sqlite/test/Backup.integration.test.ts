import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConversationId } from "@colloquy/session/Ids"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import type { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { batch, conversationId, opened, sequences, takeOver } from "./conversations.ts"
import { directory, newFile } from "./files.ts"
import { bytes, names } from "./opened.ts"
import { kill, lines, start } from "./processes.ts"
import { cannotMount, onSmallDisk, smallDisk } from "./smallDisk.ts"

type Store = ConversationStore["Service"]

/** A file with a conversation of so many batches of about 5 KB. */
const written = Effect.fnUntraced(function* (filename: string, batches: number) {
  yield* Effect.scoped(
    Effect.gen(function* () {
      const append = yield* takeOver(yield* opened({ filename }))
      yield* append(batch("created"))
      for (let n = 1; n < batches; n++) yield* append(batch(`b/${n}`, 1, "x".repeat(5_000)))
    })
  )
})

/** The backup fails, and leaves everything beside the destination as it was. */
const refuses = Effect.fnUntraced(function* (options: SqliteStorage.BackupOptions) {
  const beside = dirname(options.destination)
  const before = { names: names(beside), content: bytes(options.destination) }
  const error = yield* Effect.flip(SqliteStorage.backup(options))
  assert.deepStrictEqual({ names: names(beside), content: bytes(options.destination) }, before)
  return error
})

const readAll = (store: Store, conversationId: ConversationId) => Stream.runCollect(store.read({ conversationId }))

describe("a backup", () => {
  it.effect("is a file like the one it was made of", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* written(filename, 50)
      const destination = join(yield* directory, "copy.db")
      const pages = yield* SqliteStorage.backup({ filename, destination })
      assert.isAbove(pages, 50)
      assert.deepStrictEqual(names(dirname(destination)), ["copy.db"])
      const original = yield* opened({ filename })
      const copy = yield* opened({ filename: destination })
      assert.deepStrictEqual((yield* copy.verify({ conversationId })).faults, [])
      assert.deepStrictEqual(yield* copy.tail({ conversationId }), yield* original.tail({ conversationId }))
      assert.deepStrictEqual(yield* readAll(copy, conversationId), yield* readAll(original, conversationId))
      // And one that goes on by itself.
      yield* (yield* takeOver(copy))(batch("only in the copy"))
      assert.lengthOf(yield* sequences(original), 50)
    })
  )

  it.effect("tells how far it is", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* written(filename, 50)
      const seen: Array<readonly [number, number]> = []
      const pages = yield* SqliteStorage.backup({
        filename,
        destination: `${filename}.copy`,
        pagesPerStep: 10,
        onProgress: (copied, total) => Effect.sync(() => void seen.push([copied, total]))
      })
      assert.isAbove(seen.length, 5)
      assert.deepStrictEqual(
        seen,
        seen.toSorted((a, b) => a[0] - b[0])
      )
      assert.deepStrictEqual(seen.at(-1), [pages, pages])
    })
  )

  it.live(
    "is of one moment, while fibers of this process and another process write",
    () =>
      Effect.gen(function* () {
        const filename = yield* newFile
        yield* written(filename, 400)
        const original = yield* opened({ filename })
        const destination = `${filename}.copy`
        const ours = Array.from({ length: 8 }, (_, i) => ConversationId.make(`ours-${i}`))
        const begun = yield* Effect.forEach(ours, () => Deferred.make<void>())
        const writers = yield* Effect.forEach(ours, (id, i) =>
          Effect.forkScoped(
            Effect.gen(function* () {
              const append = yield* takeOver(original, id)
              yield* append(batch("created"))
              yield* Deferred.succeed(begun[i]!, undefined)
              for (let n = 0; ; n++) yield* append(batch(`b/${n}`, 3))
            })
          )
        )
        const child = yield* start(new URL("child/concurrentAppends.ts", import.meta.url), [filename])
        const childWrites = yield* Deferred.make<void>()
        const drained = yield* Effect.forkScoped(
          Stream.runForEach(lines(child), () => Deferred.succeed(childWrites, undefined))
        )
        yield* Effect.forEach(begun, Deferred.await)
        yield* Deferred.await(childWrites)
        const before = yield* Effect.forEach(ours, (conversationId) => original.tail({ conversationId }))
        yield* SqliteStorage.backup({ filename, destination, pagesPerStep: 8 })
        const after = yield* Effect.forEach(ours, (conversationId) => original.tail({ conversationId }))
        yield* Fiber.interruptAll(writers)
        yield* kill(child)
        yield* Fiber.await(drained)

        const copy = yield* opened({ filename: destination })
        const copied = (yield* Stream.runCollect(copy.list())).map(({ conversationId }) => conversationId)
        assert.includeMembers(copied, [conversationId, ...ours])
        assert.isTrue(copied.some((id) => id.startsWith("conversation-")))
        for (const id of copied) {
          assert.deepStrictEqual((yield* copy.verify({ conversationId: id })).faults, [])
          const records = yield* readAll(copy, id)
          const { sequence } = yield* copy.tail({ conversationId: id })
          assert.lengthOf(records, sequence)
          assert.deepStrictEqual(records, (yield* readAll(original, id)).slice(0, sequence))
        }
        for (const [i, id] of ours.entries()) {
          const { sequence } = yield* copy.tail({ conversationId: id })
          assert.isAtLeast(sequence, before[i]!.sequence)
          assert.isBelow(sequence, after[i]!.sequence, "writers went on")
          assert.strictEqual((sequence - 1) % 3, 0, "whole batches")
        }
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.effect("that is interrupted leaves nothing", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* written(filename, 200)
      const destination = join(yield* directory, "copy.db")
      const copying = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkScoped(
        SqliteStorage.backup({
          filename,
          destination,
          pagesPerStep: 1,
          onProgress: () => Deferred.succeed(copying, undefined)
        })
      )
      yield* Deferred.await(copying)
      yield* Fiber.interrupt(fiber)
      assert.isTrue((yield* Fiber.await(fiber))._tag === "Failure")
      assert.deepStrictEqual(names(dirname(destination)), [])
      // The file is as free as before.
      yield* SqliteStorage.backup({ filename, destination })
      assert.deepStrictEqual(names(dirname(destination)), ["copy.db"])
    })
  )
})

describe("a backup is refused, and leaves nothing,", () => {
  const expectRefused = Effect.fnUntraced(function* (options: SqliteStorage.BackupOptions, detail: string) {
    const error = yield* refuses(options)
    assert.deepStrictEqual([error.reason, error.retryable], ["refused", false])
    assert.include(error.message, detail)
  })

  it.effect("where a file is", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* written(filename, 2)
      const destination = `${filename}.copy`
      writeFileSync(destination, "theirs")
      yield* expectRefused({ filename, destination }, "choose another path")
      yield* expectRefused({ filename, destination: filename }, "choose another path")
    })
  )

  it.effect("where a file appears while it copies", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* written(filename, 20)
      const destination = join(yield* directory, "copy.db")
      const error = yield* Effect.flip(
        SqliteStorage.backup({
          filename,
          destination,
          onProgress: () => Effect.sync(() => writeFileSync(destination, "theirs"))
        })
      )
      assert.strictEqual(error.reason, "refused")
      assert.deepStrictEqual(names(dirname(destination)), ["copy.db"])
      assert.strictEqual(bytes(destination), Buffer.from("theirs").toString("hex"))
    })
  )

  it.effect("where no directory is", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* written(filename, 2)
      const error = yield* Effect.flip(
        SqliteStorage.backup({ filename, destination: join(dirname(filename), "missing", "copy.db") })
      )
      assert.strictEqual(error.reason, "refused")
      assert.include(error.message, "check the path")
    })
  )

  it.effect.skipIf(cannotMount)(onSmallDisk("where there is not enough space"), () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* written(filename, 400)
      const error = yield* refuses({ filename, destination: join(yield* smallDisk, "copy.db") })
      assert.deepStrictEqual([error.reason, error.retryable], ["disk-full", true])
    })
  )

  it.effect("of a file that is not there, is none of ours, or is no database", () =>
    Effect.gen(function* () {
      const destination = join(yield* directory, "copy.db")
      const filename = yield* newFile
      yield* expectRefused({ filename, destination }, "check the path")
      yield* expectRefused({ filename: ":memory:", destination }, "choose another file")
      const theirs = new DatabaseSync(filename)
      theirs.exec("CREATE TABLE notes (text TEXT)")
      theirs.close()
      yield* expectRefused({ filename, destination }, "choose another file")
      writeFileSync(filename, "x".repeat(5_000))
      yield* expectRefused({ filename, destination }, "not a SQLite database")
    })
  )
})
