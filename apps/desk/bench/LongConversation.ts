/** A conversation whose history is larger than what a system keeps for a reader that does not read. */
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import { ConversationId } from "@colloquy/session/Ids"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import * as Conversations from "@colloquy/store/Conversations"
import type { TenantId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const records = 60
const recordLength = 200_000

/** Writes it to a file that no server has open. */
export const write = Effect.fnUntraced(function* (filename: string, tenant: TenantId) {
  const conversationId = ConversationId.make("long")
  const stores = SqliteStorage.layer({ filename })
  const tail = yield* Effect.gen(function* () {
    const conversations = yield* Conversations.Conversations
    const writer = yield* conversations.open(conversationId, { title: "A long history" })
    const data = "x".repeat(recordLength)
    for (let i = 0; i < records; i++) yield* writer.append([{ _tag: "Custom", name: "load", data }])
    return writer.tail().sequence
  }).pipe(
    Effect.scoped,
    Effect.provide(Conversations.layer.pipe(Layer.provide(ConversationStore.withTenant(tenant)), Layer.provide(stores)))
  )
  return { conversationId, tail }
})
