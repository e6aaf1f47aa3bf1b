/**
 * `colloquy export <conversation> | --all`: archives, or messages in the form of others, to stdout or into a file.
 */
import type { ConversationId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import * as Places from "../Places.ts"
import * as OpenAiForm from "../export/OpenAiForm.ts"
import * as VercelForm from "../export/VercelForm.ts"
import * as WholePrompt from "../export/WholePrompt.ts"
import { Counts } from "../export/WholePrompt.ts"
import * as NewFile from "../NewFile.ts"
import type * as Json from "../JsonOutput.ts"
import { Output, toJson } from "../Output.ts"
import { type Advance, Progress } from "../Progress.ts"
import { counted, visible } from "../TerminalText.ts"
import { wrongUsage } from "../WrongUsage.ts"
import { conversationArgument } from "./ConversationArgument.ts"

export const exportCommand = Command.make(
  "export",
  {
    conversation: Argument.optional(conversationArgument),
    format: Flag.Literals("format", ["archive", "openai", "vercel"]).pipe(
      Flag.withDefault("archive"),
      Flag.withDescription(
        "An archive, which keeps everything, or messages in the form of others, a conversation a line"
      )
    ),
    all: Flag.Boolean("all").pipe(Flag.withDefault(false), Flag.withDescription("Export every conversation")),
    out: Flag.String("out").pipe(Flag.optional, Flag.withDescription("Write to this file in place of stdout")),
    force: Flag.Boolean("force").pipe(Flag.withDefault(false), Flag.withDescription("Overwrite the file of --out"))
  },
  Effect.fn("colloquy.export")(function* ({ all, conversation, force, format, out }) {
    if (all === Option.isSome(conversation))
      return yield* wrongUsage("export", "Name one conversation, or all of them with --all")
    yield* exportTo(format, Option.getOrUndefined(conversation), Option.getOrUndefined(out), force).pipe(
      Effect.andThen(all ? Places.tellUnseen : Effect.void),
      Effect.catchTag("ConversationNotFound", Database.absent),
      Effect.provide(Database.layer("export", "read"))
    )
  })
).pipe(
  Command.withDescription(
    "Export conversations as archives, which import takes back unchanged, digests and all, or in the form of others"
  ),
  Command.withExamples([
    { command: "colloquy export ticket-42 --format openai --db desk.db", description: "One as OpenAI's messages" },
    { command: "colloquy export --all --out backup.ndjson --db conversations.db", description: "Export everything" }
  ])
)

// --- internal ---

type Format = "archive" | "openai" | "vercel"

const exportTo = Effect.fnUntraced(function* (
  format: Format,
  conversationId: ConversationId | undefined,
  out: string | undefined,
  force: boolean
) {
  const output = yield* Output
  const store = yield* ConversationStore
  const ids =
    conversationId === undefined
      ? yield* Stream.runCollect(Stream.map(store.list(), (summary) => summary.conversationId))
      : [conversationId]
  const written = { conversations: 0, records: 0 }
  const leftOut = new Counts()
  const archives = (advance: Advance) =>
    Stream.flatMap(Stream.fromIterable(ids), (id) =>
      store.exportLines({ conversationId: id }).pipe(
        // Counted a page of lines at a time: an effect for each line would make each a write of its own.
        Stream.mapArray((lines) => {
          for (const line of lines) if (isRecord(line)) written.records++
          return lines
        }),
        Stream.onEnd(
          Effect.suspend(() => {
            written.conversations++
            return advance(1)
          })
        )
      )
    )
  const foreign = (form: (typeof forms)[keyof typeof forms]) => (advance: Advance) =>
    Stream.mapEffect(
      Stream.fromIterable(ids),
      Effect.fnUntraced(function* (id) {
        const records = yield* Stream.runCollect(store.read({ conversationId: id }))
        const whole = yield* WholePrompt.make(id, records)
        const line = toJson(form.write(whole))
        leftOut.addAll(whole.leftOut)
        written.conversations++
        written.records += records.length
        yield* advance(1)
        return line
      })
    )
  const lines = format === "archive" ? archives : foreign(forms[format])
  if (out === undefined) {
    yield* output.lines(lines(() => Effect.void))
    // It is no part of what was exported, and nothing of it may be lost without a word.
    if (lost(leftOut) !== "") yield* Console.error(`colloquy: left out: ${lost(leftOut)}`)
    return
  }
  yield* Effect.scoped(
    Effect.gen(function* () {
      const progress = yield* Progress
      yield* NewFile.write(out, lines(yield* progress.track("exporting", ids.length)), { force })
    })
  )
  const { conversations, records } = written
  const report: Json.Export = {
    out,
    conversations,
    records,
    ...(format === "archive" ? {} : { leftOut: leftOut.all() })
  }
  yield* output.isJson
    ? output.json(report)
    : output.text([
        `${counted(conversations, "conversation")} (${counted(records, "record")}) written to ${visible(out)}`,
        ...(lost(leftOut) === "" ? [] : [`left out: ${lost(leftOut)}`])
      ])
})

const forms = { openai: OpenAiForm, vercel: VercelForm }

const lost = (leftOut: Counts): string =>
  Object.entries(leftOut.all())
    .map(([kind, count]) => `${count} ${kind}`)
    .join(", ")

const isRecord = (line: string): boolean => line.startsWith('{"record"')
