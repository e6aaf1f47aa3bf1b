import { assert, describe, it } from "@effect/vitest"
import { BatchId, ConversationId, TenantId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmdirSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { filesOf, filesWith, newFolder } from "./folder.ts"
import { batch, conversationId, intact, takeOver, using, written } from "./given.ts"

const ndjson = (folder: string): string => filesOf(folder, ".ndjson")[0] ?? assert.fail("there is no file")

describe("a folder that is opened again", () => {
  it.live("has every conversation, whatever its id", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      const ids = ["a", "A", "../a/b", "é", "e\u0301", "😀", "x".repeat(512)].map((id) => ConversationId.make(id))
      const acme = TenantId.make("acme")
      const before = yield* using(folder, (store, tenants) =>
        Effect.gen(function* () {
          for (const id of ids) yield* written(store, ["one", "two"], id)
          yield* written(tenants.store(acme), ["of a tenant"])
          return yield* Effect.forEach(ids, (id) => store.export({ conversationId: id }))
        })
      )
      yield* using(folder, (store, tenants) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* Effect.forEach(ids, (id) => store.export({ conversationId: id })), before)
          assert.lengthOf(yield* Stream.runCollect(store.list()), ids.length)
          assert.deepStrictEqual(yield* intact(tenants.store(acme)), ["of a tenant/a", "of a tenant/b"])
        })
      )
    })
  )

  it.live("confirms an old batch, fences an old owner, and takes the next batch", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      const former = yield* using(folder, (store) => written(store, ["one"]))
      yield* using(folder, (store) =>
        Effect.gen(function* () {
          const { append } = yield* takeOver(store)
          assert.isTrue((yield* append(batch("one"))).replayed)
          assert.strictEqual(
            (yield* Effect.flip(store.append({ ...former, batch: batch("no") })))._tag,
            "FenceRejected"
          )
          yield* append(batch("two"))
          assert.deepStrictEqual(yield* intact(store), ["one/a", "one/b", "two/a", "two/b"])
        })
      )
    })
  )

  it.live("has no leftovers of a rewrite that was cut off", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* using(folder, (store) => written(store, ["one"]))
      writeFileSync(`${ndjson(folder)}.tmp`, "half a fi")
      yield* using(folder, intact)
      assert.deepStrictEqual(filesOf(folder, ".tmp"), [])
    })
  )
})

describe("a file after a crash", () => {
  it.live("cut anywhere in its last line, it has the batches before, and takes the last one again", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* using(folder, (store) => written(store, ["one", "two 😀"]))
      const whole = readFileSync(ndjson(folder))
      const start = whole.lastIndexOf("\n", whole.length - 2) + 1
      for (const end of [start, start + 1, whole.indexOf("😀") + 2, whole.length - 2, whole.length - 1]) {
        writeFileSync(ndjson(folder), whole.subarray(0, end))
        assert.deepStrictEqual(yield* using(folder, intact), ["one/a", "one/b"])
        assert.strictEqual(readFileSync(ndjson(folder)).length, start)
      }
      yield* using(folder, (store) => Effect.flatMap(takeOver(store), ({ append }) => append(batch("two 😀"))))
      assert.lengthOf(yield* using(folder, intact), 4)
    })
  )

  it.live("cut in its first line, the conversation was never there", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* using(folder, (store) => written(store, []))
      truncateSync(ndjson(folder), 20)
      yield* using(folder, (store) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* Stream.runCollect(store.list()), [])
          yield* written(store, ["one"])
        })
      )
      assert.deepStrictEqual(yield* using(folder, intact), ["one/a", "one/b"])
    })
  )

  it.live("a last line with a block that never reached the disk is cut off", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* using(folder, (store) => written(store, ["one"]))
      appendFileSync(ndjson(folder), `{"conversationId":"conv${"\0".repeat(64)}"}\n`)
      assert.deepStrictEqual(yield* using(folder, intact), ["one/a", "one/b"])
    })
  )

  it.live("damage elsewhere is no crash: the folder is refused, and the line named", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* using(folder, (store) => written(store, ["one", "two"]))
      const path = ndjson(folder)
      const lines = readFileSync(path, "utf8").trimEnd().split("\n")
      const without = (n: number) => lines.filter((_, i) => i !== n)
      for (const [number, damaged] of [
        [2, lines.map((line, i) => (i === 1 ? line.replace('"', "'") : line))],
        [3, lines.map((line, i) => (i === 2 ? "{}" : line))],
        [1, without(0)],
        [2, without(1)],
        [1, lines.map((line) => line.replaceAll(`"${conversationId}"`, '"another"'))]
      ] as const) {
        writeFileSync(path, `${damaged.join("\n")}\n`)
        const error = yield* Effect.flip(using(folder, intact))
        assert.propertyVal(error, "reason", "damaged")
        assert.include(error.message, `line ${number} of ${path}`)
        assert.strictEqual(readFileSync(path, "utf8"), `${damaged.join("\n")}\n`, "nothing is cut off")
      }
    })
  )
})

describe("what is taken away", () => {
  const secret = "the words to forget"

  it.live("is in no file after an erasure, also of a fork and an import", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* using(folder, (store) =>
        Effect.gen(function* () {
          const { expectedTail } = yield* written(
            store,
            [secret, "more"].map((text) => `batch of ${text}`)
          )
          const into = ConversationId.make("fork")
          yield* store.fork({ from: conversationId, at: expectedTail.sequence, into })
          assert.lengthOf(filesWith(folder, `"data\\":\\"batch of ${secret}`), 2)
          const { bytes, removed } = yield* store.erase({ conversationId, cascade: true })
          assert.deepStrictEqual([bytes, removed["records"]], ["gone", 5])
        })
      )
      assert.deepStrictEqual(filesWith(folder, `"data\\":\\"batch of`), [])
      yield* using(folder, (store) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* Effect.flip(takeOver(store)))._tag, "ConversationErased")
          assert.isTrue((yield* store.erase({ conversationId })).alreadyErased)
        })
      )
    })
  )

  it.live("is in no file after a redaction, and the chain still verifies", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* using(folder, (store) =>
        Effect.gen(function* () {
          const { append, owner } = yield* takeOver(store)
          yield* append(batch("first"))
          yield* append(batch("second", secret))
          yield* append(batch("third"))
          assert.lengthOf(filesWith(folder, secret), 1)
          yield* store.redact({ ...owner, sequences: [4, 5], reason: "asked for", batchId: BatchId.make("redaction") })
          assert.deepStrictEqual(filesWith(folder, secret), [])
        })
      )
      const ids = yield* using(folder, intact)
      assert.deepStrictEqual(ids.slice(0, 6), ["first/a", "first/b", "second/a", "second/b", "third/a", "third/b"])
    })
  )
})

describe("a change that fails", () => {
  it.live("has not happened, and happens when it is repeated", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* using(folder, (store) =>
        Effect.gen(function* () {
          const { append } = yield* takeOver(store)
          const path = ndjson(folder)
          renameSync(path, join(folder, "elsewhere"))
          mkdirSync(path)
          assert.strictEqual((yield* Effect.flip(append(batch("one"))))._tag, "StoreUnavailable")
          assert.deepStrictEqual(yield* intact(store), [])
          rmdirSync(path)
          renameSync(join(folder, "elsewhere"), path)
          assert.isFalse((yield* append(batch("one"))).replayed)
        })
      )
      assert.deepStrictEqual(yield* using(folder, intact), ["one/a", "one/b"])
    })
  )

  it.live("where nobody knows what is on the disk, no further change is taken", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* using(folder, (store) =>
        Effect.gen(function* () {
          const owner = yield* written(store, ["one"])
          const path = ndjson(folder)
          renameSync(path, join(folder, "elsewhere"))
          mkdirSync(path)
          const redaction = { ...owner, sequences: [2], reason: "asked for", batchId: BatchId.make("redaction") }
          assert.strictEqual((yield* Effect.flip(store.redact(redaction)))._tag, "StoreUnavailable")
          const error = yield* Effect.flip(written(store, ["two"], ConversationId.make("another")))
          assert.include(error.message, "open the folder again")
          rmdirSync(path)
          renameSync(join(folder, "elsewhere"), path)
        })
      )
      assert.deepStrictEqual(yield* using(folder, intact), ["one/a", "one/b"])
    })
  )
})
