/**
 * Input for a run that goes on: steering, read before its next model call, and follow-ups, read when it would otherwise
 * stop. What is accepted is delivered, or handed back with its receipt; it is never dropped.
 *
 * ```
 *                 taken and stored          the model's response is stored, or the run has ended
 *   accepted ───────────────────▶ delivered ──────────────────────────────▶ done
 *      │
 *      └── the run fails or is cancelled first ──▶ returned
 * ```
 *
 * @since 0.1.0
 */
import type { ConversationId } from "@colloquy/session/Ids"
import type * as Input from "@colloquy/session/Input"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import type * as Prompt from "effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

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
 * run ended. `Returned` hands the command back: nothing of it is in the log.
 *
 * @category models
 * @since 0.1.0
 */
export type State = Data.TaggedEnum<{
  Accepted: {}
  Delivered: { readonly sequence: number }
  Done: { readonly sequence: number; readonly answered: boolean }
  Returned: { readonly command: Command; readonly reason: "failed" | "cancelled" }
}>

/**
 * Constructors and matchers of {@link State}.
 *
 * @category models
 * @since 0.1.0
 */
export const State = Data.taggedEnum<State>()

/**
 * The proof that an input was accepted, and where it is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Receipt {
  readonly conversationId: ConversationId
  readonly kind: Kind
  readonly inputId: string
  readonly state: Effect.Effect<State>
  /** Waits until it is in the log or handed back. */
  readonly delivered: Effect.Effect<Exclude<State, { readonly _tag: "Accepted" }>>
  /** Waits for the outcome. Interrupting it changes nothing. */
  readonly await: Effect.Effect<Extract<State, { readonly _tag: "Done" | "Returned" }>>
}

/**
 * What became of an offer. `Accepted`: the model receives it before its next call, and the run does not end before that
 * call. `NotRunning`: no run of this process takes it; it was not kept, start a run with it.
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
 * @category models
 * @since 0.1.0
 */
export interface OfferOptions {
  /** Offering the same id twice is one input, with one receipt (default: a random id). */
  readonly inputId?: string | undefined
  readonly author?: string | undefined
}

/**
 * @category errors
 * @since 0.1.0
 */
export type OfferError = Input.EmptyInput | QueueFull | InputConflict | StoreUnavailable

/**
 * The run's side of its queues. Every operation is atomic.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunQueues {
  /** Takes the steering that waits, in order. What is taken must be stored and reported by `delivered`, or is returned. */
  readonly takeSteering: Effect.Effect<ReadonlyArray<Command>, StoreUnavailable>
  /** Takes steering, else follow-ups; if neither waits, closes the queues in the same step: what comes now is refused. */
  readonly takeOrClose: Effect.Effect<ReadonlyArray<Command>, StoreUnavailable>
  /** A taken command is in the log. */
  readonly delivered: (inputId: string, sequence: number) => Effect.Effect<void>
  /** The model's response to everything delivered so far is stored. */
  readonly answered: Effect.Effect<void>
  /** Closes the queues and hands back whatever is not delivered. Idempotent: the first reason stays. */
  readonly close: (reason: "failed" | "cancelled") => Effect.Effect<void>
}

/**
 * @category services
 * @since 0.1.0
 */
export class CommandQueues extends Context.Service<
  CommandQueues,
  {
    /** What was accepted survives the process: a resumed run finds it. */
    readonly durable: boolean
    /** Offers an input to be read before the next model call. It never touches a call in flight and skips no tool. */
    readonly steer: (
      conversationId: ConversationId,
      input: Input.Input,
      options?: OfferOptions
    ) => Effect.Effect<Offered, OfferError>
    /** Offers an input to be read when the run would otherwise stop. */
    readonly followUp: (
      conversationId: ConversationId,
      input: Input.Input,
      options?: OfferOptions
    ) => Effect.Effect<Offered, OfferError>
    /**
     * Opens the queues of a run for the scope; whoever loads a run calls it before anything else, so that nothing is
     * refused meanwhile. At the end of the scope they are closed, as after a failure unless they are closed already. One
     * run of a conversation has them open at a time; the engine's gate sees to that.
     */
    readonly open: (conversationId: ConversationId) => Effect.Effect<RunQueues, never, Scope.Scope>
  }
>()("@colloquy/capabilities/CommandQueues") {}
