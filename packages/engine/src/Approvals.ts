/**
 * Requests for a person's decision: what waits, what is granted for good, and which decisions are ones. Pure.
 *
 * A decision is bound to its request by the approval's id and the digest of the call's parameters. What is executed is the
 * stored call, never one that a client sends back.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ConversationState, OpenApproval, OpenCall } from "@colloquy/session/ConversationState"
import type * as Digest from "@colloquy/session/Digest"
import { derive } from "@colloquy/session/DerivedId"
import { ApprovalId, ConversationId, type RunId, type ToolCallId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Fact } from "./Journal.ts"
import * as ToolCall from "./ToolCall.ts"

/**
 * A call that waits for a person. `params` are those that the model gave, as they are stored.
 *
 * @category models
 * @since 0.1.0
 */
export interface ApprovalRequest {
  /** The conversation that waits; a run that is stored nowhere has one of the id `unstored`. */
  readonly conversationId: ConversationId
  readonly approvalId: ApprovalId
  readonly runId: RunId
  readonly callId: ToolCallId
  readonly name: string
  /** Undefined when the response that has the call was redacted. */
  readonly params: unknown
  /** Undefined when the request was redacted: no decision can be bound to it then. */
  readonly parametersDigest: Digest.Digest | undefined
  /** UTC, milliseconds. */
  readonly requestedAt: number
  /** From then on it counts as denied; undefined: never. */
  readonly expiresAt: number | undefined
}

/**
 * What a person says to a request.
 *
 * - `approved`: the stored call runs. With a `scope` beyond `once`, later calls of the tool run too: all of them
 *   (`conversation`), or those with exactly these parameters (`conversation-exact-parameters`).
 * - `denied`: the model is told so, with the reason.
 * - `answered`: the call does not run; `result` stands for what it would have given.
 *
 * @category models
 * @since 0.1.0
 */
export interface Decision {
  readonly approvalId: ApprovalId
  /** That of the request. Without one no decision is taken. */
  readonly parametersDigest: Digest.Digest | undefined
  readonly decision: "approved" | "denied" | "answered"
  readonly scope?: Payload.GrantScope | undefined
  readonly reason?: string | undefined
  readonly result?: unknown
  readonly author?: string | undefined
}

/**
 * A decision that is none. Nothing was stored, and none of the decisions that came with it was taken.
 *
 * - `unknown`: the conversation has no such request.
 * - `closed`: it was decided or closed before; a decision is taken once.
 * - `duplicate`: it is decided twice in one go.
 * - `altered`: the digest is not that of the call that waits; show the person the request again.
 * - `expired`: it was too late; the call counts as denied.
 *
 * @category errors
 * @since 0.1.0
 */
export class DecisionRejected extends Schema.TaggedError<DecisionRejected>("@colloquy/engine/DecisionRejected")(
  "DecisionRejected",
  {
    conversationId: ConversationId,
    approvalId: Schema.String,
    reason: Schema.Literals(["unknown", "closed", "duplicate", "altered", "expired"])
  }
) {
  override get message() {
    return `the decision on ${this.approvalId} of ${this.conversationId} was not taken: ${whys[this.reason]}`
  }
}

/**
 * A decision to let the call run.
 *
 * @category decisions
 * @since 0.1.0
 */
export const approve = (
  request: ApprovalRequest,
  options: Pick<Decision, "scope" | "author" | "reason"> = {}
): Decision => ({ ...options, ...bindingOf(request), decision: "approved" })

/**
 * A decision that the call must not run.
 *
 * @category decisions
 * @since 0.1.0
 */
export const deny = (request: ApprovalRequest, options: Pick<Decision, "author" | "reason"> = {}): Decision => ({
  ...options,
  ...bindingOf(request),
  decision: "denied"
})

/**
 * A person's answer in place of the call.
 *
 * @category decisions
 * @since 0.1.0
 */
export const answer = (
  request: ApprovalRequest,
  result: unknown,
  options: Pick<Decision, "author" | "reason"> = {}
): Decision => ({ ...options, ...bindingOf(request), decision: "answered", result })

/**
 * The id of the request for a call. A call that a crash cut off can be asked about anew: its attempts so far are in it.
 *
 * @category reading
 * @since 0.1.0
 */
export const idOf = ({ attempt, callId, runId }: Pick<OpenCall, "attempt" | "callId" | "runId">): ApprovalId =>
  ApprovalId.make(derive("approval", runId, callId, String(attempt)))

/**
 * The requests that are open, in order, with the calls that they are about.
 *
 * @category reading
 * @since 0.1.0
 */
export const requests = (
  state: ConversationState,
  records: ReadonlyArray<CanonicalRecord>,
  timeToLive: Duration.Duration | undefined
): ReadonlyArray<ApprovalRequest> =>
  state.approvals
    .filter((open) => isOfOpenCall(state, open))
    .map((open) => {
      const record = records.find(
        ({ payload }) => payload._tag === "ApprovalRequested" && payload.approvalId === open.approvalId
      )
      const requestedAt = record?.at ?? 0
      return {
        conversationId: state.conversationId,
        approvalId: open.approvalId,
        runId: open.runId,
        callId: open.callId,
        name: open.name,
        params: paramsOf(records, open),
        parametersDigest: open.parametersDigest,
        requestedAt,
        expiresAt: timeToLive === undefined ? undefined : requestedAt + Duration.toMillis(timeToLive)
      }
    })

/**
 * Whether a standing grant covers a call.
 *
 * @category reading
 * @since 0.1.0
 */
export const isGranted = ({ grants }: ConversationState, name: string, parametersDigest: Digest.Digest): boolean =>
  grants.some(
    (grant) =>
      grant.name === name &&
      (grant.scope === "conversation" ||
        (grant.scope === "conversation-exact-parameters" && grant.parametersDigest === parametersDigest))
  )

/**
 * Whether a person has approved this attempt at a call.
 *
 * @category reading
 * @since 0.1.0
 */
export const isApproved = (
  records: ReadonlyArray<CanonicalRecord>,
  call: Pick<OpenCall, "attempt" | "callId" | "runId">
): boolean => {
  const approvalId = idOf(call)
  return records.some(
    ({ payload }) =>
      payload._tag === "ApprovalResolved" && payload.approvalId === approvalId && payload.decision === "approved"
  )
}

/**
 * The decisions with the requests they are about, or the first of them that is none.
 *
 * @category deciding
 * @since 0.1.0
 */
export const check = (
  conversationId: ConversationId,
  open: ReadonlyArray<ApprovalRequest>,
  isKnown: (approvalId: ApprovalId) => boolean,
  decisions: ReadonlyArray<Decision>,
  now: number
): Result.Result<ReadonlyArray<readonly [Decision, ApprovalRequest]>, DecisionRejected> => {
  const reject = (approvalId: ApprovalId, reason: DecisionRejected["reason"]) =>
    Result.fail(new DecisionRejected({ conversationId, approvalId, reason }))
  const checked = new Map<ApprovalId, readonly [Decision, ApprovalRequest]>()
  for (const decision of decisions) {
    const { approvalId, parametersDigest } = decision
    const request = open.find((request) => request.approvalId === approvalId)
    if (request === undefined) return reject(approvalId, isKnown(approvalId) ? "closed" : "unknown")
    if (checked.has(approvalId)) return reject(approvalId, "duplicate")
    if (parametersDigest === undefined || request.parametersDigest !== parametersDigest) {
      return reject(approvalId, "altered")
    }
    if (isExpired(request, now)) return reject(approvalId, "expired")
    checked.set(approvalId, [decision, request])
  }
  return Result.succeed([...checked.values()])
}

/**
 * Whether nobody can decide it any more.
 *
 * @category deciding
 * @since 0.1.0
 */
export const isExpired = ({ expiresAt }: ApprovalRequest, now: number): boolean =>
  expiresAt !== undefined && now >= expiresAt

/**
 * The record that a call waits.
 *
 * @category facts
 * @since 0.1.0
 */
export const requested = (
  call: Pick<OpenCall, "attempt" | "callId" | "name" | "runId"> & { readonly params: unknown }
): Fact => {
  const { callId, name, params, runId } = call
  const approvalId = idOf(call)
  return {
    name: ["requested", approvalId],
    payload: {
      _tag: "ApprovalRequested",
      runId,
      approvalId,
      callId,
      name,
      parametersDigest: ToolCall.parametersDigest(params)
    }
  }
}

/**
 * The records of a decision: that it was taken, and what the call comes to if it does not run.
 *
 * @category facts
 * @since 0.1.0
 */
export const resolved = (
  request: OpenCallRequest,
  {
    author,
    decision,
    reason,
    result,
    scope = "once"
  }: Omit<Decision, "approvalId" | "parametersDigest" | "decision"> & {
    readonly decision: Payload.Decision
  },
  { attempt, step }: Pick<OpenCall, "attempt" | "step">
): Array<Fact> => {
  const { approvalId, callId, name, runId } = request
  const facts: Array<Fact> = [
    {
      name: ["resolved", approvalId],
      payload: {
        _tag: "ApprovalResolved",
        approvalId,
        decision,
        scope,
        ...(decision === "answered" ? { result: result ?? null } : {}),
        ...(reason === undefined ? {} : { reason }),
        ...(author === undefined ? {} : { author })
      }
    }
  ]
  if (decision === "approved") return facts
  const isAnswer = decision === "answered"
  facts.push({
    name: ["settled", callId],
    payload: {
      _tag: "ToolCallSettled",
      runId,
      step,
      callId,
      name,
      outcome: isAnswer ? "answered" : "rejected",
      isFailure: !isAnswer,
      result: isAnswer ? (result ?? null) : rejections[decision](reason) + (attempt > 0 ? hadBegun : "")
    }
  })
  return facts
}

// --- internal ---

type OpenCallRequest = Pick<OpenApproval, "approvalId" | "callId" | "name" | "runId">

const whys: { readonly [reason in DecisionRejected["reason"]]: string } = {
  unknown: "there is no such request",
  closed: "it was decided or closed before",
  duplicate: "it is decided twice in one go",
  altered: "its parameters are not those of the call that waits; show the request again",
  expired: "it came too late, and the call counts as denied"
}

const because = (text: string) => (reason: string | undefined) =>
  reason === undefined ? `${text}.` : `${text}: ${reason}`

const rejections = {
  denied: because("A person denied this call"),
  expired: because("Nobody approved this call in time"),
  superseded: because("A newer message came before anybody decided")
}

// A call that is asked about anew after a crash.
const hadBegun = " It had begun before, and was cut off by a crash. It is not known whether it took effect."

/** What other producers left behind: a request of a run that is over. */
const isOfOpenCall = ({ calls }: ConversationState, { callId, runId }: OpenApproval): boolean =>
  calls.some((call) => call.callId === callId && call.runId === runId)

const bindingOf = ({ approvalId, parametersDigest }: ApprovalRequest) => ({
  approvalId,
  parametersDigest
})

const paramsOf = (records: ReadonlyArray<CanonicalRecord>, { callId, runId }: OpenApproval): unknown => {
  for (const { payload } of records) {
    if (payload._tag !== "ModelResponded" || payload.runId !== runId) continue
    for (const part of payload.content) if (part.type === "tool-call" && part.id === callId) return part.params
  }
  return undefined
}
