/**
 * Which calls of a response run, which wait for a person, and which the run's mode refuses.
 *
 * @since 0.1.0
 */
import type { RunId } from "@colloquy/session/Ids"
import type { Mode } from "@colloquy/session/Payload"
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Approvals from "./Approvals.ts"
import type { Call } from "./CallFacts.ts"
import type { Fact } from "./Journal.ts"
import { openRun, type RunContext } from "./RunContext.ts"
import * as ToolCall from "./ToolCall.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Judged {
  /** To run, in order. */
  readonly calls: ReadonlyArray<Call>
  /** What to write for the others: requests for approval, and refusals. */
  readonly facts: ReadonlyArray<Fact>
}

/**
 * Judges calls that have not started. A call that its mode refuses is settled `rejected`, with a result that says so; one
 * that needs approval waits for it, unless a person has approved it or a standing grant covers it.
 *
 * @category running
 * @since 0.1.0
 */
export const judge = Effect.fnUntraced(function* <E>(
  context: RunContext<E>,
  calls: ReadonlyArray<Call>,
  messages: ReadonlyArray<Prompt.Message>
) {
  const { host, journal, runId } = context
  const mode = openRun(context)?.mode ?? journal.state().mode
  const runs: Array<Call> = []
  const facts: Array<Fact> = []
  for (const call of calls) {
    if (!host.allows(mode, call.name)) facts.push(refused(runId, call, mode))
    else if (yield* asks(context, call, messages))
      facts.push(Approvals.requested({ ...call, runId, attempt: call.attempt - 1 }))
    else runs.push(call)
  }
  return { calls: runs, facts } satisfies Judged
})

// --- internal ---

const asks = <E>(
  { host, journal, runId }: RunContext<E>,
  { attempt, callId, name, params }: Call,
  messages: ReadonlyArray<Prompt.Message>
): Effect.Effect<boolean> => {
  if (Approvals.isApproved(journal.records(), { runId, callId, attempt: attempt - 1 })) return Effect.succeed(false)
  return Effect.map(
    host.needsApproval({ callId, name, params }, messages),
    (needed) => needed && !Approvals.isGranted(journal.state(), name, ToolCall.parametersDigest(params))
  )
}

const refused = (runId: RunId, { callId, name, step }: Call, mode: Mode): Fact => ({
  name: ["settled", callId],
  payload: {
    _tag: "ToolCallSettled",
    runId,
    step,
    callId,
    name,
    outcome: "rejected",
    isFailure: true,
    result: `The tool ${name} cannot be used in the mode "${mode}".`
  }
})
