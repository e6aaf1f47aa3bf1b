/**
 * `colloquy ledger <verb>`: what agents did in a place before.
 */
import * as Command from "effect/cli/Command"
import { ledgerAliasCommand } from "./LedgerAliasCommand.ts"
import { ledgerEraseCommand } from "./LedgerEraseCommand.ts"
import { ledgerListCommand } from "./LedgerListCommand.ts"
import { ledgerRenderCommand } from "./LedgerRenderCommand.ts"
import { ledgerShowCommand } from "./LedgerShowCommand.ts"
import { ledgerSweepCommand } from "./LedgerSweepCommand.ts"

export const ledgerCommand = Command.make("ledger").pipe(
  Command.withDescription("Show what agents did in a place before, and remove it: one ledger for each agent and key"),
  Command.withSubcommands([
    ledgerListCommand,
    ledgerShowCommand,
    ledgerRenderCommand,
    ledgerSweepCommand,
    ledgerEraseCommand,
    ledgerAliasCommand
  ])
)
