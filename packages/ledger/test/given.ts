/** Turns to render, and a block read back. */
import { AgentName, RunId } from "@colloquy/session/Ids"
import { byteLength } from "@colloquy/session/Text"
import { ConversationKey } from "../src/ConversationKey.ts"
import * as EntryText from "../src/EntryText.ts"
import { type Call, type LedgerEntry, Value } from "../src/LedgerEntry.ts"

export const now = Date.UTC(2026, 2, 4, 9, 15, 4)
export const fence = "7f3a9c2e"
const agent = AgentName.make("desk")
const conversationKey = ConversationKey.make("slack:D1")
export const hour = 3_600_000

export const whole = (value: unknown) => Value.cases.Whole.make({ text: JSON.stringify(value) })

export const call = (
  name: string,
  args: { readonly [name: string]: unknown } = {},
  fields: Partial<Call> = {}
): Call => ({
  name,
  arguments: Object.entries(args).map(([name, value]) => ({ name, value: whole(value) })),
  outcome: "success",
  readOnly: false,
  ...fields
})

/** A done turn; the later its number, the later it was. */
export const entry = (n: number, fields: Partial<LedgerEntry> = {}): LedgerEntry => ({
  entryId: `entry-${n}`,
  agent,
  conversationKey,
  workKey: `work-${n}`,
  runId: RunId.make(`a1b2c3d${n}-0000`),
  at: now - (48 - n) * hour,
  trigger: `Please look at POC-${n}.`,
  triggerIds: [],
  calls: [],
  delivery: "replied",
  reply: `POC-${n} is done.`,
  decision: "done",
  sources: [],
  ...fields
})

/** The turn with a reply so long that its text has exactly so many bytes, of this letter. */
export const sized = (n: number, bytes: number, letter = "x", fields: Partial<LedgerEntry> = {}): LedgerEntry => {
  const base = entry(n, { ...fields, reply: "" })
  const size = (reply: string) => byteLength(EntryText.render({ ...base, reply }, { now, fence }))
  const missing = bytes - size(letter)
  const reply = letter + letter.repeat(Math.floor(missing / byteLength(letter)))
  const rest = bytes - size(reply)
  return { ...base, reply: reply + "x".repeat(rest) }
}
