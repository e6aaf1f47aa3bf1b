/**
 * The entries of a conversation as a page to read.
 */
import type { ConversationEntry } from "@colloquy/session/ConversationEntry"
import { contentLines } from "./MessageText.ts"
import { oneLine, type Style } from "./TerminalText.ts"

/** The lines of the page, in the order of the entries. */
export const entriesPage = (entries: ReadonlyArray<ConversationEntry>, style: Style): ReadonlyArray<string> =>
  entries.flatMap((entry, i) => [
    ...(i === 0 ? [] : [""]),
    titleOf(entry, i + 1, style),
    ...entry.messages.flatMap((message) => contentLines(message.content, style))
  ])

// --- internal ---

const titleOf = (
  { agent, endsRun, error, isSummary, messages, model }: ConversationEntry,
  place: number,
  style: Style
) => {
  const role = isSummary ? "summary" : (messages[0]?.role ?? (endsRun ? "end of the run" : "nothing"))
  const facts = [agent, model, error === undefined ? undefined : `${error.tag}: ${error.message}`]
  const known = facts.flatMap((fact) => (fact === undefined ? [] : [oneLine(fact)]))
  return `${style.strong(`${place} ${role}`)} ${style.faint(known.join(" · "))}`.trimEnd()
}
