/**
 * `colloquy export <conversation> | --all`: archives, to stdout or into a file.
 */
import type { ConversationId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import * as NewFile from "../NewFile.ts"
import { Output } from "../Output.ts"
import { type Advance, Progress } from "../Progress.ts"
import { counted, visible } from "../TerminalText.ts"
import { conversationArgument } from "./ConversationArgument.ts"

export const exportCommand = Command.make(
  "export",
  {
    conversation: Argument.optional(conversationArgument),
    all: Flag.Boolean("all").pipe(Flag.withDefault(false), Flag.withDescription("Export every conversation")),
    out: Flag.String("out").pipe(Flag.optional, Flag.withDescription("Write to this file in place of stdout")),
    force: Flag.Boolean("force").pipe(Flag.withDefault(false), Flag.withDescription("Overwrite the file of --out"))
  },
  Effect.fn("colloquy.export")(
    function* ({ all, conversation, force, out }) {
      if (all === Option.isSome(conversation)) return yield* wrongUsage
      yield* Effect.provide(
        exportTo(Option.getOrUndefined(conversation), Option.getOrUndefined(out), force),
        Database.layer("export", "read")
      )
    },
    Effect.catchTag("ConversationNotFound", Database.absent)
  )
).pipe(
  Command.withDescription("Export conversations as archives, which import takes back unchanged, digests and all"),
  Command.withExamples([
    { command: "colloquy export --all --out backup.ndjson --db conversations.db", description: "Export everything" }
  ])
)

// --- internal ---

const wrongUsage = new CliError.ShowHelp({
  commandPath: ["colloquy", "export"],
  errors: [new CliError.ValidationError({ message: "Name one conversation, or all of them with --all" })]
})

const exportTo = Effect.fnUntraced(function* (
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
  if (out === undefined) return yield* output.lines(archives(() => Effect.void))
  yield* Effect.scoped(
    Effect.gen(function* () {
      const progress = yield* Progress
      yield* NewFile.write(out, archives(yield* progress.track("exporting", ids.length)), { force })
    })
  )
  const { conversations, records } = written
  yield* output.isJson
    ? output.json({ out, conversations, records })
    : output.text([
        `${counted(conversations, "conversation")} (${counted(records, "record")}) written to ${visible(out)}`
      ])
})

const isRecord = (line: string): boolean => line.startsWith('{"record"')
