/**
 * Takes ledger entries out of a file: whole ledgers, or what was made of a conversation or is too old.
 */
import type { Removal, Removed } from "@colloquy/ledger/LedgerDriver"
import type { Outcome } from "./connections.ts"
import type { Script, Value } from "./script.ts"

export const remove = function* (removal: Removal): Script<Outcome<Removed>> {
  const value = yield* removed(removal)
  return { commit: Object.values(value).some((count) => count > 0), value }
}

// --- internal ---

const removed = function* (removal: Removal): Script<Removed> {
  switch (removal.by) {
    case "key": {
      const { tenant } = removal
      const [meant] = yield { sql: resolve, parameters: [tenant, removal.conversationKey, removal.conversationKey] }
      const key = meant?.[0] ?? null
      const rows = yield* dropRows("tenant = ? AND conversation_key = ?", [tenant, key])
      const begun = yield {
        sql: `${deleteBegun} tenant = ? AND conversation_key = ? RETURNING 1`,
        parameters: [tenant, key]
      }
      const aliases = yield { sql: deleteAliases, parameters: [tenant, key] }
      return { ...rows, begun: begun.length, aliases: rows.aliases + aliases.length }
    }
    case "agent": {
      const parameters = [removal.tenant, removal.agent]
      const rows = yield* dropRows("tenant = ? AND agent = ?", parameters)
      const begun = yield { sql: `${deleteBegun} tenant = ? AND agent = ? RETURNING 1`, parameters }
      return { ...rows, begun: begun.length }
    }
    case "conversation": {
      const { conversationId, records, tenant } = removal
      const parameters = [tenant, conversationId]
      if (records !== undefined) {
        const made =
          "tenant = ? AND conversation = ? AND EXISTS (SELECT 1 FROM json_each(sources) WHERE value IN (SELECT value FROM json_each(?)))"
        return { ...(yield* dropRows(made, [...parameters, JSON.stringify(records)])), begun: 0 }
      }
      const rows = yield* dropRows("tenant = ? AND conversation = ?", parameters)
      const begun = yield { sql: `${deleteBegun} tenant = ? AND conversation = ? RETURNING 1`, parameters }
      return { ...rows, begun: begun.length }
    }
    case "before": {
      const { at, tenant = null } = removal
      const parameters = [at, tenant, tenant]
      const rows = yield* dropRows("at < ? AND (? IS NULL OR tenant = ?)", parameters)
      const begun = yield { sql: `${deleteBegun} at < ? AND (? IS NULL OR tenant = ?) RETURNING 1`, parameters }
      return { ...rows, begun: begun.length }
    }
  }
}

/** Removes rows, and what nothing is left of. */
const dropRows = function* (where: string, parameters: ReadonlyArray<Value>): Script<Omit<Removed, "begun">> {
  const rows = yield {
    sql: `DELETE FROM ledger_entries WHERE (ledger, ordinal) IN
      (SELECT ledger, ordinal FROM ledger_entries JOIN ledgers ON key = ledger WHERE ${where}) RETURNING ledger`,
    parameters
  }
  const counts = new Map<number, number>()
  for (const row of rows) counts.set(row[0] as number, (counts.get(row[0] as number) ?? 0) + 1)
  let accounts = 0
  let aliases = 0
  for (const [key, gone] of counts) {
    const [account] = yield { sql: "SELECT account FROM ledgers WHERE key = ?", parameters: [key] }
    if (account?.[0] !== null) accounts++
    yield { sql: "UPDATE ledgers SET gone = gone + ?, account = NULL WHERE key = ?", parameters: [gone, key] }
    const [emptied] = yield { sql: deleteEmpty, parameters: [key] }
    if (emptied !== undefined) aliases += (yield { sql: deleteUnused, parameters: [...emptied, ...emptied] }).length
  }
  return { entries: rows.length, accounts, aliases }
}

const resolve = "SELECT coalesce((SELECT target FROM ledger_aliases WHERE tenant = ? AND alias = ?), ?)"
const deleteBegun = "DELETE FROM ledger_begun WHERE"
const deleteAliases = "DELETE FROM ledger_aliases WHERE tenant = ? AND target = ? RETURNING 1"
const deleteEmpty = `DELETE FROM ledgers WHERE key = ? AND NOT EXISTS
  (SELECT 1 FROM ledger_entries WHERE ledger = ledgers.key) RETURNING tenant, conversation_key`
const deleteUnused = `DELETE FROM ledger_aliases WHERE tenant = ? AND target = ? AND NOT EXISTS
  (SELECT 1 FROM ledgers WHERE tenant = ? AND conversation_key = ?) RETURNING 1`
