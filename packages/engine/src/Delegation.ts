/**
 * Calls of tools behind which another agent stands: the run is handed over, or a task starts beside it.
 *
 * @since 0.1.0
 */
import { derive } from "@colloquy/session/DerivedId"
import { ConversationId } from "@colloquy/session/Ids"
import type { WriteError } from "@colloquy/store/Writer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Delegate, HandlerOutcome } from "./AgentHost.ts"
import { type Call, settled } from "./CallFacts.ts"
import type { Fact, Journal } from "./Journal.ts"
import { openRun, type RunContext, write } from "./RunContext.ts"

/**
 * Carries out a call to another agent; gives the facts that settle it.
 *
 * **Details**
 *
 * A handoff takes effect behind its batch: the sibling calls are still this agent's. Of several in one response the first
 * counts. A background agent is recorded before it starts.
 *
 * @category running
 * @since 0.1.0
 */
export const delegated = <E>(
  context: RunContext<E>,
  delegate: Delegate<E, never>,
  call: Call
): Effect.Effect<ReadonlyArray<Fact>, WriteError> =>
  Effect.suspend(() => {
    const { host, journal, runId, startTask } = context
    const settle = (outcome: HandlerOutcome) => settled(runId, host, call, outcome)
    const { conversationId } = journal
    if (conversationId === undefined) {
      return Effect.succeed([settle(failure("Another agent can take part only where the conversation is stored."))])
    }
    if (delegate.kind === "background") {
      const params = decodeTask(call.params)
      if (Result.isFailure(params)) return Effect.succeed([settle(failure(params.failure.message))])
      if (startTask === undefined) return Effect.succeed([settle(failure("No agent can work in the background here."))])
      const task = {
        taskId: derive("task", call.callId),
        conversationId: ConversationId.make(derive(conversationId, "task", call.callId))
      }
      // A crash came before the call's result: whoever goes on has looked after the task.
      if (isBegun(journal, task.taskId)) {
        return Effect.succeed([settle({ isFailure: false, result: { taskId: task.taskId } })])
      }
      const begun: Fact = {
        name: ["task", call.callId],
        payload: { _tag: "BackgroundStarted", agent: delegate.agent, ...task }
      }
      return write(context, [begun]).pipe(
        Effect.andThen(startTask(delegate, params.success.input, task)),
        Effect.as([settle({ isFailure: false, result: { taskId: task.taskId } })])
      )
    }
    const params = decodeHandoff(call.params)
    if (Result.isFailure(params)) return Effect.succeed([settle(failure(params.failure.message))])
    // Siblings run at once: the other handoff may not be written yet.
    if (context.handover !== undefined || openRun(context)?.agent !== host.name) {
      return Effect.succeed([settle(failure("The conversation was handed over already."))])
    }
    context.handover = delegate.agent
    const { reason } = params.success
    return Effect.succeed([
      settle({ isFailure: false, result: `${delegate.agent} goes on.` }),
      {
        name: ["handed-off", call.callId],
        payload: {
          _tag: "HandedOff",
          from: host.name,
          to: delegate.agent,
          ...(reason === undefined ? {} : { reason })
        }
      }
    ])
  })

/**
 * Puts the agent at work that the log names, after a handoff. Does nothing when it is at work already.
 *
 * @category running
 * @since 0.1.0
 */
export const follow = <E>(context: RunContext<E>): Effect.Effect<void, E> =>
  Effect.suspend(() => {
    context.handover = undefined
    const agent = openRun(context)?.agent
    if (agent === undefined || agent === context.host.name) return Effect.void
    const found = context.hostOf(agent)
    if (found === undefined) return Effect.void
    return Effect.map(found, (host) => {
      context.host = host
    })
  })

// --- internal ---

const isBegun = ({ records }: Journal, taskId: string): boolean =>
  records().some(({ payload }) => payload._tag === "BackgroundStarted" && payload.taskId === taskId)

const failure = (result: string): HandlerOutcome => ({ isFailure: true, result })

const decodeTask = Schema.decodeUnknownResult(Schema.Struct({ input: Schema.NonEmptyString }))

const decodeHandoff = Schema.decodeUnknownResult(Schema.Struct({ reason: Schema.optionalKey(Schema.String) }))
