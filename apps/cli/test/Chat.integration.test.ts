/**
 * `colloquy chat` and `colloquy resume`, on a real file, with the offline model.
 */
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import * as Conversations from "@colloquy/store/Conversations"
import { AgentName, ConversationId, RunId, ToolCallId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Digest from "@colloquy/session/Digest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { environment, errorOf, folder, type Folder, value, values } from "./colloquy.ts"

const conversationId = ConversationId.make("ticket")

/** A run of this agent that stopped in the middle of a tool, as a crash leaves it. */
const leaveUnfinished = (home: Folder, agent: string) => {
  const runId = RunId.make("r1")
  const name = AgentName.make(agent)
  const call = { runId, step: 1, callId: ToolCallId.make("c1"), name: "count_words" }
  const payloads: ReadonlyArray<Payload.Written> = [
    { _tag: "RunStarted", runId, agent: name, mode: "execute" },
    {
      _tag: "InputRecorded",
      runId,
      kind: "user",
      message: { role: "user", content: [{ type: "text", text: "one two three four" }] }
    },
    {
      _tag: "ModelResponded",
      runId,
      step: 1,
      agent: name,
      finishReason: "tool-calls",
      content: [{ type: "tool-call", id: "c1", name: "count_words", params: { text: "one two three four" } }]
    },
    { _tag: "ToolCallStarted", ...call, parametersDigest: Digest.text(""), attempt: 1 }
  ]
  const storage = SqliteStorage.layer({ filename: join(home.path, "a.db") })
  return Conversations.Conversations.use(({ open }) => open(conversationId)).pipe(
    Effect.flatMap((writer) => writer.append(payloads)),
    Effect.scoped,
    Effect.provide(Layer.provide(Conversations.layer, storage)),
    Effect.runPromise
  )
}

describe("chat", () => {
  it.concurrent("answers one message, and remembers the last ones", async () => {
    const home = folder()
    const first = await home.run("chat", "ticket", "one two three", "--db", "a.db")
    assert.deepStrictEqual([first.code, first.stderr], [0, ""])
    assert.match(first.stdout, /^You said 3 words; I remember 1 of your messages/)
    const second = await home.run("chat", "ticket", "four", "--db", "a.db", "--json")
    const answer = value(second.stdout)
    assert.deepInclude(answer, { conversationId: "ticket", outcome: "completed" })
    assert.match(String(answer["text"]), /^You said 1 words; I remember 2/)
    // A new user finds the offline model's repeated call id renamed, and everything in order.
    const verified = await home.run("verify", "--prompts", "--db", "a.db", "--json")
    const report: Record<string, unknown> = value(verified.stdout)
    assert.deepInclude(report, { ok: true, conversations: 1, prompts: 2 })
  })

  it.concurrent("takes each line of a pipe as a turn, and skips blank ones", async () => {
    const home = folder()
    const [node = "", ...args] = home.command
    const child = spawn(node, [...args, "chat", "ticket", "--db", "a.db", "--json"], {
      cwd: home.path,
      env: environment,
      stdio: ["pipe", "pipe", "inherit"]
    })
    let stdout = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stdin.end("\na b\n \n\nc d e\n\n")
    const code = await new Promise((resolve) => child.on("close", resolve))
    assert.strictEqual(code, 0)
    assert.deepStrictEqual(
      values(stdout).map(({ text }) => String(text).slice(0, 16)),
      ["You said 2 words", "You said 3 words"]
    )
  })

  it.concurrent("continues what was imported", async () => {
    const home = folder()
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content: "hello" }
    ]
    home.write("chat.jsonl", JSON.stringify({ id: "ticket", messages }))
    assert.strictEqual((await home.run("import", "chat.jsonl", "--db", "a.db")).code, 0)
    const { stdout } = await home.run("chat", "ticket", "and now", "--db", "a.db")
    assert.match(stdout, /I remember 2 of your messages/)
  })

  it.concurrent("refuses a conversation whose run has not ended, unless it is to take it over", async () => {
    const home = folder()
    await leaveUnfinished(home, "assistant")
    const refused = await home.run("chat", "ticket", "hello", "--db", "a.db", "--json")
    assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
    assert.strictEqual(errorOf(refused.stderr).tag, "ConversationUnfinished")
    assert.match(errorOf(refused.stderr).message, /colloquy resume ticket/)
    const taken = await home.run("chat", "ticket", "hello", "--takeover", "--db", "a.db")
    assert.strictEqual(taken.code, 0)
    const { stdout } = await home.run("show", "ticket", "--db", "a.db")
    assert.match(stdout, /failed \(Unfinished/)
  })

  it.concurrent("refuses nothing to say, and a missing id as wrong usage", async () => {
    const home = folder()
    const empty = await home.run("chat", "ticket", "  ", "--db", "a.db", "--json")
    assert.deepStrictEqual([empty.code, errorOf(empty.stderr).tag], [1, "EmptyInput"])
    const missing = await home.run("chat", "--db", "a.db")
    assert.deepStrictEqual([missing.code, missing.stdout], [2, ""])
  })
})

describe("resume", () => {
  it.concurrent("says in its help that it takes the conversation over", async () => {
    const { stdout } = await folder().run("resume", "--help")
    assert.match(stdout, /Take a conversation over from whoever runs it/)
  })

  it.concurrent("finishes the run that was cut off, under its id", async () => {
    const home = folder()
    await leaveUnfinished(home, "assistant")
    const { code, stdout } = await home.run("resume", "ticket", "--db", "a.db", "--json")
    assert.strictEqual(code, 0)
    const answer = value(stdout)
    assert.deepInclude(answer, { runId: "r1", outcome: "completed" })
    assert.match(String(answer["text"]), /^You said 4 words/)
    const again = await home.run("resume", "ticket", "--db", "a.db", "--json")
    assert.deepStrictEqual([again.code, errorOf(again.stderr).tag], [1, "NothingToResume"])
    const page = await home.run("show", "ticket", "--db", "a.db")
    assert.match(page.stdout, /resumed after a crash by assistant, attempt 2/)
    assert.match(page.stdout, /count_words c1 runs again, attempt 2/)
  })

  it.concurrent("says whose run it is, and makes neither a conversation nor a database", async () => {
    const home = folder()
    await leaveUnfinished(home, "desk")
    const other = await home.run("resume", "ticket", "--db", "a.db", "--json")
    assert.deepStrictEqual([other.code, errorOf(other.stderr).tag], [1, "UnknownAgent"])
    assert.match(errorOf(other.stderr).message, /desk/)
    const nobody = await home.run("resume", "nobody", "--db", "a.db", "--json")
    assert.deepStrictEqual([nobody.code, errorOf(nobody.stderr).tag], [1, "NothingToResume"])
    const nowhere = await home.run("resume", "ticket", "--db", "b.db", "--json")
    assert.deepStrictEqual([nowhere.code, errorOf(nowhere.stderr).tag], [1, "DatabaseMissing"])
    assert.notInclude(home.files(), "b.db")
  })
})
