/**
 * An agent with everything it needs at hand: its instructions, its model, its tools' handlers. What the loop works with.
 *
 * @since 0.1.0
 */
import type { Budget } from "@colloquy/capabilities/Budget"
import type { Options as CompactionOptions } from "@colloquy/capabilities/Compaction"
import type { SecretMask } from "@colloquy/capabilities/SecretMask"
import type { SummaryModel } from "@colloquy/capabilities/SummaryModel"
import type * as Digest from "@colloquy/session/Digest"
import type { AgentName, ToolCallId } from "@colloquy/session/Ids"
import type { Mode } from "@colloquy/session/Payload"
import type * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Limits, Persistence } from "./RunLimits.ts"
import * as ToolCall from "./ToolCall.ts"

/**
 * What a handler made of a call.
 *
 * @category models
 * @since 0.1.0
 */
export interface HandlerOutcome {
  readonly isFailure: boolean
  /** JSON, encoded by the tool's schema; null for nothing. */
  readonly result: unknown
  readonly modelOutput?: ReadonlyArray<Prompt.ToolModelOutputPart> | undefined
}

/**
 * A call as a host is asked about it: encoded parameters, as the model gave them.
 *
 * @category models
 * @since 0.1.0
 */
export interface HostCall {
  readonly callId: ToolCallId
  readonly name: string
  readonly params: unknown
}

/**
 * An agent that another one can hand over to, or set to work beside it: what the model sees of it is a tool.
 *
 * @category models
 * @since 0.1.0
 */
export interface Delegate<out E, out R> {
  readonly kind: "handoff" | "background"
  /** The name of the agent behind it. */
  readonly agent: AgentName
  readonly tool: Tool.Any
  /** Cancelling the parent cancels the child; only of a background agent. */
  readonly cancelWithParent: boolean
  readonly host: Effect.Effect<AgentHost<E>, E, R | Scope.Scope>
}

/**
 * The structured answer of an agent.
 *
 * @category models
 * @since 0.1.0
 */
export interface HostOutput {
  /** The value that an answer's text encodes, if it does. */
  readonly decode: (text: string) => Effect.Effect<Option.Option<unknown>>
  /** Asks the model for the answer in its structure. */
  readonly generate: (prompt: Prompt.Prompt) => Effect.Effect<ReadonlyArray<Response.AnyPart>, AiError.AiError>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface AgentHost<out E> {
  readonly name: AgentName
  /** The mode of a conversation's first run. */
  readonly mode: Mode
  readonly limits: Limits
  readonly persistence: Persistence
  /** Whether earlier runs of a conversation are shown. */
  readonly earlierRuns: "replay" | "ledger"
  /** Masks secrets in whatever a run stores and shows. */
  readonly mask: SecretMask | undefined
  /** What a run, and a conversation, may use; undefined: whatever it takes. */
  readonly budget: Budget | undefined
  /** How history is compacted; undefined: never. */
  readonly compaction: CompactionOptions | undefined
  /** What the tools count in a request, in tokens. */
  readonly toolTokens: number
  /** Its own model, as a summary needs it. */
  readonly summaryModel: SummaryModel
  readonly approvalTimeToLive: Duration.Duration | undefined
  readonly instructions: string
  readonly provider: string | undefined
  readonly model: string | undefined
  /** The same for the same tools: names, descriptions and parameter schemas. */
  readonly toolsDigest: Digest.Digest
  /** What the model is told that it may call. */
  readonly tools: ReadonlyArray<Tool.Any>
  /** A tool of the agent; undefined when it has none of this name. */
  readonly tool: (name: string) => Tool.Any | undefined
  /** Who stands behind a tool, if it is an agent. */
  readonly delegate: (toolName: string) => Delegate<E, never> | undefined
  /** All agents behind its tools. */
  readonly delegates: ReadonlyArray<Delegate<E, never>>
  /** Whether a mode lets a tool run; a tool that is not there is left to `handle`. */
  readonly allows: (mode: Mode, toolName: string) => boolean
  /** One model call. With `none` the tools stay in the request, and the model answers without them. */
  readonly generate: (
    prompt: Prompt.Prompt,
    toolChoice: "auto" | "none"
  ) => Effect.Effect<ReadonlyArray<Response.AnyPart>, AiError.AiError>
  /** The same model call, part by part. */
  readonly stream: (
    prompt: Prompt.Prompt,
    toolChoice: "auto" | "none"
  ) => Stream.Stream<Response.AnyPart, AiError.AiError>
  readonly output: HostOutput | undefined
  /** The model's error says that the prompt is larger than its window. */
  readonly isContextOverflow: (error: AiError.AiError) => boolean
  /**
   * Whether a person must approve a call. A predicate that fails means yes; a call that cannot run anyway (no such tool,
   * parameters that do not decode) needs none: it fails by itself.
   */
  readonly needsApproval: (call: HostCall, messages: ReadonlyArray<Prompt.Message>) => Effect.Effect<boolean>
  /**
   * Runs a handler. Unknown tools, arguments that do not decode, results that do not encode, and defects are failures
   * that the model sees; the effect fails only with the errors of tools whose failure mode is `error`.
   */
  readonly handle: (
    call: HostCall,
    onPreliminary: (result: unknown) => Effect.Effect<void>
  ) => Effect.Effect<HandlerOutcome, E>
}

/**
 * What becomes of a call of this tool that a crash cut off; a tool that is no longer there is not known to be repeatable.
 *
 * @category reading
 * @since 0.1.0
 */
export const crashPolicy = (host: Pick<AgentHost<unknown>, "tool">, name: string): ToolCall.CrashPolicy => {
  const tool = host.tool(name)
  return tool === undefined ? "unknown" : ToolCall.crashPolicy(tool)
}

/**
 * What becomes of a call of this tool that had not started when the process died.
 *
 * @category reading
 * @since 0.1.0
 */
export const waitingPolicy = (host: Pick<AgentHost<unknown>, "tool">, name: string): ToolCall.WaitingPolicy =>
  Context.get(host.tool(name)?.annotations ?? Context.empty(), ToolCall.OnWaiting)
