/** Entries of ledgers. */
import { ConversationKey } from "@colloquy/ledger/ConversationKey"
import type { LedgerEntry } from "@colloquy/ledger/LedgerEntry"
import { AgentName, RunId } from "@colloquy/session/Ids"

/** A done turn of this name. */
export const entryOf = (name: string, fields: Partial<LedgerEntry> = {}): LedgerEntry => ({
  entryId: `entry ${name}`,
  agent: AgentName.make("desk"),
  conversationKey: ConversationKey.make("slack:D1"),
  workKey: name,
  runId: RunId.make(`run ${name}`),
  at: 1_780_000_000_000,
  trigger: `Please do ${name}.`,
  triggerIds: [],
  calls: [],
  delivery: "replied",
  reply: `I did ${name}.`,
  decision: "done",
  sources: [],
  ...fields
})
