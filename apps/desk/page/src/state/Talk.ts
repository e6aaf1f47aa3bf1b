/**
 * One conversation that is open in the page: its records and what is coming, folded by the library, and what was sent.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as ConversationView from "@colloquy/capabilities/ConversationView"
import type { LiveUpdate } from "@colloquy/capabilities/LiveUpdate"
import type { ConversationId } from "@colloquy/session/Ids"
import type { ConversationDetails, InputReceipt } from "../../../src/api/ConversationModel.ts"
import type { ConversationEvent } from "../../../src/api/EventsApi.ts"
import * as Outbox from "./Outbox.ts"

export interface Talk {
  readonly conversationId: ConversationId
  /** `new`: it does not exist until something is said. */
  readonly phase: "new" | "loading" | "ready" | "missing" | "failed"
  readonly failure: string | undefined
  readonly connection: "connecting" | "live" | "lost"
  readonly view: ConversationView.ConversationView
  /** Whether the first record is among those of the view. */
  readonly isWhole: boolean
  readonly details: ConversationDetails | undefined
  readonly receipts: Outbox.Receipts
  readonly outbox: Outbox.Outbox
  readonly dismissed: ReadonlySet<string>
}

/** A conversation of which nothing is known. */
export const unknown = (conversationId: ConversationId, isNew: boolean): Talk => ({
  conversationId,
  phase: isNew ? "new" : "loading",
  failure: undefined,
  connection: "connecting",
  view: ConversationView.empty,
  isWhole: isNew,
  details: undefined,
  receipts: new Map(),
  outbox: new Map(),
  dismissed: new Set()
})

/** With the last records of the log, in the order of their sequences. */
export const withTail = (talk: Talk, records: ReadonlyArray<CanonicalRecord>): Talk => ({
  ...talk,
  phase: "ready",
  failure: undefined,
  isWhole: isFirst(records),
  view: { ...ConversationView.empty, records, cursor: { sequence: records.at(-1)?.sequence ?? 0 } }
})

/** With records that stand in front of those that are loaded. */
export const withEarlier = (talk: Talk, earlier: ReadonlyArray<CanonicalRecord>): Talk => {
  const first = talk.view.records[0]?.sequence ?? Infinity
  const records = [...earlier.filter(({ sequence }) => sequence < first), ...talk.view.records]
  return { ...talk, isWhole: isFirst(records) || earlier.length === 0, view: { ...talk.view, records } }
}

/** Of a conversation that the server does not have: nothing that was held of a deleted one stays in the page. */
export const missing = (talk: Talk): Talk =>
  talk.phase === "new" ? talk : { ...unknown(talk.conversationId, false), phase: "missing" }

/**
 * With a connection: what was coming through the last one is void, for whoever joins behind a record is told all that has
 * come since. (A server that was killed in between says nothing of it any more.)
 */
export const connected = (talk: Talk): Talk => {
  const { coming: _, ...view } = talk.view
  const sequence = view.records.at(-1)?.sequence ?? view.cursor.sequence
  return {
    ...talk,
    connection: "live",
    receipts: new Map(),
    view: { ...view, coming: undefined, progress: new Map(), cursor: { sequence }, hasGap: false }
  }
}

/** With events of its connection. */
export const withEvents = (talk: Talk, events: Iterable<ConversationEvent>): Talk => {
  const updates: Array<LiveUpdate> = []
  let receipts: Map<string, InputReceipt> | undefined
  for (const { data, event } of events) {
    if (event === "update") updates.push(data)
    if (event === "receipt") (receipts ??= new Map(talk.receipts)).set(data.inputId, data)
  }
  const view = ConversationView.foldAll(talk.view, updates)
  const phase = talk.phase === "new" && view.records.length > 0 ? "ready" : talk.phase
  return { ...talk, phase, view, receipts: receipts ?? talk.receipts }
}

/** With stored records behind those that are loaded: what a gap left out. */
export const withStored = (talk: Talk, records: ReadonlyArray<CanonicalRecord>): Talk => {
  const updates = records.map((record): LiveUpdate => ({
    _tag: "Recorded",
    cursor: { sequence: record.sequence },
    record,
    stored: true
  }))
  return { ...talk, view: ConversationView.foldAll({ ...talk.view, hasGap: false }, updates) }
}

/** With what only the server's process knows, read behind a join. */
export const withDetails = (talk: Talk, details: ConversationDetails): Talk => {
  const receipts = new Map(talk.receipts)
  for (const receipt of details.receipts) receipts.set(receipt.inputId, receipt)
  const outbox = Outbox.settle(talk.outbox, Outbox.recordedIds(talk.view.records), receipts)
  return { ...talk, details, receipts, outbox }
}

/** With a message on its way, or something new about one. */
export const withSent = (talk: Talk, sent: Outbox.Sent): Talk => {
  const dismissed = new Set(talk.dismissed)
  dismissed.delete(sent.inputId)
  return { ...talk, dismissed, outbox: new Map([...talk.outbox, [sent.inputId, sent]]) }
}

/** Without a message that was handed back or could not be sent. */
export const dismiss = (talk: Talk, inputId: string): Talk => {
  const outbox = new Map(talk.outbox)
  outbox.delete(inputId)
  return { ...talk, outbox, dismissed: new Set([...talk.dismissed, inputId]) }
}

// --- internal ---

const isFirst = (records: ReadonlyArray<CanonicalRecord>): boolean => records.length === 0 || records[0]?.sequence === 1
