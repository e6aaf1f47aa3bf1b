import { assert, describe, it } from "@effect/vitest"
import { MemoryDatabase, MemoryDriver } from "@colloquy/storage-memory"
import { type BatchRow, type Commit, ConversationDriver, type RecordRow } from "@colloquy/store/ConversationDriver"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import { contract, run } from "@colloquy/store/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import * as JsonlDriver from "../src/JsonlDriver.ts"
import { filesOf, filesWith, newFolder } from "./folder.ts"

type Driver = ConversationDriver["Service"]

const bytes = (value: number, length = 32): Uint8Array => new Uint8Array(length).fill(value)

const head = {
  sequence: 1,
  tail: bytes(1),
  epoch: 1,
  producerId: "p",
  status: "idle",
  title: null,
  createdAt: 0,
  updatedAt: 0,
  erased: false,
  forkedFrom: null
} as const

const record = (sequence: number, recordId = `r${sequence}`): RecordRow => ({
  sequence,
  recordId,
  at: 0,
  schemaVersion: 1,
  salt: bytes(sequence, 16),
  digest: bytes(sequence),
  payload: `the words of ${recordId}`
})

const batch = (sequence: number, batchId = `b${sequence}`): BatchRow => ({
  batchId,
  first: sequence,
  last: sequence,
  epoch: 1,
  producerId: "p",
  content: bytes(sequence),
  tail: bytes(sequence)
})

const created = (conversationId: string): Commit => ({
  conversationId,
  guard: "absent",
  head,
  batches: [batch(1)],
  records: [record(1)],
  callIds: ["call"]
})

const next = (fields: Partial<Commit>): Commit => ({ conversationId: "c", guard: {}, head: {}, ...fields })

const contentOf = (folder: string) => filesOf(folder, ".ndjson").map((path) => readFileSync(path, "utf8"))

describe("a commit that the rows refuse", () => {
  const staged = "\u0000staged"
  const refused: { readonly [why: string]: Commit } = {
    "it is there already": created("c"),
    "it is not there": { ...created("d"), guard: {} },
    "another sequence": next({ guard: { sequence: 2 } }),
    "another tail": next({ guard: { tail: bytes(2) } }),
    "another epoch": next({ guard: { epoch: 2 } }),
    "another producer": next({ guard: { producerId: "q" } }),
    "no producer": next({ guard: { producerId: null } }),
    "a batch id that is there": next({ batches: [batch(2, "b1")], records: [record(2)] }),
    "a batch id twice": next({ batches: [batch(2), batch(3, "b2")], records: [record(2), record(3)] }),
    "a record id that is there": next({ batches: [batch(2)], records: [record(2, "r1")] }),
    "a record id twice": next({ batches: [batch(2)], records: [record(2), record(3, "r2")] }),
    "a gap": next({ batches: [batch(3)], records: [record(3)] }),
    "in a new conversation, a record id twice": { ...created("d"), records: [record(1), record(2, "r1")] },
    "in a redaction, another tail": next({ guard: { tail: bytes(2) }, replaced: [{ sequence: 1, payload: "" }] }),
    "in a redaction, a record id that is there": next({
      replaced: [{ sequence: 1, payload: "" }],
      records: [record(2, "r1")]
    }),
    "in an adoption, nothing staged": { conversationId: "d", guard: "absent", head, adopt: "nothing" },
    "in an adoption, another tail": {
      conversationId: "d",
      guard: "absent",
      head: { ...head, tail: bytes(2) },
      adopt: staged
    },
    "in an adoption, it is there already": { conversationId: "c", guard: "absent", head, adopt: staged }
  }
  for (const [why, commit] of Object.entries(refused)) {
    it.live(`is refused by the files, which stay as they are: ${why}`, () =>
      Effect.gen(function* () {
        const folder = yield* newFolder
        const files = yield* JsonlDriver.make(folder, false)
        const memory = MemoryDriver.make(MemoryDatabase.make())
        for (const driver of [files, memory]) for (const id of ["c", staged]) yield* driver.commit(created(id))
        const before = contentOf(folder)
        assert.strictEqual(yield* memory.commit(commit), "refused")
        assert.strictEqual(yield* files.commit(commit), "refused")
        assert.deepStrictEqual(contentOf(folder), before)
      })
    )
  }
})

/** All rows, staged ones and those of tenants included. */
const everything = Effect.fnUntraced(function* (driver: Driver) {
  const heads = yield* driver.list({ after: "", before: undefined, limit: Infinity, status: undefined })
  return yield* Effect.forEach(heads, ({ conversationId, ...head }) =>
    Effect.all({
      head: Effect.succeed({ conversationId, ...head }),
      page: driver.records({ conversationId, after: 0, through: Infinity, limit: Infinity, reverse: false }),
      checkpoints: driver.checkpoints(conversationId, Infinity),
      forks: driver.forks(conversationId)
    })
  )
})

/** Without those that take long because they write much of the same. */
const cases = contract.filter(({ name }) => !/large|many|limits|thousand|hundreds|concurrency|observe/.test(name))

describe("a folder", () => {
  it.live(
    "that is opened again has every row that the cases of the contract have left",
    () =>
      Effect.gen(function* () {
        const folder = yield* newFolder
        const before = yield* Effect.scoped(
          Effect.gen(function* () {
            const driver = yield* JsonlDriver.make(folder, false)
            const storage = Layer.provide(ConversationStore.layer(), Layer.succeed(ConversationDriver, driver))
            yield* run(cases, storage)
            return yield* everything(driver)
          })
        )
        assert.isAbove(before.length, cases.length / 2)
        assert.deepStrictEqual(yield* everything(yield* JsonlDriver.make(folder, false)), before)
      }),
    60_000
  )

  it.live("gives staged rows their new id in one file, and keeps all of them when it is rewritten", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      const checkpoint = { sequence: 1, digest: bytes(1), stateVersion: 1, state: "{}" }
      yield* Effect.scoped(
        Effect.gen(function* () {
          const driver = yield* JsonlDriver.make(folder, true)
          yield* driver.commit(created("\u0000staged"))
          const adopted = { conversationId: "c", guard: "absent", head, adopt: "\u0000staged" } as const
          assert.strictEqual(yield* driver.commit(adopted), "committed")
          yield* driver.commit(next({ checkpoint }))
          yield* driver.commit(next({ replaced: [{ sequence: 1, payload: "nothing" }] }))
        })
      )
      assert.lengthOf(filesOf(folder, ".ndjson"), 1)
      const driver = yield* JsonlDriver.make(folder, true)
      const page = { records: [{ ...record(1), salt: null, payload: "nothing" }], batches: [batch(1)] }
      const rows = { head: { conversationId: "c", ...head }, page, checkpoints: [checkpoint], forks: [] }
      assert.deepStrictEqual(yield* everything(driver), [rows])
      assert.deepStrictEqual(yield* driver.callIds("c", ["call", "other"]), ["call"])
    })
  )

  it.live("has nothing of what was discarded", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      const driver = yield* JsonlDriver.make(folder, true)
      yield* driver.commit(created("\u0000staged"))
      assert.lengthOf(filesWith(folder, "the words"), 1)
      yield* driver.discard("\u0000staged")
      yield* driver.discard("\u0000staged")
      assert.deepStrictEqual(filesWith(folder, "the words"), [])
      assert.strictEqual(yield* driver.commit(created("\u0000staged")), "committed")
    })
  )
})
