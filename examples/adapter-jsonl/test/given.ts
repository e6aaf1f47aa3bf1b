/** Short words for what the tests write and read. */
import type { Batch } from "@colloquy/session/CanonicalRecord"
import { BatchId, ConversationId, ProducerId, RecordId } from "@colloquy/session/Ids"
import { ConversationStore, Tenants } from "@colloquy/store/ConversationStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as JsonlStorage from "../src/JsonlStorage.ts"

type Store = ConversationStore["Service"]

export const conversationId = ConversationId.make("conversation")

export const batch = (id: string, text = id): Batch => ({
  batchId: BatchId.make(id),
  records: ["a", "b"].map((name) => ({
    recordId: RecordId.make(`${id}/${name}`),
    at: 0,
    payload: { _tag: "Custom", name, data: text }
  }))
})

/** Runs with a store that has the folder while it runs: each use is a process of its own. */
export const using = <A, E>(
  folder: string,
  use: (store: Store, tenants: Tenants["Service"]) => Effect.Effect<A, E>
): Effect.Effect<A, E | Layer.Error<ReturnType<typeof JsonlStorage.layer>>> =>
  Effect.scoped(
    Effect.flatMap(Layer.build(JsonlStorage.layer({ folder })), (context) =>
      use(Context.get(context, ConversationStore), Context.get(context, Tenants))
    )
  )

/**
 * Takes the conversation over, and creates it with a batch of its own if it is empty; each call of what it gives appends a
 * batch behind the last one.
 */
export const takeOver = Effect.fnUntraced(function* (store: Store, id: ConversationId = conversationId) {
  const producerId = ProducerId.make(`process ${process.pid}`)
  const { epoch, tail } = yield* store.materialize({ conversationId: id, producerId })
  const owner = { conversationId: id, epoch, producerId, expectedTail: tail }
  const append = (batch: Batch) =>
    Effect.tap(
      Effect.suspend(() => store.append({ ...owner, batch })),
      ({ tail }) =>
        Effect.sync(() => {
          owner.expectedTail = tail
        })
    )
  if (tail.sequence === 0) yield* append(created)
  return { owner, append }
})

const created: Batch = {
  batchId: BatchId.make("created"),
  records: [{ recordId: RecordId.make("created"), at: 0, payload: { _tag: "ConversationCreated" } }]
}

/** A conversation with a batch of two records for each of these texts. */
export const written = Effect.fnUntraced(function* (store: Store, texts: ReadonlyArray<string>, id = conversationId) {
  const { append, owner } = yield* takeOver(store, id)
  for (const text of texts) yield* append(batch(text))
  return owner
})

/** The ids of the records behind the first one, of a log whose digests are all right. */
export const intact = Effect.fnUntraced(function* (store: Store) {
  const { faults } = yield* store.verify({ conversationId })
  if (faults.length > 0) return yield* Effect.die(faults)
  return (yield* Stream.runCollect(store.read({ conversationId, after: 1 }))).map(({ recordId }) => String(recordId))
})
