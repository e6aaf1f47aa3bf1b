/**
 * Runs the calls of a response: at most so many at once, each recorded before and after.
 *
 * @since 0.1.0
 */
import { derive } from "@colloquy/session/DerivedId"
import type { WriteError } from "@colloquy/store/Writer"
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { AgentHost, HandlerOutcome } from "./AgentHost.ts"
import { type Call, settled, started } from "./CallFacts.ts"
import { delegated } from "./Delegation.ts"
import { withSpan } from "./internal/spans.ts"
import type { Fact } from "./Journal.ts"
import { type RunContext, write } from "./RunContext.ts"
import { RunEvent } from "@colloquy/capabilities/RunEvent"
import * as ToolCall from "./ToolCall.ts"

/**
 * Runs calls and records each result as it settles, together with the start of the next call in line.
 *
 * **Details**
 *
 * The first `toolConcurrency` calls must be recorded as started already. A result is recorded even when the run is
 * interrupted in that moment. Fails with the error of a tool whose failure mode is `error`, once that is recorded: the
 * other handlers are interrupted, and their calls are left open for whoever ends the run. While the store does not take
 * what is written, only handlers of read-only tools begin; after a minute the run fails with what the store says.
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E>(context: RunContext<E>, calls: ReadonlyArray<Call>): Effect.Effect<void, E | WriteError> => {
  const { host, journal, limits, publish, runId } = context
  const waiting = calls.slice(limits.toolConcurrency)

  const settle = (facts: ReadonlyArray<Fact>) => {
    const next = waiting.shift()
    return Effect.as(write(context, next === undefined ? facts : [...facts, started(runId, next)]), next)
  }

  const handle = ({ attempt, callId, name, params }: Call): Effect.Effect<HandlerOutcome, E> => {
    const { conversationId, tenant } = journal
    const place = conversationId ?? runId
    // Two tenants may have a conversation of one id each.
    const idempotencyKey = tenant === undefined ? derive(place, callId) : derive(tenant, place, callId)
    return Effect.provideService(
      host.handle({ callId, name, params }, (result) =>
        Effect.sync(() => publish(RunEvent.ToolProgress({ callId, name, result })))
      ),
      ToolCall.CurrentToolCall,
      { conversationId, runId, callId, attempt, idempotencyKey }
    )
  }

  /** Runs one call; gives the next in line. */
  const runOne = (call: Call) => {
    const delegate = host.delegate(call.name)
    const ready = journal.isStored() || isReadonly(host, call.name) ? Effect.void : journal.stored(storedWithin)
    const span = withSpan(`execute_tool ${call.name}`, {
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.callId
      }
    })
    // What has come back is recorded, whatever happens meanwhile: only the handler itself is interrupted.
    return Effect.uninterruptibleMask((restore) =>
      Effect.andThen(
        restore(ready),
        delegate !== undefined
          ? span(delegated(context, delegate, call))
          : span(restore(handle(call))).pipe(
              Effect.tapError((error) => write(context, [settled(runId, host, call, failureOf(error))])),
              Effect.map((outcome) => [settled(runId, host, call, outcome)])
            )
      ).pipe(Effect.flatMap((facts) => settle(facts)))
    )
  }

  const work = Effect.fnUntraced(function* (first: Call) {
    let next = yield* runOne(first)
    while (next !== undefined) next = yield* runOne(next)
  })

  return Effect.forEach(calls.slice(0, limits.toolConcurrency), work, { concurrency: "unbounded", discard: true })
}

// --- internal ---

/** How long a handler waits for the store to take the record of its start. */
const storedWithin = Duration.minutes(1)

const isReadonly = (host: AgentHost<unknown>, name: string): boolean =>
  Context.get(host.tool(name)?.annotations ?? Context.empty(), Tool.Readonly)

const failureOf = (error: unknown): HandlerOutcome => ({
  isFailure: true,
  result: error instanceof Error ? error.message : "The tool failed."
})
