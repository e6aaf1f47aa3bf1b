/**
 * Waits for a byte on standard input, then opens the file, writes to a conversation of its own, and to one that it
 * shares with others. Arguments: file, name, number of batches.
 */
import type { Batch } from "@colloquy/session/CanonicalRecord"
import { BatchId, ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Effect from "effect/Effect"
import { once } from "node:events"

const [filename = "", name = "", count = ""] = process.argv.slice(2)

const batchOf = (n: number): Batch => ({
  batchId: BatchId.make(`${name}, batch ${n}`),
  records: ["a", "b"].map((part) => ({
    recordId: RecordId.make(`${name}, batch ${n}/${part}`),
    at: 0,
    payload: { _tag: "Custom", name: part, data: n }
  }))
})

/** Appends behind whatever the tail is, as an owner that all processes are together. */
const write = Effect.fnUntraced(function* (id: string, owner: string) {
  const store = yield* ConversationStore
  const conversationId = ConversationId.make(id)
  const producerId = ProducerId.make(owner)
  const { epoch, tail } = yield* store.materialize({ conversationId, producerId, epoch: 1 })
  let expectedTail = tail
  for (let n = 0; n < Number(count);) {
    const request = { conversationId, batch: batchOf(n), expectedTail, epoch, producerId }
    const appended = yield* Effect.catchTag(store.append(request), "AppendConflict", Effect.succeed)
    expectedTail = appended.tail
    if (!("_tag" in appended)) n++
  }
})

process.stdout.write("ready\n")
await once(process.stdin, "data")
await Effect.runPromise(
  Effect.andThen(write(name, name), write("shared", "all")).pipe(Effect.provide(SqliteStorage.layer({ filename })))
)
process.stdout.write("done\n")
process.exit(0)
