/**
 * `npm run bench:desk`: 50 runs at once, watched by nobody, then by 200 readers of which 20 read nothing, several times
 * over. Says how long the runs took, what the readers were shown, and what the server holds.
 */
import { TenantId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { load } from "./Load.ts"
import * as LongConversation from "./LongConversation.ts"

const runs = 50
const readers = 180
const stalled = 20
const rounds = 4

interface Usage {
  readonly heapUsed: number
  readonly rss: number
  readonly cpu: { readonly user: number; readonly system: number }
}

const usageOf = async (server: ChildProcess): Promise<Usage> => {
  const answer = once(server, "message")
  server.send("usage")
  const [usage] = await answer
  return usage
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`
const seconds = (millis: number): string => `${(millis / 1000).toFixed(2)} s`

const folder = mkdtempSync(join(tmpdir(), "desk-load-"))
const filename = join(folder, "desk.db")
let long = await Effect.runPromise(LongConversation.write(filename, TenantId.make("desk")))
const server = fork(fileURLToPath(new URL("server.ts", import.meta.url)), [filename], {
  execArgv: ["--expose-gc", "--conditions=@colloquy/source", "--disable-warning=ExperimentalWarning"]
})
try {
  const [{ port }] = await once(server, "message")
  const url = `http://127.0.0.1:${port}`
  const tailNow = async (): Promise<number> => {
    const response = await fetch(`${url}/api/conversations/${long.conversationId}`)
    const { summary }: { readonly summary: { readonly records: number } } = JSON.parse(await response.text())
    return summary.records
  }
  let failed = false
  for (let i = 0; i <= rounds; i++) {
    const watched = i > 0
    const before = await usageOf(server)
    const result = await load({
      url,
      round: String(i),
      runs,
      text: "write a long answer",
      readers: watched ? readers : 0,
      stalled: watched ? stalled : 0,
      long
    })
    long = { ...long, tail: await tailNow() }
    const after = await usageOf(server)
    const cpu = (after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system) / 1000
    const faults = result.reading.faults + result.stalled.faults
    failed ||= faults > 0 || result.endedRuns !== runs
    const { reading, stalled: slow } = result
    console.log(
      [
        watched ? `${readers} readers, ${stalled} more that read nothing` : "no readers",
        `${result.endedRuns} of ${runs} runs ended without waiting, in ${seconds(result.millis)}`,
        `${seconds(cpu)} of processor`,
        `${reading.records + slow.records} records in ${reading.events + slow.events} events`,
        `${faults} twice or missing`,
        `${reading.gaps + slow.gaps} gaps`,
        `heap ${mebibytes(after.heapUsed)}, resident ${mebibytes(after.rss)}`
      ].join("; ")
    )
  }
  process.exitCode = failed ? 1 : 0
} finally {
  server.kill()
  rmSync(folder, { recursive: true, force: true })
}
