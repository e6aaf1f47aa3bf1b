/** The service that runs agents. */
import type { Kind, OfferError } from "@colloquy/capabilities/CommandQueues"
import type { ConversationId } from "@colloquy/session/Ids"
import type { IllegalRecord } from "@colloquy/session/IllegalRecord"
import type { Input } from "@colloquy/session/Input"
import type { ReadError } from "@colloquy/store/StoreError"
import type { WriteError } from "@colloquy/store/Writer"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Agent } from "../Agent.ts"
import type { ConversationBusy, InvalidId, InvalidOption } from "../AgentError.ts"
import type * as Agents from "../Agents.ts"
import type { ApprovalRequest, Decision } from "../Approvals.ts"
import type { DecideError, ResumeError, ResumeOptions, RunFailure, RunHandle, RunOptions, StartError } from "../Run.ts"
import type { AcceptedOrStarted } from "./offering.ts"

/**
 * Runs agents.
 *
 * @category services
 * @since 0.1.0
 */
export class AgentRuntime extends Context.Service<
  AgentRuntime,
  {
    /** Starts a run; returns once its start and input are stored. */
    readonly start: <E, R, A>(
      agent: Agent<E, R, A>,
      input: Input,
      options?: RunOptions
    ) => Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | E, Exclude<R, Scope.Scope>>
    /** Offers an input to the conversation's run if one goes on, else starts one with it. */
    readonly offerOrStart: <E, R, A>(
      kind: Kind,
      agent: Agent<E, R, A>,
      input: Input,
      options: RunOptions & { readonly conversationId: string }
    ) => Effect.Effect<AcceptedOrStarted<E, A>, StartError | OfferError | E, Exclude<R, Scope.Scope>>
    /** Goes on with an unfinished run, under its id; returns once that is stored. */
    readonly startResume: <E, R, A>(
      agents: Agents.Source<E, R, A>,
      conversationId: string,
      options?: ResumeOptions
    ) => Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | ResumeError | E, Exclude<R, Scope.Scope>>
    /** Goes on with a run that waits for people, with what they decided; returns once that is stored. */
    readonly startDecide: <E, R, A>(
      agents: Agents.Source<E, R, A>,
      conversationId: string,
      decisions: ReadonlyArray<Decision>,
      options?: ResumeOptions
    ) => Effect.Effect<RunHandle<RunFailure<E>, A>, StartError | DecideError | E, Exclude<R, Scope.Scope>>
    /**
     * The calls of a conversation that wait for a person, for whoever shows them; takes nothing over. When they expire is
     * known to their agent, and is not among what this gives.
     */
    readonly approvals: (
      conversationId: string
    ) => Effect.Effect<ReadonlyArray<ApprovalRequest>, InvalidId | InvalidOption | IllegalRecord | ReadError>
    /**
     * Stops the run of a conversation in this process, or ends one that waits for people, and returns when its end is
     * stored; false when there is neither. Background agents that are to end with it are stopped too.
     */
    readonly cancel: (conversationId: string) => Effect.Effect<boolean, CancelError>
    /** Conversations whose last run is unfinished and that this process may go on with. */
    readonly recoverable: (options?: {
      readonly takeover?: boolean | undefined
    }) => Stream.Stream<ConversationId, ReadError>
  }
>()("@colloquy/engine/AgentRuntime") {}

/**
 * What cancelling fails with.
 *
 * @category errors
 * @since 0.1.0
 */
export type CancelError = InvalidId | ConversationBusy | WriteError
