/**
 * What has become of an input that was sent before.
 */
import type { ConversationId, RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Refused, type Unavailable } from "../api/ApiError.ts"
import { isAbsent, unavailable } from "./ApiErrors.ts"
import { wordsOf } from "./Titles.ts"
import type { Receipts } from "./Receipts.ts"

/** How an input reaches a run; `runId` is known once it is in the log. */
export interface Sent {
  readonly as: "started" | "steered" | "queued"
  readonly inputId: string
  readonly runId?: RunId
}

/** How far back in a log an input is looked for, in records: a message is sent again soon, or not at all. */
const recordsBack = 1000

/**
 * Undefined when it is new, or was handed back by its run: then it may be sent again. `Refused` when its id was given
 * to other words.
 */
export const findInput = Effect.fnUntraced(function* (
  store: ConversationStore["Service"],
  receipts: Receipts["Service"],
  conversationId: ConversationId,
  { inputId, text }: { readonly inputId: string; readonly text: string }
): Effect.fn.Return<Sent | undefined, Refused | Unavailable> {
  const receipt = receipts.of(conversationId).find((receipt) => receipt.inputId === inputId)
  if (receipt !== undefined && receipt.state !== "returned") {
    if (receipt.text !== text) return yield* otherWords(inputId)
    return { as: receipt.kind === "steering" ? "steered" : "queued", inputId }
  }
  const stored = store.read({ conversationId, reverse: true, limit: recordsBack, verify: false }).pipe(
    Stream.filter(({ payload }) => {
      const facts = Payload.facts(payload)
      return facts._tag === "InputRecorded" && facts.inputId === inputId
    }),
    Stream.runHead,
    Effect.catch((error) => (isAbsent(error) ? Effect.succeedNone : unavailable(error)))
  )
  const found = yield* stored
  if (found._tag === "None") return undefined
  const { payload } = found.value
  if (payload._tag === "InputRecorded" && wordsOf(payload) !== text) return yield* otherWords(inputId)
  const facts = Payload.facts(payload)
  if (facts._tag !== "InputRecorded") return undefined
  const as = facts.kind === "steering" ? "steered" : facts.kind === "follow-up" ? "queued" : "started"
  return { as, inputId, runId: facts.runId }
})

// --- internal ---

const otherWords = (inputId: string) =>
  new Refused({
    reason: "InputConflict",
    message: `message ${inputId} was sent with other words before: give a new message a new id`
  })
