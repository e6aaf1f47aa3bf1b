/**
 * A check of a whole log: every digest, the chain, and the reducer's rules.
 *
 * @since 0.1.0
 */
import type { ConversationId } from "@colloquy/session/Ids"
import type { Rule } from "@colloquy/session/Conversation"

/**
 * Something that is wrong with a log, and where.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fault {
  readonly conversationId: ConversationId
  readonly sequence: number
  readonly reason:
    | "record-digest"
    | "record-missing"
    | "payload-unreadable"
    | "batch-missing"
    | "batch-digest"
    | "tail-digest"
    | Rule
}

/**
 * What a check found. The log is whole when there are no faults.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  readonly conversationId: ConversationId
  readonly records: number
  readonly batches: number
  readonly faults: ReadonlyArray<Fault>
}
