/**
 * Calls as records: that a handler begins, and what its call came to.
 *
 * @since 0.1.0
 */
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import * as Digest from "@colloquy/session/Digest"
import { type RunId, ToolCallId } from "@colloquy/session/Ids"
import { maxPayloadBytes } from "@colloquy/session/Limits"
import type * as Payload from "@colloquy/session/Payload"
import * as Text from "@colloquy/session/Text"
import * as Prompt from "effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { AgentHost, HandlerOutcome } from "./AgentHost.ts"
import type { Fact } from "./Journal.ts"
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
  payload: {
    _tag: "ToolCallStarted",
    runId,
    step,
    callId,
    name,
    parametersDigest: ToolCall.parametersDigest(params),
    attempt
  }
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
 * The record of what a handler made of a call: the whole result, and how much of it the model is shown.
 *
 * @category facts
 * @since 0.1.0
 */
export const settled = (
  runId: RunId,
  host: Pick<AgentHost<unknown>, "tool">,
  call: Pick<Call, "callId" | "name" | "step">,
  outcome: HandlerOutcome
): Fact => {
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

// --- internal ---

const texts = {
  interrupted: "The call was interrupted. It is not known whether it took effect.",
  unknown: "The call was cut off by a crash. It is not known whether it took effect."
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
