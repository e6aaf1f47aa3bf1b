/**
 * `colloquy import`, on real files: each format, again, grown, renamed, and everything that a file can have wrong.
 */
import { assert, describe, it } from "vitest"
import { type Ended, errorOf, folder, type Folder, value, values } from "./colloquy.ts"
import * as S from "./import/samples.ts"

interface Report {
  readonly imported: number
  readonly unchanged: number
  readonly records: number
  readonly renamedCallIds: number
  readonly repairs: ReadonlyArray<{ readonly conversationId: string; readonly kind: string; readonly count: number }>
}

const json = (value: unknown) => JSON.stringify(value)
const lines = (...values: ReadonlyArray<unknown>) => values.map((value) => `${json(value)}\n`).join("")

const chat = (id: string, ...messages: ReadonlyArray<unknown>) => ({ id, messages })
const small = (id: string) => chat(id, S.user("hi"), S.says("hello"))

const importInto = (home: Folder, file: string, ...more: ReadonlyArray<string>) =>
  home.run("import", file, "--db", "a.db", "--json", ...more)

const report = ({ code, stderr, stdout }: Ended): Report => {
  assert.strictEqual(code, 0, stderr)
  assert.strictEqual(stderr, "")
  return value<Report>(stdout)
}

/** The conversations of the database, by id, with their tails. */
const tails = async (home: Folder, db = "a.db"): Promise<{ readonly [id: string]: string }> => {
  const { stdout } = await home.run("list", "--db", db, "--json")
  return Object.fromEntries(
    values<{ conversationId: string; tail: string }>(stdout).map((s) => [s.conversationId, s.tail])
  )
}

describe("formats", () => {
  it.concurrent("takes chats on lines, in an array, as one object, and as bare messages", async () => {
    const home = folder()
    home.write("lines.jsonl", `\n${lines(small("a"), small("b"))}\n`)
    home.write("array.json", json([small("c"), small("d")]))
    home.write("object.json", JSON.stringify(small("e"), null, 2))
    home.write("bare.json", JSON.stringify(small("").messages, null, 2))
    home.write("unnamed.jsonl", lines({ messages: [S.user("x")] }, { messages: [S.user("y")] }))
    for (const file of ["lines.jsonl", "array.json", "object.json", "bare.json", "unnamed.jsonl"]) {
      report(await importInto(home, file))
    }
    assert.deepStrictEqual(Object.keys(await tails(home)), ["a", "b", "bare", "c", "d", "e", "unnamed", "unnamed-2"])
  })

  it.concurrent("takes a session of pi, and several in one file", async () => {
    const home = folder()
    home.write("one.jsonl", lines(...S.piSession("one"), ...S.piSession("two")))
    assert.deepStrictEqual(report(await importInto(home, "one.jsonl")), {
      imported: 2,
      unchanged: 0,
      records: 10,
      renamedCallIds: 0,
      repairs: []
    })
  })

  it.concurrent("takes a format that is named where the shape does not tell", async () => {
    const home = folder()
    home.write("odd.jsonl", lines({ type: "moon_phase" }, ...S.piLines(S.piUser("hi"))))
    const { code, stderr } = await importInto(home, "odd.jsonl")
    assert.strictEqual(code, 1)
    assert.match(errorOf(stderr).message, /--format/)
    const { repairs } = report(await importInto(home, "odd.jsonl", "--format", "pi"))
    assert.deepStrictEqual(
      repairs.map(({ kind }) => kind),
      ["unknown-line", "run-without-response"]
    )
  })

  it.concurrent("refuses a format that the file plainly does not have, and writes nothing", async () => {
    const home = folder()
    home.write("chat.jsonl", lines(small("a")))
    home.write("session.jsonl", lines(...S.piSession("one")))
    for (const [file, format] of [
      ["chat.jsonl", "pi"],
      ["session.jsonl", "openai"],
      ["chat.jsonl", "archive"]
    ] as const) {
      const { code, stderr } = await importInto(home, file, "--format", format)
      assert.strictEqual(code, 1)
      assert.match(errorOf(stderr).message, /line 1 .*format/)
    }
    const { imported } = report(await importInto(home, "chat.jsonl"))
    assert.strictEqual(imported, 1)
    assert.deepStrictEqual(Object.keys(await tails(home)), ["a"])
  })

  it.concurrent("puts the prefix before every id", async () => {
    const home = folder()
    home.write("a.jsonl", lines(small("a")))
    report(await importInto(home, "a.jsonl", "--id-prefix", "old/"))
    report(await importInto(home, "a.jsonl", "--id-prefix", "older/"))
    assert.deepStrictEqual(Object.keys(await tails(home)), ["old/a", "older/a"])
  })
})

describe("again", () => {
  it.concurrent("changes nothing the second time", async () => {
    const home = folder()
    home.write("a.jsonl", lines(chat("a", S.user("go"), S.calls("x"), S.calls("x"), S.result("x")), small("b")))
    const first = report(await importInto(home, "a.jsonl"))
    assert.deepInclude(first, { imported: 2, unchanged: 0, renamedCallIds: 1 })
    const before = await tails(home)
    const second = report(await importInto(home, "a.jsonl"))
    assert.deepInclude(second, { imported: 0, unchanged: 2, records: 0 })
    assert.deepStrictEqual(await tails(home), before)
  })

  it.concurrent("continues what has grown by new runs, and takes new conversations beside it", async () => {
    const home = folder()
    const grown = chat("a", S.user("hi"), S.says("hello"), S.user("more"), S.says("sure"))
    home.write("a.jsonl", lines(small("a")))
    assert.deepInclude(report(await importInto(home, "a.jsonl")), { imported: 1, records: 5 })
    home.write("a.jsonl", lines(grown, small("b")))
    assert.deepInclude(report(await importInto(home, "a.jsonl")), { imported: 2, unchanged: 0, records: 9 })
    const { stdout } = await home.run("verify", "--prompts", "--db", "a.db", "--json")
    assert.deepInclude(value<object>(stdout), { ok: true, conversations: 2, records: 14, prompts: 3 })
  })

  it.concurrent("refuses a conversation whose last run has grown, and takes the others", async () => {
    const home = folder()
    home.write("a.jsonl", lines(small("a")))
    report(await importInto(home, "a.jsonl"))
    const before = await tails(home)
    home.write("a.jsonl", lines(chat("a", S.user("hi"), S.says("hello"), S.says("and more")), small("b")))
    const { code, stderr, stdout } = await importInto(home, "a.jsonl")
    assert.deepStrictEqual([code, stdout], [1, ""])
    const { message, tag } = errorOf(stderr)
    assert.strictEqual(tag, "ImportRejected")
    assert.match(message, /line 1 .*diverged.*--id-prefix/)
    const after = await tails(home)
    assert.deepStrictEqual([after["a"], Object.keys(after)], [before["a"], ["a", "b"]])
  })

  it.concurrent("gives a second conversation with the same id the next free one", async () => {
    const home = folder()
    home.write("a.jsonl", lines(small("a"), small("a")))
    const first = report(await importInto(home, "a.jsonl"))
    assert.deepStrictEqual(first.repairs, [{ conversationId: "a_2", kind: "repeated-conversation-id", count: 1 }])
    assert.deepInclude(report(await importInto(home, "a.jsonl")), { imported: 0, unchanged: 2 })
  })
})

it.concurrent("takes a conversation with a time that cannot be, and those behind it", async () => {
  const home = folder()
  const odd = chat("b", { ...S.user("hi"), timestamp: 1e300 }, S.says("hello"))
  home.write("a.jsonl", lines(small("a"), odd, small("c")))
  const { imported, repairs } = report(await importInto(home, "a.jsonl"))
  assert.strictEqual(imported, 3)
  assert.deepStrictEqual(repairs, [{ conversationId: "b", kind: "unknown-field", count: 1 }])
  const { stdout } = await home.run("show", "b", "--db", "a.db")
  assert.match(stdout, /import\.unknown-field \{"timestamp":1e\+300\}/)
  assert.deepInclude(report(await importInto(home, "a.jsonl")), { imported: 0, unchanged: 3 })
})

describe("a file that is unfit", () => {
  const good = json(small("good"))
  const large = json(chat("large", S.user("x".repeat(5 * 1024 * 1024))))
  const usage = { prompt_tokens: Number.MAX_SAFE_INTEGER }
  const spent = json(chat("spent", S.user("hi"), S.says("a", { usage }), S.says("b", { usage })))
  const notUtf8 = Buffer.concat([
    Buffer.from(`${good}\n{"id":"x","messages":[{"role":"user","content":"`),
    Buffer.from([0xff]),
    Buffer.from('"}]}\n')
  ])
  const cases: ReadonlyArray<readonly [what: string, content: string | Uint8Array, tag: string, message: RegExp]> = [
    ["is empty", "", "ImportRejected", /nothing in it/],
    ["has only blank lines", "\n \n\n", "ImportRejected", /nothing in it/],
    ["is cut in a line", `${good}\n${good.slice(0, 40)}`, "ImportRejected", /line 2 .*torn/],
    ["is cut in its first line", good.slice(0, 40), "ImportRejected", /line 1 .*torn/],
    ["is a document that is cut", JSON.stringify([small("a")], null, 2).slice(0, 60), "ImportRejected", /torn/],
    ["ends with a page of zeros", `${good}\n${"\u0000".repeat(4096)}`, "ImportRejected", /line 2 .*torn/],
    [
      "is cut in a character",
      Buffer.from(`${good}\n{"id":"🙂`).subarray(0, -2),
      "ImportRejected",
      /line 2, byte 8 .*encoding/
    ],
    ["is not UTF-8", notUtf8, "ImportRejected", /line 2, byte 49 .*encoding.*UTF-8/],
    ["is not UTF-8 but UTF-16", Buffer.from(good, "utf16le").subarray(2), "ImportRejected", /refused/],
    ["has a message over the limit", `${good}\n${large}\n`, "LimitExceeded", /line 2, message 1 .*payload-bytes/],
    ["has tokens that no number holds", `${good}\n${spent}\n${good}`, "ImportRejected", /line 2.* .*invalid/],
    [
      "nests too deep",
      `${good}\n${`{"id":"d","messages":[{"role":"tool","content":${"[".repeat(80)}${"]".repeat(80)}}]}`}`,
      "LimitExceeded",
      /line 2, message 1 .*json-depth/
    ],
    [
      "has an id with control characters",
      `${good}\n${json(small("a\u001b[2Jb"))}`,
      "ImportRejected",
      /line 2 .*invalid.*control/
    ],
    ["has an empty id", `${good}\n${json(small(""))}`, "ImportRejected", /line 2 .*invalid.*empty/],
    ["has an id that is too long", `${good}\n${json(small("x".repeat(600)))}`, "ImportRejected", /line 2 .*512/],
    ["has a line without messages", `${good}\n{"id":"x"}\n`, "ImportRejected", /line 2 .*format.*object with id/],
    ["has a line that is no object", `${good}\n42\n`, "ImportRejected", /line 2 .*format.*number/],
    ["is something else", "name,age\nann,7\n", "ImportRejected", /format.*no JSON/],
    ["is other JSON", '{"name":"x"}', "ImportRejected", /format.*object with name/],
    ["is an array of something else", "[1,2]", "ImportRejected", /format/]
  ]

  for (const [what, content, tag, message] of cases) {
    it.concurrent(`is refused when it ${what}, and nothing is written`, async () => {
      const home = folder()
      home.write("bad.jsonl", content)
      const { code, stderr, stdout } = await importInto(home, "bad.jsonl")
      assert.deepStrictEqual([code, stdout], [1, ""])
      const [line, ...rest] = stderr.trimEnd().split("\n")
      assert.strictEqual(rest.length, 1, stderr)
      assert.match(line!, message)
      assert.notInclude(stderr, "\u001b")
      assert.strictEqual(errorOf(stderr).tag, tag)
      assert.deepStrictEqual(home.files(), ["bad.jsonl"])
    })
  }

  it.concurrent("leaves an existing database as it is", async () => {
    const home = folder()
    home.write("good.jsonl", `${good}\n`)
    report(await importInto(home, "good.jsonl"))
    const before = home.read("a.db")
    home.write("bad.jsonl", `${json(small("b"))}\n${json(small("c")).slice(0, 30)}`)
    assert.strictEqual((await importInto(home, "bad.jsonl")).code, 1)
    assert.isTrue(before.equals(home.read("a.db")))
  })

  it.concurrent("is refused when it is absent, a directory or not regular", async () => {
    const home = folder()
    for (const [file, message] of [
      ["absent.jsonl", /no such file/],
      [".", /Directory/],
      ["/dev/null", /no regular file/]
    ] as const) {
      const { code, stderr } = await importInto(home, file)
      assert.strictEqual(code, 1)
      assert.strictEqual(errorOf(stderr).tag, "FileUnreadable")
      assert.match(errorOf(stderr).message, message)
    }
    assert.deepStrictEqual(home.files(), [])
  })
})

describe("archives", () => {
  it.concurrent("come back with identical tails, under a prefix too; each is taken whole or not", async () => {
    const home = folder()
    home.write("a.jsonl", lines(small("a"), small("b"), chat("c", S.system("be kind"), S.user("🙂"))))
    report(await importInto(home, "a.jsonl"))
    const exported = await home.run("export", "--all", "--db", "a.db", "--out", "all.ndjson", "--json")
    assert.deepStrictEqual(value(exported.stdout), { out: "all.ndjson", conversations: 3, records: 14 })
    const before = await tails(home)

    const copied = await home.run("import", "all.ndjson", "--db", "b.db", "--json")
    assert.deepStrictEqual(report(copied), { imported: 3, unchanged: 0, records: 14, renamedCallIds: 0, repairs: [] })
    assert.deepStrictEqual(await tails(home, "b.db"), before)
    assert.deepInclude(report(await home.run("import", "all.ndjson", "--db", "b.db", "--json")), {
      imported: 0,
      unchanged: 3,
      records: 0
    })

    report(await home.run("import", "all.ndjson", "--db", "c.db", "--json", "--id-prefix", "x/"))
    assert.deepStrictEqual(
      await tails(home, "c.db"),
      Object.fromEntries(Object.entries(before).map(([id, tail]) => [`x/${id}`, tail]))
    )
    const verified = await home.run("verify", "--prompts", "--db", "c.db", "--json")
    assert.deepInclude(value<object>(verified.stdout), { ok: true, conversations: 3 })

    // Cut in the middle of the last conversation: the two before it are whole, and it is not there.
    const whole = home.read("all.ndjson").toString().split("\n")
    home.write("torn.ndjson", whole.slice(0, -2).join("\n"))
    const torn = await home.run("import", "torn.ndjson", "--db", "d.db", "--json")
    assert.strictEqual(torn.code, 1)
    assert.strictEqual(errorOf(torn.stderr).tag, "ImportRejected")
    assert.deepStrictEqual(Object.keys(await tails(home, "d.db")), ["a", "b"])

    home.write("altered.ndjson", home.read("all.ndjson").toString().replace("hello", "hallo"))
    const altered = await home.run("import", "altered.ndjson", "--db", "e.db", "--json")
    assert.match(errorOf(altered.stderr).message, /altered/)
    assert.deepStrictEqual(await tails(home, "e.db"), {})
  })
})

it.concurrent("tells people what was imported, and what had to be repaired", async () => {
  const home = folder()
  home.write("a.jsonl", lines(chat("a", S.user("go"), S.calls("x", "x"), S.result("x"))))
  const { code, stderr, stdout } = await home.run("import", "a.jsonl", "--db", "a.db")
  assert.deepStrictEqual([code, stderr], [0, ""])
  assert.deepStrictEqual(stdout.split("\n"), [
    "1 conversation imported (6 records)",
    "1 tool-call id renamed: the file has them more than once",
    "",
    "conversation  repair               count",
    "a             call-without-result      1",
    ""
  ])
})
