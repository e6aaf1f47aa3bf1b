/** Facts as records that no store has seen: read back through the codec that a store uses, so that both behave the same. */
import { type CanonicalRecord, decodePayload, encodePayload } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import type { ConversationState } from "@colloquy/session/ConversationState"
import * as Digest from "@colloquy/session/Digest"
import type { BatchId, ProducerId, RecordId } from "@colloquy/session/Ids"
import type { IllegalRecord } from "@colloquy/session/IllegalRecord"
import type { LimitExceeded } from "@colloquy/session/Limits"
import type * as Payload from "@colloquy/session/Payload"
import * as Upcast from "@colloquy/session/Upcast"
import { InvalidBatch } from "@colloquy/store/StoreError"
import * as Result from "effect/Result"

export interface Draft {
  readonly recordId: RecordId
  readonly payload: Payload.Written
}

export interface Drafted {
  readonly state: ConversationState
  readonly records: ReadonlyArray<CanonicalRecord>
}

/** The state and the records behind `state` once these drafts are in the log, or why they may not be. */
export const evolve = (
  state: ConversationState,
  batchId: BatchId,
  drafts: ReadonlyArray<Draft>,
  owner: { readonly epoch: number; readonly producerId: ProducerId; readonly at: number }
): Result.Result<Drafted, LimitExceeded | InvalidBatch | IllegalRecord> => {
  const { conversationId } = state
  const records: Array<CanonicalRecord> = []
  let next = state
  for (const { payload, recordId } of drafts) {
    const read = Result.mapError(readBack(payload), (error) =>
      error._tag === "LimitExceeded"
        ? error
        : new InvalidBatch({ conversationId, batchId, recordId, reason: error.message })
    )
    if (Result.isFailure(read)) return Result.fail(read.failure)
    const record: CanonicalRecord = {
      ...owner,
      conversationId,
      batchId,
      recordId,
      sequence: next.sequence + 1,
      schemaVersion: Upcast.currentVersion,
      digest: Digest.empty,
      payload: read.success
    }
    const evolved = Conversation.evolve(next, record)
    if (Result.isFailure(evolved)) return Result.fail(evolved.failure)
    next = evolved.success
    records.push(record)
  }
  return Result.succeed({ state: next, records })
}

// --- internal ---

const readBack = (payload: Payload.Written) =>
  Result.flatMap(encodePayload(payload), (text) => decodePayload(Upcast.currentVersion, text, new Map()))
