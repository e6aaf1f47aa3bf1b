/**
 * `colloquy redact <conversation> <sequences>`: removes the content of single records, for good.
 */
import * as Conversations from "@colloquy/store/Conversations"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Database from "../Database.ts"
import type * as Json from "../JsonOutput.ts"
import { Output } from "../Output.ts"
import { expand, parseRanges } from "../Sequences.ts"
import { refuseUnfinished, takeoverFlag } from "../Takeover.ts"
import { counted, oneLine } from "../TerminalText.ts"
import { wrongUsage } from "../WrongUsage.ts"
import { conversationArgument } from "./ConversationArgument.ts"

export const redactCommand = Command.make(
  "redact",
  {
    conversation: conversationArgument,
    sequences: Argument.String("sequences").pipe(
      Argument.mapTryCatch(parseRanges, (error) => (error instanceof Error ? error.message : String(error))),
      Argument.withDescription("The records, by their sequences: 3 or 5-7 or 3,5-7 (see show --json)")
    ),
    reason: Flag.String("reason").pipe(Flag.withDescription("Why; it is recorded")),
    author: Flag.String("author").pipe(Flag.optional, Flag.withDescription("Who asked for it; it is recorded")),
    takeover: takeoverFlag
  },
  Effect.fn("colloquy.redact")(
    function* ({ author, conversation, reason, sequences, takeover }) {
      const output = yield* Output
      const store = yield* ConversationStore
      const { sequence: last } = yield* store.tail({ conversationId: conversation })
      const behind = sequences.find((range) => range.last > last)
      if (behind !== undefined) {
        return yield* wrongUsage("redact", `The last record of ${conversation} is ${last}, not ${behind.last}`)
      }
      if (!takeover) yield* refuseUnfinished(conversation)
      const {
        bytes,
        removed,
        sequences: all,
        tail
      } = yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* (yield* Conversations.Conversations).open(conversation)
          const request = { sequences: expand(sequences), reason, author: Option.getOrUndefined(author) }
          return yield* writer.redact(request)
        })
      )
      const report: Json.Redaction = { conversationId: conversation, sequences: all, removed, bytes, tail: tail.digest }
      const left = bytes === "gone" ? "" : "; a reader still holds the bytes: redact them again once nobody reads"
      yield* output.isJson
        ? output.json(report)
        : output.text([
            `${counted(all.length, "record")} of ${oneLine(conversation)} redacted: ${all.join(", ")}${left}`
          ])
    },
    Effect.catchTag("ConversationNotFound", Database.absent)
  )
).pipe(
  Command.provide(Layer.provideMerge(Conversations.layer, Database.layer("redact", "read"))),
  Command.withDescription(
    "Remove the content of records, and of summaries made of them, for good; the log still verifies"
  ),
  Command.withExamples([
    {
      command: 'colloquy redact ticket-42 3,5-7 --reason "a card number" --db desk.db',
      description: "Remove four records' content"
    }
  ])
)
