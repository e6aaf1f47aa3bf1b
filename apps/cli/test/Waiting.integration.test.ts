/**
 * `colloquy approvals`, `decide` and `show --run`, on a real file.
 */
import { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { AgentName, ConversationId, RunId } from "@colloquy/session/Ids"
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import * as Conversations from "@colloquy/store/Conversations"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import * as Json from "../src/JsonOutput.ts"
import { errorOf, folder, type Folder } from "./colloquy.ts"
import { allOf, oneOf } from "./json.ts"

const into = ["--db", "a.db", "--json"] as const
const template = folder()

beforeAll(async () => {
  for (const [id, text] of [
    ["a", "note buy milk"],
    ["b", "note buy bread"],
    ["c", "hello"]
  ] as const) {
    oneOf(Json.Turn, await template.run("chat", id, text, ...into))
  }
})

const waiting = (): Folder => {
  const home = folder()
  home.copy(template, "a.db")
  return home
}

describe("approvals", () => {
  it.concurrent("lists what waits, in all conversations or one", async () => {
    const home = waiting()
    const all = allOf(Json.Approval, await home.run("approvals", ...into))
    assert.deepStrictEqual(
      all.map(({ conversationId, name, params }) => [String(conversationId), name, params]),
      [
        ["a", "keep_note", { text: "buy milk" }],
        ["b", "keep_note", { text: "buy bread" }]
      ]
    )
    assert.deepStrictEqual(allOf(Json.Approval, await home.run("approvals", "b", ...into)), all.slice(1))
    assert.deepStrictEqual(allOf(Json.Approval, await home.run("approvals", "c", ...into)), [])
    const people = await home.run("approvals", "--db", "a.db")
    assert.match(people.stdout, /^a +\S+ +[\d: -]+ +keep_note\({"text":"buy milk"}\)$/m)
    assert.match((await home.run("approvals", "c", "--db", "a.db")).stdout, /^nothing waits/)
    assert.strictEqual(errorOf((await home.run("approvals", "nobody", ...into)).stderr).tag, "ConversationNotFound")
  })
})

describe("decide", () => {
  it.concurrent("lets the stored call run, once, by any of its names", async () => {
    const home = waiting()
    const [first] = allOf(Json.Approval, await home.run("approvals", ...into))
    const done = oneOf(Json.Turn, await home.run("decide", first!.approvalId, "approve", "--author", "ada", ...into))
    assert.deepStrictEqual([done.outcome, done.runId], ["completed", first!.runId])
    assert.match(done.text, /kept your note/)
    const again = await home.run("decide", first!.approvalId, "approve", ...into)
    assert.deepStrictEqual([again.code, errorOf(again.stderr).tag], [1, "RequestAbsent"])
    assert.match((await home.run("decide", "b", "deny", "--reason", "no", "--db", "a.db")).stdout, /kept nothing/)
    assert.deepStrictEqual(allOf(Json.Approval, await home.run("approvals", ...into)), [])
  })

  it.concurrent("takes an answer in the call's place", async () => {
    const home = waiting()
    oneOf(Json.Turn, await home.run("decide", "a", "answer", "--result", '{"notes":7}', ...into))
    const records = allOf(CanonicalRecord, await home.run("show", "a", ...into))
    const settled = records.find(({ payload }) => payload._tag === "ToolCallSettled")?.payload
    assert.deepInclude(settled, { outcome: "answered", result: { notes: 7 } })
  })

  it.concurrent("is used wrongly with flags of another decision", async () => {
    const home = waiting()
    for (const args of [["answer"], ["deny", "--always"], ["approve", "--result", "1"], ["perhaps"], []]) {
      assert.strictEqual((await home.run("decide", "a", ...args, ...into)).code, 2)
    }
    const more = await home.run("decide", "c", "approve", ...into)
    assert.deepStrictEqual([more.code, errorOf(more.stderr).tag], [1, "RequestAbsent"])
  })

  it.concurrent("is what resume asks for", async () => {
    const { code, stderr } = await waiting().run("resume", "a", ...into)
    assert.deepStrictEqual([code, errorOf(stderr).tag], [1, "AwaitingApproval"])
    assert.match(errorOf(stderr).message, /colloquy decide/)
  })
})

describe("show --run", () => {
  const context = "<ledger>\n  the customer is Ada\n</ledger>\n"

  /** Two runs, the second with context for its input. */
  const twoRuns = async () => {
    const home = folder()
    const runs = ["run-aa", "run-ab"].map((id) => RunId.make(id))
    const agent = AgentName.make("desk")
    const storage = SqliteStorage.layer({ filename: join(home.path, "a.db") })
    await Conversations.Conversations.use(({ open }) => open(ConversationId.make("a"))).pipe(
      Effect.flatMap((writer) =>
        Effect.forEach(runs, (runId, i) =>
          writer.append([
            {
              _tag: "RunStarted",
              runId,
              agent,
              mode: "execute",
              ...(i === 1 ? { conversationKey: "slack:D1", workKey: "m\u001b[2J1" } : {})
            },
            {
              _tag: "InputRecorded",
              runId,
              kind: "user",
              message: { role: "user", content: [{ type: "text", text: `hello ${i}` }] },
              ...(i === 1 ? { context } : {})
            },
            {
              _tag: "RunEnded",
              runId,
              outcome: "completed",
              mode: "execute",
              usage: { inputTokens: {}, outputTokens: {} }
            }
          ])
        )
      ),
      Effect.scoped,
      Effect.provide(Layer.provide(Conversations.layer, storage)),
      Effect.runPromise
    )
    return home
  }

  it.concurrent("shows that run alone, with the exact context that its input was given", async () => {
    const home = await twoRuns()
    const records = allOf(CanonicalRecord, await home.run("show", "a", "--run", "run-ab", ...into))
    assert.deepStrictEqual(
      records.map(({ payload }) => payload._tag),
      ["RunStarted", "InputRecorded", "RunEnded"]
    )
    const input = records[1]?.payload
    assert.strictEqual(input?._tag === "InputRecorded" ? input.context : undefined, context)
    const page = (await home.run("show", "a", "--run", "run-ab", "--db", "a.db")).stdout
    assert.match(page, /context given\n {2}<ledger>\n {4}the customer is Ada\n {2}<\/ledger>\n[\s\S]*hello 1/)
    assert.notMatch(page, /hello 0/)
    const other = (await home.run("show", "a", "--run", "run-aa", "--db", "a.db")).stdout
    assert.match(other, /given no context/)
    assert.notMatch(other, / key /)
  })

  it.concurrent("says where it took place and what it answered", async () => {
    const home = await twoRuns()
    const page = (await home.run("show", "a", "--run", "run-ab", "--db", "a.db")).stdout
    assert.match(page, /^--- run-ab · desk · .* ---\n· conversation key slack:D1\n· work key m\\x1b\[2J1$/m)
    const [start] = allOf(CanonicalRecord, await home.run("show", "a", "--run", "run-ab", ...into))
    assert.deepInclude(start?.payload, { conversationKey: "slack:D1", workKey: "m\u001b[2J1" })
  })

  it.concurrent("says when none, or more than one, begins so", async () => {
    const home = await twoRuns()
    for (const [beginning, message] of [
      ["run-a", /2 runs of a begin with run-a: write more of it, run-aa or run-ab/],
      ["x", /none of the 2 runs/]
    ] as const) {
      const { code, stderr } = await home.run("show", "a", "--run", beginning, ...into)
      assert.deepStrictEqual([code, errorOf(stderr).tag], [1, "RunAbsent"])
      assert.match(errorOf(stderr).message, message)
    }
    assert.strictEqual((await home.run("show", "a", "--run", "x", "--entries", ...into)).code, 2)
  })
})
