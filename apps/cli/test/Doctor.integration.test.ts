/**
 * `colloquy doctor` finds each problem that is planted here, and says what to do; and `stats`.
 */
import * as Conversation from "@colloquy/session/Conversation"
import { stateVersion } from "@colloquy/session/ConversationState"
import type { NewRecord } from "@colloquy/session/CanonicalRecord"
import { BatchId, ConversationId, ProducerId, RecordId, RunId } from "@colloquy/session/Ids"
import * as Usage from "@colloquy/session/Usage"
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { chmodSync, closeSync, copyFileSync, ftruncateSync, openSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, describe, it } from "vitest"
import * as Json from "../src/JsonOutput.ts"
import { errorOf, folder, type Folder, value } from "./colloquy.ts"
import * as S from "./import/samples.ts"
import { oneOf } from "./json.ts"

const into = ["--db", "a.db", "--json"] as const
const template = folder()
const conversationId = ConversationId.make("a")

beforeAll(async () => {
  const chats = ["a", "b"].map((id) => ({
    id,
    messages: [
      S.user("look"),
      S.calls("x"),
      S.result("x", "r".repeat(500)),
      S.says("done"),
      S.user("again"),
      S.says("ok")
    ]
  }))
  template.write("a.jsonl", chats.map((chat) => JSON.stringify(chat)).join("\n"))
  assert.strictEqual((await template.run("import", "a.jsonl", "--db", "a.db")).code, 0)
})

const filled = (): Folder => {
  const home = folder()
  home.copy(template, "a.db")
  return home
}

const sql = (home: Folder, statement: string) => {
  const database = new DatabaseSync(join(home.path, "a.db"))
  database.exec(statement)
  database.close()
}

const decode = Schema.decodeUnknownSync(Json.Diagnosis, { onExcessProperty: "error" })

const diagnose = async (home: Folder, ...more: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await home.run("doctor", ...into, ...more)
  const diagnosis = decode(value<unknown>(stdout))
  assert.strictEqual(code, diagnosis.ok ? 0 : 1)
  if (!diagnosis.ok) assert.strictEqual(errorOf(stderr).tag, "ProblemsFound")
  return diagnosis
}

interface Planted {
  readonly problem: Json.Diagnosis["problems"][0]["problem"]
  readonly plant: (home: Folder) => void | Promise<void>
  readonly remedy: RegExp
  readonly args?: ReadonlyArray<string>
}

const fixture = fileURLToPath(new URL("../../../packages/storage-sqlite/test/fixtures/v1.db", import.meta.url))

const created: NewRecord = { recordId: RecordId.make("created"), at: 0, payload: { _tag: "ConversationCreated" } }

/** A run ends that has never started: no rule of the reducer lets that be. */
const endOfNothing: NewRecord = {
  recordId: RecordId.make("ended"),
  at: 0,
  payload: { _tag: "RunEnded", runId: RunId.make("r1"), outcome: "completed", mode: "execute", usage: Usage.empty }
}

const planted: ReadonlyArray<Planted> = [
  { problem: "file-missing", plant: (home) => void home.write("a.db", ""), remedy: /--db|restore/ },
  {
    problem: "not-a-database",
    plant: (home) => void home.write("a.db", "these are my notes, and no database".repeat(100)),
    remedy: /--db/
  },
  {
    problem: "foreign-database",
    plant: (home) => {
      home.write("a.db", "")
      sql(home, "CREATE TABLE birds (name TEXT)")
    },
    remedy: /choose a file of colloquy/
  },
  { problem: "newer-version", plant: (home) => sql(home, "PRAGMA user_version = 99"), remedy: /update colloquy/ },
  {
    problem: "older-version",
    plant: (home) => copyFileSync(fixture, join(home.path, "a.db")),
    remedy: /colloquy migrate/
  },
  { problem: "lost-tables", plant: (home) => sql(home, "DROP TABLE batches"), remedy: /restore a backup/ },
  {
    problem: "damaged-file",
    plant: (home) => {
      const bytes = home.read("a.db")
      // The kinds of the pages behind the first ones: https://www.sqlite.org/fileformat2.html#b_tree_pages
      for (let page = 4; page * 4096 < bytes.length; page++) bytes[page * 4096] = 0xff
      home.write("a.db", bytes)
    },
    remedy: /restore a backup/
  },
  { problem: "read-only", plant: (home) => chmodSync(join(home.path, "a.db"), 0o444), remedy: /chmod u\+w/ },
  { problem: "low-disk-space", plant: () => undefined, args: ["--min-free-mib", "1000000000"], remedy: /make room/ },
  {
    problem: "large-log",
    plant: (home) => {
      const log = openSync(join(home.path, "a.db-wal"), "w")
      ftruncateSync(log, 80 * 1024 * 1024)
      closeSync(log)
    },
    remedy: /end the process/
  },
  {
    problem: "leftover-file",
    plant: (home) => {
      const name = home.write("b.db.0f8fad5b-d9cb-469f-a165-70867728950e.partial", "half")
      utimesSync(join(home.path, name), new Date(0), new Date(0))
      // One that is written now is somebody's.
      home.write("c.ndjson.4711.part", "half")
    },
    remedy: /rm .*\.partial$/
  },
  {
    problem: "damaged-record",
    plant: (home) => sql(home, `UPDATE records SET payload = replace(payload, 'done', 'gone') WHERE conversation = 1`),
    remedy: /fork a <new id>/
  },
  {
    problem: "broken-chain",
    plant: (home) => sql(home, "UPDATE batches SET content = zeroblob(32) WHERE conversation = 1 AND first > 1"),
    remedy: /backup or an archive/
  },
  {
    problem: "broken-rule",
    plant: (home) =>
      ConversationStore.use((store) =>
        store.importBatches({
          conversationId: ConversationId.make("c"),
          producerId: ProducerId.make("test"),
          batches: [{ batchId: BatchId.make("b"), records: [created, endOfNothing] }]
        })
      ).pipe(
        Effect.asVoid,
        Effect.provide(SqliteStorage.layer({ filename: join(home.path, "a.db") })),
        Effect.runPromise
      ),
    remedy: /backup or an archive/
  },
  {
    problem: "unfinished-run",
    plant: (home) => sql(home, "UPDATE conversations SET status = 'unfinished', updated_at = 0 WHERE id = 'a'"),
    remedy: /colloquy resume a/
  },
  {
    problem: "waiting-approval",
    plant: (home) => sql(home, "UPDATE conversations SET status = 'awaiting-approval', updated_at = 0 WHERE id = 'a'"),
    remedy: /colloquy decide/
  },
  {
    problem: "oversized-checkpoint",
    plant: (home) =>
      Effect.gen(function* () {
        const store = yield* ConversationStore
        const producerId = ProducerId.make("test")
        const { epoch, tail } = yield* store.materialize({ conversationId, producerId })
        const state = {
          ...Conversation.initial(conversationId),
          sequence: tail.sequence,
          grants: Array.from({ length: 20_000 }, (_, i) => ({
            name: `tool ${i} ${"x".repeat(40)}`,
            scope: "conversation" as const
          }))
        }
        yield* store.saveCheckpoint({ conversationId, ...tail, stateVersion, state, epoch, producerId })
      }).pipe(Effect.provide(SqliteStorage.layer({ filename: join(home.path, "a.db") })), Effect.runPromise),
    remedy: /doctor --prune/
  }
]

describe("doctor", () => {
  it.concurrent("finds nothing wrong with a whole database, and changes nothing in it", async () => {
    const home = filled()
    const before = home.read("a.db")
    assert.deepStrictEqual(await diagnose(home), { database: "a.db", ok: true, conversations: 2, problems: [] })
    assert.isTrue(before.equals(home.read("a.db")))
    assert.match((await home.run("doctor", "--db", "a.db")).stdout, /^a\.db, 2 conversations: ok$/m)
  })

  for (const { args = [], plant, problem, remedy } of planted) {
    it.concurrent(`finds ${problem}, and says what to do`, async () => {
      const home = filled()
      await plant(home)
      const { problems } = await diagnose(home, ...args)
      const found = problems.filter((one) => one.problem === problem)
      assert.isAbove(found.length, 0, JSON.stringify(problems))
      for (const one of found) assert.match(one.remedy, remedy)
      const kinds = new Set(problems.map((one) => one.problem))
      assert.deepStrictEqual([...kinds], [problem])
      // The last one to close a file takes its log over: another copy shows people the same.
      const other = filled()
      await plant(other)
      const people = await other.run("doctor", "--db", "a.db", ...args)
      assert.match(people.stdout, new RegExp(`^${problem}: .*\\n {2}-> `, "m"))
    })
  }

  it.concurrent("finds a write lock that is not given back", async () => {
    const home = filled()
    const holder = new DatabaseSync(join(home.path, "a.db"))
    holder.exec("BEGIN IMMEDIATE")
    const { problems } = await diagnose(home)
    assert.deepStrictEqual(
      problems.map(({ problem }) => problem),
      ["locked"]
    )
    holder.exec("ROLLBACK")
    holder.close()
    assert.isTrue((await diagnose(home)).ok)
  })

  it.concurrent("removes checkpoints that are too large, when it is to", async () => {
    const home = filled()
    await planted.find(({ problem }) => problem === "oversized-checkpoint")?.plant(home)
    assert.isTrue((await diagnose(home, "--prune")).ok)
    assert.isTrue((await diagnose(home)).ok)
  })

  it.concurrent("does not open Postgres yet", async () => {
    const { code, stderr } = await folder().run("doctor", "--db", "postgres://me:secret@host/db", "--json")
    assert.deepStrictEqual([code, errorOf(stderr).tag], [1, "DatabaseUnsupported"])
    assert.notInclude(stderr, "secret")
  })
})

describe("stats", () => {
  it.concurrent("counts what is there, and ranks it", async () => {
    const home = filled()
    const statistics = oneOf(Json.Statistics, await home.run("stats", ...into))
    assert.deepInclude(statistics, { conversations: 2, records: 22, byStatus: { idle: 2 }, runs: { completed: 4 } })
    assert.strictEqual(statistics.file.bytes, home.read("a.db").length)
    const sum = Object.values(statistics.byTag).reduce((bytes, size) => bytes + size.bytes, 0)
    assert.strictEqual(sum, statistics.bytes)
    assert.deepStrictEqual(
      statistics.largest.map(({ records }) => records),
      [11, 11]
    )
    assert.strictEqual(statistics.slowest.length, 4)
    const people = await home.run("stats", "--db", "a.db")
    assert.match(people.stdout, /^2 conversations \(2 idle\), 22 records of /m)
    assert.match(people.stdout, /^\d{4}-\d\d-\d\d +22 .* #{40}$/m)
  })
})
