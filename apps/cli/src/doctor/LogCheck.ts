/**
 * Looks into every conversation of a database: whether its log is whole, what waits or hangs in it, and whether its
 * checkpoints are as small as they should be.
 */
import { ConversationStore } from "@colloquy/store/ConversationStore"
import type { Summary } from "@colloquy/store/StoreModel"
import type { Fault } from "@colloquy/store/Verification"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Advance } from "../Progress.ts"
import { bytesText, timeText } from "../TerminalText.ts"
import { type Kind, type Limits, maxCheckpointBytes, type Problem } from "./Problem.ts"

/** The problems of all conversations; `advance` is told of each. */
export const check = Effect.fnUntraced(function* (limits: Limits, advance: Advance) {
  const store = yield* ConversationStore
  const now = yield* Clock.currentTimeMillis
  const found: Array<Problem> = []
  let conversations = 0
  yield* Stream.runForEach(
    store.list(),
    Effect.fnUntraced(function* (summary) {
      const { conversationId } = summary
      conversations++
      const { faults } = yield* store.verify({ conversationId })
      for (const fault of faults) found.push(ofFault(fault))
      found.push(...ofStatus(summary, now, limits), ...(yield* ofCheckpoint(summary)))
      yield* advance(1)
    })
  )
  return { problems: found, conversations }
})

// --- internal ---

const kinds: { readonly [reason in Fault["reason"]]?: Kind } = {
  "record-digest": "damaged-record",
  "record-missing": "damaged-record",
  "payload-unreadable": "damaged-record",
  "batch-missing": "broken-chain",
  "batch-digest": "broken-chain",
  "tail-digest": "broken-chain"
}

const ofFault = ({ conversationId, reason, sequence }: Fault): Problem => ({
  problem: kinds[reason] ?? "broken-rule",
  detail: `record ${sequence} of ${conversationId}: ${reason}`,
  remedy:
    `restore ${conversationId} from a backup or an archive; what is before it can be kept: ` +
    `colloquy fork ${conversationId} <new id> --at <the end of a batch before ${sequence}>`,
  conversationId,
  sequence
})

const ofStatus = (
  { conversationId, status, updatedAt }: Summary,
  now: number,
  limits: Limits
): ReadonlyArray<Problem> => {
  const age = now - updatedAt
  if (status === "unfinished" && age > limits.unfinishedMillis) {
    const detail = `a run of ${conversationId} has not ended, and nothing was written since ${timeText(updatedAt)} UTC`
    const remedy = `finish it with colloquy resume ${conversationId} (or the agent that ran it), once nobody is at it`
    return [{ problem: "unfinished-run", detail, remedy, conversationId }]
  }
  if (status === "awaiting-approval" && age > limits.waitingMillis) {
    const detail = `a run of ${conversationId} waits for a decision since ${timeText(updatedAt)} UTC`
    const remedy = `see colloquy approvals ${conversationId}, then colloquy decide`
    return [{ problem: "waiting-approval", detail, remedy, conversationId }]
  }
  return []
}

const ofCheckpoint = Effect.fnUntraced(function* ({ conversationId }: Summary) {
  const store = yield* ConversationStore
  const checkpoint = yield* store.loadCheckpoint({ conversationId })
  const bytes = Option.isNone(checkpoint) ? 0 : Buffer.byteLength(JSON.stringify(checkpoint.value.state))
  if (bytes <= maxCheckpointBytes) return []
  return [
    {
      problem: "oversized-checkpoint",
      detail: `the checkpoint of ${conversationId} has ${bytesText(bytes)}: much is open or granted in it`,
      remedy: "checkpoints are disposable: colloquy doctor --prune removes those that are too large",
      conversationId
    }
  ] satisfies ReadonlyArray<Problem>
})
