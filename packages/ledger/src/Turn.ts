/**
 * A turn as whoever ran it tells of it, before it is recorded.
 *
 * @since 0.1.0
 */
import type { AgentName, ConversationId, RecordId, RunId } from "@colloquy/session/Ids"
import type { CallOutcome, Delivery } from "./LedgerEntry.ts"

/**
 * A tool call of a turn, with its arguments as they were. A call of which `readOnly` is not known counts as a write.
 *
 * @category models
 * @since 0.1.0
 */
export interface TurnCall {
  readonly name: string
  readonly arguments: unknown
  readonly outcome: CallOutcome
  /** What went wrong, of a call whose outcome is `error`. */
  readonly error?: string | undefined
  readonly readOnly?: boolean | undefined
  /** The arguments were removed from the log. */
  readonly removed?: boolean | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Turn {
  readonly agent: AgentName
  readonly runId: RunId
  /** Any text; what is no key, or belongs to an event, is not recorded. */
  readonly conversationKey: string | undefined
  /** What the turn answered; an empty one is not recorded. */
  readonly workKey: string
  /**
   * `ended` (default), however it ended. A `suspended` turn is recorded once, when it is over; a `crashed` one never: it has
   * nothing coherent to say.
   */
  readonly status?: "ended" | "suspended" | "crashed" | undefined
  /** The log that the turn was recorded in, if any: when it is erased, so is the entry. */
  readonly conversationId?: ConversationId | undefined
  /** When it ended, UTC in milliseconds (default: when it is recorded). */
  readonly at?: number | undefined
  /** What it was given, whole; all of it when several messages were given together. */
  readonly trigger: string
  /** Names what it answered at its source. A turn that answered more stands for one that answered less. */
  readonly triggerIds?: ReadonlyArray<string> | undefined
  /** The agent's own summary of what it set out to do. */
  readonly intent?: string | undefined
  /** The calls of all iterations, in order. */
  readonly calls: ReadonlyArray<TurnCall>
  readonly delivery: Delivery
  /** The final text, whether it reached anybody or not. */
  readonly reply: string
  /** What a reviewer says of what has landed. Never their notes: an instruction to an iteration that is over. */
  readonly completedWork?: string | undefined
  /** The evidence for what stopped the turn, of one that ended blocked. */
  readonly blockedOn?: string | undefined
  readonly decision: string
  /** The token budget ended the turn: nothing is spent on rewriting what it says. */
  readonly outOfBudget?: boolean | undefined
  readonly sources?: ReadonlyArray<RecordId> | undefined
}

/**
 * Why a turn is not recorded: the switch is off, it is not over or crashed, nothing could find it again, or what it was made
 * of was removed while it was being rewritten.
 *
 * @category models
 * @since 0.1.0
 */
export type RefusalReason =
  | "disabled"
  | "suspended"
  | "crashed"
  | "no-key"
  | "not-a-key"
  | "event"
  | "no-work-key"
  | "removed"
