/**
 * What was sent from here and is not in the log yet, and what a person is shown of it: pure.
 *
 * A message is known by its input id, in this list, in receipts and in the log; sending it again under the same id is one
 * message.
 */
import * as Payload from "@colloquy/session/Payload"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { InputReceipt } from "../../../src/api/ConversationModel.ts"

/** How a message is read when a run goes on: before its next model call, or when it would otherwise stop. */
export type OnBusy = "steer" | "queue"

/** A message that was sent from this page. */
export interface Sent {
  readonly inputId: string
  readonly text: string
  readonly onBusy: OnBusy
  readonly at: number
  readonly phase: "sending" | "sent" | "failed"
  /** What the server made of it. */
  readonly as?: "started" | "steered" | "queued"
  readonly error?: string
}

/** A message on its way, as the timeline shows it. `returned` and `failed` can be sent again. */
export interface Pending {
  readonly inputId: string
  readonly text: string
  readonly kind: "user" | "steering" | "follow-up"
  readonly state: "sending" | "accepted" | "returned" | "failed"
  readonly detail: string | undefined
}

export type Receipts = ReadonlyMap<string, InputReceipt>
export type Outbox = ReadonlyMap<string, Sent>

/** The input ids that the records hold. */
export const recordedIds = (records: ReadonlyArray<CanonicalRecord>): ReadonlySet<string> => {
  const ids = new Set<string>()
  for (const record of records) {
    const said = Payload.legible(record.payload)
    if (said._tag === "InputRecorded" && said.inputId !== undefined) ids.add(said.inputId)
  }
  return ids
}

/** What is on its way, in the order in which it was said; `dismissed` are the ids that a person has put away. */
export const pending = (
  recorded: ReadonlySet<string>,
  receipts: Receipts,
  outbox: Outbox,
  dismissed: ReadonlySet<string>
): ReadonlyArray<Pending> => {
  const ids = new Set([...receipts.keys(), ...outbox.keys()])
  return [...ids].flatMap((inputId) => {
    if (recorded.has(inputId) || dismissed.has(inputId)) return []
    const sent = outbox.get(inputId)
    const receipt = receipts.get(inputId)
    // Delivered and done, but not among the loaded records: further up in the log.
    if (receipt?.state === "delivered" || receipt?.state === "done") return []
    if (receipt !== undefined && sent?.phase !== "sending") return [fromReceipt(receipt)]
    return sent === undefined ? [] : [fromSent(sent)]
  })
}

/** Forgets what the records hold; what a restarted server has no receipt of was lost with the old process. */
export const settle = (outbox: Outbox, recorded: ReadonlySet<string>, receipts: Receipts): Outbox => {
  const kept = new Map<string, Sent>()
  for (const sent of outbox.values()) {
    if (recorded.has(sent.inputId)) continue
    const isLost = sent.phase === "sent" && !receipts.has(sent.inputId)
    kept.set(
      sent.inputId,
      isLost ? { ...sent, phase: "failed", error: "The server was restarted before it was read." } : sent
    )
  }
  return kept
}

// --- internal ---

const reasons = {
  failed: "Not read: the run failed.",
  cancelled: "Not read: the run was stopped.",
  suspended: "Not read: the run waits for a decision."
} as const

const fromReceipt = ({ inputId, kind, reason, state, text }: InputReceipt): Pending => ({
  inputId,
  text,
  kind,
  state: state === "returned" ? "returned" : "accepted",
  detail: state === "returned" ? reasons[reason ?? "failed"] : undefined
})

const fromSent = ({ as, error, inputId, onBusy, phase, text }: Sent): Pending => ({
  inputId,
  text,
  kind: as === undefined || as === "started" ? "user" : onBusy === "steer" ? "steering" : "follow-up",
  state: phase === "failed" ? "failed" : phase === "sending" ? "sending" : "accepted",
  detail: error
})
