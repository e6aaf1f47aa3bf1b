/** Short words for what the tests of memory write and read. */
import type { Batch } from "@colloquy/session/CanonicalRecord"
import { BatchId, ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import { MemoryStorage } from "@colloquy/storage-memory"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import type { AppendRequest } from "@colloquy/store/StoreModel"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

type Store = ConversationStore["Service"]

export const conversationId = ConversationId.make("conversation")
const producerId = ProducerId.make("producer")

export const batch = (id: string, count = 1): Batch => ({
  batchId: BatchId.make(id),
  records: Array.from({ length: count }, (_, i) => ({
    recordId: RecordId.make(`${id}/${i}`),
    at: 0,
    payload: { _tag: "Custom", name: "note", data: id }
  }))
})

/** A store for the scope: what one process has of the database. */
export const opened = (options: MemoryStorage.Options = {}) =>
  Effect.map(Layer.build(MemoryStorage.layerWith(options)), (context) => Context.get(context, ConversationStore))

/** Takes the conversation over; gives a request to append a batch behind the tail that is there then. */
export const takeOver = Effect.fnUntraced(function* (store: Store, id = conversationId) {
  const { epoch, tail } = yield* store.materialize({ conversationId: id, producerId })
  return (batch: Batch): AppendRequest => ({ conversationId: id, batch, expectedTail: tail, epoch, producerId })
})

export const sequences = (store: Store, id = conversationId) =>
  Effect.map(Stream.runCollect(store.read({ conversationId: id })), (log) => log.map(({ sequence }) => sequence))
