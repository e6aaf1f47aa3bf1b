/**
 * `colloquy import <file>`: takes archives of ours, and transcripts of others.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Database from "../Database.ts"
import * as ArchiveImport from "../import/ArchiveImport.ts"
import * as ForeignImport from "../import/ForeignImport.ts"
import { formats } from "../import/Format.ts"
import type { Report } from "../import/ImportReport.ts"
import * as TranscriptFile from "../import/TranscriptFile.ts"
import { Output } from "../Output.ts"
import { Progress } from "../Progress.ts"
import { counted, table, visible } from "../TerminalText.ts"

export const importCommand = Command.make(
  "import",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription(
        "An archive, chats of OpenAI, Vercel's AI SDK or LangChain (JSON or JSONL), or a session of pi or Claude Code"
      )
    ),
    format: Flag.Literals("format", formats).pipe(
      Flag.optional,
      Flag.withDescription("What the file holds, where its shape does not tell")
    ),
    idPrefix: Flag.String("id-prefix").pipe(
      Flag.withDefault(""),
      Flag.withDescription("Text to put before every conversation id of the file")
    )
  },
  Effect.fn("colloquy.import")(function* ({ file, format, idPrefix }) {
    // Wrong usage is said before the file is looked at.
    yield* Database.named("import")
    const output = yield* Output
    const source = yield* TranscriptFile.open(file, Option.getOrUndefined(format))
    const isArchive = source.shape.format === "archive"
    const report = isArchive ? yield* importArchive(source, idPrefix) : yield* importForeign(source, idPrefix)
    yield* output.isJson ? output.json(report) : output.text(render(report))
  })
).pipe(
  Command.withDescription(
    "Import conversations: all of the file is checked before anything is written, and importing it again changes nothing"
  ),
  Command.withExamples([
    { command: "colloquy import chats.jsonl --db conversations.db", description: "Import OpenAI chats" },
    { command: "colloquy import backup.ndjson --db copy.db", description: "Import what export has written" }
  ])
)

// --- internal ---

const importArchive = Effect.fnUntraced(function* (source: TranscriptFile.TranscriptFile, prefix: string) {
  const progress = yield* Progress
  const onBytes = yield* progress.track("importing", source.bytes)
  return yield* Effect.provide(ArchiveImport.write(source, { prefix, onBytes }), Database.layer("import", "write"))
}, Effect.scoped)

/** The database is opened, and created, only for a file that was found fit. */
const importForeign = Effect.fnUntraced(function* (source: TranscriptFile.TranscriptFile, prefix: string) {
  const progress = yield* Progress
  const onBytes = yield* progress.track("importing", source.bytes * 2)
  const checked = yield* ForeignImport.check(source, { prefix, onBytes })
  return yield* Effect.provide(ForeignImport.write(checked, onBytes), Database.layer("import", "write"))
}, Effect.scoped)

/** So many repairs are listed one by one; more are summed up by kind. */
const listedRepairs = 40

const render = ({ imported, records, renamedCallIds, repairs, unchanged }: Report): ReadonlyArray<string> => {
  const unchangedText = unchanged === 0 ? "" : `, ${unchanged} unchanged`
  const lines = [`${counted(imported, "conversation")} imported (${counted(records, "record")})${unchangedText}`]
  if (renamedCallIds > 0)
    lines.push(`${counted(renamedCallIds, "tool-call id")} renamed: the file has them more than once`)
  if (repairs.length === 0) return lines
  if (repairs.length <= listedRepairs) {
    const rows = repairs.map(({ conversationId, count, kind }) => [visible(conversationId), kind, count])
    return [...lines, "", ...table(["conversation", "repair", "count"], rows)]
  }
  const kinds = new Map<string, { readonly conversations: number; readonly count: number }>()
  for (const { count, kind } of repairs) {
    const sum = kinds.get(kind) ?? { conversations: 0, count: 0 }
    kinds.set(kind, { conversations: sum.conversations + 1, count: sum.count + count })
  }
  const rows = Array.from(kinds, ([kind, { conversations, count }]) => [kind, conversations, count])
  return [...lines, "", ...table(["repair", "conversations", "count"], rows)]
}
