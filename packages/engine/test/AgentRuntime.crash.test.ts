import { ConversationStore } from "@colloquy/store"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { assert, describe, it } from "@effect/vitest"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { inputs } from "./speaking.ts"
import { conversationId, story } from "./support.ts"

const child = fileURLToPath(new URL("child/run.ts", import.meta.url))

class ChildFailed extends Data.TaggedError("ChildFailed")<{
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}> {}

/** Runs the child; kills it with SIGKILL when it prints `killAt`. Gives its lines, or fails with what it said. */
const runChild = (verb: string, database: string, killAt = "") =>
  Effect.callback<ReadonlyArray<string>, ChildFailed>((resume) => {
    const args = ["--conditions=@colloquy/source", child, verb, database, killAt]
    const process_ = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] })
    let stdout = ""
    let stderr = ""
    process_.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    process_.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      if (killAt !== "" && stdout.split("\n").includes(killAt)) process_.kill("SIGKILL")
    })
    process_.on("close", (code, signal) => {
      const asExpected = killAt === "" ? code === 0 : signal === "SIGKILL"
      const lines = stdout.split("\n").filter((line) => line !== "")
      resume(asExpected ? Effect.succeed(lines) : Effect.fail(new ChildFailed({ code, signal, stdout, stderr })))
    })
    return Effect.sync(() => process_.kill("SIGKILL"))
  })

/** A file for a database, for as long as it is used. */
const withFile = <A, E>(use: (filename: string) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-crash-"))),
    (directory) => use(join(directory, "crash.db")),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
  )

const inspect = Effect.fnUntraced(function* () {
  const store = yield* ConversationStore.ConversationStore
  assert.deepStrictEqual((yield* store.verify({ conversationId })).faults, [])
  return { told: yield* story, said: yield* inputs }
})

describe("a process killed with SIGKILL", () => {
  it.live("in the middle of a streamed answer: nothing of it is kept, and the next process asks again", () =>
    withFile((filename) =>
      Effect.gen(function* () {
        const before = yield* runChild("stream", filename, "delta done.")
        assert.deepStrictEqual(before, ["delta All", "delta done."])
        assert.deepStrictEqual(yield* runChild("resume", filename), [
          "model 0",
          "look_up A1",
          "refund",
          "model 1",
          "look_up B2",
          "model 2",
          "answer All done."
        ])
        const { told } = yield* Effect.provide(inspect(), SqliteStorage.layer({ filename }))
        assert.deepStrictEqual(told.slice(0, 5), [
          "ConversationCreated",
          "RunStarted",
          "InputRecorded",
          "resumed 2",
          "responded 1"
        ])
        assert.strictEqual(told.at(-1), "ended completed")
      })
    )
  )

  it.live("with an input accepted and not delivered: it is gone with the process, and the run goes on without it", () =>
    withFile((filename) =>
      Effect.gen(function* () {
        const before = yield* runChild("steer", filename, "steered Accepted")
        assert.include(before, "steered Accepted")
        assert.strictEqual((yield* runChild("resume", filename)).at(-1), "answer All done.")
        const { said } = yield* Effect.provide(inspect(), SqliteStorage.layer({ filename }))
        assert.deepStrictEqual(said, [["user", "Where?", undefined]])
      })
    )
  )

  it.live.each(["model 0", "look_up A1", "refund", "model 1", "look_up B2", "model 2"])(
    "at %s: the next process finishes its run",
    (place) =>
      withFile((filename) =>
        Effect.gen(function* () {
          const before = yield* runChild("start", filename, place)
          const after = yield* runChild("resume", filename)
          assert.strictEqual(after.at(-1), "answer All done.")
          const refunds = [...before, ...after].filter((line) => line === "refund")
          assert.isAtMost(refunds.length, 1)

          yield* Effect.gen(function* () {
            const store = yield* ConversationStore.ConversationStore
            assert.deepStrictEqual((yield* store.verify({ conversationId })).faults, [])
            const told = yield* story
            for (const id of ["c1", "c2", "c3"]) {
              assert.strictEqual(told.filter((line) => line.startsWith(`settled ${id} `)).length, 1)
            }
            assert.strictEqual(told.filter((line) => line.startsWith("ended")).length, 1)
            // Beside the look-up the refund runs too: by then it has started, paid, or been stored.
            const isUnknown = told.includes("settled c2 unknown")
            if (place !== "look_up A1") assert.strictEqual(isUnknown, place === "refund")
            if (refunds.length === 0) assert.isTrue(isUnknown)
          }).pipe(Effect.provide(SqliteStorage.layer({ filename })))
        })
      )
  )
})
