/**
 * Mastra's libSQL store: a row for each message of a thread. It sets `synchronous` to normal itself.
 *
 * A resume reads the last messages, as its memory does: the one peer here that need not read everything.
 */
import { join } from "node:path"
import { type Message, messagesOf } from "../Messages.ts"
import { importPackage, versionOf } from "./Packages.ts"
import type { Peer } from "./Peer.ts"

export const find = async (): Promise<Peer> => {
  const { LibSQLStore } = await importPackage<Mastra>(name, ["LibSQLStore"])
  return {
    name: "Mastra (libSQL)",
    version: versionOf(name),
    durability: ["normal"],
    open: async ({ directory }) => {
      const store = new LibSQLStore({ id: "measured", url: `file:${join(directory, "mastra.db")}` })
      await store.init()
      const memory = await store.getStore("memory")
      if (memory === undefined) throw new Error("it has no memory domain")
      const now = new Date(1_764_500_000_000)
      const thread = { id: threadId, resourceId, title: "Where is my parcel?", createdAt: now, updatedAt: now }
      await memory.saveThread({ thread: { ...thread, metadata: {} } })
      let at = now.getTime()
      return {
        append: async (records) => {
          const messages = messagesOf(records).map((message) => toMessage(message, new Date(++at)))
          // A batch of starts alone is nothing to it.
          for (let from = 0; from < messages.length; from += most) {
            await memory.saveMessages({ messages: messages.slice(from, from + most) })
          }
        },
        resume: async () => {
          const orderBy = { field: "createdAt", direction: "DESC" } as const
          return (await memory.listMessages({ threadId, resourceId, perPage: visibleMessages, orderBy })).messages
            .length
        },
        close: () => store.close()
      }
    }
  }
}

// --- internal ---

const name = "@mastra/libsql"
const threadId = "measured"
const resourceId = "customer-7"

/** What it takes at once grows faster than the messages are many. */
const most = 200

/** What a window of 60 records holds in messages. */
const visibleMessages = 35

const toMessage = (message: Message, createdAt: Date): object => {
  const base = { id: message.id, threadId, resourceId, createdAt, type: "v2" }
  switch (message.role) {
    case "user":
      return { ...base, role: "user", content: { format: 2, parts: [{ type: "text", text: message.text }] } }
    case "assistant": {
      const calls = message.calls.map(({ id, name, params }) => ({
        type: "tool-invocation",
        toolInvocation: { state: "call", toolCallId: id, toolName: name, args: params }
      }))
      return {
        ...base,
        role: "assistant",
        content: { format: 2, parts: [{ type: "text", text: message.text }, ...calls] }
      }
    }
    case "tool": {
      const { callId, name, result } = message
      const toolInvocation = { state: "result", toolCallId: callId, toolName: name, args: {}, result }
      return {
        ...base,
        role: "assistant",
        content: { format: 2, parts: [{ type: "tool-invocation", toolInvocation }] }
      }
    }
  }
}

interface Mastra {
  readonly LibSQLStore: new (options: { readonly id: string; readonly url: string }) => {
    readonly init: () => Promise<void>
    readonly close: () => Promise<void>
    readonly getStore: (domain: "memory") => Promise<
      | {
          readonly saveThread: (request: { readonly thread: object }) => Promise<unknown>
          readonly saveMessages: (request: { readonly messages: ReadonlyArray<object> }) => Promise<unknown>
          readonly listMessages: (request: object) => Promise<{ readonly messages: ReadonlyArray<unknown> }>
        }
      | undefined
    >
  }
}
