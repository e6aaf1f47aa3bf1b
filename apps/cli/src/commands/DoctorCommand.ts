/**
 * `colloquy doctor`: finds what is wrong with a database, and says what to do about it.
 */
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import { describe } from "../DatabaseName.ts"
import * as FileCheck from "../doctor/FileCheck.ts"
import * as LogCheck from "../doctor/LogCheck.ts"
import type { Limits, Problem } from "../doctor/Problem.ts"
import * as TableCheck from "../doctor/TableCheck.ts"
import type * as Json from "../JsonOutput.ts"
import { Output } from "../Output.ts"
import { type Place, places } from "../Places.ts"
import { Progress } from "../Progress.ts"
import { counted, oneLine } from "../TerminalText.ts"

/**
 * There are problems; the report on stdout names them, and what to do about each.
 *
 * @public
 */
export class ProblemsFound extends Schema.TaggedError<ProblemsFound>("@colloquy/cli/ProblemsFound")("ProblemsFound", {
  problems: Schema.Natural,
  first: Schema.String
}) {
  override get message() {
    return `doctor found ${counted(this.problems, "problem")}, the first: ${this.first}`
  }
}

const count = (name: string, standard: number, description: string) =>
  Flag.Int(name).pipe(
    Flag.withSchema(Schema.Natural),
    Flag.withDefault(standard),
    Flag.withDescription(`${description} (default ${standard})`)
  )

export const doctorCommand = Command.make(
  "doctor",
  {
    unfinishedMinutes: count("unfinished-minutes", 15, "How long a run may be without a sign of life"),
    waitingHours: count("waiting-hours", 24, "How long a run may wait for a decision"),
    minFreeMib: count("min-free-mib", 100, "How many MiB must be free on the disk"),
    prune: Flag.Boolean("prune").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Remove checkpoints that are too large; they are disposable")
    )
  },
  Effect.fn("colloquy.doctor")(function* ({ minFreeMib, prune, unfinishedMinutes, waitingHours }) {
    const output = yield* Output
    const name = yield* Database.named("doctor")
    if (name._tag === "Postgres") return yield* new Database.DatabaseUnsupported({ database: describe(name) })
    const report: Json.Diagnosis = yield* Effect.scoped(
      diagnose(
        name.path,
        {
          unfinishedMillis: unfinishedMinutes * 60_000,
          waitingMillis: waitingHours * 3_600_000,
          minFreeBytes: minFreeMib * 1024 * 1024
        },
        prune
      )
    )
    const written = output.isJson ? output.json(report) : output.text(render(report))
    const [first] = report.problems
    // Problems make the exit code, whether somebody reads the report to its end or not.
    if (first === undefined) return yield* written
    yield* Effect.catchTag(written, "ReaderGone", () => Effect.void)
    return yield* new ProblemsFound({
      problems: report.problems.length,
      first: `${first.problem} (${first.detail}); ${first.remedy}`
    })
  })
).pipe(
  Command.withDescription(
    "Find what is wrong with a database (its file, tables, logs, runs and checkpoints), and say what to do about it"
  )
)

// --- internal ---

const diagnose = Effect.fnUntraced(function* (database: string, limits: Limits, prune: boolean) {
  const report = (problems: ReadonlyArray<Problem>, conversations: number): Json.Diagnosis => ({
    database,
    ok: problems.length === 0,
    conversations,
    problems
  })
  const outside = yield* FileCheck.check(database, limits)
  if (outside.some(({ problem }) => problem === "file-missing")) return report(outside, 0)
  const inside = yield* TableCheck.check(database)
  const before = [...outside, ...inside.problems]
  // Who opens the stores writes to the file.
  if (!inside.isReadable || before.some(({ problem }) => problem === "read-only" || problem === "locked")) {
    return report(before, 0)
  }
  return yield* Effect.gen(function* () {
    const progress = yield* Progress
    const all = yield* places
    const counts = yield* Effect.forEach(all, ({ store }) => Stream.runCount(store.list()))
    const advance = yield* progress.track(
      "examining",
      counts.reduce((sum, count) => sum + count, 0)
    )
    const problems = [...before]
    let conversations = 0
    for (const place of all) {
      const found = yield* LogCheck.check(place, limits, advance)
      conversations += found.conversations
      problems.push(...(prune ? yield* pruned(place, found.problems) : found.problems))
    }
    return report(problems, conversations)
  }).pipe(Effect.provide(SqliteStorage.layer({ filename: database })))
})

/** Removes the checkpoints that are too large; gives the problems that are left. */
const pruned = Effect.fnUntraced(function* ({ store }: Place, problems: ReadonlyArray<Problem>) {
  const left: Array<Problem> = []
  for (const problem of problems) {
    const { conversationId } = problem
    if (problem.problem !== "oversized-checkpoint" || conversationId === undefined) left.push(problem)
    else yield* store.pruneCheckpoints({ conversationId, keep: 0 })
  }
  return left
})

const render = ({ conversations, database, ok, problems }: Json.Diagnosis): ReadonlyArray<string> => [
  `${oneLine(database)}, ${counted(conversations, "conversation")}: ${ok ? "ok" : counted(problems.length, "problem")}`,
  ...problems.flatMap(({ detail, problem, remedy }) => [
    "",
    `${problem}: ${oneLine(detail)}`,
    `  -> ${oneLine(remedy)}`
  ])
]
