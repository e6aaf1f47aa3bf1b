/**
 * Appends batches of three records to sixteen conversations at once until it is killed. Prints `acknowledged <conversation>
 * <batches>` for each acknowledged append. Arguments: file.
 */
import { BatchId, ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"

const [filename = ""] = process.argv.slice(2)

const payloadOf = (n: number, name: string): Payload.Written =>
  n === 1 && name === "a" ? { _tag: "ConversationCreated" } : { _tag: "Custom", name, data: "x".repeat(500) }

const appends = Effect.fnUntraced(function* (id: string) {
  const store = yield* ConversationStore
  const conversationId = ConversationId.make(id)
  const producerId = ProducerId.make(`process ${process.pid}`)
  const { epoch, tail } = yield* store.materialize({ conversationId, producerId })
  let expectedTail = tail
  for (let n = tail.sequence / 3 + 1; ; n++) {
    const batch = {
      batchId: BatchId.make(`batch ${n}`),
      records: ["a", "b", "c"].map((name) => ({
        recordId: RecordId.make(`batch ${n}/${name}`),
        at: 0,
        payload: payloadOf(n, name)
      }))
    }
    expectedTail = (yield* store.append({ conversationId, batch, expectedTail, epoch, producerId })).tail
    // Standard output is a pipe, which Node writes to synchronously: what is printed is with the parent.
    process.stdout.write(`acknowledged ${id} ${n}\n`)
  }
})

const ids = Array.from({ length: 16 }, (_, i) => `conversation-${i}`)
await Effect.runPromise(
  Effect.provide(Effect.forEach(ids, appends, { concurrency: "unbounded" }), SqliteStorage.layer({ filename }))
)
