/**
 * `colloquy show <conversation>`: a conversation as a page to read, as records or as entries.
 */
import * as ConversationEntry from "@colloquy/session/ConversationEntry"
import type { ConversationId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import { entriesPage } from "../EntriesPage.ts"
import * as OneRun from "../OneRun.ts"
import { Output, toJson } from "../Output.ts"
import { ansi, plain } from "../TerminalText.ts"
import { transcriptPage } from "../TranscriptPage.ts"
import { wrongUsage } from "../WrongUsage.ts"
import { conversationArgument } from "./ConversationArgument.ts"

export const showCommand = Command.make(
  "show",
  {
    conversation: conversationArgument,
    entries: Flag.Boolean("entries").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Show the entries that applications list, in place of the records")
    ),
    run: Flag.String("run").pipe(
      Flag.withMetavar("<beginning of its id>"),
      Flag.optional,
      Flag.withDescription("Show one run alone, with the exact context that its inputs were given")
    )
  },
  Effect.fn("colloquy.show")(
    function* ({ conversation, entries, run }) {
      if (entries && Option.isSome(run)) return yield* wrongUsage("show", "Say --entries or --run, not both")
      const output = yield* Output
      const store = yield* ConversationStore
      const records = store.read({ conversationId: conversation })
      if (Option.isSome(run)) {
        const style = (yield* TerminalCapabilities.TerminalCapabilities).canColor ? ansi : plain
        const one = yield* OneRun.find(conversation, run.value)
        return yield* output.lines(
          output.isJson
            ? Stream.map(one, toJson)
            : Stream.flattenIterable(Stream.map(one, (record) => OneRun.recordLines(record, style)))
        )
      }
      if (output.isJson) {
        return yield* output.lines(
          entries ? Stream.map(readEntries(conversation), toJson) : Stream.map(records, toJson)
        )
      }
      const style = (yield* TerminalCapabilities.TerminalCapabilities).canColor ? ansi : plain
      if (entries) return yield* output.text(entriesPage(yield* Stream.runCollect(readEntries(conversation)), style))
      const tail = yield* store.tail({ conversationId: conversation })
      yield* output.text(transcriptPage(tail, yield* Stream.runCollect(records), style))
    },
    Effect.catchTag("ConversationNotFound", Database.absent)
  )
).pipe(
  Command.provide(Database.layer("show", "read")),
  Command.withDescription("Show a conversation: its messages, tool calls and runs"),
  Command.withExamples([
    { command: "colloquy show ticket-42 --db desk.db", description: "A page to read" },
    { command: "colloquy show ticket-42 --run run-3f --db desk.db", description: "One run, as its model was given it" }
  ])
)

// --- internal ---

const readEntries = (conversationId: ConversationId) =>
  Stream.unwrap(
    ConversationStore.useSync((store) =>
      Stream.suspend(() => {
        let cursor = ConversationEntry.start(conversationId)
        const complete = Stream.flattenIterable(
          // A page of records at a time: each step of the projection copies what is visible.
          Stream.map(Stream.chunks(store.read({ conversationId })), (records) => {
            const step = ConversationEntry.advance(cursor, records)
            cursor = step.cursor
            return step.entries
          })
        )
        return Stream.concat(complete, Stream.flattenIterable(Stream.sync(() => ConversationEntry.finish(cursor))))
      })
    )
  )
