/**
 * What a tool's handler can know of the call that it runs for, and what becomes of calls that a crash cut off.
 *
 * @since 0.1.0
 */
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import * as Digest from "@colloquy/session/Digest"
import type { ConversationId, RunId, ToolCallId } from "@colloquy/session/Ids"
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Result from "effect/Result"

/**
 * The call that a handler runs for.
 *
 * **Details**
 *
 * `idempotencyKey` is the same for every attempt at the call, and no other call of any conversation of any tenant has it:
 * pass it on to whatever must not happen twice. `attempt` is 1 unless a crash cut an earlier one off.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolCall {
  readonly conversationId: ConversationId | undefined
  readonly runId: RunId
  readonly callId: ToolCallId
  readonly attempt: number
  readonly idempotencyKey: string
}

/**
 * The call that goes on; undefined outside of a handler.
 *
 * @category services
 * @since 0.1.0
 */
export const CurrentToolCall = Context.Reference<ToolCall | undefined>("@colloquy/engine/ToolCall/CurrentToolCall", {
  defaultValue: () => undefined
})

/**
 * What becomes of a call whose handler had started when the process died.
 *
 * - `unknown`: the model is told that nobody knows whether it took effect. The default.
 * - `repeat`: the handler runs again, with the same idempotency key. The default of tools that are annotated
 *   `Tool.Readonly` or `Tool.Idempotent`.
 * - `ask`: the call waits for a person, as if it needed approval.
 * - `omit`: the model does not see the call and decides again.
 *
 * @category models
 * @since 0.1.0
 */
export type CrashPolicy = "unknown" | "repeat" | "ask" | "omit"

/**
 * What becomes of a call whose handler had not started when the process died: `run`, the default, or `omit`, so that the
 * model decides again.
 *
 * @category models
 * @since 0.1.0
 */
export type WaitingPolicy = "run" | "omit"

/**
 * Annotates a tool with its policy for calls that had not started.
 *
 * @category annotations
 * @since 0.1.0
 */
export const OnWaiting = Context.Reference<WaitingPolicy>("@colloquy/engine/ToolCall/OnWaiting", {
  defaultValue: () => "run"
})

/**
 * Annotates a tool with its crash policy: `tool.annotate(ToolCall.OnCrash, "repeat")`.
 *
 * @category annotations
 * @since 0.1.0
 */
export const OnCrash = Context.Reference<CrashPolicy | undefined>("@colloquy/engine/ToolCall/OnCrash", {
  defaultValue: () => undefined
})

/**
 * The most UTF-8 bytes of a result's text that the model is shown; the record keeps the whole: 64 KiB unless the tool is
 * annotated otherwise.
 *
 * @category annotations
 * @since 0.1.0
 */
export const MaxResultBytes = Context.Reference<number>("@colloquy/engine/ToolCall/MaxResultBytes", {
  defaultValue: () => 64 * 1024
})

/**
 * The crash policy of a tool: its own, or the default for what it is annotated to be.
 *
 * @category reading
 * @since 0.1.0
 */
export const crashPolicy = (tool: { readonly annotations: Context.Context<never> }): CrashPolicy => {
  const own = Context.get(tool.annotations, OnCrash)
  if (own !== undefined) return own
  const repeatable = Context.get(tool.annotations, Tool.Readonly) || Context.get(tool.annotations, Tool.Idempotent)
  return repeatable ? "repeat" : "unknown"
}

/**
 * The digest that binds a decision or a start to a call's parameters.
 *
 * @category reading
 * @since 0.1.0
 */
export const parametersDigest = (params: unknown): Digest.Digest =>
  Digest.text(Result.getOrElse(CanonicalJson.encode(params), () => ""))
