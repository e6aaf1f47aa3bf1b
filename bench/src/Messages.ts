/**
 * The same conversation as messages, for those who keep nothing else: starts and ends of runs and calls have none.
 */
import type { NewRecord } from "./Workload.ts"

export type Message =
  | { readonly role: "user"; readonly id: string; readonly text: string }
  | {
      readonly role: "assistant"
      readonly id: string
      readonly text: string
      readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly params: unknown }>
    }
  | {
      readonly role: "tool"
      readonly id: string
      readonly callId: string
      readonly name: string
      readonly result: unknown
    }

export const messagesOf = (records: ReadonlyArray<NewRecord>): ReadonlyArray<Message> =>
  records.flatMap(({ payload, recordId: id }): ReadonlyArray<Message> => {
    switch (payload._tag) {
      case "InputRecorded": {
        const { content } = payload.message
        const text = typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : ""))
        return [{ role: "user", id, text: typeof text === "string" ? text : text.join("") }]
      }
      case "ModelResponded":
        return [
          {
            role: "assistant",
            id,
            text: payload.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
            calls: payload.content.filter((part) => part.type === "tool-call")
          }
        ]
      case "ToolCallSettled":
        return [{ role: "tool", id, callId: payload.callId, name: payload.name, result: payload.result }]
      default:
        return []
    }
  })
