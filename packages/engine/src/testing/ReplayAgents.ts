/**
 * Agents and tools, built from what was recorded of them.
 *
 * @since 0.1.0
 */
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Agent from "../Agent.ts"
import type { AgentHost } from "../AgentHost.ts"
import * as ToolCall from "../ToolCall.ts"
import type { ProjectionOptions, RecordedAgent, RecordedLog, RecordedTool } from "./RecordedLog.ts"

/**
 * A tool whose calls give back what they gave.
 *
 * @category models
 * @since 0.1.0
 */
export type ReplayedTool = Tool.Tool<
  string,
  {
    readonly parameters: typeof Schema.Unknown
    readonly success: typeof Schema.Unknown
    readonly failure: typeof Schema.Unknown
    readonly failureMode: "return"
  }
>

/**
 * The tools of an agent, whatever their parameters are; those behind which another agent stands are not among them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toolkitOf = (
  log: RecordedLog,
  { handoffs }: RecordedAgent,
  { unsettled }: ProjectionOptions
): Toolkit.Toolkit<Record<string, ReplayedTool>> =>
  Toolkit.make(
    ...Array.from(log.tools).flatMap(([name, tool]) =>
      handoffs.has(name) ? [] : [annotated(makeTool(log, name), tool, unsettled?.(name))]
    )
  )

/**
 * Handlers that give back what the calls were settled with.
 *
 * @category constructors
 * @since 0.1.0
 */
export const handlersOf = (
  log: RecordedLog,
  toolkit: Toolkit.Toolkit<Record<string, ReplayedTool>>
): Layer.Layer<Tool.HandlersFor<Record<string, ReplayedTool>>> =>
  toolkit.toLayer(
    Object.fromEntries(
      Object.keys(toolkit.tools).map((name) => [
        name,
        (_params: unknown, { toolCallId }: { readonly toolCallId?: string | undefined }) => {
          const settled = toolCallId === undefined ? undefined : log.settled.get(toolCallId)
          if (settled === undefined) return Effect.fail("The record has no result of this call.")
          return settled.isFailure ? Effect.fail(settled.result) : Effect.succeed(settled.result)
        }
      ])
    )
  )

/**
 * The agents of a log, by name. They have no model of their own.
 *
 * @category constructors
 * @since 0.1.0
 */
export const agentsOf = (
  log: RecordedLog,
  options: ProjectionOptions
): ReadonlyArray<Agent.Agent<AiError.AiError, LanguageModel.LanguageModel>> => {
  const agents = new Map<string, Agent.Agent<AiError.AiError, LanguageModel.LanguageModel>>()
  for (const recorded of log.agents.values()) {
    const toolkit = toolkitOf(log, recorded, options)
    const { host, ...agent } = Agent.make({
      name: recorded.name,
      instructions: options.instructions ?? log.instructions ?? "",
      toolkit,
      modes: modesOf(log),
      delegates: Array.from(recorded.handoffs, ([toolName, to]) =>
        Agent.handoff(
          { name: to, agent: () => agents.get(to) ?? Agent.make({ name: to, instructions: "" }) },
          { toolName }
        )
      )
    })
    agents.set(recorded.name, {
      ...agent,
      host: Effect.map(Effect.provide(host, handlersOf(log, toolkit)), (host) => withOutputs(log, host))
    })
  }
  return [...agents.values()]
}

// --- internal ---

const makeTool = ({ requested }: RecordedLog, name: string): ReplayedTool =>
  Tool.dynamic(name, {
    parameters: Schema.Unknown,
    success: Schema.Unknown,
    failure: Schema.Unknown,
    failureMode: "return",
    needsApproval: (_: unknown, { toolCallId }: { readonly toolCallId: string }) => requested.has(toolCallId)
  })

const annotated = (tool: ReplayedTool, recorded: RecordedTool, unsettled: "omit" | "unknown" | undefined) => {
  const { onCrash = unsettled === "omit" ? "omit" : "unknown", onWaiting = "run", shownBytes = Infinity } = recorded
  return tool
    .annotate(ToolCall.OnCrash, onCrash)
    .annotate(ToolCall.OnWaiting, onWaiting)
    .annotate(ToolCall.MaxResultBytes, shownBytes)
}

/** Each mode refuses what it was seen to refuse. */
const modesOf = ({ tools }: RecordedLog): { readonly [mode: string]: Agent.ModePredicate } => {
  const modes = new Set([...Array.from(tools.values(), ({ refusedIn }) => [...refusedIn]).flat(), "plan"])
  return Object.fromEntries(
    Array.from(modes, (mode) => [mode, ({ name }: Tool.Any) => tools.get(name)?.refusedIn.has(mode) !== true])
  )
}

/** What the model was shown in place of a result: a toolkit says it by tool, a record by call. */
const withOutputs = <E>(log: RecordedLog, host: AgentHost<E>): AgentHost<E> => ({
  ...host,
  handle: (call, onPreliminary) => {
    const settled = log.settled.get(call.callId)
    if (settled?.modelOutput === undefined) return host.handle(call, onPreliminary)
    return Effect.succeed({
      isFailure: settled.isFailure,
      result: settled.result,
      modelOutput: decodeOutput(settled.modelOutput)
    })
  }
})

const decodeOutput = Schema.decodeSync(Schema.Array(Prompt.ToolModelOutputPart))
