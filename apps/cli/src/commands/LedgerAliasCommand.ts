/**
 * `colloquy ledger alias <alias> <conversation-key>`: lets a key stand for another one, whose ledgers go on.
 */
import { ConversationKey } from "@colloquy/ledger/ConversationKey"
import { LedgerStore } from "@colloquy/ledger/LedgerStore"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Database from "../Database.ts"
import type * as Json from "../JsonOutput.ts"
import { keyArgument } from "../ledger/LedgerArguments.ts"
import { Output } from "../Output.ts"
import { oneLine } from "../TerminalText.ts"

export const ledgerAliasCommand = Command.make(
  "alias",
  {
    alias: Argument.String("alias").pipe(
      Argument.withSchema(ConversationKey),
      Argument.withDescription("The new key; it has no entries of its own")
    ),
    of: keyArgument
  },
  Effect.fn("colloquy.ledger.alias")(function* ({ alias, of }) {
    const output = yield* Output
    yield* (yield* LedgerStore).alias({ alias, of })
    const json: Json.LedgerAlias = { alias, of }
    yield* output.isJson ? output.json(json) : output.text([`${oneLine(alias)} stands for ${oneLine(of)}`])
  })
).pipe(
  Command.provide(Database.layer("ledger alias", "read")),
  Command.withDescription("Let a key stand for another one, whose ledgers go on: after an issue was moved"),
  Command.withExamples([
    { command: "colloquy ledger alias jira:NEW-7 jira:POC-7 --db desk.db", description: "POC-7 was moved to NEW-7" }
  ])
)
