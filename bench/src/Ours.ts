/**
 * The work through our packages: a store in a file or in memory, and logs that are appended to one batch at a time.
 */
import { Ids } from "@colloquy/session"
import { ConversationStore, type StoreError } from "@colloquy/store"
import { MemoryStorage } from "@colloquy/storage-memory"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import type { Synchronous } from "./Limit.ts"
import type { Batch } from "./Workload.ts"

export const producerId = Ids.ProducerId.make("bench")

export interface Ours {
  readonly run: <A, E>(effect: Effect.Effect<A, E, ConversationStore.ConversationStore>) => Promise<A>
  /** A conversation of this name, taken over by the bench. */
  readonly log: (name: string) => Promise<Log>
  readonly close: () => Promise<void>
}

/** The log of a conversation, written by nobody else. */
export interface Log {
  readonly conversationId: Ids.ConversationId
  readonly append: (batch: Batch) => Effect.Effect<void, StoreError.AppendError, ConversationStore.ConversationStore>
  /** One batch at a time, each when the one before is acknowledged; microseconds of each. */
  readonly appendEach: (batches: ReadonlyArray<Batch>) => Promise<ReadonlyArray<number>>
  /** Everything, record by record; how many. */
  readonly read: (options?: {
    readonly verify?: boolean
  }) => Effect.Effect<number, StoreError.ReadError, ConversationStore.ConversationStore>
}

export const inFile = (filename: string, synchronous: Synchronous): Ours =>
  over(SqliteStorage.layer({ filename, synchronous }))

export const inMemory = (): Ours => over(MemoryStorage.layer)

// --- internal ---

const over = (layer: Layer.Layer<ConversationStore.ConversationStore, unknown>): Ours => {
  const runtime = ManagedRuntime.make(layer)
  return {
    run: (effect) => runtime.runPromise(effect),
    close: () => runtime.dispose(),
    log: async (name) => {
      const conversationId = Ids.ConversationId.make(name)
      const { epoch, tail } = await runtime.runPromise(
        ConversationStore.ConversationStore.use((store) => store.materialize({ conversationId, producerId }))
      )
      let expectedTail: StoreError.Tail = tail
      const append: Log["append"] = (batch) =>
        Effect.flatMap(ConversationStore.ConversationStore, (store) =>
          Effect.map(store.append({ conversationId, producerId, epoch, expectedTail, batch }), (appended) => {
            expectedTail = appended.tail
          })
        )
      return {
        conversationId,
        append,
        appendEach: (batches) =>
          runtime.runPromise(
            Effect.gen(function* () {
              const times: Array<number> = []
              let before = performance.now()
              for (const batch of batches) {
                yield* append(batch)
                const now = performance.now()
                times.push((now - before) * 1000)
                before = now
              }
              return times
            })
          ),
        read: ({ verify = true } = {}) =>
          Effect.flatMap(ConversationStore.ConversationStore, (store) =>
            Stream.runFold(
              store.read({ conversationId, verify }),
              () => 0,
              (count) => count + 1
            )
          )
      }
    }
  }
}
