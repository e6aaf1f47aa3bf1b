/**
 * Everything that the timeline lists: rows of records, then what is coming, then what is on its way.
 */
import type { Coming } from "@colloquy/capabilities/ConversationView"
import type { Activity } from "../state/Activity.ts"
import type { Pending } from "../state/Outbox.ts"
import type { RecordRow } from "./Row.ts"

export type Item =
  | RecordRow
  | { readonly kind: "coming"; readonly key: string; readonly coming: Coming }
  | { readonly kind: "working"; readonly key: string }
  | { readonly kind: "pending"; readonly key: string; readonly message: Pending }

/** The items, in the order in which they are shown. Keys are unique. */
export const items = (
  rows: ReadonlyArray<RecordRow>,
  coming: Coming | undefined,
  pending: ReadonlyArray<Pending>,
  activity: Activity
): ReadonlyArray<Item> => [
  ...rows.filter(isShown),
  ...(coming === undefined ? [] : [{ kind: "coming" as const, key: "coming", coming }]),
  // While a tool is at work its card says so.
  ...(coming === undefined && activity === "running" && !isAtWork(rows)
    ? [{ kind: "working" as const, key: "working" }]
    : []),
  ...pending.map((message) => ({ kind: "pending" as const, key: `pending/${message.inputId}`, message }))
]

// --- internal ---

/** A response of calls alone has nothing to show beside them. */
const isShown = (row: RecordRow): boolean =>
  row.kind !== "response" || row.text !== "" || row.reasoning !== "" || row.isPartial

const isAtWork = (rows: ReadonlyArray<RecordRow>): boolean => {
  const last = rows.at(-1)
  return last?.kind === "call" && last.state !== "closed"
}
