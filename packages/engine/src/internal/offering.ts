/** Input for the run that goes on, or else for one of its own. */
import * as CommandQueues from "@colloquy/capabilities/CommandQueues"
import type { Input } from "@colloquy/session/Input"
import type * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Agent } from "../Agent.ts"
import type { ConversationBusy } from "../AgentError.ts"
import type { RunFailure, RunHandle, RunOptions, StartError } from "../Run.ts"
import { AgentRuntime } from "./runtime.ts"
import { decodeConversationId } from "./shared.ts"

/**
 * What became of an input that is for a run that goes on, if there is one.
 *
 * @category models
 * @since 0.1.0
 */
export type SteeredOrStarted<E, A> = Data.TaggedEnum<{
  Steered: { readonly receipt: CommandQueues.Receipt }
  Started: { readonly run: RunHandle<RunFailure<E>, A> }
}>

/**
 * Says something to the conversation's run if one goes on, else starts one with it: there is no moment in which the input
 * belongs to neither.
 *
 * @category running
 * @since 0.1.0
 */
export const steerOrRun = <E, R, A>(
  agent: Agent<E, R, A>,
  input: Input,
  options: RunOptions & { readonly conversationId: string }
): Effect.Effect<
  SteeredOrStarted<E, A>,
  StartError | CommandQueues.OfferError | E,
  AgentRuntime | CommandQueues.CommandQueues | Exclude<R, Scope.Scope>
> =>
  Effect.gen(function* () {
    const runtime = yield* AgentRuntime
    const queues = yield* CommandQueues.CommandQueues
    const conversationId = yield* decodeConversationId(options.conversationId)
    let busy: ConversationBusy | undefined
    while (true) {
      const { author, inputId } = options
      const offered = yield* queues.steer(conversationId, input, { author, inputId })
      if (offered._tag === "Accepted") return { _tag: "Steered", receipt: offered.receipt }
      // None goes on: starting waits for one that ends. If another begins first, that one takes it.
      const started = yield* Effect.result(runtime.start(agent, input, options))
      if (started._tag === "Success") return { _tag: "Started", run: started.success }
      const { failure } = started
      // The same run twice: it takes nothing in from these queues, and will not.
      if (!isBusy(failure) || failure.runId === busy?.runId) return yield* Effect.fail(failure)
      busy = failure
    }
  })

// --- internal ---

const isBusy = (error: unknown): error is ConversationBusy =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "ConversationBusy"
