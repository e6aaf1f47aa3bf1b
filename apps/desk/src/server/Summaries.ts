/**
 * Conversations and runs as the API shows them.
 */
import type { RunInfo } from "@colloquy/capabilities/ConversationTracker"
import type { ApprovalRequest } from "@colloquy/engine/Approvals"
import type { ConversationId } from "@colloquy/session/Ids"
import type { Summary } from "@colloquy/store/StoreModel"
import type { ConversationSummary, OpenApproval, Run } from "../api/ConversationModel.ts"

/** The store knows that a run has not ended, this process that it goes on. */
export const toSummary = (
  { conversationId, createdAt, status, tail, title, updatedAt }: Summary,
  running: ReadonlySet<ConversationId>
): ConversationSummary => ({
  conversationId,
  ...(title === undefined ? {} : { title }),
  status: running.has(conversationId) ? "running" : status,
  createdAt,
  updatedAt,
  records: tail.sequence
})

export const toRun = ({ model, ...run }: RunInfo): Run => ({ ...run, ...(model === undefined ? {} : { model }) })

export const toApproval = ({
  approvalId,
  callId,
  name,
  params,
  parametersDigest,
  requestedAt,
  runId
}: ApprovalRequest): OpenApproval => ({
  approvalId,
  callId,
  name,
  requestedAt,
  runId,
  ...(params === undefined ? {} : { params }),
  ...(parametersDigest === undefined ? {} : { parametersDigest })
})

export const runningIn = (runs: ReadonlyArray<RunInfo>): ReadonlySet<ConversationId> =>
  new Set(runs.map(({ conversationId }) => conversationId))
