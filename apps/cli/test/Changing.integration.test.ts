/**
 * The verbs that change a database or copy it, on real files: fork, redact, erase, migrate, backup.
 */
import { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, describe, it } from "vitest"
import * as Json from "../src/JsonOutput.ts"
import { errorOf, folder, type Folder } from "./colloquy.ts"
import * as S from "./import/samples.ts"
import { allOf, oneOf } from "./json.ts"

const template = folder()
const secret = "4111 1111 1111 1111"
const into = ["--db", "a.db", "--json"] as const

beforeAll(async () => {
  const messages = [S.user(`my card is ${secret}`), S.says("do not tell me"), S.user("sorry"), S.says("fine")]
  template.write("a.jsonl", JSON.stringify({ id: "a", messages }))
  assert.strictEqual((await template.run("import", "a.jsonl", "--db", "a.db")).code, 0)
})

const versionOf = (home: Folder): number => {
  const database = new DatabaseSync(join(home.path, "a.db"), { readOnly: true })
  const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"])
  database.close()
  return version
}

const filled = (): Folder => {
  const home = folder()
  home.copy(template, "a.db")
  return home
}

const isWhole = async (home: Folder) =>
  oneOf(Json.Verification, await home.run("verify", "--prompts", ...into)).faults.length === 0

describe("fork", () => {
  it.concurrent("takes a conversation up to the end of a batch, and names the places where it can be cut", async () => {
    const home = filled()
    const whole = oneOf(Json.Fork, await home.run("fork", "a", "b", ...into))
    assert.strictEqual(whole.records, 10)
    assert.deepInclude(oneOf(Json.Fork, await home.run("fork", "a", "c", "--at", "5", ...into)), { records: 6 })
    const inside = await home.run("fork", "a", "d", "--at", "3", ...into)
    assert.deepStrictEqual([inside.code, errorOf(inside.stderr).tag], [1, "NotABoundary"])
    const again = await home.run("fork", "a", "b", ...into)
    assert.deepStrictEqual([again.code, errorOf(again.stderr).tag], [1, "AlreadyExists"])
    const nobody = await home.run("fork", "nobody", "e", ...into)
    assert.deepStrictEqual([nobody.code, errorOf(nobody.stderr).tag], [1, "ConversationNotFound"])
    assert.isTrue(await isWhole(home))
    assert.match((await home.run("fork", "a", "f", "--db", "a.db")).stdout, /^f forked from a \(10 records\)$/m)
  })
})

describe("redact", () => {
  it.concurrent("removes the content of the named records for good, says why, and leaves a log that verifies", async () => {
    const home = filled()
    const arguments_ = ["redact", "a", "3,7-8", "--reason", "a card", "--author", "ada"]
    const report = oneOf(Json.Redaction, await home.run(...arguments_, ...into))
    assert.deepInclude(report, { sequences: [3, 7, 8], bytes: "gone" })
    assert.isFalse(home.read("a.db").includes(secret))
    const records = allOf(CanonicalRecord, await home.run("show", "a", ...into))
    assert.deepStrictEqual(
      records.flatMap(({ payload, sequence }) => (payload._tag === "Redacted" ? [sequence] : [])),
      [3, 7, 8]
    )
    assert.deepInclude(records.at(-1)?.payload, { _tag: "ContentRedacted", reason: "a card", author: "ada" })
    assert.isTrue(await isWhole(home))
  })

  it.concurrent("refuses what are no records, before anything is written", async () => {
    const home = filled()
    const before = home.read("a.db")
    for (const [sequences, tag] of [
      ["0", "InvalidValue"],
      ["4-3", "InvalidValue"],
      ["x", "InvalidValue"],
      ["1-9999999999", "ValidationError"]
    ] as const) {
      const { code, stderr, stdout } = await home.run("redact", "a", sequences, "--reason", "x", ...into)
      assert.deepStrictEqual([code, stdout, errorOf(stderr).tag], [2, "", tag])
    }
    assert.strictEqual((await home.run("redact", "a", "3", ...into)).code, 2)
    assert.isTrue(before.equals(home.read("a.db")))
  })

  it.concurrent("leaves a conversation alone whose run has not ended, unless it is to take it over", async () => {
    const home = filled()
    const database = new DatabaseSync(join(home.path, "a.db"))
    database.exec("UPDATE conversations SET status = 'unfinished'")
    database.close()
    const refused = await home.run("redact", "a", "3", "--reason", "x", ...into)
    assert.deepStrictEqual([refused.code, errorOf(refused.stderr).tag], [1, "ConversationUnfinished"])
    const taken = await home.run("redact", "a", "3", "--reason", "x", "--takeover", ...into)
    assert.deepStrictEqual(oneOf(Json.Redaction, taken).sequences, [3])
  })
})

describe("erase", () => {
  it.concurrent("asks where it can, and is wrong usage where nobody can be asked", async () => {
    const home = filled()
    const { code, stderr, stdout } = await home.run("erase", "a", ...into)
    assert.deepStrictEqual([code, stdout, errorOf(stderr).tag], [2, "", "ValidationError"])
    assert.match(errorOf(stderr).message, /--yes/)
    assert.isTrue(home.read("a.db").includes(secret))
  })

  it.concurrent("leaves no byte of the content, reports copies, takes them with it, and may be repeated", async () => {
    const home = filled()
    oneOf(Json.Fork, await home.run("fork", "a", "b", ...into))
    const first = oneOf(Json.Erasure, await home.run("erase", "a", "--yes", ...into))
    assert.deepInclude(first, { alreadyErased: false, bytes: "gone", cascaded: [] })
    assert.deepStrictEqual<ReadonlyArray<string>>(first.copies.forks, ["b"])
    assert.isTrue(home.read("a.db").includes(secret))
    const people = await home.run("erase", "a", "--yes", "--db", "a.db")
    assert.match(people.stdout, /was erased before[\s\S]*copies are left: fork b; erase them too with --cascade/)
    const cascaded = oneOf(Json.Erasure, await home.run("erase", "a", "--cascade", "--yes", ...into))
    assert.deepStrictEqual(
      cascaded.cascaded.map(({ conversationId }) => conversationId),
      ["b"]
    )
    assert.isFalse(home.read("a.db").includes(secret))
    const shown = await home.run("show", "a", ...into)
    assert.deepStrictEqual([shown.code, errorOf(shown.stderr).tag], [1, "ConversationErased"])
    const nobody = await home.run("erase", "nobody", "--yes", ...into)
    assert.deepStrictEqual([nobody.code, errorOf(nobody.stderr).tag], [1, "ConversationNotFound"])
  })
})

describe("migrate", () => {
  const fixture = fileURLToPath(new URL("../../../packages/storage-sqlite/test/fixtures/v1.db", import.meta.url))

  it.concurrent("brings an older file to the current version, and says from which to which", async () => {
    const home = folder()
    copyFileSync(fixture, join(home.path, "a.db"))
    const first = oneOf(Json.Migration, await home.run("migrate", ...into))
    const current = versionOf(template)
    assert.isAbove(current, 1)
    assert.deepStrictEqual(first, { database: "a.db", from: 1, to: current })
    const second = await home.run("migrate", "--db", "a.db")
    assert.include(second.stdout.split("\n"), `a.db is at version ${current} already`)
    assert.isTrue(await isWhole(home))
  })

  it.concurrent("leaves a newer file, one of something else, and no file as they are", async () => {
    const home = filled()
    const database = new DatabaseSync(join(home.path, "a.db"))
    database.exec("PRAGMA user_version = 99")
    database.close()
    home.write("notes.txt", "these are my notes, and no database")
    for (const [file, tag] of [
      ["a.db", "UnsupportedVersion"],
      ["notes.txt", "StoreUnavailable"],
      ["absent.db", "DatabaseMissing"]
    ]) {
      const { code, stderr, stdout } = await home.run("migrate", "--db", file!, "--json")
      assert.deepStrictEqual([code, stdout, errorOf(stderr).tag], [1, "", tag])
    }
    assert.notInclude(home.files(), "absent.db")
  })
})

describe("backup", () => {
  it.concurrent("copies a database whole, and leaves what is at its destination", async () => {
    const home = filled()
    const report = oneOf(Json.Backup, await home.run("backup", "b.db", ...into))
    assert.deepInclude(report, { database: "a.db", destination: "b.db", bytes: home.read("b.db").length })
    const [a, b] = await Promise.all([home.run("list", ...into), home.run("list", "--db", "b.db", "--json")])
    assert.strictEqual(a.stdout, b.stdout)
    const again = await home.run("backup", "b.db", ...into)
    assert.deepStrictEqual([again.code, errorOf(again.stderr).tag], [1, "StoreUnavailable"])
    const absent = await home.run("backup", "c.db", "--db", "absent.db", "--json")
    assert.deepStrictEqual([absent.code, errorOf(absent.stderr).tag], [1, "DatabaseMissing"])
    assert.deepStrictEqual(
      home.files().filter((name) => name.includes("partial") || name === "c.db"),
      []
    )
  })
})

describe("completions", () => {
  it.concurrent("knows every verb, for each shell", async () => {
    const home = folder()
    for (const shell of ["bash", "zsh", "fish", "powershell"]) {
      const { script } = oneOf(Json.Completions, await home.run("completions", shell, "--json"))
      for (const verb of ["chat", "tail", "erase", "ledger", "sweep", "backup", "completions"])
        assert.include(script, verb)
    }
    const odd = await home.run("completions", "csh", "--json")
    assert.deepStrictEqual([odd.code, errorOf(odd.stderr).tag], [2, "InvalidValue"])
  })
})
