/**
 * `colloquy list`: the conversations of a database.
 */
import { Status } from "@colloquy/session/ConversationState"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import type { Summary } from "@colloquy/store/StoreModel"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import { Output, toJson } from "../Output.ts"
import * as Places from "../Places.ts"
import { oneLine, shorten, table, timeText } from "../TerminalText.ts"

export const listCommand = Command.make(
  "list",
  {
    status: Flag.Literals("status", Status.literals).pipe(
      Flag.optional,
      Flag.withDescription("Only conversations in this state")
    )
  },
  Effect.fn("colloquy.list")(function* ({ status }) {
    const output = yield* Output
    const store = yield* ConversationStore
    const summaries = store.list({ status: Option.getOrUndefined(status) })
    yield* output.lines(
      output.isJson
        ? Stream.map(summaries, (summary) => toJson(line(summary)))
        : // Columns are as wide as their widest cell: a page at a time keeps memory bounded.
          Stream.flattenIterable(Stream.map(Stream.grouped(summaries, pageRows), page))
    )
    yield* Places.tellUnseen
  })
).pipe(
  Command.provide(Database.layer("list", "read")),
  Command.withDescription("List the conversations, in the order of their ids")
)

// --- internal ---

const pageRows = 500

/** One line of `list --json`: `tail` is the digest at the end, times are UTC milliseconds. */
const line = ({ conversationId, createdAt, epoch, status, tail, title, updatedAt }: Summary) => ({
  conversationId,
  ...(title === undefined ? {} : { title }),
  status,
  records: tail.sequence,
  tail: tail.digest,
  epoch,
  createdAt,
  updatedAt
})

const page = (summaries: ReadonlyArray<Summary>): ReadonlyArray<string> =>
  table(
    ["conversation", "status", "records", "updated", "title"],
    summaries.map(({ conversationId, status, tail, title, updatedAt }) => [
      oneLine(conversationId),
      status,
      tail.sequence,
      timeText(updatedAt),
      shorten(oneLine(title ?? ""), 60)
    ])
  )
