/** What a run may still use, counted as its records are written. */
import * as Budget from "@colloquy/capabilities/Budget"
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ConversationId, RunId } from "@colloquy/session/Ids"
import type { ReadError } from "@colloquy/store/StoreError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { InvalidOption } from "../AgentError.ts"
import type { Journal } from "../Journal.ts"
import type { Storage } from "./shared.ts"

export interface Budgeting {
  readonly onRecords: (records: ReadonlyArray<CanonicalRecord>) => void
  readonly check: Effect.Effect<Budget.Verdict>
}

/** Counts what the log has; all of it where the conversation has a limit of its own, else what is at hand. */
export const make = Effect.fnUntraced(function* (
  budget: Budget.Budget,
  runId: RunId,
  journal: Journal,
  storage: Storage | undefined
): Effect.fn.Return<Budgeting, InvalidOption | ReadError> {
  const { perConversation, prices } = yield* Effect.mapError(
    Effect.fromResult(Budget.make(budget)),
    ({ option, reason }) => new InvalidOption({ option: `budget.${option}`, value: "out of bounds", reason })
  )
  const { conversationId } = journal
  let tally =
    perConversation === undefined || storage === undefined || conversationId === undefined
      ? Budget.advance(Budget.empty, journal.records(), prices)
      : yield* countAll(storage, conversationId, prices)
  return {
    onRecords: (records) => {
      tally = Budget.advance(tally, records, prices)
    },
    check: Effect.map(Clock.currentTimeMillis, (now) => Budget.check(budget, tally, { runId, now }))
  }
})

// --- internal ---

const countAll = ({ store }: Storage, conversationId: ConversationId, prices: Budget.Prices | undefined) =>
  Stream.runFold(
    store.read({ conversationId }),
    () => Budget.empty,
    (tally, record) => Budget.advance(tally, [record], prices)
  )
