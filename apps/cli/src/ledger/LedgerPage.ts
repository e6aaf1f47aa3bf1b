/**
 * A ledger as a page to read: a title, then what each turn was called for, did, and came to.
 */
import * as CallLines from "@colloquy/ledger/CallLines"
import type { StoredEntry } from "@colloquy/ledger/LedgerModel"
import { counted, oneLine, type Style, timeText, visible } from "../TerminalText.ts"
import type { Found } from "./FindLedgers.ts"

/** The lines of the page, oldest turn first; what cannot be read is named behind them. */
export const ledgerPage = (
  { account, entries, gone, name, unreadable }: Found,
  style: Style
): ReadonlyArray<string> => {
  const facts = [
    entries.length === 1 ? "1 entry" : `${entries.length} entries`,
    ...(gone > 0 ? [`${counted(gone, "turn")} not kept any more`] : []),
    ...(account === undefined ? [] : [`a rewrite of ${counted(account.covers.length, "older turn")}`])
  ]
  return [
    `${style.strong(oneLine(name.conversationKey))} ${style.faint(`${oneLine(name.agent)} · ${facts.join(" · ")}`)}`,
    ...entries.flatMap((stored) => ["", ...entryLines(stored, style)]),
    ...(account === undefined ? [] : ["", ...labelled("older turns, rewritten", account.text)]),
    ...(unreadable.length === 0 ? [] : [""]),
    ...unreadable.map(
      ({ entryId, ordinal, reason }) => `${ordinal} ${oneLine(entryId)} cannot be read: ${oneLine(reason)}`
    )
  ]
}

// --- internal ---

const deliveries = { replied: "replied", unsent: "did NOT reply", "not-owed": "no reply was owed" } as const

const entryLines = ({ attempts, entry, ordinal }: StoredEntry, style: Style): ReadonlyArray<string> => {
  const facts = [
    `run ${oneLine(entry.runId)}`,
    ...(entry.conversationId === undefined ? [] : [`conversation ${oneLine(entry.conversationId)}`]),
    ...(attempts > 1 ? [counted(attempts, "attempt")] : [])
  ]
  const title = [
    String(ordinal),
    entry.at === undefined ? "at an unknown time" : timeText(entry.at),
    `${oneLine(entry.decision)}, ${deliveries[entry.delivery]}`
  ]
  return [
    `${style.strong(title.join(" "))} ${style.faint(facts.join(" · "))}`,
    ...labelled("trigger", entry.trigger),
    ...labelled("intent", entry.intent),
    ...(entry.calls.length === 0
      ? []
      : ["  calls:", ...entry.calls.map((call) => `  ${visible(CallLines.line(call))}`)]),
    ...labelled(entry.delivery === "replied" ? "reply" : "unsent", entry.reply),
    ...labelled("landed", entry.completedWork),
    ...labelled("blocked on", entry.blockedOn)
  ]
}

const labelled = (label: string, text: string | undefined): ReadonlyArray<string> =>
  text === undefined || text.trim() === "" ? [] : [`  ${label}: ${visible(text).replaceAll("\n", "\n    ")}`]
