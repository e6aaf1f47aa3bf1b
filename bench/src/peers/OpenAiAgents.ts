/**
 * The memory session of OpenAI Agents: an item for each message and call, in one array.
 */
import { messagesOf } from "../Messages.ts"
import { importPackage, versionOf } from "./Packages.ts"
import type { Peer } from "./Peer.ts"

export const find = async (): Promise<Peer> => {
  const { MemorySession } = await importPackage<Agents>(name, ["MemorySession"])
  return {
    name: "OpenAI Agents MemorySession",
    version: versionOf(name),
    durability: ["memory"],
    open: async () => {
      const session = new MemorySession({ sessionId: "measured" })
      return {
        append: (records) =>
          session.addItems(
            messagesOf(records).flatMap((message): ReadonlyArray<object> => {
              switch (message.role) {
                case "user":
                  return [{ role: "user", content: message.text }]
                case "assistant": {
                  const content = [{ type: "output_text", text: message.text }]
                  const calls = message.calls.map(({ id, name, params }) => {
                    return { type: "function_call", callId: id, name, arguments: JSON.stringify(params) }
                  })
                  return [{ role: "assistant", status: "completed", content }, ...calls]
                }
                case "tool": {
                  const { callId, name, result } = message
                  const output = { type: "text", text: JSON.stringify(result) }
                  return [{ type: "function_call_result", callId, name, status: "completed", output }]
                }
              }
            })
          ),
        resume: async () => (await session.getItems()).length,
        close: async () => undefined
      }
    }
  }
}

// --- internal ---

const name = "@openai/agents"

interface Agents {
  readonly MemorySession: new (options: { readonly sessionId: string }) => {
    readonly addItems: (items: ReadonlyArray<object>) => Promise<void>
    readonly getItems: () => Promise<ReadonlyArray<object>>
  }
}
