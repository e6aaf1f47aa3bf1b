/** Short words for what the tests of files write and read. */
import type { Batch } from "@colloquy/session/CanonicalRecord"
import { BatchId, ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Scope } from "effect/Scope"
import * as Stream from "effect/Stream"

type Store = ConversationStore["Service"]

export const conversationId = ConversationId.make("conversation")
export const producerId = ProducerId.make("producer")

/** A batch of so many records; the first of the batch `created` creates the conversation. */
export const batch = (id: string, count = 1, text = id): Batch => ({
  batchId: BatchId.make(id),
  records: Array.from({ length: count }, (_, i) => ({
    recordId: RecordId.make(`${id}/${i}`),
    at: 0,
    payload: id === "created" ? { _tag: "ConversationCreated" } : { _tag: "Custom", name: "note", data: text }
  }))
})

/** A store over a file, for the scope: what one process has of it. */
export const opened = (options: SqliteStorage.Options): Effect.Effect<Store, SqliteStorage.OpenError, Scope> =>
  Effect.map(Layer.build(SqliteStorage.layer(options)), (context) => Context.get(context, ConversationStore))

/** Takes the conversation over; each call of what it gives appends a batch behind the last one. */
export const takeOver = Effect.fnUntraced(function* (store: Store, id: ConversationId = conversationId) {
  const { epoch, tail } = yield* store.materialize({ conversationId: id, producerId })
  let expectedTail = tail
  return (batch: Batch) =>
    Effect.tap(
      Effect.suspend(() => store.append({ conversationId: id, batch, expectedTail, epoch, producerId })),
      ({ tail }) =>
        Effect.sync(() => {
          expectedTail = tail
        })
    )
})

export const sequences = (store: Store, id: ConversationId = conversationId) =>
  Effect.map(Stream.runCollect(store.read({ conversationId: id })), (log) => log.map(({ sequence }) => sequence))
