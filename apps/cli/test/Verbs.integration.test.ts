/**
 * The other verbs, their JSON, and how each way of using them wrongly ends.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, beforeAll, describe, it } from "vitest"
import { environment, errorOf, folder, type Folder, value, values } from "./colloquy.ts"
import * as S from "./import/samples.ts"

/** A database with two conversations: `a` with a tool call, `b` titled, with text that attacks the terminal. */
const template = folder()

beforeAll(async () => {
  const attack = "\u001b[2J\u001b]0;owned\u0007 \u009b31m red \u202e evil"
  const calls = [S.user("look"), S.calls("x"), S.result("x", "r".repeat(500)), S.says("done")]
  const chats = [
    { id: "a", messages: [S.system("be kind"), ...calls, S.user("again"), S.calls("y")] },
    { id: "b", title: `title ${attack}`, messages: [S.user(attack), S.says(`${attack}\nsecond line`)] }
  ]
  template.write("a.jsonl", chats.map((chat) => JSON.stringify(chat)).join("\n"))
  assert.strictEqual((await template.run("import", "a.jsonl", "--db", "a.db")).code, 0)
})

/** What is said of a conversation that it does not have. */
const absent = "there is no conversation nobody in a.db: colloquy list shows what is there"

/** A folder with a copy of the database. */
const filled = (): Folder => {
  const home = folder()
  home.copy(template, "a.db")
  return home
}

describe("list", () => {
  it.concurrent("writes a JSON value for each conversation", async () => {
    const home = filled()
    const { code, stderr, stdout } = await home.run("list", "--db", "a.db", "--json")
    assert.deepStrictEqual([code, stderr], [0, ""])
    const [a, b] = values(stdout)
    assert.deepStrictEqual(Object.keys(a!), [
      "conversationId",
      "status",
      "records",
      "tail",
      "epoch",
      "createdAt",
      "updatedAt"
    ])
    assert.deepInclude(a, { conversationId: "a", status: "idle", records: 11, epoch: 1 })
    assert.match(String(a!["tail"]), /^[0-9a-f]{64}$/)
    assert.match(String(b!["title"]), /^title /)
    const idle = await home.run("list", "--status", "idle", "--db", "a.db", "--json")
    assert.strictEqual(idle.stdout, stdout)
    const unfinished = await home.run("--json", "--db", "sqlite:a.db", "list", "--status", "unfinished")
    assert.deepStrictEqual([unfinished.code, unfinished.stdout], [0, ""])
  })

  it.concurrent("shows people a table without a way to steer their terminal", async () => {
    const home = filled()
    const { stdout } = await home.run("list", "--db", "a.db")
    assert.match(stdout, /^conversation {2}status {2}records/)
    assert.match(stdout, /\\x1b\[2J/)
    assertHarmless(stdout)
  })

  it.concurrent("shows a time that no calendar reaches as it is", async () => {
    const home = filled()
    const database = new DatabaseSync(join(home.path, "a.db"))
    database.exec("UPDATE conversations SET updated_at = 9000000000000000")
    database.close()
    const { code, stderr, stdout } = await home.run("list", "--db", "a.db")
    assert.deepStrictEqual([code, stderr], [0, ""])
    assert.match(stdout, /^a +idle +11 {2}9000000000000000$/m)
  })
})

describe("show", () => {
  it.concurrent("writes the records, or the entries, as JSON", async () => {
    const home = filled()
    const records = values<{ sequence: number; payload: { _tag: string } }>(
      (await home.run("show", "a", "--db", "a.db", "--json")).stdout
    )
    assert.deepStrictEqual(
      records.map(({ sequence }) => sequence),
      Array.from({ length: 11 }, (_, i) => i + 1)
    )
    assert.strictEqual(records[0]?.payload._tag, "ConversationCreated")
    const entries = values<{ messages: ReadonlyArray<{ role: string }>; endsRun: boolean }>(
      (await home.run("show", "a", "--entries", "--db", "a.db", "--json")).stdout
    )
    assert.deepStrictEqual(
      entries.map(({ endsRun, messages }) => (endsRun ? "end" : messages[0]?.role)),
      ["user", "assistant", "tool", "assistant", "end", "user", "assistant", "end"]
    )
  })

  it.concurrent("shows people a page: roles, calls, results shortened, repairs, ends", async () => {
    const home = filled()
    const { code, stderr, stdout } = await home.run("show", "a", "--db", "a.db")
    assert.deepStrictEqual([code, stderr], [0, ""])
    for (const shown of [
      /^a · idle · 11 records · epoch 1$/m,
      /^instructions\n {2}be kind$/m,
      /^user\n {2}look$/m,
      /^ {2}-> look\(\{"at":1\}\) x$/m,
      /^ {2}<- look r{200}… \(300 more\)$/m,
      /^assistant\n {2}done$/m,
      /^--- completed ---$/m,
      /^! .*call-without-result y$/m
    ]) {
      assert.match(stdout, shown)
    }
    assert.match((await home.run("show", "a", "--entries", "--db", "a.db")).stdout, /^1 user assistant\n {2}look$/m)
  })

  it.concurrent("neutralises what would steer the terminal", async () => {
    const home = filled()
    for (const args of [
      ["show", "b"],
      ["show", "b", "--entries"]
    ]) {
      const { stdout } = await home.run(...args, "--db", "a.db")
      assert.match(stdout, /\\x1b\[2J\\x1b\]0;owned\\x07 \\x9b31m red \\u\{202e\} evil\n {2}second line/)
      assertHarmless(stdout)
    }
    const { stdout } = await home.run("show", "b", "--db", "a.db", "--json")
    assertHarmless(stdout)
    assert.include(JSON.stringify(values(stdout)), "\u009b31m")
  })

  it.concurrent("fails for a conversation that is not there", async () => {
    const home = filled()
    const { code, stderr, stdout } = await home.run("show", "nobody", "--db", "a.db", "--json")
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.deepStrictEqual(errorOf(stderr), {
      tag: "ConversationNotFound",
      message: absent
    })
  })
})

describe("verify", () => {
  it.concurrent("finds nothing wrong with a whole database", async () => {
    const home = filled()
    const { code, stderr, stdout } = await home.run("verify", "--db", "a.db", "--json")
    assert.deepStrictEqual([code, stderr], [0, ""])
    assert.deepStrictEqual(value(stdout), { ok: true, conversations: 2, records: 16, batches: 5, faults: [] })
    const one = await home.run("verify", "a", "--prompts", "--db", "a.db", "--json")
    assert.deepStrictEqual(value(one.stdout), {
      ok: true,
      conversations: 1,
      records: 11,
      batches: 3,
      faults: [],
      prompts: 2,
      repairs: [{ conversationId: "a", kind: "call-without-result", count: 1 }]
    })
    const nobody = await home.run("verify", "nobody", "--db", "a.db")
    assert.strictEqual(nobody.stderr, `colloquy: ${absent}\n`)
    assert.match((await home.run("verify", "--db", "a.db")).stdout, /^2 conversations, 16 records, 5 batches: ok$/m)
  })

  it.concurrent("names conversation and record of one byte that was flipped in the file", async () => {
    const home = filled()
    const bytes = home.read("a.db")
    const place = bytes.indexOf('"text":"done"')
    assert.isAbove(place, 0)
    bytes[place + 8]! ^= 1
    home.write("a.db", bytes)
    const { code, stderr, stdout } = await home.run("verify", "--prompts", "--db", "a.db", "--json")
    assert.strictEqual(code, 1)
    const report = value<{ ok: boolean; faults: ReadonlyArray<unknown> }>(stdout)
    assert.isFalse(report.ok)
    assert.deepStrictEqual(report.faults, [{ conversationId: "a", sequence: 6, reason: "record-digest" }])
    assert.strictEqual(errorOf(stderr).tag, "FaultsFound")
    const people = await home.run("verify", "--db", "a.db")
    assert.strictEqual(people.code, 1)
    assert.match(people.stdout, /^a +6 {2}record-digest$/m)
    assert.match(people.stderr, /^colloquy: verify found 1 fault in 1 conversation, the first: a, record 6/)
  })

  it.concurrent("goes on behind a record that cannot be read", async () => {
    const home = filled()
    const bytes = home.read("a.db")
    const place = bytes.indexOf('{"_tag":"InputRecorded","kind":"user","message":{"content":[{"text":"look"')
    assert.isAbove(place, 0)
    bytes[place] = 0x5b
    home.write("a.db", bytes)
    const { code, stdout } = await home.run("verify", "--prompts", "--db", "a.db", "--json")
    assert.strictEqual(code, 1)
    const { faults } = value<{ faults: ReadonlyArray<{ conversationId: string; sequence: number }> }>(stdout)
    assert.deepInclude(faults[0], { conversationId: "a", sequence: 3 })
  })
})

describe("export", () => {
  it.concurrent("writes an archive to stdout, or a file that it does not overwrite by itself", async () => {
    const home = filled()
    const one = await home.run("export", "a", "--db", "a.db")
    assert.deepStrictEqual([one.code, one.stderr], [0, ""])
    assert.deepInclude(values<{ header?: object }>(one.stdout)[0]?.header, { conversationId: "a", records: 11 })
    const all = await home.run("export", "--all", "--db", "a.db")
    home.write("there.ndjson", "precious")
    const refused = await home.run("export", "--all", "--out", "there.ndjson", "--db", "a.db", "--json")
    assert.deepStrictEqual([refused.code, refused.stdout, errorOf(refused.stderr).tag], [1, "", "FileExists"])
    assert.strictEqual(home.read("there.ndjson").toString(), "precious")
    const forced = await home.run("export", "--all", "--out", "there.ndjson", "--force", "--db", "a.db")
    assert.strictEqual(forced.stdout, "2 conversations (16 records) written to there.ndjson\n")
    assert.strictEqual(home.read("there.ndjson").toString(), all.stdout)
  })

  it.concurrent("leaves no part of a file behind when it fails", async () => {
    const home = filled()
    const nobody = await home.run("export", "nobody", "--out", "x.ndjson", "--db", "a.db", "--json")
    assert.deepStrictEqual([nobody.code, errorOf(nobody.stderr)], [1, { tag: "ConversationNotFound", message: absent }])
    const nowhere = await home.run("export", "--all", "--out", "no/x.ndjson", "--db", "a.db", "--json")
    assert.deepStrictEqual([nowhere.code, errorOf(nowhere.stderr).tag], [1, "FileUnwritable"])
    assert.deepStrictEqual(
      home.files().filter((name) => name.includes("x.ndjson")),
      []
    )
  })

  it.concurrent("ends quietly when its reader has gone", async () => {
    const home = folder()
    const messages = Array.from({ length: 400 }, (_, i) => (i % 2 === 0 ? S.user(`${i}`) : S.says("x".repeat(2000))))
    home.write("a.jsonl", JSON.stringify({ id: "a", messages }))
    await home.run("import", "a.jsonl", "--db", "a.db")
    const [node, ...args] = home.command
    const child = spawn(node!, [...args, "export", "--all", "--db", "a.db"], {
      cwd: home.path,
      env: environment,
      stdio: ["ignore", "pipe", "pipe"]
    })
    const ended = new Promise<readonly [number | null, string]>((resolve) => {
      let stderr = ""
      child.stderr.on("data", (chunk) => (stderr += chunk))
      child.on("close", (code) => resolve([code, stderr]))
    })
    child.stdout.once("data", () => child.stdout.destroy())
    assert.deepStrictEqual(await ended, [0, ""])
  })
})

describe("the database", () => {
  it.concurrent("is not created by a verb that only reads", async () => {
    const home = folder()
    home.write("empty.db", "")
    const verbs = [["list"], ["show", "a"], ["verify"], ["export", "--all"]]
    const attempts = [...verbs.map((verb) => [...verb, "--db", "absent.db"]), ["list", "--db", "empty.db"]]
    for (const attempt of attempts) {
      const { code, stderr, stdout } = await home.run(...attempt, "--json")
      assert.deepStrictEqual([code, stdout, errorOf(stderr).tag], [1, "", "DatabaseMissing"])
    }
    assert.deepStrictEqual(home.files(), ["empty.db"])
    assert.strictEqual(home.read("empty.db").length, 0)
  })

  it.concurrent("is left as it is when it is something else", async () => {
    const home = folder()
    home.write("notes.txt", "these are my notes, and no database")
    const { code, stderr } = await home.run("list", "--db", "notes.txt", "--json")
    assert.deepStrictEqual([code, errorOf(stderr).tag], [1, "StoreUnavailable"])
    assert.strictEqual(home.read("notes.txt").toString(), "these are my notes, and no database")
  })

  it.concurrent("may not be Postgres yet, which is said without its password", async () => {
    const { code, stderr } = await folder().run("list", "--db", "postgres://me:secret@host/db", "--json")
    assert.deepStrictEqual([code, errorOf(stderr).tag], [1, "DatabaseUnsupported"])
    assert.match(stderr, /later release/)
    assert.notMatch(stderr, /secret/)
  })
})

describe("wrong usage", () => {
  const cases: ReadonlyArray<readonly [args: ReadonlyArray<string>, tag: string]> = [
    [["list"], "MissingOption"],
    [["frobnicate", "--db", "a.db"], "UnknownSubcommand"],
    [["list", "--frob", "--db", "a.db"], "UnrecognizedOption"],
    [["list", "--status", "odd", "--db", "a.db"], "InvalidValue"],
    [["list", "--db", "mysql://h/d"], "InvalidValue"],
    [["show", "--db", "a.db"], "MissingArgument"],
    [["show", "a\u0007b", "--db", "a.db"], "InvalidValue"],
    [["import", "a.jsonl", "--format", "odd", "--db", "a.db"], "InvalidValue"],
    [["export", "--db", "a.db"], "ValidationError"],
    [["export", "a", "--all", "--db", "a.db"], "ValidationError"]
  ]
  for (const [args, tag] of cases) {
    it.concurrent(`is answered with help on stderr and exit code 2: ${JSON.stringify(args.join(" "))}`, async () => {
      const home = folder()
      const { code, stderr, stdout } = await home.run(...args, "--json")
      assert.deepStrictEqual([code, stdout, errorOf(stderr).tag], [2, "", tag])
      assert.match(stderr, /USAGE\n {2}colloquy/)
      assert.match(stderr, /ERROR/)
      assert.deepStrictEqual(home.files(), [])
    })
  }

  it.concurrent("is to name no database, and says so before anything else", async () => {
    const home = folder()
    for (const verb of [["show", "a"], ["verify"], ["chat", "a"], ["resume", "a"], ["import", "absent.jsonl"]]) {
      const { code, stderr, stdout } = await home.run(...verb)
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, new RegExp(`^ {2}colloquy ${verb[0]}`, "m"))
      assert.match(stderr, /Missing required flag: --db/)
    }
  })

  it.concurrent("is to name no subcommand, whether a database is named or not", async () => {
    const home = folder()
    for (const args of [[], ["--db", "a.db"], ["--json"]]) {
      const { code, stderr, stdout } = await home.run(...args)
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, /USAGE\n {2}colloquy/)
      assert.match(stderr, /^colloquy: a subcommand is missing/m)
      assert.notMatch(stderr, /Missing required flag/)
      if (args.includes("--json")) assert.strictEqual(errorOf(stderr).tag, "MissingSubcommand")
    }
    assert.deepStrictEqual(home.files(), [])
  })

  it.concurrent("is not to ask for help or the version", async () => {
    const home = folder()
    const help = await home.run("import", "--help")
    assert.deepStrictEqual([help.code, help.stderr], [0, ""])
    assert.match(help.stdout, /--id-prefix/)
    assert.match((await home.run("--version")).stdout, /^colloquy v\d+\.\d+\.\d+$/m)
    assert.match((await home.run("--completions", "bash")).stdout, /colloquy/)
  })
})

const assertHarmless = (text: string): void => {
  // oxlint-disable-next-line no-control-regex -- none of them may be there
  assert.notMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
}
