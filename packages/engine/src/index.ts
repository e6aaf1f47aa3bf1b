/**
 * The agent loop: input, model, tools, end; every step stored as it happens.
 *
 * @since 0.1.0
 */
export * as Agent from "./Agent.ts"
export * as AgentError from "./AgentError.ts"
export * as AgentHost from "./AgentHost.ts"
export * as AgentLoop from "./AgentLoop.ts"
export * as AgentRuntime from "./AgentRuntime.ts"
export * as Journal from "./Journal.ts"
export * as Recovery from "./Recovery.ts"
export * as Run from "./Run.ts"
export * as RunGate from "./RunGate.ts"
export * as Step from "./Step.ts"
export * as ToolBatch from "./ToolBatch.ts"
export * as ToolCall from "./ToolCall.ts"
