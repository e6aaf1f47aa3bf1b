/** From an agent to its host: instructions are made, the model is built, handlers are taken from the caller's context. */
import * as SummaryModel from "@colloquy/capabilities/SummaryModel"
import * as Tokens from "@colloquy/capabilities/Tokens"
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import * as Digest from "@colloquy/session/Digest"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type { AgentHost, Delegate, HandlerOutcome, HostCall, HostOutput } from "../AgentHost.ts"
import { ContextOverflow } from "../ContextOverflow.ts"
import * as ToolCall from "../ToolCall.ts"
import { logFault } from "./spans.ts"
import type { Failures, Output, Services, Spec, Tools } from "./spec.ts"

export const makeHost = Effect.fnUntraced(function* <T extends Tools, E, R, A>(
  agent: Spec<T, E, R, A>
): Effect.fn.Return<AgentHost<Failures<T, E> | AiError.AiError>, E, Services<T, R> | Scope.Scope> {
  // The caller may be a handler itself: its call is not the call of handlers that run here. An agent that comes later
  // has a scope of its own.
  const outer = withoutRun(yield* Effect.context<Services<T, R>>())
  const services = Context.merge(outer, yield* agent.model)
  const toolkit: Toolkit.WithHandler<T> = yield* agent.toolkit
  const instructions = yield* agent.instructions
  const delegates = agent.delegates.map((delegate): Delegate<E, never> => ({
    ...delegate,
    host: Effect.provideContext(delegate.host, outer)
  }))
  const byTool = new Map(delegates.map((delegate) => [delegate.tool.name, delegate]))
  const tools = new Map<string, Tool.Any>([
    ...Object.entries(toolkit.tools),
    ...delegates.map(({ tool }) => [tool.name, tool] as const)
  ])
  const request = {
    // Calls are not resolved by the model's side: of these tools only the descriptions are used.
    toolkit: { ...toolkit, tools: Object.fromEntries(tools) as T },
    disableToolCallResolution: true,
    toolCallValidation: "deferred"
  } as const

  return {
    name: agent.name,
    mode: agent.mode,
    limits: agent.limits,
    persistence: agent.persistence,
    earlierRuns: agent.earlierRuns,
    mask: agent.mask,
    budget: agent.budget,
    compaction: agent.compaction,
    toolTokens: Tokens.ofTools(tools.values(), Context.get(services, Tokens.Tokenizer)),
    summaryModel: SummaryModel.fromService(Context.get(services, LanguageModel.LanguageModel), {
      name: Option.getOrUndefined(Context.getOption(services, Model.ModelName)),
      isContextOverflow: Context.get(services, ContextOverflow)
    }),
    approvalTimeToLive: agent.approvalTimeToLive,
    instructions,
    provider: Option.getOrUndefined(Context.getOption(services, Model.ProviderName)),
    model: Option.getOrUndefined(Context.getOption(services, Model.ModelName)),
    toolsDigest: digestTools(tools.values()),
    tools: [...tools.values()],
    tool: (name) => tools.get(name),
    delegate: (toolName) => byTool.get(toolName),
    delegates,
    allows: (mode, name) => {
      const tool = tools.get(name)
      return tool === undefined || (agent.modes[mode] ?? modes[mode] ?? everything)(tool)
    },
    generate: (prompt, toolChoice) =>
      LanguageModel.generateText({ ...request, prompt, toolChoice }).pipe(
        Effect.map(({ content }) => content),
        Effect.provideContext(services)
      ),
    stream: (prompt, toolChoice) =>
      Stream.provideContext(LanguageModel.streamText({ ...request, prompt, toolChoice }), services),
    output: agent.output === undefined ? undefined : outputOf(agent.name, agent.output, services),
    isContextOverflow: Context.get(services, ContextOverflow),
    needsApproval: (call, messages) => {
      const tool = tools.get(call.name)
      return tool === undefined ? Effect.succeed(false) : Effect.provideContext(asks(tool, call, messages), services)
    },
    handle: ({ callId, name, params }, onPreliminary) =>
      // A name or parameters that the toolkit does not know are failures of the call, found by `handle` itself.
      toolkit.handle<keyof T>(name, params as Tool.ParametersEncoded<T[keyof T]>, callId).pipe(
        Effect.flatMap((results) =>
          Stream.runFoldEffect(
            results,
            () => failure("The tool ended without a result."),
            (last, { encodedResult, isFailure, modelOutput, preliminary }) => {
              if (preliminary) return Effect.as(onPreliminary(encodedResult), last)
              return Effect.succeed({ isFailure, result: encodedResult ?? null, modelOutput })
            }
          )
        ),
        Effect.catchCause((cause) => recover(cause, tools.get(name))),
        Effect.provideContext(services)
      )
  }
})

// --- internal ---

/** What is the moment's alone: the caller's call, its scope, and its span, under which only the start happens. */
const withoutRun = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.omit(ToolCall.CurrentToolCall, Scope.Scope, Tracer.ParentSpan, Tracer.Tracer)(context) as Context.Context<R>

const everything = () => true

const modes: { readonly [mode: string]: (tool: Tool.Any) => boolean } = {
  execute: everything,
  plan: (tool) => Context.get(tool.annotations, Tool.Readonly)
}

const failure = (result: unknown): HandlerOutcome => ({ isFailure: true, result })

/** What of a failed handler the model sees, and what fails the run. */
const recover = <E>(cause: Cause.Cause<E>, tool: Tool.Any | undefined): Effect.Effect<HandlerOutcome, E> => {
  // An interruption of the run does not come here; one that does is the handler's own.
  const found = Cause.findError(cause)
  if (Result.isSuccess(found) && isFaultOfCall(found.success)) return Effect.succeed(failure(found.success.message))
  if (tool?.failureMode === "error" && !Cause.hasInterrupts(cause)) return Effect.failCause(cause)
  // The handler's own words may hold secrets of the process: the model learns that it broke.
  return Effect.as(
    logFault(`a handler of the tool ${tool?.name ?? "unknown"} died`, cause),
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

/** Whether a person must approve the call, by the tool's own word. */
const asks = (tool: Tool.Any, { callId, params }: HostCall, messages: ReadonlyArray<Prompt.Message>) => {
  const { needsApproval } = tool
  if (needsApproval === undefined || needsApproval === false) return Effect.succeed(false)
  // What its schema needs is among what the handlers need, which the host has.
  const schema = tool.parametersSchema as Schema.Codec<unknown, unknown>
  return Schema.decodeUnknownEffect(schema)(params).pipe(
    Effect.matchEffect({
      // It fails by itself, before its handler runs.
      onFailure: () => Effect.succeed(false),
      onSuccess: (decoded) => {
        if (needsApproval === true) return Effect.succeed(true)
        return Effect.suspend(() => {
          const answer = needsApproval(decoded, { toolCallId: callId, messages })
          return Effect.isEffect(answer) ? answer : Effect.succeed(answer)
        }).pipe(
          Effect.catchCause((cause) =>
            Effect.as(logFault(`whether ${tool.name} needs approval is not known: it is asked for`, cause), true)
          )
        )
      }
    })
  )
}

const outputOf = <A>(
  agent: string,
  schema: Output<A>,
  services: Context.Context<LanguageModel.LanguageModel>
): HostOutput => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return {
    decode: (text) => Effect.option(decode(text)),
    generate: (prompt) =>
      LanguageModel.generateObject({ prompt, schema, objectName: agent.replaceAll(/[^a-zA-Z0-9_-]/g, "_") }).pipe(
        Effect.map(({ content }) => content),
        Effect.provideContext(services)
      )
  }
}

const digestTools = (tools: Iterable<Tool.Any>): Digest.Digest => {
  const described = Array.from(tools, (tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: Tool.getJsonSchema(tool)
  }))
  const text = CanonicalJson.encode(JSON.parse(JSON.stringify(described)))
  return Digest.text(Result.getOrElse(text, () => described.map(({ name }) => name).join("\n")))
}
