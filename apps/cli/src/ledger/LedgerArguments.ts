/**
 * How the verbs of the ledger are told of which one, and how they say what they have removed.
 */
import { ConversationKey } from "@colloquy/ledger/ConversationKey"
import type { Removed } from "@colloquy/ledger/LedgerDriver"
import { AgentName } from "@colloquy/session/Ids"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import { counted } from "../TerminalText.ts"

export const keyArgument = Argument.String("conversation-key").pipe(
  Argument.withSchema(ConversationKey),
  Argument.withDescription("Where the conversation takes place: slack:D1, jira:POC-7")
)

export const agentFlag = Flag.String("agent").pipe(Flag.withSchema(AgentName), Flag.optional)

/** `2 entries, 1 alias`; nothing for nothing. */
export const removedText = ({ accounts, aliases, begun, entries }: Removed): string =>
  [
    ...(entries > 0 ? [entries === 1 ? "1 entry" : `${entries} entries`] : []),
    ...(accounts > 0 ? [counted(accounts, "rewrite")] : []),
    ...(begun > 0 ? [counted(begun, "begun turn")] : []),
    ...(aliases > 0 ? [aliases === 1 ? "1 alias" : `${aliases} aliases`] : [])
  ].join(", ")
