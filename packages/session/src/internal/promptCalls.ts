/** What became of the calls of a log: their results, and those that nobody let run. */
import type { CanonicalRecord } from "../CanonicalRecord.ts"
import type { ConversationState } from "../ConversationState.ts"
import * as Payload from "../Payload.ts"

export interface StoredResult {
  readonly sequence: number
  readonly payload: Payload.ToolCallSettled | Payload.Redacted
  used: boolean
}

/** Results by call; several where a log from elsewhere repeats an id within a response. */
export type Results = ReadonlyMap<string, ReadonlyArray<StoredResult>>

export const collectResults = (records: ReadonlyArray<CanonicalRecord>): Results => {
  const results = new Map<string, Array<StoredResult>>()
  for (const { payload, sequence } of records) {
    const settled = Payload.legible(payload)
    if (settled._tag !== "ToolCallSettled") continue
    if (payload._tag !== "Redacted" && payload._tag !== "ToolCallSettled") continue
    const key = callKey(settled)
    const same = results.get(key)
    const result = { sequence, payload, used: false }
    if (same === undefined) results.set(key, [result])
    else same.push(result)
  }
  return results
}

/**
 * Calls that nobody let run. `waiting`: their approval is open, or a fork cut the request off; they are left out while they
 * have no result. `superseded`: a later input closed the request; they stay left out whatever their run has settled them
 * with, so that the prompt before it is a prefix of the prompt behind it.
 */
export const collectUndecided = (state: ConversationState, records: ReadonlyArray<CanonicalRecord>) => {
  const waiting = new Set<string>(state.approvals.map(({ callId }) => callId))
  const superseded = new Set<string>()
  const requested = new Map<string, string>()
  for (const { payload } of records) {
    const facts = Payload.legible(payload)
    switch (facts._tag) {
      case "ApprovalRequested":
        requested.set(facts.approvalId, facts.callId)
        break
      case "ApprovalResolved": {
        const callId = requested.get(facts.approvalId)
        if (callId !== undefined && facts.decision === "superseded") superseded.add(callId)
        if (callId !== undefined && facts.decision === "expired") waiting.add(callId)
        requested.delete(facts.approvalId)
        break
      }
      case "Forked":
        for (const callId of requested.values()) waiting.add(callId)
        requested.clear()
        break
    }
  }
  return { waiting, superseded }
}

/** The result of a call, which answers no other one from now on. */
export const useResult = (
  results: Results,
  call: { readonly runId: string; readonly step: number; readonly callId: string }
): StoredResult | undefined => {
  const stored = results.get(callKey(call))?.find(({ used }) => !used)
  if (stored !== undefined) stored.used = true
  return stored
}

/** Results that no call has used, with the ids of the calls that they are for. */
export const orphans = (results: Results): Array<readonly [number, string]> => {
  const found: Array<readonly [number, string]> = []
  for (const same of results.values()) {
    for (const { payload, sequence, used } of same) {
      if (!used && payload._tag === "ToolCallSettled") found.push([sequence, payload.callId])
    }
  }
  return found
}

// --- internal ---

// A separator that no id contains.
const callKey = (call: { readonly runId: string; readonly step: number; readonly callId: string }): string =>
  `${call.runId}\u0000${call.step}\u0000${call.callId}`
