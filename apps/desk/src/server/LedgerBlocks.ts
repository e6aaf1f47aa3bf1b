/**
 * The ledger block that a turn was given: it is recorded with the turn's input.
 */
import type { ConversationId, RunId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { LedgerBlock } from "../api/ConversationModel.ts"

/** The block of a run, or of the last run that was given one. */
export const blockOf = Effect.fnUntraced(function* (conversationId: ConversationId, runId: RunId | undefined) {
  const store = yield* ConversationStore
  const given = store.read({ conversationId, reverse: true, verify: false }).pipe(
    Stream.flatMap(({ payload }) => {
      if (payload._tag !== "InputRecorded" || payload.context === undefined) return Stream.empty
      return runId === undefined || payload.runId === runId
        ? Stream.succeed(toBlock(payload.runId, payload.context))
        : Stream.empty
    }),
    Stream.runHead
  )
  const found = yield* given
  return found._tag === "Some" ? found.value : { text: "", bytes: 0, ...(runId === undefined ? {} : { runId }) }
})

// --- internal ---

const toBlock = (runId: RunId, text: string): LedgerBlock => ({ runId, text, bytes: Buffer.byteLength(text) })
