import type { Commit, ConversationDriver, Head } from "@colloquy/store/ConversationDriver"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import { DatabaseSync } from "node:sqlite"
import * as Connections from "../src/internal/connections.ts"
import * as GroupCommit from "../src/internal/groupCommit.ts"
import { runSync } from "../src/internal/script.ts"
import * as Session from "../src/internal/session.ts"
import * as SqliteDriver from "../src/SqliteDriver.ts"
import { newFile } from "./files.ts"

const head: Omit<Head, "conversationId"> = {
  sequence: 0,
  tail: new Uint8Array(32),
  epoch: 1,
  producerId: "p",
  status: "idle",
  title: null,
  createdAt: 0,
  updatedAt: 0,
  erased: false,
  forkedFrom: null
}

const create = (conversationId: string): Commit => ({ conversationId, guard: "absent", head })

/** One record behind so many. */
const append = (conversationId: string, after: number): Commit => {
  const [sequence, digest] = [after + 1, new Uint8Array(32).fill(after + 1)]
  const record = { sequence, recordId: `r${sequence}`, at: 0, schemaVersion: 1, salt: null, digest, payload: "{}" }
  const batch = { batchId: `b${sequence}`, first: sequence, last: sequence, epoch: 1, producerId: "p" }
  return {
    conversationId,
    guard: { sequence: after, epoch: 1, producerId: "p" },
    head: { sequence, updatedAt: sequence },
    batches: [{ ...batch, content: digest, tail: digest }],
    records: [record]
  }
}

type Driver = ConversationDriver["Service"]

const sequencesOf = (driver: Driver, conversationId: string) =>
  Effect.map(
    driver.records({ conversationId, after: 0, through: 9, limit: 9, reverse: false }),
    ({ batches, records }) => [records.map(({ sequence }) => sequence), batches.length]
  )

const atOnce = (database: DatabaseSync): Connections.Runner => {
  const session = Session.make(database, Context.empty())
  return {
    read: (script) => Effect.sync(() => runSync(script(), session.query)),
    write: GroupCommit.make(session, Semaphore.makeUnsafe(1))
  }
}

describe.each([
  ["at once", atOnce],
  ["statement by statement", (_: DatabaseSync, client: SqlClient.SqlClient) => Connections.overClient(client)]
])("the key of a conversation that was written to, with scripts that run %s", (_, runner) => {
  /** Two drivers over one file, as two processes have it. */
  const drivers = Effect.fnUntraced(function* (filename: string) {
    const client = yield* SqlClient.SqlClient
    const database = yield* Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(filename)),
      (database) => Effect.sync(() => database.close())
    )
    const driver = () =>
      SqliteDriver.make(Connections.make(client, runner(database, client), Duration.seconds(1)), Stream.empty)
    return [driver(), driver()] as const
  })

  const withDrivers = <A, E>(test: (mine: Driver, theirs: Driver) => Effect.Effect<A, E>) =>
    Effect.flatMap(newFile, (filename) =>
      Effect.flatMap(drivers(filename), ([mine, theirs]) => test(mine, theirs)).pipe(
        Effect.provide(Layer.provideMerge(SqliteStorage.layerMigrations, SqliteStorage.layerFile({ filename })))
      )
    )

  it.effect("is not used for another one that has it by now", () =>
    withDrivers(
      Effect.fnUntraced(function* (mine, theirs) {
        for (const commit of [create("a"), append("a", 0)]) assert.strictEqual(yield* mine.commit(commit), "committed")
        yield* theirs.discard("a")
        for (const commit of [create("b"), append("b", 0), create("a"), append("a", 0)]) {
          assert.strictEqual(yield* theirs.commit(commit), "committed")
        }
        assert.strictEqual(yield* mine.commit(append("a", 1)), "committed")
        assert.deepStrictEqual(yield* sequencesOf(mine, "a"), [[1, 2], 2])
        assert.deepStrictEqual(yield* sequencesOf(mine, "b"), [[1], 1])
      })
    )
  )

  it.effect("changes nothing where the guard does not hold, and nothing of a row that is gone", () =>
    withDrivers(
      Effect.fnUntraced(function* (mine) {
        yield* mine.commit(create("a"))
        yield* mine.commit(append("a", 0))
        assert.strictEqual(yield* mine.commit(append("a", 3)), "refused")
        assert.deepStrictEqual(yield* sequencesOf(mine, "a"), [[1], 1])
        yield* mine.discard("a")
        assert.strictEqual(yield* mine.commit(append("a", 1)), "refused")
        assert.isTrue(Option.isNone(yield* mine.head("a")))
      })
    )
  )
})
