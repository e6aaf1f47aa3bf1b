/**
 * Changes of conversations by other means than a run, told to whoever watches: several pages may show the same.
 */
import type { ConversationId } from "@colloquy/session/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"

export interface Change {
  readonly conversationId: ConversationId
  readonly change: "renamed" | "forked" | "redacted" | "erased"
}

export class Changes extends Context.Service<
  Changes,
  {
    readonly tell: (conversationId: ConversationId, change: Change["change"]) => Effect.Effect<void>
    /** Those that come from now on; a slow reader loses the oldest. */
    readonly watch: Stream.Stream<Change>
  }
>()("@colloquy/desk/Changes") {}

export const layer: Layer.Layer<Changes> = Layer.effect(
  Changes,
  Effect.gen(function* () {
    const changes = yield* PubSub.sliding<Change>(256)
    return Changes.of({
      tell: (conversationId, change) => Effect.asVoid(PubSub.publish(changes, { conversationId, change })),
      watch: Stream.fromPubSub(changes)
    })
  })
)
