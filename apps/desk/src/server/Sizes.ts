/**
 * How much conversations hold, for a chart. What was counted is kept while nothing is written.
 */
import type { Digest } from "@colloquy/session/Digest"
import type { ConversationId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import { isAbsent } from "@colloquy/store/StoreError"
import type { Summary } from "@colloquy/store/StoreModel"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

interface Counted {
  readonly digest: Digest
  readonly bytes: number
}

/** Of each store, what was counted of its conversations. */
const counted = new WeakMap<ConversationStore["Service"], Map<ConversationId, Counted>>()

export const statisticsOf = Effect.gen(function* () {
  const store = yield* ConversationStore
  const known = counted.get(store) ?? new Map<ConversationId, Counted>()
  counted.set(store, known)

  const bytesOf = Effect.fnUntraced(function* ({ conversationId, tail }: Summary) {
    const before = known.get(conversationId)
    if (before?.digest === tail.digest) return before.bytes
    const bytes = yield* store.read({ conversationId, verify: false }).pipe(
      Stream.runFold(
        () => 0,
        (sum, { payload }) => sum + Buffer.byteLength(JSON.stringify(payload))
      ),
      // Erased since it was listed.
      Effect.catchIf(isAbsent, () => Effect.succeed(0))
    )
    known.set(conversationId, { digest: tail.digest, bytes })
    return bytes
  })

  const conversations = yield* store.list().pipe(
    Stream.mapEffect((summary) =>
      Effect.map(bytesOf(summary), (bytes) => ({
        conversationId: summary.conversationId,
        ...(summary.title === undefined ? {} : { title: summary.title }),
        records: summary.tail.sequence,
        bytes
      }))
    ),
    Stream.runCollect
  )
  return {
    conversations: conversations.toSorted((a, b) => b.bytes - a.bytes),
    records: conversations.reduce((sum, { records }) => sum + records, 0),
    bytes: conversations.reduce((sum, { bytes }) => sum + bytes, 0)
  }
})
