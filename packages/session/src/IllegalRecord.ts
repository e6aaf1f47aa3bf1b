/**
 * The rules of a log, and the error of a record that breaks one.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { ConversationId } from "./Ids.ts"

/**
 * The rules of a log.
 *
 * @category models
 * @since 0.1.0
 */
export const Rule = Schema.Literals([
  "same-conversation",
  "next-sequence",
  "epoch-never-falls",
  "created-first",
  "created-once",
  "run-starts-once",
  "run-is-open",
  "approvals-are-open",
  "steps-increase",
  "call-declared-once",
  "call-is-open",
  "attempts-increase",
  "approval-requested-once",
  "approval-is-open",
  "task-started-once",
  "task-is-open",
  "submission-accepted-once",
  "submission-is-open",
  "covers-only-the-past",
  "covers-no-open-call"
])
/** @since 0.1.0 */
export type Rule = typeof Rule.Type

/**
 * A record that may not follow the state it was given: the log is damaged, or its producer has a fault.
 *
 * @category errors
 * @since 0.1.0
 */
export class IllegalRecord extends Schema.TaggedError<IllegalRecord>("@colloquy/session/IllegalRecord")(
  "IllegalRecord",
  { conversationId: ConversationId, sequence: Schema.Finite, rule: Rule, detail: Schema.String }
) {
  override get message() {
    return `record ${this.sequence} of ${this.conversationId} breaks the rule ${this.rule}: ${this.detail}`
  }
}
