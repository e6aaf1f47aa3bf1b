/**
 * An agent with everything it needs at hand: its instructions, its model, its tools' handlers. What the loop works with.
 *
 * @since 0.1.0
 */
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import * as Digest from "@colloquy/session/Digest"
import type { AgentName, ToolCallId } from "@colloquy/session/Ids"
import type { Mode } from "@colloquy/session/Payload"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Agent, Failures, Services } from "./Agent.ts"
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
 * @category models
 * @since 0.1.0
 */
export interface AgentHost<E> {
  readonly name: AgentName
  readonly mode: Mode
  readonly maxToolRounds: number
  readonly toolConcurrency: number
  readonly instructions: string
  readonly provider: string | undefined
  readonly model: string | undefined
  /** The same for the same tools: names, descriptions and parameter schemas. */
  readonly toolsDigest: Digest.Digest
  /** A tool of the agent; undefined when it has none of this name. */
  readonly tool: (name: string) => Tool.Any | undefined
  /** One model call. With `none` the tools stay in the request, and the model answers without them. */
  readonly generate: (
    prompt: Prompt.Prompt,
    toolChoice: "auto" | "none"
  ) => Effect.Effect<ReadonlyArray<Response.AnyPart>, AiError.AiError>
  /**
   * Runs a handler. Unknown tools, arguments that do not decode, results that do not encode, and defects are failures
   * that the model sees; the effect fails only with the errors of tools whose failure mode is `error`.
   */
  readonly handle: (name: string, params: unknown, callId: ToolCallId) => Effect.Effect<HandlerOutcome, E>
}

/**
 * Takes what the agent needs from the caller's context.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* <T extends Record<string, Tool.Any>, EI, RI>(
  agent: Agent<T, EI, RI>
): Effect.fn.Return<AgentHost<Failures<T, EI> | AiError.AiError>, EI, Services<T, RI>> {
  // The caller may be a handler itself: its call is not the call of handlers that run here.
  const services = Context.omit(ToolCall.CurrentToolCall)(yield* Effect.context<Services<T, RI>>())
  const toolkit: Toolkit.WithHandler<T> = yield* agent.toolkit
  const instructions = yield* agent.instructions
  const provider = yield* Effect.serviceOption(Model.ProviderName)
  const model = yield* Effect.serviceOption(Model.ModelName)
  const tools = new Map<string, Tool.Any>(Object.entries(toolkit.tools))
  const { maxToolRounds, mode, name, toolConcurrency } = agent

  const handle = (tool: string, params: unknown, callId: ToolCallId) =>
    // A name or parameters that the toolkit does not know are failures of the call, found by `handle` itself.
    toolkit.handle<keyof T>(tool, params as Tool.ParametersEncoded<T[keyof T]>, callId).pipe(
      Effect.flatMap(Stream.runCollect),
      Effect.map((results) => results.findLast(({ preliminary }) => !preliminary)),
      Effect.map((final): HandlerOutcome => {
        if (final === undefined) return failure("The tool ended without a result.")
        const { encodedResult, isFailure, modelOutput } = final
        return { isFailure, result: encodedResult ?? null, modelOutput }
      }),
      Effect.catchCause((cause) => recover(cause, tools.get(tool))),
      Effect.provideContext(services)
    )

  return {
    name,
    mode,
    maxToolRounds,
    toolConcurrency,
    instructions,
    provider: Option.getOrUndefined(provider),
    model: Option.getOrUndefined(model),
    toolsDigest: digestTools(tools.values()),
    tool: (name) => tools.get(name),
    generate: (prompt, toolChoice) =>
      LanguageModel.generateText({
        prompt,
        toolkit,
        toolChoice,
        disableToolCallResolution: true,
        toolCallValidation: "deferred"
      }).pipe(
        Effect.map(({ content }) => content),
        Effect.provideContext(services)
      ),
    handle
  }
})

/**
 * What becomes of a call of this tool that a crash cut off; a tool that is no longer there is not known to be repeatable.
 *
 * @category reading
 * @since 0.1.0
 */
export const crashPolicy = (host: AgentHost<never> | AgentHost<unknown>, name: string): ToolCall.CrashPolicy => {
  const tool = host.tool(name)
  return tool === undefined ? "unknown" : ToolCall.crashPolicy(tool)
}

// --- internal ---

const failure = (result: unknown): HandlerOutcome => ({ isFailure: true, result })

/** What of a failed handler the model sees, and what fails the run. */
const recover = <E>(cause: Cause.Cause<E>, tool: Tool.Any | undefined): Effect.Effect<HandlerOutcome, E> => {
  // An interruption of the run does not come here; one that does is the handler's own.
  const found = Cause.findError(cause)
  if (Result.isSuccess(found) && isFaultOfCall(found.success)) return Effect.succeed(failure(found.success.message))
  if (tool?.failureMode === "error" && !Cause.hasInterrupts(cause)) return Effect.failCause(cause)
  // The handler's own words may hold secrets of the process: the model learns that it broke, the log the rest.
  return Effect.as(
    Effect.logWarning("a tool handler died", cause),
    failure("The tool broke. It is not known whether it took effect.")
  )
}

/** Faults that the model can mend, whatever the tool's failure mode. */
const isFaultOfCall = (error: unknown): error is AiError.AiError =>
  error instanceof AiError.AiError &&
  (error.reason._tag === "ToolNotFoundError" ||
    error.reason._tag === "ToolParameterValidationError" ||
    error.reason._tag === "ToolResultEncodingError" ||
    error.reason._tag === "InvalidToolResultError")

const digestTools = (tools: Iterable<Tool.Any>): Digest.Digest => {
  const described = Array.from(tools, (tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: Tool.getJsonSchema(tool)
  }))
  const text = CanonicalJson.encode(JSON.parse(JSON.stringify(described)))
  return Digest.text(Result.getOrElse(text, () => described.map(({ name }) => name).join("\n")))
}
