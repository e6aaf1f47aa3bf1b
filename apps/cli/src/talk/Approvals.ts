/**
 * What waits for people: the open requests of a conversation, and what a person says to one.
 */
import * as Approvals from "@colloquy/engine/Approvals"
import * as Conversation from "@colloquy/session/Conversation"
import type { ConversationId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Json from "../JsonOutput.ts"
import { brief } from "../MessageText.ts"
import { oneLine } from "../TerminalText.ts"

/** The requests that are open in a conversation, in order; reads its log once, and the runs that wait once more. */
export const openIn = Effect.fnUntraced(function* (conversationId: ConversationId) {
  const store = yield* ConversationStore
  const state = yield* Stream.runFold(
    store.read({ conversationId, verify: false }),
    () => Conversation.initial(conversationId),
    (before, record) => Conversation.replayLenient(before, [record]).state
  )
  const waiting = state.runs.filter(({ status }) => status === "suspended")
  const after = Math.min(...waiting.map(({ startedAt }) => startedAt)) - 1
  if (!Number.isFinite(after)) return []
  const records = yield* Stream.runCollect(store.read({ conversationId, after }))
  return Approvals.requests(state, records, undefined)
})

/** A request, and where it waits. */
export interface Waiting {
  readonly conversationId: ConversationId
  readonly request: Approvals.ApprovalRequest
}

/** What waits in one conversation, or in all, a conversation at a time. */
export const waiting = (one: ConversationId | undefined) =>
  Stream.unwrap(
    ConversationStore.useSync((store) =>
      (one === undefined
        ? Stream.map(store.list({ status: "awaiting-approval" }), ({ conversationId }) => conversationId)
        : Stream.succeed(one)
      ).pipe(
        Stream.mapEffect((conversationId) =>
          Effect.map(openIn(conversationId), (requests): ReadonlyArray<Waiting> =>
            requests.map((request) => ({ conversationId, request }))
          )
        ),
        Stream.flattenIterable
      )
    )
  )

/** A request as programs get it. */
export const toJson = (conversationId: ConversationId, request: Approvals.ApprovalRequest): Json.Approval => {
  const { approvalId, callId, name, params, requestedAt, runId } = request
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
