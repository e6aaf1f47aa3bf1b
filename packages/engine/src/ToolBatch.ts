/**
 * Runs the calls of a response: at most so many at once, each recorded before and after.
 *
 * @since 0.1.0
 */
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import * as Digest from "@colloquy/session/Digest"
import { derive, type RunId, ToolCallId } from "@colloquy/session/Ids"
import { maxPayloadBytes } from "@colloquy/session/Limits"
import type * as Payload from "@colloquy/session/Payload"
import * as Text from "@colloquy/session/Text"
import type { WriteError } from "@colloquy/store/Writer"
import * as Prompt from "effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { AgentHost, HandlerOutcome } from "./AgentHost.ts"
import type { Fact, Journal } from "./Journal.ts"
import * as ToolCall from "./ToolCall.ts"

/**
 * A call to run, as it is stored.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  readonly callId: ToolCallId
  readonly name: string
  readonly params: unknown
  readonly step: number
  readonly attempt: number
}

/**
 * The calls of a stored response that we run ourselves, in order.
 *
 * @category reading
 * @since 0.1.0
 */
export const callsOf = (response: Payload.ModelResponded): Array<Call> =>
  response.content.flatMap((part) =>
    part.type === "tool-call" && part.providerExecuted !== true
      ? [
          {
            callId: ToolCallId.make(part.id),
            name: part.name,
            params: part.params,
            step: response.step,
            attempt: 1
          }
        ]
      : []
  )

/**
 * The record of a handler that is about to run.
 *
 * @category facts
 * @since 0.1.0
 */
export const started = (runId: RunId, { attempt, callId, name, params, step }: Call): Fact => ({
  name: ["started", callId, String(attempt)],
  payload: { _tag: "ToolCallStarted", runId, step, callId, name, parametersDigest: digestOf(params), attempt }
})

/**
 * The record of a call that ended without its handler's result: by an interruption, or by a crash.
 *
 * @category facts
 * @since 0.1.0
 */
export const settledWithout = (
  runId: RunId,
  call: Pick<Call, "callId" | "name" | "step" | "attempt">,
  outcome: "interrupted" | "unknown"
): Fact => {
  const { attempt, callId, name, step } = call
  // Once a handler has started, it may have done its work without being able to say so.
  const result = attempt === 0 ? "The call was interrupted before it began." : texts[outcome]
  return {
    name: ["settled", callId],
    payload: { _tag: "ToolCallSettled", runId, step, callId, name, outcome, isFailure: true, result }
  }
}

/**
 * Runs calls and records each result as it settles, together with the start of the next call in line.
 *
 * **Details**
 *
 * The first `toolConcurrency` calls must be recorded as started already. A result is recorded even when the run is
 * interrupted in that moment. Fails with the error of a tool whose failure mode is `error`, once that is recorded: the
 * other handlers are interrupted, and their calls are left open for whoever ends the run.
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E>(
  journal: Journal,
  host: AgentHost<E>,
  runId: RunId,
  calls: ReadonlyArray<Call>
): Effect.Effect<void, E | WriteError> => {
  const waiting = calls.slice(host.toolConcurrency)

  const settle = (call: Call, outcome: HandlerOutcome) => {
    const next = waiting.shift()
    const facts: [Fact, ...Array<Fact>] = [settled(runId, host, call, outcome)]
    if (next !== undefined) facts.push(started(runId, next))
    return Effect.as(journal.write(runId, facts), next)
  }

  /** Runs one call; gives the next in line. */
  const runOne = (call: Call) => {
    const { attempt, callId } = call
    const { conversationId } = journal
    const idempotencyKey = derive(conversationId ?? runId, callId)
    const handled = Effect.provideService(host.handle(call.name, call.params, callId), ToolCall.CurrentToolCall, {
      conversationId,
      runId,
      callId,
      attempt,
      idempotencyKey
    })
    // What has come back is recorded, whatever happens meanwhile: only the handler itself is interrupted.
    return Effect.uninterruptibleMask((restore) =>
      restore(handled).pipe(
        Effect.tapError((error) => journal.write(runId, [settled(runId, host, call, failureOf(error))])),
        Effect.flatMap((outcome) => settle(call, outcome))
      )
    )
  }

  const work = Effect.fnUntraced(function* (first: Call) {
    let next = yield* runOne(first)
    while (next !== undefined) next = yield* runOne(next)
  })

  return Effect.forEach(calls.slice(0, host.toolConcurrency), work, { concurrency: "unbounded", discard: true })
}

/**
 * The digest that binds a call to its parameters.
 *
 * @category facts
 * @since 0.1.0
 */
export const digestOf = (params: unknown): Digest.Digest =>
  Digest.text(Result.getOrElse(CanonicalJson.encode(params), () => ""))

// --- internal ---

const texts = {
  interrupted: "The call was interrupted. It is not known whether it took effect.",
  unknown: "The call was cut off by a crash. It is not known whether it took effect."
}

const failureOf = (error: unknown): HandlerOutcome => ({
  isFailure: true,
  result: error instanceof Error ? error.message : "The tool failed."
})

const settled = <E>(runId: RunId, host: AgentHost<E>, call: Call, outcome: HandlerOutcome): Fact => {
  const { callId, name, step } = call
  const { isFailure, modelOutput, result } = storable(outcome)
  const tool = host.tool(name)
  const most = Context.get(tool?.annotations ?? Context.empty(), ToolCall.MaxResultBytes)
  // A tool that says itself what the model is shown has shortened it.
  const isLong =
    modelOutput === undefined && Text.byteLength(typeof result === "string" ? result : JSON.stringify(result)) > most
  return {
    name: ["settled", callId],
    payload: {
      _tag: "ToolCallSettled",
      runId,
      step,
      callId,
      name,
      outcome: isFailure ? "failure" : "success",
      isFailure,
      result,
      ...(modelOutput === undefined ? {} : { modelOutput }),
      ...(isLong ? { shownBytes: most } : {})
    }
  }
}

/** Room for the rest of the payload beside the result. */
const maxStoredBytes = maxPayloadBytes - 64 * 1024

/**
 * A result as it can be stored: what JSON cannot hold is a failure that says so; what is over the limit of a payload is
 * kept as its beginning, its size and its digest.
 */
const storable = ({ isFailure, modelOutput, result }: HandlerOutcome) => {
  const text = CanonicalJson.encode(result)
  if (Result.isFailure(text)) {
    return { isFailure: true, result: `The tool's result cannot be stored (${text.failure.message}).` }
  }
  const output = modelOutput === undefined ? undefined : encodeOutput(modelOutput)
  const bytes = Text.byteLength(text.success) + (output === undefined ? 0 : Text.byteLength(JSON.stringify(output)))
  if (bytes <= maxStoredBytes) return { isFailure, result, modelOutput: output }
  const whole = typeof result === "string" ? result : text.success
  const head = Text.cut(whole.toWellFormed(), maxStoredBytes / 8)
  return { isFailure, result: { tooLarge: { bytes, digest: Digest.text(text.success) }, head } }
}

const encodeOutput = Schema.encodeSync(Schema.Array(Prompt.ToolModelOutputPart))
