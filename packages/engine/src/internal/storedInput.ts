/** Whether the store has an input already, asked without taking its conversation over from whoever may be at work there. */
import type { SecretMask } from "@colloquy/capabilities/SecretMask"
import { isAbsent } from "@colloquy/store/StoreError"
import { load } from "@colloquy/store/Writer"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Journal from "../Journal.ts"
import { findInput, type OnceInput, runIdOf } from "./knownInput.ts"
import type { Storage } from "./shared.ts"

/**
 * The input, if it has started a run, however long ago: the store has an index. Else if the records that a model is shown
 * have it, where a run of another process may go on. Anywhere else nobody is disturbed by whoever takes the conversation
 * over, and has its records at hand then: to read them here would be to read them twice.
 */
export const findStored = (storage: Storage, input: OnceInput, mask: SecretMask | undefined) =>
  Effect.catchIf(
    Effect.gen(function* () {
      const start = yield* startOf(storage, input)
      return findInput(start ?? (yield* othersRecords(storage, input)), input, mask)
    }),
    isAbsent,
    () => Effect.undefined
  )

// --- internal ---

/** What the run that the input starts has begun with; undefined when it has not. */
const startOf = Effect.fnUntraced(function* ({ store }: Storage, { conversationId, inputId }: OnceInput) {
  const batchId = Journal.batchIdOf(runIdOf(inputId), Journal.startName)
  const start = yield* store.batch({ conversationId, batchId })
  if (start._tag === "None") return undefined
  const { first, last } = start.value
  return yield* Stream.runCollect(store.read({ conversationId, after: first - 1, through: last }))
})

const othersRecords = Effect.fnUntraced(function* ({ conversations, store }: Storage, { conversationId }: OnceInput) {
  const tail = yield* store.tail({ conversationId })
  if (tail.producerId === conversations.producerId) return []
  if ((yield* store.summary({ conversationId })).status !== "unfinished") return []
  return (yield* load(store, conversationId, tail)).records
})
