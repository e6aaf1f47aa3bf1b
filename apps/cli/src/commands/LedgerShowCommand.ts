/**
 * `colloquy ledger show <conversation-key>`: what is kept under a key, of one agent or of all, as a page to read.
 */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import type * as Json from "../JsonOutput.ts"
import { findLedgers, type Found } from "../ledger/FindLedgers.ts"
import { agentFlag, keyArgument } from "../ledger/LedgerArguments.ts"
import { ledgerPage } from "../ledger/LedgerPage.ts"
import { Output, toJson } from "../Output.ts"
import { ansi, plain } from "../TerminalText.ts"

export const ledgerShowCommand = Command.make(
  "show",
  { key: keyArgument, agent: agentFlag.pipe(Flag.withDescription("Only the ledger of this agent")) },
  Effect.fn("colloquy.ledger.show")(function* ({ agent, key }) {
    const output = yield* Output
    const ledgers = yield* findLedgers(key, agent)
    if (output.isJson) return yield* output.lines(Stream.fromIterable(ledgers.map((ledger) => toJson(line(ledger)))))
    const style = (yield* TerminalCapabilities.TerminalCapabilities).canColor ? ansi : plain
    yield* output.text(ledgers.flatMap((ledger, i) => [...(i === 0 ? [] : [""]), ...ledgerPage(ledger, style)]))
  })
).pipe(
  Command.provide(Database.layer("ledger show", "read")),
  Command.withDescription("Show the entries under a key: what each turn was called for, did, and came to"),
  Command.withExamples([
    { command: "colloquy ledger show slack:D1 --agent support --db desk.db", description: "One agent's turns there" }
  ])
)

// --- internal ---

const line = ({ account, entries, gone, name, unreadable }: Found): Json.LedgerShown => ({
  ...name,
  gone,
  entries,
  unreadable,
  ...(account === undefined ? {} : { account })
})
