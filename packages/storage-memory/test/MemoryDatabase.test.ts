import { assert, describe, it } from "@effect/vitest"
import { MemoryDatabase } from "@colloquy/storage-memory"
import type { BatchRow, Commit, Head, RecordRow } from "@colloquy/store/ConversationDriver"

const bytes = (fill: number) => new Uint8Array(32).fill(fill)

const head: Omit<Head, "conversationId"> = {
  sequence: 0,
  tail: bytes(0),
  epoch: 1,
  producerId: "a",
  status: "idle",
  title: null,
  createdAt: 0,
  updatedAt: 0,
  erased: false,
  forkedFrom: null
}

const batch = (batchId: string, first: number, last: number): BatchRow => ({
  batchId,
  first,
  last,
  epoch: 1,
  producerId: "a",
  content: bytes(last),
  tail: bytes(last)
})

const record = (recordId: string, sequence: number): RecordRow => ({
  sequence,
  recordId,
  at: 0,
  schemaVersion: 1,
  salt: null,
  digest: bytes(sequence),
  payload: "{}"
})

const created = (conversationId: string, fields: Partial<Commit> = {}): Commit => ({
  conversationId,
  guard: "absent",
  head,
  ...fields
})

/** A database with the conversation `c`: one batch of two records. */
const withOne = () => {
  const database = MemoryDatabase.make()
  database.commit(
    created("c", {
      head: { ...head, sequence: 2, tail: bytes(2) },
      batches: [batch("b", 1, 2)],
      records: [record("r1", 1), record("r2", 2)],
      callIds: ["c1"]
    })
  )
  return database
}

describe("a commit", () => {
  it("creates what is absent, once", () => {
    const database = withOne()
    assert.strictEqual(database.commit(created("c")), "refused")
    assert.strictEqual(database.rows("c")?.head.sequence, 2)
  })

  it("looks at each field of its guard, and at no other", () => {
    const holding = { sequence: 2, tail: bytes(2), epoch: 1, producerId: "a" }
    const wrong = { sequence: 1, tail: bytes(3), epoch: 2, producerId: null }
    for (const field of ["sequence", "tail", "epoch", "producerId"] as const) {
      const database = withOne()
      const commit = { conversationId: "c", head: { title: "changed" } }
      assert.strictEqual(database.commit({ ...commit, guard: { ...holding, [field]: wrong[field] } }), "refused")
      assert.isNull(database.rows("c")?.head.title)
      assert.strictEqual(database.commit({ ...commit, guard: { [field]: holding[field] } }), "committed")
      assert.strictEqual(database.rows("c")?.head.title, "changed")
    }
  })

  it("refuses rows whose keys exist, in the log or in the commit, and writes nothing of it", () => {
    const next = { sequence: 3, tail: bytes(3) }
    const refused: ReadonlyArray<Partial<Commit>> = [
      { batches: [batch("b", 3, 3)], records: [record("r3", 3)] },
      { batches: [batch("b3", 3, 3)], records: [record("r1", 3)] },
      { batches: [batch("b3", 3, 4)], records: [record("r3", 3), record("r3", 4)] },
      { batches: [batch("b3", 3, 3), batch("b3", 4, 4)], records: [record("r3", 3), record("r4", 4)] },
      { batches: [batch("b3", 2, 2)], records: [record("r3", 2)] },
      { batches: [batch("b3", 4, 4)], records: [record("r4", 4)] }
    ]
    for (const rows of refused) {
      const database = withOne()
      assert.strictEqual(database.commit({ conversationId: "c", guard: {}, head: next, ...rows }), "refused")
      const found = database.rows("c")
      assert.deepStrictEqual([found?.head.sequence, found?.records.length, found?.batches.length], [2, 2, 1])
    }
  })

  it("discards every row of an id, and nothing else", () => {
    const database = withOne()
    database.commit(created("d"))
    database.discard("c")
    database.discard("nobody")
    assert.isUndefined(database.rows("c"))
    assert.isFalse(database.hasRecord("c", "r1"))
    assert.deepStrictEqual(database.idsAfter(""), ["d"])
  })

  it("adopts staged rows that end where it says, and no others", () => {
    const database = withOne()
    const at = { ...head, sequence: 2, tail: bytes(2) }
    assert.strictEqual(database.commit(created("d", { head: at, adopt: "none" })), "refused")
    assert.strictEqual(database.commit(created("d", { head: { ...at, tail: bytes(9) }, adopt: "c" })), "refused")
    assert.strictEqual(database.commit(created("d", { head: { ...at, sequence: 1 }, adopt: "c" })), "refused")
    assert.strictEqual(database.commit(created("d", { head: at, adopt: "c" })), "committed")
    assert.isUndefined(database.rows("c"))
    assert.strictEqual(database.rows("d")?.head.conversationId, "d")
    assert.strictEqual(database.findBatch("d", "b")?.last, 2)
    assert.deepStrictEqual(database.idsAfter(""), ["d"])
  })

  it("keeps the newest checkpoints, one of each place", () => {
    const database = withOne()
    const save = (sequence: number, state: string) =>
      database.commit({
        conversationId: "c",
        guard: {},
        head: {},
        checkpoint: { sequence, digest: bytes(1), stateVersion: 1, state },
        keepCheckpoints: 2
      })
    for (const [sequence, state] of [
      [1, "a"],
      [3, "b"],
      [2, "c"],
      [3, "d"]
    ] as const)
      save(sequence, state)
    assert.deepStrictEqual(
      database.rows("c")?.checkpoints.map(({ sequence, state }) => [sequence, state]),
      [
        [3, "d"],
        [2, "c"]
      ]
    )
  })
})

describe("ids", () => {
  it("come in the order of their UTF-8 bytes", () => {
    const database = MemoryDatabase.make()
    const ids = [
      "b",
      "a",
      "\ud800\udc00",
      "\uffff",
      "\ue000",
      "\ud7ff",
      "aa",
      "\u0000s",
      "é",
      "z\ud83d\ude00",
      "z\uff5e"
    ]
    for (const id of ids) database.commit(created(id))
    const byBytes = ids.toSorted((one, two) => Buffer.compare(Buffer.from(one), Buffer.from(two)))
    assert.deepStrictEqual(database.idsAfter(""), byBytes)
    for (const [i, id] of byBytes.entries()) assert.deepStrictEqual(database.idsAfter(id), byBytes.slice(i + 1))
    assert.deepStrictEqual(database.idsAfter("b0"), byBytes.slice(byBytes.indexOf("b") + 1))
  })
})
