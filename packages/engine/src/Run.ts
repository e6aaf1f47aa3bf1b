/**
 * A run from outside: how it is asked for, what it comes to, and what it fails with.
 *
 * @since 0.1.0
 */
import type { RunId } from "@colloquy/session/Ids"
import type { EmptyInput } from "@colloquy/session/Input"
import type * as Payload from "@colloquy/session/Payload"
import type * as Usage from "@colloquy/session/Usage"
import type { OpenError } from "@colloquy/store/Conversations"
import type { WriteError } from "@colloquy/store/Writer"
import type * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import type * as Effect from "effect/Effect"
import type { Failures } from "./Agent.ts"
import type {
  AwaitingApproval,
  ConversationBusy,
  InvalidId,
  InvalidOption,
  NothingToResume,
  RunExists,
  UnknownAgent
} from "./AgentError.ts"

type Tools = Record<string, Tool.Any>

/**
 * @category models
 * @since 0.1.0
 */
export interface RunOptions {
  /** The conversation to continue or create. Without it nothing is stored, and everything else works. */
  readonly conversationId?: string | undefined
  /** The run's id (default: a random one). An id that the conversation has already is refused with `RunExists`. */
  readonly runId?: string | undefined
  /** Names the input at its source, for deduplication and the ledger. */
  readonly inputId?: string | undefined
  readonly author?: string | undefined
  /** Over the conversation's recorded mode and the agent's own. */
  readonly mode?: Payload.Mode | undefined
  readonly conversationKey?: string | undefined
  /** What the run answers (default: the input's id, else the run's). */
  readonly workKey?: string | undefined
  /** Over the agent's own. */
  readonly maxToolRounds?: number | undefined
  readonly toolConcurrency?: number | undefined
}

/**
 * What of a run may be set anew when it is resumed: the rest stands in its log.
 *
 * @category models
 * @since 0.1.0
 */
export type ResumeOptions = Pick<RunOptions, "maxToolRounds" | "toolConcurrency">

/**
 * What a run came to. `text` is the text of its last response, `content` the whole of it, `usage` that of all model calls.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunResult {
  readonly runId: RunId
  readonly outcome: Payload.RunOutcome
  readonly text: string
  readonly content: ReadonlyArray<Prompt.AssistantMessagePartEncoded>
  readonly usage: Usage.Usage
}

/**
 * A run that goes on.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunHandle<E> {
  readonly runId: RunId
  /** The run's result; after a cancel one with the outcome `cancelled`. Waiting may be interrupted: the run goes on. */
  readonly await: Effect.Effect<RunResult, E>
  /** Stops the run, and returns when its end is stored. Does nothing to one that is over. */
  readonly cancel: Effect.Effect<void>
}

/**
 * What starting a run fails with, before it has begun.
 *
 * @category errors
 * @since 0.1.0
 */
export type StartError = ConversationBusy | RunExists | EmptyInput | InvalidId | InvalidOption | OpenError

/**
 * What a run that has begun fails with: the model's error, its tools' errors, and what the store says. After a store's
 * error the run is unfinished and can be resumed; after any other its end is stored as `failed`.
 *
 * @category errors
 * @since 0.1.0
 */
export type RunFailure<T extends Tools, EI> = Failures<T, EI> | AiError.AiError | WriteError

/**
 * What starting a run and waiting for it fails with.
 *
 * @category errors
 * @since 0.1.0
 */
export type RunError<T extends Tools, EI> = StartError | RunFailure<T, EI>

/**
 * What resuming fails with besides.
 *
 * @category errors
 * @since 0.1.0
 */
export type ResumeError = NothingToResume | AwaitingApproval | UnknownAgent
