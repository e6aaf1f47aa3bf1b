/**
 * What a conversation is doing, from its records and from what the server says of its process.
 */
import * as Payload from "@colloquy/session/Payload"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { Status } from "../../../src/api/ConversationModel.ts"

export type Activity = typeof Status.Type

/**
 * What goes on. Records come first; that a run without an end is `unfinished`, and not one that is about to be told of,
 * only the server knows (`told` is what it said last).
 */
export const activity = (
  records: ReadonlyArray<CanonicalRecord>,
  isRunning: boolean,
  told: Activity | undefined
): Activity => {
  if (isRunning) return "running"
  const mark = lastMark(records) ?? told ?? "idle"
  return mark === "unfinished" && told !== "unfinished" ? "running" : mark
}

// --- internal ---

/** What the last record that starts, suspends or ends a run leaves behind; `unfinished` while it has no end. */
const lastMark = (records: ReadonlyArray<CanonicalRecord>): Activity | undefined => {
  const mark = records.findLast((record) => statusBehind(Payload.legible(record.payload)._tag) !== undefined)
  return mark === undefined ? undefined : statusBehind(Payload.legible(mark.payload)._tag)
}

const statusBehind = (tag: Payload.Legible["_tag"]): Activity | undefined => {
  switch (tag) {
    case "RunStarted":
    case "RunResumed":
      return "unfinished"
    case "RunSuspended":
      return "awaiting-approval"
    case "RunEnded":
    case "Forked":
      return "idle"
    default:
      return undefined
  }
}
