import { assert, describe, it } from "@effect/vitest"
import type { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { chmodSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { batch, conversationId, opened, sequences, takeOver } from "./conversations.ts"
import { newFile } from "./files.ts"
import { connected } from "./opened.ts"

type Store = ConversationStore["Service"]

/** A store over a file of 21 records, all of them in the file itself, and how it appends. */
const given = Effect.gen(function* () {
  const filename = yield* newFile
  const store = yield* opened({ filename })
  const append = yield* takeOver(store)
  yield* append(batch("created"))
  for (let n = 0; n < 20; n++) yield* append(batch(`b/${n}`, 1, "x".repeat(5_000)))
  ;(yield* connected(filename)).exec("PRAGMA wal_checkpoint(TRUNCATE)")
  return { filename, store, append }
})

/** Whatever happens is a value or a typed error, never a defect, and never a log that looks shorter than it is. */
const answersHonestly = Effect.fnUntraced(function* (store: Store) {
  const read = yield* Effect.result(sequences(store))
  if (read._tag === "Success") assert.strictEqual(read.success.length, 21)
  else assert.include(["StoreUnavailable", "CorruptRecord", "ConversationNotFound"], read.failure._tag)
  const verified = yield* Effect.exit(store.verify({ conversationId }))
  if (Exit.isSuccess(verified) && verified.value.faults.length === 0) assert.strictEqual(verified.value.records, 21)
  assert.isFalse(Exit.hasDies(verified))
  return read
})

describe("a file that something happens to while it is open", () => {
  it.effect("cut in the middle: typed, and refused when it is opened again", () =>
    Effect.gen(function* () {
      const { append, filename, store } = yield* given
      truncateSync(filename, Math.floor(statSync(filename).size / 2))
      yield* answersHonestly(store)
      assert.isFalse(Exit.hasDies(yield* Effect.exit(append(batch("later")))))
      assert.isFalse(Exit.hasDies(yield* Effect.exit(Effect.scoped(Effect.flatMap(opened({ filename }), sequences)))))
    })
  )

  it.effect("overwritten with zeros: typed, and refused when it is opened again", () =>
    Effect.gen(function* () {
      const { append, filename, store } = yield* given
      writeFileSync(filename, Buffer.alloc(statSync(filename).size), { flag: "r+" })
      yield* answersHonestly(store)
      assert.isFalse(Exit.hasDies(yield* Effect.exit(append(batch("later")))))
      const again = yield* Effect.exit(Effect.scoped(Effect.flatMap(opened({ filename }), sequences)))
      assert.isTrue(Exit.isFailure(again) && !Exit.hasDies(again))
    })
  )

  it.effect("removed: what is acknowledged can still be read here, and the next process starts anew", () =>
    Effect.gen(function* () {
      const { filename, store } = yield* given
      for (const end of ["", "-wal", "-shm"]) rmSync(`${filename}${end}`, { force: true })
      yield* answersHonestly(store)
      const next = yield* opened({ filename })
      assert.strictEqual((yield* Effect.flip(next.tail({ conversationId })))._tag, "ConversationNotFound")
    })
  )

  it.effect("replaced by its copy of before: the next append finds the tail of the file, and nothing is made up", () =>
    Effect.gen(function* () {
      const { append, filename, store } = yield* given
      const before = readFileSync(filename)
      yield* append(batch("later"))
      ;(yield* connected(filename)).exec("PRAGMA wal_checkpoint(TRUNCATE)")
      writeFileSync(filename, before, { flag: "r+" })
      const again = yield* Effect.exit(append(batch("later still")))
      assert.isFalse(Exit.hasDies(again))
      const report = yield* Effect.exit(store.verify({ conversationId }))
      assert.isFalse(Exit.hasDies(report))
    })
  )

  const cannotForbid = process.getuid?.() === 0
  const forbidden = `read-only: appends are refused with what to do${cannotForbid ? " (skipped: root may write everything)" : ""}`
  it.effect.skipIf(cannotForbid)(forbidden, () =>
    Effect.gen(function* () {
      const { filename } = yield* given
      chmodSync(filename, 0o400)
      const error = yield* Effect.flip(Effect.scoped(Effect.flatMap(opened({ filename }), takeOver)))
      assert.isTrue(error._tag === "StoreUnavailable" && error.message.includes("permissions"))
    })
  )
})
