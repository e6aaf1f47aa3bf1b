/** Input for the run that goes on, or else for one of its own. */
import type { Kind, OfferError, Receipt } from "@colloquy/capabilities/CommandQueues"
import * as Input from "@colloquy/session/Input"
import type * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ConversationBusy } from "../AgentError.ts"
import type { RunFailure, RunHandle, RunOptions } from "../Run.ts"
import { onceOf } from "./starting.ts"
import { decodeConversationId, type Parts } from "./shared.ts"

/**
 * What became of an input that is for a run that goes on, if there is one.
 *
 * @category models
 * @since 0.1.0
 */
export type AcceptedOrStarted<E, A> = Data.TaggedEnum<{
  Accepted: { readonly receipt: Receipt }
  Started: { readonly run: RunHandle<RunFailure<E>, A> }
}>

/** Offers an input to the run that goes on; `start` starts one with it. Of two that begin in between the other takes it. */
export const offerOrStart = Effect.fnUntraced(function* <E, R, E2, A>(
  { gate, queues }: Parts,
  kind: Kind,
  input: Input.Input,
  options: RunOptions & { readonly conversationId: string },
  start: Effect.Effect<RunHandle<RunFailure<E>, A>, E2 | ConversationBusy, R>
): Effect.fn.Return<
  AcceptedOrStarted<E, A>,
  E2 | ConversationBusy | OfferError | Effect.Error<ReturnType<typeof decodeConversationId>>,
  R
> {
  const conversationId = yield* decodeConversationId(options.conversationId)
  const once = onceOf(options, conversationId, yield* Input.toMessage(input))
  const offer = kind === "steering" ? queues.steer : queues.followUp
  const { author, inputId } = options
  let busy: ConversationBusy | undefined
  while (true) {
    // What the run has, or is about to begin with, it is not told again: starting says so.
    if (once === undefined || !gate.knows(once)) {
      const offered = yield* offer(conversationId, input, { author, inputId })
      if (offered._tag === "Accepted") return { _tag: "Accepted", receipt: offered.receipt }
    }
    // None goes on: starting waits for one that ends. If another begins first, that one takes it.
    const started = yield* Effect.result(start)
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
