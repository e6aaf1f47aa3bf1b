/**
 * Takes a conversation over and appends batches of three records until it is killed. Prints `acknowledged <n>` once
 * batch n is acknowledged. Arguments: file, conversation id, characters of a record.
 */
import { BatchId, ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"

const [filename = "", id = "", characters = ""] = process.argv.slice(2)
const text = "x".repeat(Number(characters))

const payloadOf = (n: number, name: string): Payload.Written =>
  n === 1 && name === "a" ? { _tag: "ConversationCreated", metadata: text } : { _tag: "Custom", name, data: text }

const appends = Effect.gen(function* () {
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
    process.stdout.write(`acknowledged ${n}\n`)
  }
})

await Effect.runPromise(Effect.provide(appends, SqliteStorage.layer({ filename })))
