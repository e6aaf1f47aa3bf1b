/**
 * Conversations are imported, one is continued by an agent, killed in the middle of a tool, resumed by another process,
 * and checked.
 */
import { Ids, type Payload } from "@colloquy/session"
import { ConversationStore, Conversations, StoreError } from "@colloquy/store"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import { claim, heading, say } from "./Claim.ts"
import * as Process from "./Process.ts"
import { conversationId, readPayments } from "./Shop.ts"

const sample = fileURLToPath(new URL("../../samples/bicycle-shop.jsonl", import.meta.url))
const id = Ids.ConversationId.make(conversationId)

export const play = Effect.fn("CrashScene")(function* (database: string, payments: string) {
  yield* heading("1. Import three conversations of another system into a new SQLite file.")
  yield* say(yield* Process.cli(["import", sample, "--db", database]))

  yield* heading("2. An agent with tools answers on one of them. Its process is killed while a refund is being paid.")
  const killed = yield* Process.runUntil("start", [database, payments], "paid, not yet recorded", "SIGKILL")
  yield* claim(true, `process ${killed.pid} was killed with SIGKILL: the money is paid, and nothing says so`, killed)
  yield* claim(readPayments(payments).length === 1, "one payment is in the payments file", readPayments(payments))

  yield* heading("3. Another process finds the run unfinished and resumes it.")
  yield* say(yield* Process.cli(["list", "--db", database, "--status", "unfinished"]))
  const answer = yield* Process.work("resume", [database, payments])
  yield* say(`desk: ${answer.trim()}`)
  const paid = readPayments(payments)
  yield* claim(paid.length === 1, "the refund ran again under the same key, and paid nothing twice", paid)

  yield* heading("4. What the store holds.")
  yield* Effect.provide(inspect, Layer.provideMerge(Conversations.layer, SqliteStorage.layer({ filename: database })))
  yield* say(yield* Process.cli(["verify", "--prompts", "--db", database]))

  yield* heading("5. The transcript.")
  yield* say(yield* Process.cli(["show", conversationId, "--db", database]))
})

/** Each record once, the chain, a repeated batch, a fence. */
const inspect = Effect.gen(function* () {
  const store = yield* ConversationStore.ConversationStore
  const records = yield* Stream.runCollect(store.read({ conversationId: id }))
  const unique = new Set(records.map(({ recordId }) => recordId))
  yield* claim(unique.size === records.length, `each of the ${records.length} records is there once`, records.length)

  const settled = records.flatMap(({ payload }) => (payload._tag === "ToolCallSettled" ? [payload.callId] : []))
  yield* claim(
    new Set(settled).size === settled.length && settled.includes(Ids.ToolCallId.make("call_1_2")),
    `the provider's repeated call_1 has ids of its own: ${settled.join(", ")}`,
    settled
  )
  const ends = records.filter(({ payload }) => payload._tag === "RunEnded")
  const runs = records.filter(({ payload }) => payload._tag === "RunStarted")
  yield* claim(ends.length === runs.length, `each of the ${runs.length} runs has exactly one end`, ends.length)

  const { faults } = yield* store.verify({ conversationId: id })
  yield* claim(faults.length === 0, "every digest and the whole chain verify", faults)

  const { digest, sequence } = yield* store.tail({ conversationId: id })
  const first = { conversationId: id, producerId: Ids.ProducerId.make("first") }
  const second = { conversationId: id, producerId: Ids.ProducerId.make("second") }
  const payload: Payload.Written = { _tag: "Custom", name: "demo", data: { note: "written by hand" } }
  const batch = {
    batchId: Ids.BatchId.make("demo"),
    records: [{ recordId: Ids.RecordId.make("demo"), at: Date.now(), payload }]
  }
  const owned = yield* store.materialize(first)
  const request = { ...first, batch, expectedTail: { sequence, digest }, epoch: owned.epoch }
  const appended = yield* store.append(request)
  const again = yield* store.append(request)
  yield* claim(
    again.replayed && again.last === appended.last,
    `a repeated batch is recognised: still record ${appended.last}`,
    again
  )
  yield* store.materialize(second)
  const other = { ...batch, batchId: Ids.BatchId.make("late") }
  const refused = yield* Effect.flip(store.append({ ...request, batch: other, expectedTail: appended.tail }))
  yield* claim(
    refused instanceof StoreError.FenceRejected,
    `a second producer fences the first: ${refused.message}`,
    refused
  )
})
