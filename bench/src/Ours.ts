/**
 * The work through `ConversationStore`.
 */
import { Ids } from "@colloquy/session"
import { ConversationStore, type StoreError } from "@colloquy/store"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import { batch } from "./Workload.ts"

const conversationId = Ids.ConversationId.make("measured")
const producerId = Ids.ProducerId.make("bench")

export interface Ours {
  /** Appends batches one at a time, from `from` on; gives microseconds a batch. */
  readonly append: (from: number, count: number) => Promise<number>
  /** Reads everything; gives microseconds a record. */
  readonly read: (verify: boolean) => Promise<number>
  readonly close: () => Promise<void>
}

export const open = async (layer: Layer.Layer<ConversationStore.ConversationStore, unknown>): Promise<Ours> => {
  const runtime = ManagedRuntime.make(layer)
  const { epoch, tail } = await runtime.runPromise(
    ConversationStore.ConversationStore.use((store) => store.materialize({ conversationId, producerId }))
  )
  let expectedTail: StoreError.Tail = tail
  return {
    append: (from, count) =>
      runtime.runPromise(
        Effect.gen(function* () {
          const store = yield* ConversationStore.ConversationStore
          const start = performance.now()
          for (let n = from; n < from + count; n++) {
            const request = { conversationId, producerId, epoch, expectedTail, batch: batch(n) }
            expectedTail = (yield* store.append(request)).tail
          }
          return ((performance.now() - start) * 1000) / count
        })
      ),
    read: (verify) =>
      runtime.runPromise(
        Effect.gen(function* () {
          const store = yield* ConversationStore.ConversationStore
          const start = performance.now()
          const count = yield* Stream.runFold(
            store.read({ conversationId, verify }),
            () => 0,
            (n) => n + 1
          )
          return ((performance.now() - start) * 1000) / count
        })
      ),
    close: () => runtime.dispose()
  }
}
