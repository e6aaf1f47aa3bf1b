/**
 * What holds for every verb: help, the schema of its JSON, Postgres, and where progress is shown.
 */
import { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { ConversationEntry } from "@colloquy/session/ConversationEntry"
import { assert, beforeAll, describe, it } from "vitest"
import * as Json from "../src/JsonOutput.ts"
import { errorOf, folder, type Folder } from "./colloquy.ts"
import * as S from "./import/samples.ts"
import { allOf, oneOf } from "./json.ts"

/** Every verb, with arguments that it takes. */
const verbs: { readonly [verb: string]: ReadonlyArray<string> } = {
  chat: ["a", "hi"],
  resume: ["a"],
  approvals: [],
  decide: ["a", "approve"],
  list: [],
  show: ["a"],
  tail: ["a"],
  stats: [],
  verify: [],
  doctor: [],
  import: ["a.jsonl"],
  export: ["a"],
  fork: ["a", "b"],
  redact: ["a", "1", "--reason", "x"],
  erase: ["a", "--yes"],
  "ledger list": [],
  "ledger show": ["slack:D1"],
  "ledger render": ["slack:D1"],
  "ledger sweep": ["--older-than", "30d", "--yes"],
  "ledger erase": ["slack:D1", "--yes"],
  "ledger alias": ["slack:D2", "slack:D1"],
  backup: ["b.db"],
  migrate: [],
  completions: ["bash"]
}

const withoutDatabase = new Set(["completions"])

const template = folder()

beforeAll(async () => {
  const messages = [S.system("be kind"), S.user("look"), S.calls("x"), S.result("x"), S.says("done"), S.user("and")]
  template.write("a.jsonl", JSON.stringify({ id: "a", title: "A", messages }))
  assert.strictEqual((await template.run("import", "a.jsonl", "--db", "a.db")).code, 0)
})

const filled = (): Folder => {
  const home = folder()
  home.copy(template, "a.db")
  home.copy(template, "a.jsonl")
  return home
}

describe("every verb", () => {
  it.concurrent("is in the help, and has its own", async () => {
    const home = folder()
    const help = (await home.run("--help")).stdout
    for (const verb of Object.keys(verbs)) assert.match(help, new RegExp(`^ +${verb.split(" ")[0]} `, "m"))
    const all = await Promise.all(
      Object.keys(verbs).map(async (verb) => [verb, await home.run(...verb.split(" "), "--help")] as const)
    )
    for (const [verb, { code, stderr, stdout }] of all) {
      assert.deepStrictEqual([code, stderr], [0, ""], verb)
      assert.match(stdout, new RegExp(`USAGE\\n +colloquy ${verb}`))
      assert.match(stdout, /--json/)
    }
  })

  for (const [verb, args] of Object.entries(verbs)) {
    if (withoutDatabase.has(verb)) continue
    it.concurrent(`says of Postgres that it comes later, without its password: ${verb}`, async () => {
      const home = filled()
      const database = ["--db", "postgres://me:secret@host/db", "--json"]
      const { code, stderr, stdout } = await home.run(...verb.split(" "), ...args, ...database)
      assert.deepStrictEqual([code, stdout, errorOf(stderr).tag], [1, "", "DatabaseUnsupported"])
      assert.match(errorOf(stderr).message, /later release.*--db/)
      assert.notMatch(stderr, /secret/)
    })

    it.concurrent(`asks for a database: ${verb}`, async () => {
      const { code, stderr, stdout } = await filled().run(...verb.split(" "), ...args, "--json")
      assert.deepStrictEqual([code, stdout, errorOf(stderr).tag], [2, "", "MissingOption"])
    })
  }
})

describe("JSON", () => {
  it.concurrent("is what its schema says, for the verbs that are not tested by it elsewhere", async () => {
    const home = filled()
    const into = ["--db", "a.db", "--json"] as const
    assert.strictEqual(allOf(Json.Listed, await home.run("list", ...into)).length, 1)
    assert.isAbove(allOf(CanonicalRecord, await home.run("show", "a", ...into)).length, 5)
    assert.isAbove(allOf(ConversationEntry, await home.run("show", "a", "--entries", ...into)).length, 3)
    assert.isTrue(oneOf(Json.Verification, await home.run("verify", "--prompts", ...into)).ok)
    const imported = oneOf(Json.Import, await home.run("import", "a.jsonl", "--db", "b.db", "--json"))
    assert.deepInclude(imported.repairs[0], { kind: "run-without-response", count: 1 })
    assert.strictEqual(oneOf(Json.Export, await home.run("export", "--all", "--out", "x", ...into)).conversations, 1)
    assert.strictEqual(oneOf(Json.Turn, await home.run("chat", "a", "one two", ...into)).outcome, "completed")
  })
})

describe("progress", () => {
  it.concurrent("is shown to nobody but a terminal", async () => {
    const home = filled()
    for (const [verb, args] of Object.entries(verbs)) {
      if (["tail", "resume", "decide"].includes(verb)) continue
      const { stderr, stdout } = await home.run(...verb.split(" "), ...args, "--db", "a.db")
      // oxlint-disable-next-line no-control-regex -- bars are drawn with them
      assert.notMatch(stdout + stderr, /\r|\u001b/, verb)
    }
  })
})
