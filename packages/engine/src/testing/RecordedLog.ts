/**
 * A stored conversation, read as the script of a replay. Pure.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { ConversationState } from "@colloquy/session/ConversationState"
import { ConversationId, type RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import type * as Prompt from "effect/ai/Prompt"
import * as Approvals from "../Approvals.ts"
import * as Journal from "../Journal.ts"
import type * as ToolCall from "../ToolCall.ts"

/**
 * A recorded model call.
 *
 * @category models
 * @since 0.1.0
 */
export interface RecordedStep {
  /** Place of the response among the records, from 0. */
  readonly index: number
  readonly response: Payload.ModelResponded
}

/**
 * What a tool's records show of how it is treated.
 *
 * @category models
 * @since 0.1.0
 */
export interface RecordedTool {
  onCrash?: ToolCall.CrashPolicy
  onWaiting?: ToolCall.WaitingPolicy
  shownBytes?: number
  /** Modes that have refused it. */
  readonly refusedIn: Set<string>
}

/**
 * An agent, as far as its records show it.
 *
 * @category models
 * @since 0.1.0
 */
export interface RecordedAgent {
  readonly name: string
  /** Tools that have handed the run over, and to whom. */
  readonly handoffs: Map<string, string>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface RecordedLog {
  readonly conversationId: ConversationId
  readonly records: ReadonlyArray<CanonicalRecord>
  /** The state before the record at a place. */
  readonly before: (index: number) => ConversationState
  readonly steps: ReadonlyArray<RecordedStep>
  readonly agents: ReadonlyMap<string, RecordedAgent>
  /** By name. An agent may have to settle the calls of one that it took over from, so all have all. */
  readonly tools: ReadonlyMap<string, RecordedTool>
  /** How a call was settled, by its id. */
  readonly settled: ReadonlyMap<string, Payload.ToolCallSettled>
  /** Calls that a person was asked about. */
  readonly asked: ReadonlySet<string>
  /** Those of them that were asked about before they ever ran, and not because a crash had cut them off. */
  readonly requested: ReadonlySet<string>
  /** Of an imported transcript. */
  readonly instructions: string | undefined
  /** Runs that this engine has written; others may stand in the log in other ways than it writes. */
  readonly isOwn: (runId: RunId) => boolean
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ProjectionOptions {
  readonly instructions?: string | undefined
  readonly unsettled?: ((toolName: string) => ConversationPrompt.UnsettledPolicy) | undefined
}

/**
 * Reads a log. Of one that breaks rules it takes what it can.
 *
 * @category reading
 * @since 0.1.0
 */
export const read = (records: ReadonlyArray<CanonicalRecord>): RecordedLog => {
  const conversationId = records[0]?.conversationId ?? ConversationId.make("empty")
  const states: Array<ConversationState> = [Conversation.initial(conversationId)]
  for (const record of records) {
    states.push(Conversation.replayLenient(states.at(-1) ?? Conversation.initial(conversationId), [record]).state)
  }
  const own = new Set<string>()
  const settled = new Map<string, Payload.ToolCallSettled>()
  const asked = new Set<string>()
  const requested = new Set<string>()
  const steps: Array<RecordedStep> = []
  for (const [index, { batchId, payload }] of records.entries()) {
    if (payload._tag === "RunStarted" && batchId === Journal.batchIdOf(payload.runId, Journal.startName)) {
      own.add(payload.runId)
    }
    if (payload._tag === "ModelResponded") steps.push({ index, response: payload })
    if (payload._tag === "ToolCallSettled") settled.set(payload.callId, payload)
    if (payload._tag === "ApprovalRequested") {
      asked.add(payload.callId)
      const { approvalId, callId, runId } = payload
      if (!own.has(runId) || approvalId === Approvals.idOf({ attempt: 0, callId, runId })) requested.add(callId)
    }
  }
  const before = (index: number): ConversationState => states[index] ?? Conversation.initial(conversationId)
  const created = records[0]?.payload
  return {
    conversationId,
    records,
    before,
    steps,
    ...partiesOf({ records, before, steps, asked }),
    settled,
    asked,
    requested,
    instructions: created?._tag === "ConversationCreated" ? created.instructions : undefined,
    isOwn: (runId) => own.has(runId)
  }
}

/**
 * What the model was shown at a step: the projection of the log up to there.
 *
 * @category projecting
 * @since 0.1.0
 */
export const requestOf = (
  log: Pick<RecordedLog, "records" | "before">,
  { index, response: { model, provider } }: RecordedStep,
  { instructions, unsettled }: ProjectionOptions
): Prompt.Prompt =>
  ConversationPrompt.project(log.before(index), log.records.slice(0, index), {
    instructions,
    provider,
    model,
    unsettled
  }).prompt

// --- internal ---

type Reading = Pick<RecordedLog, "records" | "before" | "steps" | "asked">

const partiesOf = (log: Reading): Pick<RecordedLog, "agents" | "tools"> => {
  const agents = new Map<string, RecordedAgent>()
  const tools = new Map<string, RecordedTool>()
  const agentOf = (name: string): RecordedAgent => {
    const agent = agents.get(name) ?? { name, handoffs: new Map() }
    agents.set(name, agent)
    return agent
  }
  const toolOf = (name: string): RecordedTool => {
    const tool = tools.get(name) ?? { refusedIn: new Set() }
    tools.set(name, tool)
    return tool
  }
  const declared = new Map<string, { readonly agent: string; readonly name: string }>()
  for (const { response } of log.steps) {
    agentOf(response.agent)
    for (const part of response.content) {
      if (part.type !== "tool-call") continue
      toolOf(part.name)
      if (part.providerExecuted !== true) declared.set(part.id, { agent: response.agent, name: part.name })
    }
  }
  for (const [index, { payload }] of log.records.entries()) {
    if (payload._tag === "RunStarted" || payload._tag === "RunResumed") agentOf(payload.agent)
    if (payload._tag === "HandedOff") {
      agentOf(payload.to)
      const call = log.records[index - 1]?.payload
      const by = call?._tag === "ToolCallSettled" ? declared.get(call.callId) : undefined
      if (by !== undefined) agentOf(by.agent).handoffs.set(by.name, payload.to)
    }
    if (payload._tag === "ToolCallSettled") {
      const tool = toolOf(payload.name)
      if (payload.shownBytes !== undefined) tool.shownBytes = payload.shownBytes
      if (payload.outcome === "rejected" && !log.asked.has(payload.callId)) {
        const run = log.before(index).runs.find(({ runId }) => runId === payload.runId)
        if (run !== undefined) tool.refusedIn.add(run.mode)
      }
    }
    if (payload._tag === "RunResumed" && payload.cause === "crash") {
      for (const [callId, policy] of policiesAt(log, index, payload.runId)) {
        const tool = toolOf(declared.get(callId)?.name ?? "")
        // A call that was asked about, and then ran again, has a tool that asks.
        if (policy.onCrash !== undefined && tool.onCrash !== "ask") tool.onCrash = policy.onCrash
        if (policy.onWaiting !== undefined) tool.onWaiting = policy.onWaiting
      }
    }
  }
  return { agents, tools }
}

/** What became of the calls that were open when a run was resumed after a crash. */
const policiesAt = (log: Reading, index: number, runId: RunId) => {
  const { approvals, calls } = log.before(index)
  const next = log.records.findIndex(
    ({ payload }, i) => i > index && "runId" in payload && payload.runId === runId && ends.has(payload._tag)
  )
  const records = log.records.slice(index + 1, next === -1 ? undefined : next)
  // A call without a fate was omitted if the run did anything without it: what is not omitted is settled or begun first.
  const then = log.records[next]?.payload._tag
  const wentOn =
    then === "ModelResponded" || then === "RunSuspended" || records.some(({ payload }) => "callId" in payload)
  const asked = new Set(approvals.map(({ callId }) => callId))
  const policies = new Map<string, Pick<RecordedTool, "onCrash" | "onWaiting">>()
  for (const { attempt, callId, runId: of } of calls) {
    if (of !== runId || asked.has(callId)) continue
    const fate = records.find(
      ({ payload }) =>
        "callId" in payload &&
        payload.callId === callId &&
        // What the end of the run has settled, nothing had settled before.
        !(payload._tag === "ToolCallSettled" && payload.outcome === "interrupted")
    )?.payload
    if (fate === undefined) {
      if (wentOn) policies.set(callId, attempt === 0 ? { onWaiting: "omit" } : { onCrash: "omit" })
    } else if (attempt > 0) {
      if (fate._tag === "ApprovalRequested") policies.set(callId, { onCrash: "ask" })
      else if (fate._tag === "ToolCallStarted") policies.set(callId, { onCrash: "repeat" })
      else if (fate._tag === "ToolCallSettled" && fate.outcome === "unknown")
        policies.set(callId, { onCrash: "unknown" })
    }
  }
  return policies
}

const ends: ReadonlySet<string> = new Set(["ModelResponded", "RunSuspended", "RunResumed", "RunEnded"])
