/**
 * `colloquy ledger list`: the ledgers of a database.
 */
import type { Summary } from "@colloquy/ledger/LedgerModel"
import { LedgerStore } from "@colloquy/ledger/LedgerStore"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import type * as Json from "../JsonOutput.ts"
import { Output, toJson } from "../Output.ts"
import { oneLine, table, timeText } from "../TerminalText.ts"

export const ledgerListCommand = Command.make(
  "list",
  {},
  Effect.fn("colloquy.ledger.list")(function* () {
    const output = yield* Output
    const summaries = (yield* LedgerStore).list()
    if (output.isJson) return yield* output.lines(Stream.map(summaries, (summary) => toJson(line(summary))))
    // Columns are as wide as their widest cell: a page at a time keeps memory bounded.
    yield* output.lines(Stream.flattenIterable(Stream.map(Stream.grouped(summaries, pageRows), page)))
  })
).pipe(
  Command.provide(Database.layer("ledger list", "read")),
  Command.withDescription("List the ledgers: their keys, agents, entries, and when the newest one was made")
)

// --- internal ---

const pageRows = 500

const line = ({ agent, conversationKey, entries, gone, lastAt }: Summary): Json.LedgerListed => ({
  conversationKey,
  agent,
  entries,
  gone,
  ...(lastAt === 0 ? {} : { lastAt })
})

const page = (summaries: ReadonlyArray<Summary>): ReadonlyArray<string> =>
  table(
    ["conversation key", "agent", "entries", "newest"],
    summaries.map(({ agent, conversationKey, entries, lastAt }) => [
      oneLine(conversationKey),
      oneLine(agent),
      entries,
      lastAt === 0 ? "" : timeText(lastAt)
    ])
  )
