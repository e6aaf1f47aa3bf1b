/**
 * `colloquy fork <conversation> <into>`: a new conversation that begins as another one did.
 */
import { ConversationId, ProducerId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Database from "../Database.ts"
import type * as Json from "../JsonOutput.ts"
import { Output } from "../Output.ts"
import { counted, oneLine } from "../TerminalText.ts"
import { conversationArgument } from "./ConversationArgument.ts"

export const forkCommand = Command.make(
  "fork",
  {
    conversation: conversationArgument,
    into: Argument.String("into").pipe(
      Argument.withSchema(ConversationId),
      Argument.withDescription("The id of the new conversation")
    ),
    at: Flag.Int("at").pipe(
      Flag.withSchema(Schema.Natural),
      Flag.optional,
      Flag.withDescription("The sequence of the last record to take, the end of a batch; without it all are taken")
    )
  },
  Effect.fn("colloquy.fork")(
    function* ({ at, conversation, into }) {
      const output = yield* Output
      const store = yield* ConversationStore
      const { tail } = yield* store.fork({
        from: conversation,
        at: Option.getOrUndefined(at),
        into,
        producerId: ProducerId.make("colloquy-cli")
      })
      const report: Json.Fork = { from: conversation, into, records: tail.sequence, tail: tail.digest }
      yield* output.isJson
        ? output.json(report)
        : output.text([`${oneLine(into)} forked from ${oneLine(conversation)} (${counted(tail.sequence, "record")})`])
    },
    Effect.catchTag("ConversationNotFound", Database.absent)
  )
).pipe(
  Command.provide(Database.layer("fork", "read")),
  Command.withDescription("Make a new conversation with the records of another one, up to a place in it"),
  Command.withExamples([
    { command: "colloquy fork ticket-42 ticket-42-b --at 12 --db desk.db", description: "Go back to record 12" }
  ])
)
