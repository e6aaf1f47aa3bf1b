/**
 * Keeps what a run sends within the model's window: before each model call old history is compacted when it has grown too
 * large, and once more when the provider refuses the request all the same.
 *
 * @since 0.1.0
 */
import type { Call, Outcome, Target } from "@colloquy/capabilities/Compaction"
import { RunEvent } from "@colloquy/capabilities/RunEvent"
import type * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { WriteError } from "@colloquy/store/Writer"
import * as Effect from "effect/Effect"
import { crashPolicy } from "./AgentHost.ts"
import { summariesOf } from "./internal/chat.ts"
import { openRun, type RunContext, write } from "./RunContext.ts"

/**
 * What the prompt of a run's next model call is projected with.
 *
 * @category reading
 * @since 0.1.0
 */
export const projection = <E>({ host, runId, showsOnlyItself }: RunContext<E>): ConversationPrompt.Options => ({
  instructions: host.instructions,
  provider: host.provider,
  model: host.model,
  ...(showsOnlyItself ? { onlyRun: runId } : {}),
  unsettled: (name) => (crashPolicy(host, name) === "omit" ? "omit" : "unknown")
})

/**
 * The number of a run's next model call.
 *
 * @category reading
 * @since 0.1.0
 */
export const nextStep = (context: Pick<RunContext<unknown>, "journal" | "runId">): number =>
  (openRun(context)?.step ?? 0) + 1

/**
 * Before a model call: estimates the request, and makes room when it is at the maximum or over it. Does nothing where
 * compaction is off. A conversation that cannot be shrunk is sent as it is, and those who watch are told.
 *
 * @category running
 * @since 0.1.0
 */
export const beforeCall = <E>(context: RunContext<E>): Effect.Effect<Outcome | undefined, WriteError> =>
  context.compactor === undefined
    ? Effect.undefined
    : Effect.tap(context.compactor.beforeCall(targetOf(context), callOf(context)), (outcome) => show(context, outcome))

/**
 * When the provider says that the request is too large: true when there is room now, and the call may be made once more.
 *
 * @category running
 * @since 0.1.0
 */
export const afterOverflow = <E>(context: RunContext<E>): Effect.Effect<boolean, WriteError> =>
  context.compactor === undefined
    ? Effect.succeed(false)
    : Effect.map(
        Effect.tap(context.compactor.afterOverflow(targetOf(context), callOf(context)), (outcome) =>
          show(context, outcome)
        ),
        ({ _tag }) => _tag === "Compacted"
      )

// --- internal ---

const targetOf = <E>(context: RunContext<E>): Target<WriteError> => {
  const { journal } = context
  return {
    state: journal.state,
    records: journal.records,
    write: (payload) => write(context, [{ name: ["compacted", String(journal.state().sequence)], payload }])
  }
}

const callOf = <E>(context: RunContext<E>): Call => {
  const { host, historyTokens, observer } = context
  return {
    step: nextStep(context),
    prompt: projection(context),
    fixedTokens: host.toolTokens + historyTokens,
    ownModel: summariesOf(host.summaryModel, host.provider, observer)
  }
}

const show = <E>(context: RunContext<E>, outcome: Outcome): Effect.Effect<void> =>
  Effect.sync(() => {
    if (outcome._tag !== "CannotShrink") return
    const { estimate, reason } = outcome
    context.publish(RunEvent.CannotShrink({ step: nextStep(context), tokens: estimate.tokens, reason }))
  })
