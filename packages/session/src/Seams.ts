/**
 * Where packages meet without importing each other: references with a do-nothing default.
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { CanonicalRecord } from "./CanonicalRecord.ts"
import { type AgentName, ConversationId, type RecordId, type RunId, type TenantId } from "./Ids.ts"
import type { Mode, RunOutcome } from "./Vocabulary.ts"

/**
 * What is to be removed: everything about a conversation, or with `records` what was made of these records.
 *
 * @category models
 * @since 0.1.0
 */
export interface Erasure {
  readonly conversationId: ConversationId
  /** Whose conversation it is; undefined for the store without tenants. */
  readonly tenant?: TenantId | undefined
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

/**
 * A run, as those who prepare it or record it are told of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Turn {
  /** Undefined when nothing is stored. */
  readonly conversationId: ConversationId | undefined
  readonly runId: RunId
  readonly agent: AgentName
  readonly mode: Mode
  /** Where the conversation takes place in the app's world, if the app said so. */
  readonly conversationKey: string | undefined
  /** What the run answers. */
  readonly workKey: string
  /** Earlier runs that the model is shown anyway, since their conversation is replayed to it (default: none). */
  readonly visibleRuns?: ReadonlyArray<RunId> | undefined
}

/**
 * Reads a conversation of the store that a run writes to, the last record first, and only as far as is asked for. One that
 * is not there, or not any more, has no records. What it fails with is what the store says.
 *
 * @category models
 * @since 0.1.0
 */
export type PastRecords = (conversationId: ConversationId) => Stream.Stream<CanonicalRecord, unknown>

/**
 * Gives a text to put before a turn's input, for the model calls of this turn only. It is recorded with the input, so
 * that a resumed run shows the model the same. It cannot fail: who has nothing to say gives undefined.
 *
 * The engine says what else its store has; without a store, and in a loop that does not say, `past` is undefined.
 *
 * @category models
 * @since 0.1.0
 */
export type Preamble = (turn: Turn, past?: PastRecords) => Effect.Effect<string | undefined>

/**
 * What is put before a turn's input. Nothing by default. Looked up when a run starts: in the caller's context, then in
 * that of the runtime's layer.
 *
 * @category services
 * @since 0.1.0
 */
export const TurnPreamble = Context.Reference<Preamble | undefined>("@colloquy/session/Seams/TurnPreamble", {
  defaultValue: () => undefined
})

/**
 * A run that has ended, with its records in order, from its start to its end; among them `Custom` ones, which belong to no
 * run but may say something of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface EndedTurn extends Turn {
  readonly outcome: RunOutcome
  readonly records: ReadonlyArray<CanonicalRecord>
}

/**
 * Is told of a run once its end is stored. It cannot fail, and the run's caller waits for it: who does slow work does it
 * elsewhere. `past` is as a {@link Preamble} has it.
 *
 * @category models
 * @since 0.1.0
 */
export type Recorder = (turn: EndedTurn, past?: PastRecords) => Effect.Effect<void>

/**
 * Who is told that a run has ended. Nobody by default. Looked up as {@link TurnPreamble} is.
 *
 * @category services
 * @since 0.1.0
 */
export const RunRecorder = Context.Reference<Recorder | undefined>("@colloquy/session/Seams/RunRecorder", {
  defaultValue: () => undefined
})

/**
 * A model call that is about to be made, as those who watch prompts are told of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelRequest {
  readonly prompt: Prompt.Prompt
  /** Those whose definitions are sent with it. */
  readonly tools: ReadonlyArray<Tool.Any>
}

/**
 * Is told of a model call just before it is made, and again before each retry, inside the call's span. It cannot fail, and
 * the call waits for it.
 *
 * @category models
 * @since 0.1.0
 */
export type Observer = (request: ModelRequest) => Effect.Effect<void>

/**
 * Who is told of a run's model calls, those for summaries included. Nobody by default. Looked up as {@link TurnPreamble}
 * is.
 *
 * @category services
 * @since 0.1.0
 */
export const PromptObserver = Context.Reference<Observer | undefined>("@colloquy/session/Seams/PromptObserver", {
  defaultValue: () => undefined
})
