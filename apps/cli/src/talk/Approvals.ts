/**
 * What waits for people: the open requests of conversations, and what a person says to one.
 */
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import * as Approvals from "@colloquy/engine/Approvals"
import type { ConversationId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Stream from "effect/Stream"
import type * as Json from "../JsonOutput.ts"
import { brief } from "../MessageText.ts"
import { oneLine } from "../TerminalText.ts"

/** What waits in one conversation, or in all, a conversation at a time. */
export const waiting = (one: ConversationId | undefined) =>
  Stream.unwrap(
    ConversationStore.useSync((store) =>
      one === undefined
        ? Stream.map(store.list({ status: "awaiting-approval" }), ({ conversationId }) => conversationId)
        : Stream.succeed(one)
    )
  ).pipe(Stream.mapEffect(AgentRuntime.approvals), Stream.flattenIterable)

/** A request as programs get it. */
export const toJson = (request: Approvals.ApprovalRequest): Json.Approval => {
  const { approvalId, callId, conversationId, name, params, requestedAt, runId } = request
  return { conversationId, approvalId, runId, callId, name, params: params ?? null, requestedAt }
}

/** A request as a question. */
export const question = ({ name, params }: Approvals.ApprovalRequest): string =>
  `May ${oneLine(name)}(${brief(params)}) run? y, n [reason], a (always here), or = and an answer in its place:`

/** What a line means as a decision; nothing where it means none. */
export const parseDecision = (request: Approvals.ApprovalRequest, line: string): Approvals.Decision | undefined => {
  const [, word = "", rest = ""] = /^\s*(=|[a-z]+)\s*(.*)$/is.exec(line) ?? []
  const reason = rest.trim() === "" ? {} : { reason: rest.trim() }
  switch (word.toLowerCase()) {
    case "y":
    case "yes":
      return Approvals.approve(request, reason)
    case "a":
    case "always":
      return Approvals.approve(request, { ...reason, scope: "conversation" })
    case "n":
    case "no":
      return Approvals.deny(request, reason)
    case "=":
      return Approvals.answer(request, rest.trim())
    default:
      return undefined
  }
}
