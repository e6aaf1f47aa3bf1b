import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type { ConversationStore } from "@colloquy/store/ConversationStore"
import { readFileSync, writeFileSync } from "node:fs"
import type { SQLInputValue } from "node:sqlite"
import { batch, conversationId, opened, takeOver } from "./conversations.ts"
import { newFile } from "./files.ts"
import { connected } from "./opened.ts"

type Store = ConversationStore["Service"]

/** Seven records: one that creates the conversation, and two batches of three. */
const written = Effect.gen(function* () {
  const filename = yield* newFile
  yield* Effect.scoped(
    Effect.gen(function* () {
      const append = yield* takeOver(yield* opened({ filename }))
      yield* append(batch("created"))
      yield* append(batch("b", 3, "the-marker-of-b"))
      yield* append(batch("c", 3, "the-marker-of-c"))
    })
  )
  return filename
})

/** What a stream gives before it ends, and how it ends. */
const outcome = <A, E>(stream: Stream.Stream<A, E>) =>
  Effect.gen(function* () {
    const items: Array<A> = []
    const exit = yield* Effect.exit(Stream.runForEach(stream, (item) => Effect.sync(() => items.push(item))))
    return { items, exit }
  })

const range = (from: number, to: number) => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)

/** Reads and observes up to the damage, in both directions; then the failure names it. */
const damagedAt = Effect.fnUntraced(function* (store: Store, sequence: number, tailSequence = 7) {
  const streams = [
    [store.read({ conversationId }), range(1, sequence - 1)],
    [store.observe({ conversationId, after: 0 }), range(1, sequence - 1)],
    [store.read({ conversationId, reverse: true }), range(sequence + 1, tailSequence).toReversed()]
  ] as const
  for (const [stream, expected] of streams) {
    const { exit, items } = yield* outcome(stream)
    assert.deepStrictEqual(
      items.map((record) => record.sequence),
      expected
    )
    const error = yield* Effect.flip(exit)
    if (error._tag !== "CorruptRecord") return assert.fail(`failed with ${error._tag}`)
    assert.deepStrictEqual([error.sequence, error.lastGood], [sequence, sequence - 1])
    assert.include(error.message, `record ${sequence}`)
  }
})

/** A copy of the log is refused at the damage; up to the batch before it, one is made. */
const exportsUpTo = Effect.fnUntraced(function* (store: Store, sequence: number, boundary: number) {
  const error = yield* Effect.flip(store.export({ conversationId }))
  assert.deepStrictEqual(error._tag === "CorruptRecord" ? error.sequence : error._tag, sequence)
  const { exit } = yield* outcome(store.exportLines({ conversationId }))
  assert.isTrue(Exit.isFailure(exit))
  const archive = yield* store.export({ conversationId, through: sequence - 1 })
  assert.strictEqual(archive.header.records, boundary)
})

const faultsOf = (store: Store) =>
  Effect.map(store.verify({ conversationId }), ({ faults }) => faults.map(({ reason, sequence }) => [sequence, reason]))

const changed = (filename: string, sql: string, ...parameters: ReadonlyArray<SQLInputValue>) =>
  Effect.scoped(Effect.map(connected(filename), (database) => database.prepare(sql).run(...parameters)))

describe("a damaged file", () => {
  it.effect("a flipped byte of a payload is found by reading, observing and verifying", () =>
    Effect.gen(function* () {
      const filename = yield* written
      const content = readFileSync(filename)
      // Records stand in the file from the end of a page to its beginning: the last occurrence is the first record's.
      const place = content.lastIndexOf("the-marker-of-c")
      content.writeUInt8(content.readUInt8(place) ^ 1, place)
      writeFileSync(filename, content)
      const store = yield* opened({ filename })
      yield* damagedAt(store, 5)
      yield* exportsUpTo(store, 5, 4)
      const { faults } = yield* store.verify({ conversationId })
      assert.deepStrictEqual(faults, [{ conversationId, sequence: 5, reason: "record-digest" }])
    })
  )

  it.effect("a payload that is no JSON any more is named", () =>
    Effect.gen(function* () {
      const filename = yield* written
      yield* changed(filename, "UPDATE records SET payload = substr(payload, 1, 20) WHERE sequence = 3")
      const store = yield* opened({ filename })
      yield* damagedAt(store, 3)
      assert.deepStrictEqual(yield* faultsOf(store), [[3, "record-digest"]])
    })
  )

  it.effect("a salt that is gone is named", () =>
    Effect.gen(function* () {
      const filename = yield* written
      yield* changed(filename, "UPDATE records SET salt = NULL WHERE sequence = 6")
      yield* damagedAt(yield* opened({ filename }), 6)
    })
  )

  for (const value of ["x''", "x'00'", "CAST(salt || x'00' AS BLOB)"]) {
    it.effect(`a salt that became ${value} is named`, () =>
      Effect.gen(function* () {
        const filename = yield* written
        yield* changed(filename, `UPDATE records SET salt = ${value} WHERE sequence = 6`)
        yield* damagedAt(yield* opened({ filename }), 6)
      })
    )
  }

  it.effect("a digest that lost a bit is named", () =>
    Effect.gen(function* () {
      const filename = yield* written
      yield* changed(filename, "UPDATE records SET digest = zeroblob(32) WHERE sequence = 6")
      yield* damagedAt(yield* opened({ filename }), 6)
    })
  )

  for (const version of [-1, 0, 2, 2 ** 32 + 1]) {
    it.effect(`a record of version ${version} is one of another release`, () =>
      Effect.gen(function* () {
        const filename = yield* written
        yield* changed(filename, "UPDATE records SET version = ? WHERE sequence = 6", version)
        const { exit, items } = yield* outcome((yield* opened({ filename })).read({ conversationId }))
        assert.lengthOf(items, 5)
        assert.strictEqual((yield* Effect.flip(exit))._tag, "UnsupportedVersion")
      })
    )
  }

  for (const sequence of [3, 7]) {
    it.effect(`a missing record ${sequence} is damage, not a shorter log`, () =>
      Effect.gen(function* () {
        const filename = yield* written
        yield* changed(filename, "DELETE FROM records WHERE sequence = ?", sequence)
        const store = yield* opened({ filename })
        yield* damagedAt(store, sequence)
        yield* exportsUpTo(store, sequence, sequence === 3 ? 1 : 4)
        assert.deepInclude(yield* faultsOf(store), [sequence, "record-missing"])
      })
    )
  }

  it.effect("a missing batch is damage", () =>
    Effect.gen(function* () {
      const filename = yield* written
      yield* changed(filename, "DELETE FROM batches WHERE batch_id = 'b'")
      const store = yield* opened({ filename })
      const { exit, items } = yield* outcome(store.read({ conversationId }))
      assert.lengthOf(items, 1)
      assert.strictEqual((yield* Effect.flip(exit))._tag, "CorruptRecord")
      assert.deepInclude(yield* faultsOf(store), [2, "batch-missing"])
    })
  )

  it.effect("a batch whose digests were changed is found by verifying", () =>
    Effect.gen(function* () {
      const filename = yield* written
      yield* changed(filename, "UPDATE batches SET content = zeroblob(32) WHERE batch_id = 'b'")
      const store = yield* opened({ filename })
      const faults = yield* faultsOf(store)
      assert.deepInclude(faults, [4, "batch-digest"])
      assert.deepInclude(faults, [4, "tail-digest"])
    })
  )

  it.effect("a payload that came with a digest of its own is found by verifying", () =>
    Effect.gen(function* () {
      const filename = yield* written
      // Record 2 becomes a copy of record 3, digest included: only the batch's digest tells.
      const copied = "(SELECT %s FROM records WHERE sequence = 3)"
      const columns = ["payload", "salt", "digest"].map((column) => `${column} = ${copied.replace("%s", column)}`)
      yield* changed(filename, `UPDATE records SET ${columns.join(", ")} WHERE sequence = 2`)
      assert.deepStrictEqual(yield* faultsOf(yield* opened({ filename })), [[4, "batch-digest"]])
    })
  )

  it.effect("other conversations are not touched by it", () =>
    Effect.gen(function* () {
      const filename = yield* written
      yield* changed(filename, "UPDATE records SET payload = 'x' WHERE sequence = 3")
      const store = yield* opened({ filename })
      const id = batch("x").batchId
      const other = yield* takeOver(
        store,
        (yield* store.list().pipe(Stream.runHead, Effect.flatMap(Effect.fromOption))).conversationId
      )
      yield* other(batch(id))
      assert.deepStrictEqual(yield* faultsOf(store), [[3, "record-digest"]])
    })
  )

  it.effect("a page of zeros is a typed failure", () =>
    Effect.gen(function* () {
      const filename = yield* written
      const content = readFileSync(filename)
      const pageSize = content.readUInt16BE(16)
      for (let page = 1; page < content.length / pageSize; page++) {
        const damaged = Buffer.from(content)
        damaged.fill(0, page * pageSize, (page + 1) * pageSize)
        writeFileSync(filename, damaged)
        const exit = yield* Effect.exit(
          Effect.scoped(
            Effect.flatMap(opened({ filename }), (store) =>
              Effect.andThen(store.verify({ conversationId }), Stream.runDrain(store.read({ conversationId })))
            )
          )
        )
        // A page that only an index uses is not looked at here; whatever is looked at is never a defect.
        if (Exit.isFailure(exit)) assert.isTrue(exit.cause.reasons.every((reason) => reason._tag === "Fail"))
      }
      writeFileSync(filename, content)
      assert.deepStrictEqual(yield* faultsOf(yield* opened({ filename })), [])
    })
  )
})
