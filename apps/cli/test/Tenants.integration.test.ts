/**
 * A database of several tenants: verbs see those of the one that is named, and whoever looks after it sees everybody's.
 */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, beforeAll, describe, it } from "vitest"
import * as Json from "../src/JsonOutput.ts"
import { errorOf, folder, type Folder, value, values } from "./colloquy.ts"
import * as S from "./import/samples.ts"
import { oneOf } from "./json.ts"

const template = folder()
const db = ["--db", "a.db"] as const

const chat = (id: string, text: string) => JSON.stringify({ id, messages: [S.user(text), S.says("done")] })

beforeAll(async () => {
  template.write("ours.jsonl", chat("t1", "ours"))
  template.write("acme.jsonl", [chat("t1", "of acme"), chat("t2", "of acme too")].join("\n"))
  template.write("zeta.jsonl", chat("t3", "of zeta"))
  for (const [file, ...tenant] of [
    ["ours.jsonl"],
    ["zeta.jsonl", "--tenant", "zeta"],
    ["acme.jsonl", "--tenant", "acme"]
  ] as const) {
    assert.strictEqual((await template.run("import", file, ...tenant, ...db)).code, 0)
  }
})

const filled = (): Folder => {
  const home = folder()
  home.copy(template, "a.db")
  return home
}

const listed = (stdout: string) => values(stdout).map(({ conversationId }) => conversationId)

describe("a tenant", () => {
  it.concurrent("is named by the flag or the environment, and its conversations are seen alone", async () => {
    const home = filled()
    assert.deepStrictEqual(listed((await home.run("list", "--json", "--tenant", "acme", ...db)).stdout), ["t1", "t2"])
    const byEnvironment = await home.runWith({ COLLOQUY_TENANT: "zeta" }, "list", "--json", ...db)
    assert.deepStrictEqual([byEnvironment.stderr, listed(byEnvironment.stdout)], ["", ["t3"]])
    assert.match((await home.run("show", "t1", "--tenant", "acme", ...db)).stdout, /of acme/)
    assert.match((await home.run("show", "t1", ...db)).stdout, /ours/)
  })

  it.concurrent("is talked to in its own conversations", async () => {
    const home = filled()
    const { code, stdout } = await home.run("chat", "t3", "one two", "--tenant", "zeta", ...db)
    assert.strictEqual(code, 0)
    assert.match(stdout, /I remember 2 of your messages/)
    assert.strictEqual((await home.run("show", "t3", ...db)).code, 1)
  })

  it.concurrent("that has no such id is wrong usage", async () => {
    const { code, stderr, stdout } = await filled().run("list", "--tenant", "a\u0001b", ...db)
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.match(stderr, /tenant/)
  })

  it.concurrent("is pointed to where none was named", async () => {
    const home = filled()
    const list = await home.run("list", "--json", ...db)
    assert.deepStrictEqual([list.code, listed(list.stdout)], [0, ["t1"]])
    assert.strictEqual(list.stderr, "colloquy: conversations of tenants are seen with --tenant (acme, zeta)\n")
    const absent = await home.run("show", "t3", "--json", ...db)
    assert.match(errorOf(absent.stderr).message, /no conversation t3.*--tenant \(acme, zeta\)/)
    const exported = await home.run("export", "--all", ...db)
    assert.deepStrictEqual([exported.code, exported.stderr], [0, list.stderr])
  })
})

describe("who looks after a database", () => {
  it.concurrent("counts the conversations of all tenants, or of one", async () => {
    const home = filled()
    assert.strictEqual(oneOf(Json.Statistics, await home.run("stats", "--json", ...db)).conversations, 4)
    assert.strictEqual(oneOf(Json.Verification, await home.run("verify", "--json", ...db)).conversations, 4)
    assert.strictEqual(oneOf(Json.Diagnosis, await home.run("doctor", "--json", ...db)).conversations, 4)
    const acme = ["--json", "--tenant", "acme", ...db]
    const statistics = oneOf(Json.Statistics, await home.run("stats", ...acme))
    assert.deepStrictEqual(
      [statistics.conversations, statistics.largest.map(({ conversationId, tenant }) => [tenant, conversationId])],
      [
        2,
        [
          ["acme", "t2"],
          ["acme", "t1"]
        ]
      ]
    )
    assert.strictEqual(oneOf(Json.Verification, await home.run("verify", ...acme)).conversations, 2)
    assert.strictEqual(oneOf(Json.Diagnosis, await home.run("doctor", ...acme)).conversations, 2)
  })

  it.concurrent("is told of damage by tenant, and what to do about it there", async () => {
    const home = filled()
    const file = new DatabaseSync(join(home.path, "a.db"))
    file.exec("UPDATE records SET payload = replace(payload, 'of acme too', 'of acme two')")
    file.close()
    const verified = await home.run("verify", "--json", ...db)
    assert.strictEqual(verified.code, 1)
    const { faults } = value<{ faults: ReadonlyArray<unknown> }>(verified.stdout)
    assert.deepInclude(faults[0], { tenant: "acme", conversationId: "t2", reason: "record-digest" })
    assert.match(errorOf(verified.stderr).message, /t2 \(tenant acme\), record/)
    assert.strictEqual((await home.run("verify", "t1", ...db)).code, 0)
    const doctor = await home.run("doctor", "--json", ...db)
    const { problems } = value<{ problems: ReadonlyArray<{ tenant: string; remedy: string }> }>(doctor.stdout)
    assert.deepInclude(problems[0], { tenant: "acme" })
    assert.match(problems[0]?.remedy ?? "", /colloquy fork t2 --tenant acme <new id>/)
  })
})
