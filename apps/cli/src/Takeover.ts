/**
 * Whether a verb may write to a conversation: not while a run of it has not ended, unless that is asked for.
 *
 * Nothing tells a run that a crash has cut off from one that another process is at. Who writes takes the conversation
 * over, and the other one stops at its next write; what it has written stays.
 */
import type { ConversationId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as Flag from "effect/cli/Flag"
import * as Schema from "effect/Schema"

/**
 * A run of the conversation has not ended: it goes on in another process, or a crash cut it off. Nothing was written.
 *
 * @public
 */
export class ConversationUnfinished extends Schema.TaggedError<ConversationUnfinished>(
  "@colloquy/cli/ConversationUnfinished"
)("ConversationUnfinished", { conversationId: Schema.String }) {
  override get message() {
    return (
      `a run of ${this.conversationId} has not ended: finish it with colloquy resume ${this.conversationId}, ` +
      `or close it and go on with --takeover`
    )
  }
}

export const takeoverFlag = Flag.Boolean("takeover").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Take over a conversation whose run has not ended; another process that runs it stops")
)

/** Fails while a run has not ended. A conversation that is absent has none. */
export const refuseUnfinished = Effect.fnUntraced(function* (conversationId: ConversationId) {
  const store = yield* ConversationStore
  const status = yield* store.summary({ conversationId }).pipe(
    Effect.map((summary) => summary.status),
    Effect.catchTag("ConversationNotFound", () => Effect.undefined)
  )
  if (status === "unfinished") return yield* new ConversationUnfinished({ conversationId })
})
