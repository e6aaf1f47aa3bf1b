/** Starting the desk: where it listens, what it opens, and what it says when it cannot. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { clientOf, folder } from "./desk.ts"
import { start } from "./process.ts"

/** Something else that listens; gives its port. */
const other = Effect.map(
  NodeHttpServer.make(() => createServer(), { host: "127.0.0.1", port: 0 }),
  ({ address }) => ("port" in address ? address.port : 0)
)

describe("the desk", () => {
  it.live("prints one line with its address, and keeps its file under the folder it is started in", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const desk = yield* start(["--port", "0"], { cwd })
      const client = yield* clientOf(yield* desk.url)
      assert.strictEqual((yield* client.health({})).model, "offline")
      const { code, stderr, stdout } = yield* desk.kill("SIGINT")
      assert.match(stdout, /^http:\/\/127\.0\.0\.1:\d+\/\n$/)
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.isTrue(existsSync(join(cwd, ".desk", "desk.db")))
    }).pipe(Effect.scoped)
  )

  it.live("whose port is taken says so, and what to do", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const port = yield* other
      const { code, stderr, stdout } = yield* (yield* start(["--port", String(port)], { cwd })).ended
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, new RegExp(`^desk: port ${port} cannot be had \\(something else listens there\\).*--port`))
      assert.notMatch(stderr, /\n.*\n/)
    }).pipe(Effect.scoped)
  )

  it.live("whose port is none says so as wrong usage; 0 is any port, wherever it is said", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      for (const given of [
        yield* start(["--port=70000"], { cwd }),
        yield* start(["--port=-1"], { cwd }),
        yield* start([], { cwd, env: { DESK_PORT: "70000" } })
      ]) {
        const { code, stderr } = yield* given.ended
        assert.strictEqual(code, 2, stderr)
        assert.match(stderr, /--port.*a port is a number from 0 to 65535/)
      }
      yield* (yield* start([], { cwd, env: { DESK_PORT: "0" } })).url
    }).pipe(Effect.scoped)
  )

  it.live("that was told no port takes the next free one", () =>
    Effect.gen(function* () {
      const first = yield* start([], { cwd: yield* folder })
      const second = yield* start([], { cwd: yield* folder })
      assert.notStrictEqual(yield* first.url, yield* second.url)
    }).pipe(Effect.scoped)
  )

  it.live("does not touch a file of a newer version, or of something else", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const mine = yield* start(["--port", "0", "--db", "mine.db"], { cwd })
      yield* mine.url
      yield* mine.kill("SIGTERM")
      const change = (name: string, sql: string) => {
        const database = new DatabaseSync(join(cwd, name))
        database.exec(sql)
        database.close()
      }
      change("mine.db", "PRAGMA user_version = 99")
      change("theirs.db", "CREATE TABLE recipes (name TEXT)")
      for (const [name, why] of [
        ["mine.db", /version 99/],
        ["theirs.db", /something else.*choose another file/]
      ] as const) {
        const { code, stderr, stdout } = yield* (yield* start(["--port", "0", "--db", name], { cwd })).ended
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.match(stderr, /^desk: /)
        assert.match(stderr, why)
      }
    }).pipe(Effect.scoped)
  )

  it.live("without what its model needs says what is missing, and opens nothing", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const ended = yield* (yield* start(["--port", "0", "--model", "anthropic"], { cwd })).ended
      assert.strictEqual(ended.code, 1)
      assert.match(ended.stderr, /set ANTHROPIC_API_KEY/)
      assert.isFalse(existsSync(join(cwd, ".desk")))
      const wrong = yield* (yield* start(["--colour", "red"], { cwd })).ended
      assert.strictEqual(wrong.code, 2)
      assert.match(wrong.stderr, /Unrecognized flag: --colour/)
      const dear = yield* (yield* start(["--prices", "a lot"], { cwd })).ended
      assert.strictEqual(dear.code, 2)
      assert.match(dear.stderr, /prices are written like 3\/15/)
    }).pipe(Effect.scoped)
  )
})
