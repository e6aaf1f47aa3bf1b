/** What was erased or redacted, looked for byte by byte in every file that the database has. */
import * as Conversation from "@colloquy/session/Conversation"
import { stateVersion } from "@colloquy/session/ConversationState"
import { AgentName, BatchId, ConversationId, RecordId, RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { conversationId, opened, producerId, takeOver } from "./conversations.ts"
import { newFile } from "./files.ts"
import { connected, value } from "./opened.ts"

type Store = ConversationStore["Service"]

const runId = RunId.make("r1")
const agent = AgentName.make("agent")

/** A word that stands nowhere else, spread over a text so that every page of it has one. */
const words = (marker: string, bytes: number): string => `${marker} `.repeat(Math.ceil(bytes / (marker.length + 1)))

/** A batch of these payloads. */
const batch = (id: string, ...payloads: ReadonlyArray<Payload.Written>) => ({
  batchId: BatchId.make(id),
  records: payloads.map((payload, i) => ({ recordId: RecordId.make(`${id}/${i}`), at: 0, payload }))
})

/** All that a conversation can hold of somebody's words, each with the marker; eight records in eight batches. */
const everything = (marker: string): ReadonlyArray<Payload.Written> => [
  { _tag: "ConversationCreated", title: marker, instructions: words(marker, 500), metadata: { [marker]: marker } },
  { _tag: "RunStarted", runId, agent, mode: "execute" },
  { _tag: "InputRecorded", runId, kind: "user", message: { role: "user", content: words(marker, 20) } },
  {
    _tag: "ModelResponded",
    runId,
    step: 1,
    agent,
    finishReason: "tool-calls",
    content: [
      { type: "text", text: words(marker, 300_000) },
      { type: "tool-call", id: "c1", name: "search", params: { [marker]: words(marker, 5_000) } }
    ]
  },
  { _tag: "Custom", name: "note", data: words(marker, 3_000) },
  { _tag: "Custom", name: "note", data: words(marker, 120_000) },
  { _tag: "MetadataChanged", title: `${marker} again`, metadata: [words(marker, 4_000)] },
  { _tag: "Compacted", kind: "summary", coversThrough: 2, pinned: [], summary: words(marker, 9_000) }
]

const write = Effect.fnUntraced(function* (store: Store, id: ConversationId, payloads: ReadonlyArray<Payload.Written>) {
  const append = yield* takeOver(store, id)
  for (const [i, payload] of payloads.entries()) yield* append(batch(`b/${i}`, payload))
})

/** Saves a checkpoint whose state has the marker, as one of another release might. */
const checkpoint = Effect.fnUntraced(function* (store: Store, id: ConversationId, marker: string) {
  const log = yield* Stream.runCollect(store.read({ conversationId: id }))
  const state = yield* Effect.fromResult(Conversation.replay(Conversation.initial(id), log))
  const { digest, epoch, sequence } = yield* store.tail({ conversationId: id })
  const marked = { ...state, agent: AgentName.make(marker) }
  yield* store.saveCheckpoint({
    conversationId: id,
    sequence,
    digest,
    stateVersion,
    state: marked,
    epoch,
    producerId
  })
})

/** How often each file beside the database, and itself, has these bytes. */
const found = (filename: string, marker: string): { readonly [name: string]: number } =>
  Object.fromEntries(
    readdirSync(dirname(filename)).flatMap((name) => {
      const count = readFileSync(join(dirname(filename), name), "latin1").split(marker).length - 1
      return count === 0 ? [] : [[name, count]]
    })
  )

const redactAll = Effect.fnUntraced(function* (store: Store, id: ConversationId, sequences: ReadonlyArray<number>) {
  const { epoch, tail } = yield* store.materialize({ conversationId: id, producerId })
  const batchId = BatchId.make(`redaction in epoch ${epoch}`)
  return yield* store.redact({
    conversationId: id,
    sequences,
    reason: "asked for",
    batchId,
    expectedTail: tail,
    epoch,
    producerId
  })
})

const marker = "distinctive-marker"
const other = "another-word"
const neighbour = ConversationId.make("neighbour")

/** Two conversations, one behind the other in the file, with a checkpoint in each. */
const writeBoth = Effect.fnUntraced(function* (store: Store) {
  yield* write(store, conversationId, everything(marker))
  yield* write(store, neighbour, everything(other))
  yield* checkpoint(store, conversationId, marker)
  yield* checkpoint(store, neighbour, other)
})

describe("no byte is left", () => {
  it.effect("of an erased conversation, in the file, its log or its free pages", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* opened({ filename })
          yield* writeBoth(store)
          assert.isNotEmpty(Object.keys(found(filename, marker)))
          const kept = yield* store.export({ conversationId: neighbour })
          const { bytes, removed } = yield* store.erase({ conversationId })
          assert.strictEqual(bytes, "gone")
          assert.deepStrictEqual(removed, { records: 8, checkpoints: 1, callIds: 1 })
          assert.deepStrictEqual(found(filename, marker), {})
          assert.deepStrictEqual(yield* store.export({ conversationId: neighbour }), kept)
        })
      )
      assert.deepStrictEqual(found(filename, marker), {})
      assert.isNotEmpty(Object.keys(found(filename, other)))
      const database = yield* connected(filename)
      const key = "(SELECT key FROM conversations WHERE id = ?)"
      const ofIt = (what: string) =>
        value(database, `SELECT ${what} FROM records WHERE conversation = ${key}`, conversationId)
      assert.deepStrictEqual(
        [ofIt("count(*)"), ofIt("count(salt)"), ofIt("sum(length(payload))"), ofIt("sum(length(digest))")],
        [8, 0, 0, 8 * 32]
      )
      assert.strictEqual(value(database, "PRAGMA integrity_check"), "ok")
    })
  )

  it.effect("of redacted records, and of the title and the summary with them", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* opened({ filename })
          yield* writeBoth(store)
          const { bytes, sequences } = yield* redactAll(store, conversationId, [1, 3, 4, 5, 6, 7])
          assert.strictEqual(bytes, "gone")
          assert.deepStrictEqual(sequences, [1, 3, 4, 5, 6, 7, 8])
          assert.deepStrictEqual(found(filename, marker), {})
          assert.deepStrictEqual((yield* store.verify({ conversationId })).faults, [])
        })
      )
      assert.deepStrictEqual(found(filename, marker), {})
      assert.isNotEmpty(Object.keys(found(filename, other)))
    })
  )

  it.effect("of many records of all sizes, between those of others that stay", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* opened({ filename, synchronous: "normal" })
      const ids = [conversationId, neighbour]
      const appends = yield* Effect.forEach(ids, (id) => takeOver(store, id))
      for (let n = 0; n < 600; n++) {
        for (const [i, append] of appends.entries()) {
          const data = words(i === 0 ? `${marker}-${n}` : `${other}-${n}`, 1 + ((n * 7_919) % 9_000))
          yield* append(
            batch(`b/${n}`, n === 0 ? { _tag: "ConversationCreated" } : { _tag: "Custom", name: "n", data })
          )
        }
      }
      // Every third record is redacted first, so that rows shrink and pages are put in order before the rest goes.
      const thirds = Array.from({ length: 190 }, (_, i) => 3 + 3 * i)
      yield* redactAll(store, conversationId, thirds)
      const left = new Set(readFileSync(filename, "latin1").match(/distinctive-marker-\d+ /g))
      assert.deepStrictEqual(
        thirds.filter((sequence) => left.has(`${marker}-${sequence - 1} `)),
        []
      )
      assert.strictEqual(left.size, 599 - thirds.length)
      yield* (yield* takeOver(store))(batch("more", { _tag: "Custom", name: "n", data: words(marker, 50_000) }))
      assert.strictEqual((yield* store.erase({ conversationId })).bytes, "gone")
      assert.deepStrictEqual(found(filename, marker), {})
      assert.deepStrictEqual((yield* store.verify({ conversationId: neighbour })).faults, [])
    })
  )

  it.effect("of a fork and what it was forked from, erased with cascade", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* opened({ filename })
      yield* write(store, conversationId, everything(marker))
      const fork = ConversationId.make("fork")
      yield* store.fork({ from: conversationId, into: fork })
      yield* store.erase({ conversationId })
      assert.isNotEmpty(Object.keys(found(filename, marker)))
      const { bytes, cascaded } = yield* store.erase({ conversationId, cascade: true })
      assert.strictEqual(bytes, "gone")
      assert.strictEqual(cascaded[0]?.conversationId, fork)
      assert.deepStrictEqual(found(filename, marker), {})
    })
  )

  it.effect("of checkpoints that were pruned, once something is erased", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* opened({ filename })
      yield* write(store, conversationId, everything(other))
      yield* checkpoint(store, conversationId, marker)
      yield* store.pruneCheckpoints({ conversationId, keep: 0 })
      yield* write(store, neighbour, everything(other))
      yield* store.erase({ conversationId: neighbour })
      assert.deepStrictEqual(found(filename, marker), {})
    })
  )

  it.effect("of what an import has staged and was given up", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* opened({ filename, synchronous: "normal" })
      const large = Array.from({ length: 20 }, (_, i) =>
        batch(
          `b/${i}`,
          ...Array.from({ length: 250 }, (): Payload.Written => ({
            _tag: "Custom",
            name: "n",
            data: words(marker, 200)
          }))
        )
      )
      const twice = [...large, batch("b/0", { _tag: "Custom", name: "n", data: marker })]
      const request = { conversationId, producerId, batches: twice }
      assert.strictEqual((yield* Effect.flip(store.importBatches(request)))._tag, "ImportRejected")
      yield* store.materialize({ conversationId, producerId })
      yield* store.erase({ conversationId })
      assert.deepStrictEqual(found(filename, marker), {})
    })
  )

  it.effect("of a conversation in a file that is shared with others", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE theirs (id TEXT)`
        const store = yield* ConversationStore
        yield* writeBoth(store)
        yield* sql`INSERT INTO theirs VALUES ('x')`
        assert.strictEqual((yield* store.erase({ conversationId })).bytes, "gone")
        assert.deepStrictEqual(found(filename, marker), {})
      }).pipe(Effect.provide(Layer.provideMerge(SqliteStorage.layerClient(), SqliteStorage.layerFile({ filename }))))
    })
  )
})

describe("over a client of somebody else", () => {
  it.effect("that overwrites nothing by itself, no byte is left either", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      yield* Effect.gen(function* () {
        const store = yield* ConversationStore
        yield* writeBoth(store)
        assert.strictEqual((yield* redactAll(store, neighbour, [1, 3, 4, 5, 6, 7])).bytes, "gone")
        assert.deepStrictEqual(found(filename, other), {})
        assert.strictEqual((yield* store.erase({ conversationId })).bytes, "gone")
        assert.deepStrictEqual(found(filename, marker), {})
      }).pipe(Effect.provide(Layer.provide(SqliteStorage.layerClient(), SqliteClient.layer({ filename }))))
    })
  )
})

describe("while another connection reads", () => {
  it.effect("the bytes of an erasure are pending, and gone when it is repeated afterwards", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* opened({ filename })
      yield* writeBoth(store)
      const reader = yield* connected(filename)
      reader.exec("BEGIN")
      assert.strictEqual(value(reader, "SELECT count(*) FROM conversations"), 2)
      assert.strictEqual((yield* store.erase({ conversationId })).bytes, "pending")
      const second = yield* store.erase({ conversationId })
      assert.deepStrictEqual([second.alreadyErased, second.bytes], [true, "pending"])
      // What it began to read is still there for it, and for nobody else.
      assert.strictEqual(value(reader, "SELECT count(*) FROM records WHERE payload LIKE ?", `%${marker}%`), 7)
      assert.strictEqual((yield* Effect.flip(store.tail({ conversationId })))._tag, "ConversationErased")
      reader.exec("COMMIT")
      const third = yield* store.erase({ conversationId })
      assert.deepStrictEqual([third.alreadyErased, third.bytes], [true, "gone"])
      assert.deepStrictEqual(found(filename, marker), {})
    })
  )

  it.effect("the bytes of a redaction are pending, and gone when it is repeated afterwards", () =>
    Effect.gen(function* () {
      const filename = yield* newFile
      const store = yield* opened({ filename })
      yield* writeBoth(store)
      const reader = yield* connected(filename)
      reader.exec("BEGIN")
      assert.strictEqual(value(reader, "SELECT count(*) FROM conversations"), 2)
      const { epoch, tail } = yield* store.materialize({ conversationId, producerId })
      const batchId = BatchId.make("redaction")
      const sequences = [1, 3, 4, 5, 6, 7]
      const request = { conversationId, sequences, reason: "", batchId, expectedTail: tail, epoch, producerId }
      const first = yield* store.redact(request)
      assert.deepStrictEqual([first.replayed, first.bytes], [false, "pending"])
      reader.exec("COMMIT")
      const second = yield* store.redact(request)
      assert.deepStrictEqual([second.replayed, second.bytes], [true, "gone"])
      assert.deepStrictEqual(found(filename, marker), {})
    })
  )
})
