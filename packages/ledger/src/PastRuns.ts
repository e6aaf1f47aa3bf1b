/**
 * How a ledger looks into logs for turns that a crash has kept from it, without knowing any store.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ConversationId } from "@colloquy/session/Ids"
import * as Context from "effect/Context"
import type * as Stream from "effect/Stream"

/**
 * The records of a conversation, the last one first. Read only as far as is needed.
 *
 * @category models
 * @since 0.1.0
 */
export type Reader = (conversationId: ConversationId) => Stream.Stream<CanonicalRecord, unknown>

/**
 * Who reads logs for the ledger. Nobody by default: then turns that a crash cut off between their end and their recording
 * are not caught up on.
 *
 * **Example** (Over a conversation store)
 *
 * ```ts
 * Layer.effect(
 *   PastRuns,
 *   ConversationStore.useSync((store) => (conversationId) => store.read({ conversationId, reverse: true }))
 * )
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export const PastRuns = Context.Reference<Reader | undefined>("@colloquy/ledger/PastRuns", {
  defaultValue: () => undefined
})
