/**
 * What the rows of conversations say: where a log ends, who owns it, and who is refused.
 */
import * as Digest from "@colloquy/session/Digest"
import { ConversationId, ProducerId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ConversationDriver, Head } from "../ConversationDriver.ts"
import {
  ConversationErased,
  ConversationNotFound,
  FenceRejected,
  type StoreUnavailable,
  type Tail
} from "../StoreError.ts"

/** The row of a conversation that is there. */
export const findHead = (
  driver: ConversationDriver["Service"],
  conversationId: ConversationId
): Effect.Effect<Head, ConversationNotFound | ConversationErased | StoreUnavailable> =>
  Effect.flatMap(
    driver.head(conversationId),
    (head): Effect.Effect<Head, ConversationNotFound | ConversationErased> => {
      if (Option.isNone(head)) return Effect.fail(new ConversationNotFound({ conversationId }))
      return head.value.erased ? Effect.fail(new ConversationErased({ conversationId })) : Effect.succeed(head.value)
    }
  )

export const emptyTail: Tail = { sequence: 0, digest: Digest.empty }

export const tailOf = (head: Head): Tail => ({ sequence: head.sequence, digest: Digest.fromBytes(head.tail) })

export const ownerOf = (head: Head): ProducerId | null =>
  head.producerId === null ? null : ProducerId.make(head.producerId)

export const fenced = (head: Head, attempted: { readonly epoch: number; readonly producerId: ProducerId }) =>
  new FenceRejected({
    conversationId: ConversationId.make(head.conversationId),
    actual: { epoch: head.epoch, producerId: ownerOf(head) },
    attempted
  })
