import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { DatabaseSync } from "node:sqlite"
import type { Outcome } from "../src/internal/connections.ts"
import * as GroupCommit from "../src/internal/groupCommit.ts"
import type { Script } from "../src/internal/script.ts"
import * as Session from "../src/internal/session.ts"
import { value } from "./opened.ts"

/** The writes of a database in memory, where a control statement may fail before it is run. */
const begun = (faults: (sql: string) => Error | undefined = () => undefined) => {
  const database = new DatabaseSync(":memory:")
  database.exec("CREATE TABLE notes (text TEXT PRIMARY KEY)")
  const session = Session.make(database, Context.empty())
  const controls: Array<string> = []
  const write = GroupCommit.make(
    {
      ...session,
      control: (sql) => {
        controls.push(sql)
        const fault = faults(sql)
        if (fault !== undefined) throw fault
        session.control(sql)
      }
    },
    Semaphore.makeUnsafe(1)
  )
  return {
    controls,
    database,
    kept: () => value(database, "SELECT group_concat(text, '') FROM (SELECT text FROM notes ORDER BY text)"),
    write: (script: () => Script<Outcome<string>>) => write(script, Duration.seconds(1))
  }
}

const note = (text: string, commit = true) =>
  function* (): Script<Outcome<string>> {
    yield { sql: "INSERT INTO notes VALUES (?)", parameters: [text] }
    return { commit, value: text }
  }

const sqliteError = (errcode: number) => Object.assign(new Error("planned"), { errcode })

const together = <A, E>(writes: ReadonlyArray<Effect.Effect<A, E>>) =>
  Effect.forEach(writes, Effect.result, { concurrency: "unbounded" })

const tags = (results: ReadonlyArray<{ readonly _tag: string }>) => results.map(({ _tag }) => _tag[0]).join("")

describe("a group", () => {
  it.effect("is one transaction, with a savepoint for each script", () =>
    Effect.gen(function* () {
      const { controls, kept, write } = begun()
      assert.strictEqual(tags(yield* together(["a", "b"].map((text) => write(note(text))))), "SS")
      const each = ["SAVEPOINT script", "RELEASE script"]
      assert.deepStrictEqual(controls, ["BEGIN IMMEDIATE", ...each, ...each, "COMMIT"])
      assert.strictEqual(kept(), "ab")
    })
  )

  it.effect("undoes and answers alone what fails, what throws, and what is not to be kept", () =>
    Effect.gen(function* () {
      const { controls, kept, write } = begun()
      const throws = function* (): Script<Outcome<string>> {
        yield* note("t")()
        throw new Error("planned")
      }
      const writes = [note("a"), note("a"), note("b", false), throws, note("c")]
      assert.strictEqual(tags(yield* together(writes.map(write))), "SFSFS")
      assert.strictEqual(kept(), "ac")
      assert.lengthOf(
        controls.filter((sql) => sql === "COMMIT"),
        1
      )
    })
  )

  it.effect("of which nothing is to be kept is rolled back", () =>
    Effect.gen(function* () {
      const { controls, kept, write } = begun()
      yield* together(["a", "b"].map((text) => write(note(text, false))))
      assert.strictEqual(controls.at(-1), "ROLLBACK")
      assert.isNull(kept())
    })
  )

  it.effect("has at most 64 scripts, and the others come next", () =>
    Effect.gen(function* () {
      const { controls, write } = begun()
      yield* together(Array.from({ length: 65 }, (_, i) => write(note(`${i}`))))
      assert.lengthOf(
        controls.filter((sql) => sql === "COMMIT"),
        2
      )
    })
  )

  it.effect("takes no further script once it is large", () =>
    Effect.gen(function* () {
      const { controls, write } = begun()
      const large = "x".repeat(5 * 1024 * 1024)
      yield* together(["a", "b", "c", "d"].map((text) => write(note(text + large))))
      assert.lengthOf(
        controls.filter((sql) => sql === "COMMIT"),
        2
      )
    })
  )

  it.effect("whose commit fails is undone, and each script runs again alone", () =>
    Effect.gen(function* () {
      let faults = 1
      const { controls, kept, write } = begun((sql) => (sql === "COMMIT" && faults-- > 0 ? sqliteError(13) : undefined))
      assert.strictEqual(tags(yield* together(["a", "b", "b"].map((text) => write(note(text))))), "SSF")
      assert.strictEqual(kept(), "ab")
      assert.deepStrictEqual(
        controls.filter((sql) => !sql.includes("script")),
        "BEGIN IMMEDIATE,COMMIT,ROLLBACK,BEGIN IMMEDIATE,COMMIT,BEGIN IMMEDIATE,COMMIT,BEGIN IMMEDIATE,ROLLBACK".split(
          ","
        )
      )
    })
  )

  it.effect("whose transaction SQLite leaves is undone, and each script runs again alone", () =>
    Effect.gen(function* () {
      const { database, kept, write } = begun()
      const leaves = function* (): Script<Outcome<string>> {
        yield* note("l")()
        yield { sql: "ROLLBACK", parameters: [] }
        throw sqliteError(10)
      }
      assert.strictEqual(tags(yield* together([note("a"), leaves, note("b")].map(write))), "SFS")
      assert.strictEqual(kept(), "ab")
      assert.isFalse(database.isTransaction)
    })
  )

  it.effect("that cannot be committed at all is answered with retryable errors, and nothing is kept", () =>
    Effect.gen(function* () {
      let full = true
      const { kept, write } = begun((sql) => (full && sql === "COMMIT" ? sqliteError(778) : undefined))
      for (const result of yield* together(["a", "b"].map((text) => write(note(text))))) {
        if (result._tag === "Success" || result.failure._tag !== "StoreUnavailable") return assert.fail(result._tag)
        assert.isTrue(result.failure.retryable)
        assert.include(result.failure.message, "same batch id")
      }
      assert.isNull(kept())
      full = false
      yield* write(note("c"))
      assert.strictEqual(kept(), "c")
    })
  )

  it.effect("that could not be rolled back is rolled back before the next", () =>
    Effect.gen(function* () {
      let faults = 2
      const { kept, write } = begun((sql) =>
        (sql === "COMMIT" || sql === "ROLLBACK") && faults-- > 0 ? sqliteError(778) : undefined
      )
      assert.strictEqual(tags(yield* together([write(note("a"))])), "F")
      assert.strictEqual(tags(yield* together([write(note("b"))])), "S")
      assert.strictEqual(kept(), "b")
    })
  )

  it.effect("that cannot begin is answered with the reason, all of it", () =>
    Effect.gen(function* () {
      const { kept, write } = begun((sql) => (sql === "BEGIN IMMEDIATE" ? sqliteError(14) : undefined))
      assert.strictEqual(tags(yield* together(["a", "b"].map((text) => write(note(text))))), "FF")
      assert.isNull(kept())
    })
  )
})

describe("one writer", () => {
  it.effect("gets a transaction for each write, without savepoints", () =>
    Effect.gen(function* () {
      const { controls, write } = begun()
      for (const text of ["a", "b", "c"]) yield* write(note(text))
      assert.deepStrictEqual(
        controls,
        ["a", "b", "c"].flatMap(() => ["BEGIN IMMEDIATE", "COMMIT"])
      )
    })
  )

  it.effect("writes at once again after it was in a group", () =>
    Effect.gen(function* () {
      const { controls, write } = begun()
      yield* together(["a", "b"].map((text) => write(note(text))))
      yield* write(note("c"))
      let turns = 0
      yield* Effect.forkScoped(
        Effect.forever(
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => turns++)
          )
        )
      )
      for (const text of ["d", "e", "f"]) yield* write(note(text))
      assert.strictEqual(turns, 0)
      assert.deepStrictEqual(controls.slice(-2), ["BEGIN IMMEDIATE", "COMMIT"])
    })
  )

  it.effect("does not pass those who wait", () =>
    Effect.gen(function* () {
      const { database, write } = begun()
      const order = () => value(database, "SELECT group_concat(text, '') FROM (SELECT text FROM notes ORDER BY rowid)")
      yield* write(note("a"))
      const waiting = yield* Effect.forkScoped(write(note("b")), { startImmediately: true })
      yield* write(note("c"))
      assert.strictEqual(waiting.pollUnsafe()?._tag, "Success")
      assert.strictEqual(order(), "abc")
    })
  )
})
