/**
 * `colloquy tail`, on a real file that other processes write to.
 */
import { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Schema from "effect/Schema"
import { spawn } from "node:child_process"
import { assert, describe, it } from "vitest"
import { environment, errorOf, folder, type Folder, values } from "./colloquy.ts"
import * as S from "./import/samples.ts"

/** Follows a conversation, and gives what has come once `until` of it is there and Ctrl-C has ended it. */
const follow = (
  home: Folder,
  args: ReadonlyArray<string>,
  steps: ReadonlyArray<(seen: string) => boolean>,
  onStep: (n: number) => void
) => {
  const [node = "", ...rest] = home.command
  const child = spawn(node, [...rest, "tail", ...args, "--db", "a.db"], {
    cwd: home.path,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"]
  })
  let [stdout, stderr, step] = ["", "", 0]
  child.stderr.on("data", (chunk) => (stderr += chunk))
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text
    while (steps[step]?.(stdout) === true) {
      onStep(step++)
      if (step === steps.length) child.kill("SIGINT")
    }
  })
  return new Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, stdout, stderr }))
  )
}

const filled = async () => {
  const home = folder()
  home.write("a.jsonl", JSON.stringify({ id: "a", messages: [S.user("hi"), S.says("hello")] }))
  await home.run("import", "a.jsonl", "--db", "a.db")
  return home
}

const lines = (stdout: string) => stdout.split("\n").length - 1

describe("tail", () => {
  it.concurrent("shows what is there and what another process writes, once and in order, and ends well with Ctrl-C", async () => {
    const home = await filled()
    let chat: Promise<unknown> = Promise.resolve()
    const seen = [(out: string) => lines(out) >= 5, (out: string) => out.split('"RunEnded"').length > 2]
    const { code, stderr, stdout } = await follow(home, ["a", "--from", "1", "--json"], seen, (step) => {
      if (step === 0) chat = home.run("chat", "a", "one two", "--db", "a.db")
    })
    await chat
    assert.deepStrictEqual([code, stderr], [0, ""])
    const records = values<unknown>(stdout).map((line) => Schema.decodeUnknownSync(CanonicalRecord)(line))
    assert.deepStrictEqual(
      records.map(({ sequence }) => sequence),
      records.map((_, i) => i + 1)
    )
  })

  it.concurrent("shows people the last records first", async () => {
    const home = await filled()
    const { code, stdout } = await follow(home, ["a"], [(out) => out.includes("completed")], () => undefined)
    assert.strictEqual(code, 0)
    assert.match(stdout, /^assistant\n {2}hello$/m)
    const late = await follow(home, ["a", "--from", "5"], [(out) => out.includes("completed")], () => undefined)
    assert.notMatch(late.stdout, /hello/)
  })

  it.concurrent("fails for a conversation that is not there, and makes no database", async () => {
    const home = await filled()
    const nobody = await home.run("tail", "nobody", "--db", "a.db", "--json")
    assert.deepStrictEqual([nobody.code, nobody.stdout, errorOf(nobody.stderr).tag], [1, "", "ConversationNotFound"])
    assert.strictEqual((await home.run("tail", "a", "--from", "x", "--db", "a.db")).code, 2)
    assert.strictEqual((await home.run("tail", "a", "--db", "b.db")).code, 1)
    assert.notInclude(home.files(), "b.db")
  })
})
