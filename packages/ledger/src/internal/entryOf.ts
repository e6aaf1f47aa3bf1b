/** From a turn to its entry, or why it has none. */
import { type ConversationKey, isReproducible } from "../ConversationKey.ts"
import type { LedgerEntry } from "../LedgerEntry.ts"
import type { RefusalReason, Turn } from "../Turn.ts"
import { entryIdOf } from "./entryId.ts"

/** Why a turn is not recorded; undefined for one that is. */
export const refusal = (
  { conversationKey = "", status = "ended", workKey }: Turn,
  key: ConversationKey | undefined
): RefusalReason | undefined => {
  if (status !== "ended") return status
  if (conversationKey === "") return "no-key"
  if (key === undefined) return "not-a-key"
  if (!isReproducible(key)) return "event"
  return workKey.trim() === "" ? "no-work-key" : undefined
}

/** A turn with what was made of its calls. Text that is no Unicode is mended: no store takes it. */
export const entryOf = (
  turn: Turn,
  conversationKey: ConversationKey,
  at: number,
  calls: LedgerEntry["calls"]
): LedgerEntry => ({
  entryId: entryIdOf(turn),
  agent: turn.agent,
  conversationKey,
  workKey: turn.workKey.toWellFormed(),
  runId: turn.runId,
  ...(turn.conversationId === undefined ? {} : { conversationId: turn.conversationId }),
  at,
  trigger: turn.trigger.toWellFormed(),
  triggerIds: (turn.triggerIds ?? []).map((id) => id.toWellFormed()),
  ...(turn.intent === undefined ? {} : { intent: turn.intent.toWellFormed() }),
  calls,
  delivery: turn.delivery,
  reply: turn.reply.toWellFormed(),
  ...(turn.completedWork === undefined ? {} : { completedWork: turn.completedWork.toWellFormed() }),
  ...(turn.blockedOn === undefined ? {} : { blockedOn: turn.blockedOn.toWellFormed() }),
  // Nobody said how it ended: that is no success.
  decision: turn.decision.trim() === "" ? "unknown" : turn.decision.toWellFormed(),
  sources: turn.sources ?? []
})
