/**
 * `colloquy tail <conversation>`: shows the end of a conversation, and what comes, until Ctrl-C.
 */
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import { Output, toJson } from "../Output.ts"
import { ansi, plain } from "../TerminalText.ts"
import { recordLines } from "../TranscriptPage.ts"
import { conversationArgument } from "./ConversationArgument.ts"

/** How many records there are to see before what comes. */
const shownAtFirst = 10

export const tailCommand = Command.make(
  "tail",
  {
    conversation: conversationArgument,
    from: Flag.Int("from").pipe(
      Flag.withSchema(Schema.Natural),
      Flag.optional,
      Flag.withDescription(`The sequence of the first record to show; without it the last ${shownAtFirst} come first`)
    )
  },
  Effect.fn("colloquy.tail")(
    function* ({ conversation, from }) {
      const output = yield* Output
      const store = yield* ConversationStore
      const { sequence } = yield* store.tail({ conversationId: conversation })
      const after = Math.max(0, Option.getOrElse(from, () => sequence - shownAtFirst + 1) - 1)
      const records = store.observe({ conversationId: conversation, after })
      const style = (yield* TerminalCapabilities.TerminalCapabilities).canColor ? ansi : plain
      const lines = output.isJson
        ? Stream.map(records, toJson)
        : Stream.flattenIterable(Stream.map(records, (record) => recordLines(record, style)))
      yield* output.lines(lines)
    },
    // Ctrl-C is how it is told to stop: that is its end, and no failure.
    Effect.onInterrupt(() => Effect.sync(() => void (process.exitCode = 0))),
    Effect.catchTag("ConversationNotFound", Database.absent)
  )
).pipe(
  Command.provide(Database.layer("tail", "read")),
  Command.withDescription("Follow a conversation while it grows, in this process or another; Ctrl-C ends it"),
  Command.withExamples([
    { command: "colloquy tail ticket-42 --db desk.db", description: "The last records, and what comes" },
    { command: "colloquy tail ticket-42 --from 1 --json --db desk.db", description: "Everything, a record a line" }
  ])
)
