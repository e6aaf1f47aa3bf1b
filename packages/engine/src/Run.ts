/**
 * A run from outside: how it is asked for, what it comes to, and what it fails with.
 *
 * @since 0.1.0
 */
import type { OfferError, OfferOptions, Offered } from "@colloquy/capabilities/CommandQueues"
import type { Budget } from "@colloquy/capabilities/Budget"
import type { Options as CompactionOptions } from "@colloquy/capabilities/Compaction"
import type { UnknownEphemeral } from "@colloquy/capabilities/EphemeralConversations"
import type { RunEvent } from "@colloquy/capabilities/RunEvent"
import type { SecretMask } from "@colloquy/capabilities/SecretMask"
import type { RunId } from "@colloquy/session/Ids"
import type { EmptyInput, Input } from "@colloquy/session/Input"
import type * as Payload from "@colloquy/session/Payload"
import type * as Usage from "@colloquy/session/Usage"
import type { Creation, OpenError } from "@colloquy/store/Conversations"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import type { WriteError } from "@colloquy/store/Writer"
import type * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type {
  AwaitingApproval,
  BudgetExhausted,
  ContextTooLarge,
  ConversationBusy,
  InputExists,
  InvalidId,
  InvalidOption,
  NothingToResume,
  RunExists,
  UnknownAgent,
  UnknownSettings
} from "./AgentError.ts"
import type { ApprovalRequest, DecisionRejected } from "./Approvals.ts"
import type { LimitOptions, Persistence } from "./RunLimits.ts"

/**
 * What may be set for a run that starts, or anew for one that is resumed. Over stored settings and the agent's own.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResumeOptions extends LimitOptions {
  /** What the run does when the store fails. */
  readonly persistence?: Persistence | undefined
  /** What the run, and its conversation, may use; undefined: as the agent says. At a limit it lands with a last answer. */
  readonly budget?: Budget | undefined
  /** How history is compacted when it grows too large; undefined: as the agent says. */
  readonly compaction?: CompactionOptions | undefined
  /**
   * Masks secrets in whatever the run stores and shows; undefined: as the agent says. What was masked the model does not
   * see either, in its next call. Text is then shown when it is recorded, not while it comes.
   */
  readonly mask?: SecretMask | undefined
  /**
   * Whether the model is shown the conversation's earlier runs (`replay`) or this one alone, as where a ledger says what
   * they did (`ledger`); undefined: as the agent says.
   */
  readonly earlierRuns?: "replay" | "ledger" | undefined
  /** Makes model calls part by part, so that text is shown while it comes. `stream` sets it. */
  readonly streaming?: boolean | undefined
  /**
   * Keeps what the run does, from its first event, for the first reader of its handle's `events`: in memory, all of it
   * until that reader comes, and nothing once it is gone. `stream` sets it.
   */
  readonly watched?: boolean | undefined
  /** Is shown every event of the run, in order. It must not wait: the run goes on behind it. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface RunOptions extends ResumeOptions {
  /** The conversation to continue or create. Without it nothing is stored, and everything else works. */
  readonly conversationId?: string | undefined
  /** What the conversation is created with, if this run creates it. */
  readonly creation?: Creation | undefined
  /**
   * The run's id (default: one of its input's id, else a random one). An id that the conversation has already is refused with
   * `RunExists`.
   */
  readonly runId?: string | undefined
  /** Stored settings; they count for the options that the agent names as configurable. */
  readonly settingsId?: string | undefined
  /**
   * Names the input at its source, for deduplication and the ledger. Unless `runId` is given, an input starts one run, in
   * whatever process and however long ago: `InputExists` when the conversation has run it, or a run that is at hand, not
   * hidden by a summary, was told it while it went on. A caller that wants it run once more, as after a failure, names the
   * run.
   */
  readonly inputId?: string | undefined
  readonly author?: string | undefined
  /** Over the conversation's recorded mode, stored settings and the agent's own. */
  readonly mode?: Payload.Mode | undefined
  /**
   * Where the conversation takes place in the app's world, for the ledger and for whoever reads spans and logs. An
   * identifier, not a text: it is on the run's span, and agents that the run sets to work in the background have it too.
   */
  readonly conversationKey?: string | undefined
  /** What the run answers (default: the input's id, else the run's). */
  readonly workKey?: string | undefined
  /**
   * What was said before, kept by the caller: the store is never touched, also with a conversation id. An effect is run
   * when the run begins: when no other run of its conversation goes on.
   */
  readonly history?: Prompt.Prompt | Effect.Effect<Prompt.Prompt, UnknownEphemeral> | undefined
  /**
   * Is given the history with this run's messages behind it, once the run is over, however it ended. What it fails with
   * is logged, and the run's result says that it is not persisted.
   */
  readonly onHistory?: ((history: Prompt.Prompt) => Effect.Effect<void, { readonly message: string }>) | undefined
}

/**
 * What a run came to.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunResult<out A = never> {
  readonly runId: RunId
  /** `awaiting-approval`: it waits for people and holds nothing; `decide` goes on with it. */
  readonly outcome: Payload.RunOutcome | "awaiting-approval"
  /** The text of its last response. */
  readonly text: string
  /** The structured answer of an agent that has one; undefined when the run came to none. */
  readonly value: A | undefined
  /** The whole of its last response. */
  readonly content: ReadonlyArray<Prompt.AssistantMessagePartEncoded>
  /** That of all its model calls. */
  readonly usage: Usage.Usage
  /** The calls that wait for a decision. */
  readonly approvals: ReadonlyArray<ApprovalRequest>
  /** Everything of the run is in the store, or its caller has kept its history. */
  readonly persisted: boolean
}

/**
 * A run that goes on.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunHandle<out E, out A = never> {
  readonly runId: RunId
  /** Says something to the run, to be read before its next model call. */
  readonly steer: (input: Input, options?: OfferOptions) => Effect.Effect<Offered, OfferError>
  /** Says something to the run, to be read when it would otherwise stop. */
  readonly followUp: (input: Input, options?: OfferOptions) => Effect.Effect<Offered, OfferError>
  /** The run's result; after a cancel one with the outcome `cancelled`. Waiting may be interrupted: the run goes on. */
  readonly await: Effect.Effect<RunResult<A>, E>
  /** Stops the run, and returns when its end is stored. Does nothing to one that is over. */
  readonly cancel: Effect.Effect<void>
  /**
   * What it does from now on; ends with the run. The first reader of a run that is `watched` is shown it from its first
   * event, also when it is over. A slow reader never holds the run up, and keeps its own backlog.
   */
  readonly events: Stream.Stream<RunEvent>
}

/**
 * What starting a run fails with, before it has begun.
 *
 * @category errors
 * @since 0.1.0
 */
export type StartError =
  | ConversationBusy
  | RunExists
  | InputExists
  | EmptyInput
  | InvalidId
  | InvalidOption
  | UnknownSettings
  | UnknownEphemeral
  | OpenError

/**
 * What a run that has begun fails with: what its agent fails with, the model's error, and what the store says. After a
 * store's error the run is unfinished and can be resumed; after any other its end is stored as `failed`.
 *
 * `Effect.catchIf(AiError.isAiError, …)` takes the model's error out, also where `E` is a type parameter.
 *
 * @category errors
 * @since 0.1.0
 */
export type RunFailure<E> = E | AiError.AiError | ContextTooLarge | BudgetExhausted | WriteError

/**
 * What starting a run and waiting for it fails with.
 *
 * @category errors
 * @since 0.1.0
 */
export type RunError<E> = StartError | RunFailure<E>

/**
 * What resuming fails with besides.
 *
 * @category errors
 * @since 0.1.0
 */
export type ResumeError = NothingToResume | AwaitingApproval | UnknownAgent

/**
 * What deciding fails with besides. Nothing was stored, and the run waits as before.
 *
 * @category errors
 * @since 0.1.0
 */
export type DecideError = NothingToResume | UnknownAgent | DecisionRejected

/**
 * What listing conversations to recover fails with.
 *
 * @category errors
 * @since 0.1.0
 */
export type RecoverError = StoreUnavailable
