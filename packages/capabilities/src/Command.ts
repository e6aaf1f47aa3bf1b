/**
 * An input on its way to a run: what became of offering it, and the receipt that says where it is.
 *
 * @since 0.1.0
 */
import type { InvalidPayload } from "@colloquy/session/CanonicalRecord"
import type { ConversationId } from "@colloquy/session/Ids"
import type { EmptyInput } from "@colloquy/session/Input"
import type { LimitExceeded } from "@colloquy/session/Limits"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import type * as Prompt from "effect/ai/Prompt"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"

/**
 * When a command is read: `steering` before the next model call, `follow-up` when the run would otherwise stop.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "steering" | "follow-up"

/**
 * An input that is on its way to a run.
 *
 * @category models
 * @since 0.1.0
 */
export interface Command {
  readonly kind: Kind
  readonly inputId: string
  readonly message: Prompt.UserMessageEncoded
  readonly author?: string | undefined
}

/**
 * Where a command is. `sequence` is that of its record; `answered` says whether the model has responded to it before its
 * run ended. `Returned` hands the command back: nothing of it is in the log. `suspended` is the reason for a follow-up
 * whose run has come to wait for people: to read it would have closed their requests.
 *
 * @category models
 * @since 0.1.0
 */
export type State = Data.TaggedEnum<{
  Accepted: {}
  Delivered: { readonly sequence: number }
  Done: { readonly sequence: number; readonly answered: boolean }
  Returned: { readonly command: Command; readonly reason: "failed" | "cancelled" | "suspended" }
}>

/**
 * Constructors and matchers of {@link State}.
 *
 * @category models
 * @since 0.1.0
 */
export const State = Data.taggedEnum<State>()

/**
 * The proof that an input was accepted, and where it is. It outlives its run.
 *
 * @category models
 * @since 0.1.0
 */
export interface Receipt {
  readonly conversationId: ConversationId
  readonly kind: Kind
  readonly inputId: string
  readonly state: Effect.Effect<State>
  /** Waits until it is in the log or handed back. Interrupting it changes nothing. */
  readonly delivered: Effect.Effect<Exclude<State, { readonly _tag: "Accepted" }>>
  /** Waits for the outcome. Interrupting it changes nothing. */
  readonly await: Effect.Effect<Extract<State, { readonly _tag: "Done" | "Returned" }>>
  /**
   * The state that it is in, then each later one, once; ends with the outcome. A slow reader misses none. Who stops reading
   * changes nothing.
   */
  readonly states: Stream.Stream<State>
}

/**
 * What became of an offer.
 *
 * **Details**
 *
 * `Accepted`: the run does not end before the model has been called with it. Steering is part of the next call whose
 * input is not read yet, as many at a time as the queues' options say; a follow-up is when the run would otherwise stop.
 * Only a run that fails or is cancelled hands it back; one that comes to wait for people hands back follow-ups.
 *
 * `NotRunning`: no run of this process takes it; it was not kept, start a run with it. `ending` says that one is about to
 * end: a start waits for that.
 *
 * @category models
 * @since 0.1.0
 */
export type Offered = Data.TaggedEnum<{
  Accepted: { readonly receipt: Receipt }
  NotRunning: { readonly conversationId: ConversationId; readonly reason: "no-run" | "ending" }
}>

/**
 * Constructors and matchers of {@link Offered}.
 *
 * @category models
 * @since 0.1.0
 */
export const Offered = Data.taggedEnum<Offered>()

/**
 * The queue is full: wait for the run to read it, and offer the input again. Nothing was kept.
 *
 * @category errors
 * @since 0.1.0
 */
export class QueueFull extends Schema.TaggedError<QueueFull>("@colloquy/capabilities/QueueFull")("QueueFull", {
  conversationId: Schema.String,
  kind: Schema.Literals(["steering", "follow-up"]),
  capacity: Schema.Natural
}) {
  override get message() {
    return `${this.capacity} ${this.kind} inputs wait in ${this.conversationId} already: offer it again later`
  }
}

/**
 * The id was given to another input before. Nothing was kept: give a new input a new id.
 *
 * @category errors
 * @since 0.1.0
 */
export class InputConflict extends Schema.TaggedError<InputConflict>("@colloquy/capabilities/InputConflict")(
  "InputConflict",
  { conversationId: Schema.String, inputId: Schema.String }
) {
  override get message() {
    return `input ${this.inputId} of ${this.conversationId} was offered with other content: give a new input a new id`
  }
}

/**
 * What offering fails with. `InvalidPayload` and `LimitExceeded`: no record can hold the input, so that a run which
 * accepted it would fail; nothing was kept.
 *
 * @category errors
 * @since 0.1.0
 */
export type OfferError = EmptyInput | InvalidPayload | LimitExceeded | QueueFull | InputConflict | StoreUnavailable
