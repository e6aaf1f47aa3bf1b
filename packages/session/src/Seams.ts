/**
 * Where packages meet without importing each other: references with a do-nothing default.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ConversationId, type RecordId } from "./Ids.ts"

/**
 * What is to be removed: everything about a conversation, or with `records` what was made of these records.
 *
 * @category models
 * @since 0.1.0
 */
export interface Erasure {
  readonly conversationId: ConversationId
  readonly records?: ReadonlyArray<RecordId> | undefined
  /** Copies too, as far as they are of this conversation alone. */
  readonly cascade: boolean
}

/**
 * What somebody who holds data of a conversation removed, and what copies he still has, each by table.
 *
 * @category models
 * @since 0.1.0
 */
export interface Erased {
  readonly removed: { readonly [table: string]: number }
  readonly copies: { readonly [table: string]: number }
}

/**
 * Somebody who holds data of a conversation could not remove it. Nothing is half-erased that cannot be erased again: the
 * caller repeats the erasure.
 *
 * @category errors
 * @since 0.1.0
 */
export class EraserFailed extends Schema.TaggedError<EraserFailed>("@colloquy/session/EraserFailed")("EraserFailed", {
  conversationId: ConversationId,
  eraser: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `${this.eraser} could not remove what it holds of ${this.conversationId}: repeat the erasure`
  }
}

/**
 * Somebody who holds data of conversations beside their logs. Erasing is idempotent: what is gone already counts 0.
 *
 * @category models
 * @since 0.1.0
 */
export interface Eraser {
  readonly name: string
  readonly erase: (erasure: Erasure) => Effect.Effect<Erased, EraserFailed>
}

/**
 * Everybody whom a store asks when it erases a conversation or redacts a record. Nobody by default.
 *
 * @category services
 * @since 0.1.0
 */
export const Erasers = Context.Reference<ReadonlyArray<Eraser>>("@colloquy/session/Seams/Erasers", {
  defaultValue: () => []
})
