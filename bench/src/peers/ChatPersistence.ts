/**
 * Effect AI's `Chat.Persistence` over SQLite: the whole history as one value, saved after each change. It needs nothing
 * that the workspace does not have.
 */
import { SqliteClient } from "@effect/sql-sqlite-node"
import * as Chat from "effect/ai/Chat"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Persistence from "effect/persistence/Persistence"
import * as Ref from "effect/Ref"
import * as SqlClient from "effect/sql/SqlClient"
import { join } from "node:path"
import { type Message, messagesOf } from "../Messages.ts"
import { effectVersion } from "../Machine.ts"
import type { Peer } from "./Peer.ts"

export const find = async (): Promise<Peer> => ({
  name: "Effect Chat.Persistence (SQLite)",
  version: effectVersion(),
  durability: ["full", "normal"],
  open: async ({ directory, synchronous }) => {
    const sqlite = SqliteClient.layer({ filename: join(directory, "chat.db") })
    const runtime = ManagedRuntime.make(
      Chat.layerPersisted({ storeId: "desk" }).pipe(
        Layer.provide(Persistence.layerBackingSql),
        Layer.provideMerge(sqlite)
      )
    )
    await runtime.runPromise(SqlClient.SqlClient.use((sql) => sql.unsafe(`PRAGMA synchronous = ${synchronous}`)))
    const chat = await runtime.runPromise(Chat.Persistence.use((chats) => chats.getOrCreate("measured")))
    return {
      append: (records) => {
        const messages = Prompt.fromMessages(messagesOf(records).map(toMessage))
        return runtime.runPromise(
          Effect.andThen(
            Ref.update(chat.history, (history) => Prompt.concat(history, messages)),
            chat.save
          )
        )
      },
      resume: () =>
        runtime.runPromise(
          Effect.gen(function* () {
            const chats = yield* Chat.Persistence
            const loaded = yield* chats.get("measured")
            return (yield* Ref.get(loaded.history)).content.length
          })
        ),
      close: () => runtime.dispose()
    }
  }
})

// --- internal ---

const toMessage = (message: Message): Prompt.Message => {
  switch (message.role) {
    case "user":
      return Prompt.makeMessage("user", { content: [Prompt.makePart("text", { text: message.text })] })
    case "assistant":
      return Prompt.makeMessage("assistant", {
        content: [
          Prompt.makePart("text", { text: message.text }),
          ...message.calls.map((call) => Prompt.makePart("tool-call", { ...call, providerExecuted: false }))
        ]
      })
    case "tool": {
      const { callId: id, name, result } = message
      return Prompt.makeMessage("tool", {
        content: [Prompt.makePart("tool-result", { id, name, result, isFailure: false, providerExecuted: false })]
      })
    }
  }
}
