/**
 * `colloquy export --format`: messages in the form of others, there and back.
 */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import * as Json from "../src/JsonOutput.ts"
import { errorOf, folder, type Folder, value } from "./colloquy.ts"
import * as S from "./import/samples.ts"
import { oneOf } from "./json.ts"

interface Chat {
  readonly id: string
  readonly title?: string
  readonly messages: ReadonlyArray<{ readonly [field: string]: unknown }>
}

const sample = (name: string) => readFileSync(new URL(`golden/${name}`, import.meta.url), "utf8")

const importInto = async (home: Folder, file: string, db: string) =>
  oneOf(Json.Import, await home.run("import", file, "--db", db, "--json"))

const exported = async (home: Folder, format: string, id: string, db: string) => {
  const { code, stderr, stdout } = await home.run("export", id, "--format", format, "--db", db)
  assert.strictEqual(code, 0, stderr)
  return { chat: value<Chat>(stdout), stderr, stdout }
}

describe("export --format openai", () => {
  it.concurrent("gives the messages back that were imported", async () => {
    const home = folder()
    home.write("a.jsonl", sample("openai.jsonl"))
    await importInto(home, "a.jsonl", "a.db")
    const { chat } = await exported(home, "openai", "o-1", "a.db")
    assert.deepInclude(chat, { id: "o-1", title: "Order B-77" })
    const url = "data:image/png;base64,iVBORw0KGgo="
    const look = { name: "look_up", arguments: '{"order":"B-77"}' }
    // What a form says of a message beside its words (usage, an author) stands in the records, and in no prompt.
    assert.deepStrictEqual(chat.messages, [
      { role: "system", content: "You help with orders." },
      {
        role: "user",
        content: [
          { type: "text", text: "Where is it?" },
          { type: "image_url", image_url: { url } }
        ]
      },
      { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: look }] },
      { role: "tool", tool_call_id: "call_1", name: "look_up", content: '{"state":"on its way"}' },
      { role: "assistant", content: "It is on its way." }
    ])
  })

  for (const name of ["vercel.json", "langchain.json", "claude-code.jsonl", "pi.jsonl"]) {
    it.concurrent(`of ${name} is the same when it is imported and exported again, and says what it left out`, async () => {
      const home = folder()
      home.write(name, sample(name))
      await importInto(home, name, "a.db")
      const { conversations } = oneOf(
        Json.Export,
        await home.run("export", "--all", "--format", "openai", "--out", "b.jsonl", "--db", "a.db", "--json")
      )
      assert.strictEqual(conversations, 1)
      const first = home.read("b.jsonl").toString()
      const { id } = value<Chat>(first)
      await importInto(home, "b.jsonl", "b.db")
      const { stderr, stdout } = await exported(home, "openai", id, "b.db")
      assert.deepStrictEqual(value<Chat>(stdout).messages, value<Chat>(first).messages)
      assert.strictEqual(stderr, "")
      const { stderr: said } = await home.run("export", id, "--format", "openai", "--db", "a.db")
      assert.match(said, /^colloquy: left out: .*notes/)
    })
  }
})

describe("export --format vercel", () => {
  for (const name of ["vercel.json", "openai.jsonl", "langgraph.jsonl", "claude-code.jsonl"]) {
    it.concurrent(`of ${name} is the same when it is imported and exported again`, async () => {
      const home = folder()
      home.write(name, sample(name))
      await importInto(home, name, "a.db")
      const list = value((await home.run("list", "--db", "a.db", "--json")).stdout)
      const id = String(list["conversationId"])
      const first = await exported(home, "vercel", id, "a.db")
      home.write("b.json", JSON.stringify(first.chat, null, 2))
      const { repairs } = await importInto(home, "b.json", "b.db")
      // The response that failed in the session has no words; what is left of its run is an input.
      const expected = name === "claude-code.jsonl" ? ["run-without-response"] : []
      assert.deepStrictEqual(
        repairs.map(({ kind }) => kind),
        expected
      )
      const second = await exported(home, "vercel", id, "b.db")
      assert.deepStrictEqual(second.chat, first.chat)
    })
  }

  it.concurrent("puts calls, results and failures where the AI SDK has them", async () => {
    const home = folder()
    home.write("a.json", sample("vercel.json"))
    await importInto(home, "a.json", "a.db")
    const { chat } = await exported(home, "vercel", "v-1", "a.db")
    const parts = chat.messages.flatMap(({ parts }) => parts as ReadonlyArray<{ readonly [field: string]: unknown }>)
    const calls = parts.filter(({ type }) => type === "dynamic-tool")
    assert.deepStrictEqual(
      calls.map(({ errorText, output, state, toolName }) => [toolName, state, output ?? errorText]),
      [
        ["look_up", "output-available", { state: "on its way" }],
        ["weather", "output-error", "no such city"],
        ["cancel", "output-error", "too late"],
        ["refund", "output-error", "The call was interrupted. It is not known whether it took effect."]
      ]
    )
    assert.strictEqual(parts.filter(({ type }) => type === "step-start").length, 3)
  })
})

describe("an export in the form of others", () => {
  it.concurrent("reports what is left out beside its file, and knows no other format", async () => {
    const home = folder()
    home.write("a.jsonl", JSON.stringify({ id: "a", messages: [S.user("hi"), S.calls("x")], extra: 1 }))
    await importInto(home, "a.jsonl", "a.db")
    const report = oneOf(
      Json.Export,
      await home.run("export", "a", "--format", "openai", "--out", "b.jsonl", "--db", "a.db", "--json")
    )
    assert.deepStrictEqual(report.leftOut, {
      "marks of failure": 1,
      "repaired: call-without-result": 1
    })
    const odd = await home.run("export", "a", "--format", "odd", "--db", "a.db", "--json")
    assert.deepStrictEqual([odd.code, errorOf(odd.stderr).tag], [2, "InvalidValue"])
  })
})
