/**
 * A conversation as one list of messages that a provider takes, from its first word to its last, whatever a compaction hides
 * from the model; and what of the log has no place in it.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { ConversationId } from "@colloquy/session/Ids"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Messages, what is known of the conversation, and by kind how much is left out. */
export interface WholePrompt {
  readonly conversationId: ConversationId
  readonly title: string | undefined
  readonly messages: ReadonlyArray<Prompt.MessageEncoded>
  readonly leftOut: Counts
}

/** Counts by kind. */
export class Counts {
  private readonly byKind = new Map<string, number>()

  add(kind: string, count = 1): void {
    if (count > 0) this.byKind.set(kind, (this.byKind.get(kind) ?? 0) + count)
  }

  addAll(that: Counts): void {
    for (const [kind, count] of that.byKind) this.add(kind, count)
  }

  all(): { readonly [kind: string]: number } {
    return Object.fromEntries(this.byKind)
  }
}

/** Reads all records of a conversation; memory holds one conversation. */
export const make = (conversationId: ConversationId, records: ReadonlyArray<CanonicalRecord>) =>
  Effect.gen(function* () {
    const { state } = Conversation.replayLenient(Conversation.initial(conversationId), records)
    const { prompt, repairs } = ConversationPrompt.projectWhole(state, records)
    const { content } = yield* encode(prompt)
    const leftOut = new Counts()
    let title: string | undefined
    for (const { payload } of records) {
      if (payload._tag === "ConversationCreated" || payload._tag === "MetadataChanged") title = payload.title ?? title
      const kind = unspoken.get(payload._tag)
      if (kind !== undefined) leftOut.add(kind)
    }
    for (const { kind } of repairs) leftOut.add(`repaired: ${kind}`)
    const whole: WholePrompt = { conversationId, title, messages: content, leftOut }
    return whole
  })

// --- internal ---

/** Records that say something which no message holds. */
const unspoken: ReadonlyMap<CanonicalRecord["payload"]["_tag"], string> = new Map([
  ["Custom", "notes"],
  ["Compacted", "summaries"],
  ["ApprovalResolved", "decisions"],
  ["HandedOff", "handoffs"],
  ["BackgroundStarted", "background tasks"],
  ["Redacted", "redacted records"]
])

const encode = Schema.encodeEffect(Prompt.Prompt)
