/**
 * Looks into every conversation of a database: whether its log is whole, what waits or hangs in it, and whether its
 * checkpoints are as small as they should be.
 */
import type { ConversationId, TenantId } from "@colloquy/session/Ids"
import type { Summary } from "@colloquy/store/StoreModel"
import type { Fault } from "@colloquy/store/Verification"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { field, named, type Place, title } from "../Places.ts"
import type { Advance } from "../Progress.ts"
import { bytesText, timeText } from "../TerminalText.ts"
import { type Kind, type Limits, maxCheckpointBytes, type Problem } from "./Problem.ts"

/** The problems of all conversations of a place; `advance` is told of each. */
export const check = Effect.fnUntraced(function* ({ store, tenant }: Place, limits: Limits, advance: Advance) {
  const now = yield* Clock.currentTimeMillis
  const found: Array<Problem> = []
  let conversations = 0
  yield* Stream.runForEach(
    store.list(),
    Effect.fnUntraced(function* (summary) {
      const { conversationId } = summary
      conversations++
      const { faults } = yield* store.verify({ conversationId })
      const it: Named = {
        whose: { ...field(tenant), conversationId },
        title: title(conversationId, tenant),
        args: named(conversationId, tenant)
      }
      for (const fault of faults) found.push(ofFault(it, fault))
      found.push(...ofStatus(it, summary, now, limits), ...(yield* ofCheckpoint(it, store)))
      yield* advance(1)
    })
  )
  return { problems: found, conversations }
})

// --- internal ---

/** A conversation: for programs, for people, and for the command line of a remedy. */
interface Named {
  readonly whose: { readonly tenant?: TenantId; readonly conversationId: ConversationId }
  readonly title: string
  readonly args: string
}

const kinds: { readonly [reason in Fault["reason"]]?: Kind } = {
  "record-digest": "damaged-record",
  "record-missing": "damaged-record",
  "payload-unreadable": "damaged-record",
  "batch-missing": "broken-chain",
  "batch-digest": "broken-chain",
  "tail-digest": "broken-chain"
}

const ofFault = ({ args, title, whose }: Named, { reason, sequence }: Fault): Problem => ({
  problem: kinds[reason] ?? "broken-rule",
  detail: `record ${sequence} of ${title}: ${reason}`,
  remedy:
    `restore ${title} from a backup or an archive; what is before it can be kept: ` +
    `colloquy fork ${args} <new id> --at <the end of a batch before ${sequence}>`,
  ...whose,
  sequence
})

const ofStatus = (
  { args, title, whose }: Named,
  { status, updatedAt }: Summary,
  now: number,
  limits: Limits
): ReadonlyArray<Problem> => {
  const age = now - updatedAt
  if (status === "unfinished" && age > limits.unfinishedMillis) {
    const detail = `a run of ${title} has not ended, and nothing was written since ${timeText(updatedAt)} UTC`
    const remedy = `finish it with colloquy resume ${args} (or the agent that ran it), once nobody is at it`
    return [{ problem: "unfinished-run", detail, remedy, ...whose }]
  }
  if (status === "awaiting-approval" && age > limits.waitingMillis) {
    const detail = `a run of ${title} waits for a decision since ${timeText(updatedAt)} UTC`
    const remedy = `see colloquy approvals ${args}, then colloquy decide`
    return [{ problem: "waiting-approval", detail, remedy, ...whose }]
  }
  return []
}

const ofCheckpoint = Effect.fnUntraced(function* ({ title, whose }: Named, store: Place["store"]) {
  const checkpoint = yield* store.loadCheckpoint(whose)
  const bytes = Option.isNone(checkpoint) ? 0 : Buffer.byteLength(JSON.stringify(checkpoint.value.state))
  if (bytes <= maxCheckpointBytes) return []
  return [
    {
      problem: "oversized-checkpoint",
      detail: `the checkpoint of ${title} has ${bytesText(bytes)}: much is open or granted in it`,
      remedy: "checkpoints are disposable: colloquy doctor --prune removes those that are too large",
      ...whose
    }
  ] satisfies ReadonlyArray<Problem>
})
