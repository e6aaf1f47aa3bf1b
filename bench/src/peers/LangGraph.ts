/**
 * LangGraph's SQLite checkpointer: a checkpoint of all messages for each append, as a graph with a messages channel
 * writes one after each step. The pending writes that a graph stores besides are left out, in its favour.
 */
import { join } from "node:path"
import { type Message, messagesOf } from "../Messages.ts"
import { importPackage, versionOf } from "./Packages.ts"
import type { Peer } from "./Peer.ts"

export const find = async (): Promise<Peer> => {
  const { SqliteSaver } = await importPackage<Saver>(name, ["SqliteSaver"])
  const { emptyCheckpoint, uuid6 } = await importPackage<Checkpoints>("@langchain/langgraph-checkpoint", [
    "emptyCheckpoint",
    "uuid6"
  ])
  const messageClasses = ["AIMessage", "HumanMessage", "ToolMessage"] as const
  const classes = await importPackage<Messages>("@langchain/core/messages", messageClasses)

  const toMessage = (message: Message): object => {
    switch (message.role) {
      case "user":
        return new classes.HumanMessage({ id: message.id, content: message.text })
      case "assistant": {
        const calls = message.calls.map(({ id, name, params }) => ({ id, name, args: params, type: "tool_call" }))
        return new classes.AIMessage({ id: message.id, content: message.text, tool_calls: calls })
      }
      case "tool": {
        const { callId, id, name, result } = message
        return new classes.ToolMessage({ id, tool_call_id: callId, name, content: JSON.stringify(result) })
      }
    }
  }

  return {
    name: "LangGraph checkpointer (SQLite)",
    version: versionOf(name),
    durability: ["full", "normal"],
    open: async ({ directory, synchronous }) => {
      const saver = SqliteSaver.fromConnString(join(directory, "langgraph.db"))
      saver.db.pragma("journal_mode = WAL")
      saver.db.pragma(`synchronous = ${synchronous}`)
      const thread: Config = { configurable: { thread_id: "measured", checkpoint_ns: "" } }
      let config = thread
      let messages: ReadonlyArray<object> = []
      let step = 0
      return {
        append: async (records) => {
          messages = [...messages, ...messagesOf(records).map(toMessage)]
          const checkpoint = {
            ...emptyCheckpoint(),
            id: uuid6(step),
            channel_values: { messages },
            channel_versions: { messages: ++step }
          }
          config = await saver.put(config, checkpoint, { source: "loop", step, parents: {} })
        },
        resume: async () => (await saver.getTuple(thread))?.checkpoint.channel_values.messages?.length ?? 0,
        close: async () => saver.db.close()
      }
    }
  }
}

// --- internal ---

const name = "@langchain/langgraph-checkpoint-sqlite"

interface Config {
  readonly configurable: { readonly thread_id: string; readonly checkpoint_ns: string; readonly checkpoint_id?: string }
}

interface Saver {
  readonly SqliteSaver: {
    readonly fromConnString: (path: string) => {
      readonly db: { readonly pragma: (sql: string) => unknown; readonly close: () => void }
      readonly put: (config: Config, checkpoint: object, metadata: object) => Promise<Config>
      readonly getTuple: (config: Config) => Promise<
        | {
            readonly checkpoint: { readonly channel_values: { readonly messages?: ReadonlyArray<unknown> } }
          }
        | undefined
      >
    }
  }
}

interface Checkpoints {
  readonly emptyCheckpoint: () => object
  readonly uuid6: (clockSequence: number) => string
}

interface Messages {
  readonly HumanMessage: new (fields: object) => object
  readonly AIMessage: new (fields: object) => object
  readonly ToolMessage: new (fields: object) => object
}
