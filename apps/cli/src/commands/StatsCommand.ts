/**
 * `colloquy stats`: how large a database is, how it grows, and what in it is largest and slowest.
 */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import type * as Json from "../JsonOutput.ts"
import { Output } from "../Output.ts"
import { places, title } from "../Places.ts"
import { Progress } from "../Progress.ts"
import { Statistics } from "../Statistics.ts"
import { bytesText, counted, oneLine, table } from "../TerminalText.ts"

export const statsCommand = Command.make(
  "stats",
  {},
  Effect.fn("colloquy.stats")(function* () {
    const output = yield* Output
    const path = yield* Database.file("stats", "read")
    const statistics = yield* Effect.scoped(Effect.provide(gather(path), Database.layer("stats", "read")))
    yield* output.isJson ? output.json(statistics) : output.text(render(statistics))
  })
).pipe(Command.withDescription("Show how large a database is, how it grows, and what in it is largest and slowest"))

// --- internal ---

const gather = Effect.fnUntraced(function* (path: string) {
  const progress = yield* Progress
  const all = Stream.flatMap(Stream.fromIterable(yield* places), ({ store, tenant }) =>
    Stream.map(store.list(), (summary) => ({ store, tenant, summary }))
  )
  const total = yield* Stream.runFold(
    all,
    () => 0,
    (sum, { summary }) => sum + summary.tail.sequence
  )
  const advance = yield* progress.track("reading", total)
  const statistics = new Statistics()
  yield* Stream.runForEach(
    all,
    Effect.fnUntraced(function* ({ store, summary, tenant }) {
      statistics.begin(summary, tenant)
      const { conversationId } = summary
      yield* Stream.runForEachArray(store.read({ conversationId, verify: false }), (records) => {
        for (const record of records) statistics.read(record)
        return advance(records.length)
      })
    })
  )
  return statistics.result({ bytes: yield* sizeOf(path), logBytes: yield* sizeOf(`${path}-wal`) })
})

const sizeOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return Option.match(yield* Effect.option(fs.stat(path)), { onNone: () => 0, onSome: ({ size }) => Number(size) })
})

const daysShown = 14
const barWidth = 40

const render = (statistics: Json.Statistics): ReadonlyArray<string> => {
  const { byStatus, byTag, bytes, conversations, days, file, largest, records, runs, slowest, tokens } = statistics
  const lines = [
    `${counted(conversations, "conversation")} (${listed(byStatus)}), ${counted(records, "record")} of ${bytesText(bytes)}`,
    `file ${bytesText(file.bytes)}, its log ${bytesText(file.logBytes)}`,
    `runs: ${listed(runs)}; tokens: ${tokens.input} in, ${tokens.output} out`
  ]
  const last = days.slice(-daysShown)
  const most = Math.max(1, ...last.map((day) => day.records))
  if (last.length > 0) {
    const rows = last.map((day) => [day.day, day.records, bytesText(day.bytes), bar(day.records / most)])
    lines.push("", ...table(["day", "records", "size", "growth"], rows))
  }
  const tags = Object.entries(byTag).toSorted(([, a], [, b]) => b.bytes - a.bytes)
  if (tags.length > 0) {
    const rows = tags.map(([tag, size]) => [tag, size.records, bytesText(size.bytes), bar(size.bytes / bytes)])
    lines.push("", ...table(["kind", "records", "size", "share"], rows))
  }
  if (largest.length > 0) {
    const rows = largest.map((one) => [
      oneLine(title(one.conversationId, one.tenant)),
      one.records,
      bytesText(one.bytes)
    ])
    lines.push("", ...table(["largest", "records", "size"], rows))
  }
  if (slowest.length > 0) {
    const rows = slowest.map((run) => [
      oneLine(title(run.conversationId, run.tenant)),
      oneLine(run.runId),
      `${(run.milliseconds / 1000).toFixed(1)} s`,
      run.outcome
    ])
    lines.push("", ...table(["slowest", "run", "time", "outcome"], rows))
  }
  return lines
}

const listed = (counts: { readonly [name: string]: number }): string => {
  const all = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  return all.length === 0 ? "none" : all.join(", ")
}

const bar = (share: number): string => "#".repeat(Math.max(share > 0 ? 1 : 0, Math.round(share * barWidth)))
