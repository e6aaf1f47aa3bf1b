/**
 * Reads a conversation in OpenAI's chat form: `{ id?, title?, messages, … }`, or its bare messages.
 *
 * Known are the roles system, developer, user, assistant, tool and the older function, content as text or as parts, calls
 * in `tool_calls` or the older `function_call`, and what others have added: `reasoning_content`, `usage`, `model`,
 * `finish_reason` and a time on a message. See https://platform.openai.com/docs/api-reference/chat
 *
 * Fields that are not known, and known ones with a value that cannot be read, become a note; those of a call or a part
 * stand in its options. Not kept are the place of a call among the others and a sum of tokens that is right.
 */
import * as Usage from "@colloquy/session/Usage"
import type * as Prompt from "effect/ai/Prompt"
import type { FinishReason } from "effect/ai/Response"
import { parseArguments } from "./Arguments.ts"
import * as Content from "./Content.ts"
import { FieldReader } from "./FieldReader.ts"
import { asIs, asText, type Fields, isFields } from "./Fields.ts"
import { toTranscript } from "./Metadata.ts"
import type { RepairKind } from "./Repair.ts"
import { fieldsNote, type Item, type Place, repairNote, type Transcript } from "./Transcript.ts"

/** Whether a JSON value is one conversation. */
export const isConversation = (u: unknown): u is Conversation => isFields(u) && Array.isArray(u["messages"])

/** Whether a JSON value is one message. */
export const isMessage = (u: unknown): boolean => isFields(u) && typeof u["role"] === "string"

export interface Conversation extends Fields {
  readonly messages: ReadonlyArray<unknown>
}

/** Reads a conversation whose text begins at this line. Total: what is no message becomes a note. */
export const parse = (conversation: Conversation, line: number): Transcript => {
  const model = asText(conversation["model"])
  return toTranscript(
    conversation,
    line,
    conversation.messages.flatMap((message, i) => readMessage(message, { line, message: i + 1 }, model))
  )
}

// --- internal ---

const readMessage = (message: unknown, place: Place, model: string | undefined): ReadonlyArray<Item> => {
  if (!isFields(message)) return [repairNote("unknown-message", message, place)]
  const fields = new FieldReader(message)
  const at = fields.millis("timestamp", "created_at", "created")
  const odd = (parts: ReadonlyArray<unknown>) => parts.map((part) => repairNote("unknown-part", part, place, at))
  const content = fields.take("content", asIs)
  switch (fields.text("role")) {
    case "system":
    case "developer": {
      const { parts, unknown } = Content.read(content, "openai")
      const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
      const files = parts.filter(({ type }) => type !== "text")
      return [
        { _tag: "System", text, place, at },
        ...odd([...unknown, ...files]),
        ...fieldsNote(fields.rest(), place, at)
      ]
    }
    case "user": {
      const { parts, unknown } = Content.read(content, "openai")
      return [
        { _tag: "Input", content: parts, author: fields.text("name"), place, at },
        ...odd(unknown),
        ...fieldsNote(fields.rest(), place, at)
      ]
    }
    case "assistant": {
      const { parts, unknown } = Content.read(content, "openai")
      const { calls, odd: oddCalls, repairs } = readCalls(fields)
      const response: Item = {
        _tag: "Response",
        content: [...readReasoning(fields), ...parts, ...readRefusal(fields), ...calls],
        end: "complete",
        finishReason: fields.take("finish_reason", (u) => finishReasons.get(u)) ?? "unknown",
        provider: fields.text("provider"),
        model: fields.text("model") ?? model,
        responseId: fields.text("id"),
        usage: fields.within("usage", readUsage),
        place,
        at,
        repairs
      }
      return [response, ...odd([...unknown, ...oddCalls]), ...fieldsNote(fields.rest(), place, at)]
    }
    case "tool":
    case "function": {
      const { modelOutput, result } = Content.readResult(content, "openai")
      const callId = fields.text("tool_call_id") ?? ""
      return [
        { _tag: "Result", callId, name: fields.text("name"), isFailure: false, result, modelOutput, place, at },
        ...fieldsNote(fields.rest(), place, at)
      ]
    }
    default:
      return [repairNote("unknown-message", message, place, at)]
  }
}

/** Reasoning has two names; where a message has both, the second is read only if it says the same. */
const readReasoning = (message: FieldReader): ReadonlyArray<Prompt.AssistantMessagePartEncoded> => {
  const first = message.text("reasoning_content")
  const text = message.take("reasoning", (u) => (!first || u === first ? asText(u) : undefined)) ?? first
  return text === undefined || text === "" ? [] : [{ type: "reasoning", text }]
}

const readRefusal = (message: FieldReader): ReadonlyArray<Prompt.AssistantMessagePartEncoded> => {
  const text = message.text("refusal")
  return text === undefined || text === "" ? [] : [Content.refusalPart(text)]
}

const readCalls = (message: FieldReader) => {
  const calls: Array<Prompt.ToolCallPartEncoded> = []
  const odd: Array<unknown> = []
  const repairs: Array<RepairKind> = []
  const newer = message.take("tool_calls", asIs)
  const older = message.take("function_call", asIs)
  const all = [
    ...(Array.isArray(newer) ? newer : newer === undefined || newer === null ? [] : [newer]),
    ...(older === undefined || older === null ? [] : [{ function: older }])
  ]
  for (const call of all) {
    const part = isFields(call) ? readCall(call, repairs) : undefined
    if (part === undefined) odd.push(call)
    else calls.push(part)
  }
  return { calls, odd, repairs }
}

const readCall = (call: Fields, repairs: Array<RepairKind>): Prompt.ToolCallPartEncoded | undefined => {
  const fields = new FieldReader(call)
  const id = fields.text("id") ?? ""
  fields.take("type", (u) => (u === "function" || u === "custom" ? u : undefined))
  // Where it stood among the calls while they arrived.
  fields.count("index")
  const tool = fields.within(isFields(call["function"]) ? "function" : "custom", (tool) => {
    const name = tool.text("name")
    const input = tool.take("input", asIs)
    return {
      name,
      ...(input === undefined ? parseArguments(tool.take("arguments", asIs)) : { params: input, isText: false })
    }
  })
  if (tool?.name === undefined) return undefined
  if (tool.isText) repairs.push("unparsable-arguments")
  return {
    type: "tool-call",
    id,
    name: tool.name,
    params: tool.params ?? {},
    ...Content.withOptions("openai", fields.rest())
  }
}

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["content_filter", "content-filter"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"]
])

const readUsage = (usage: FieldReader): Usage.Usage => {
  const input = usage.count("prompt_tokens")
  const output = usage.count("completion_tokens")
  // The sum says nothing of its own.
  usage.take("total_tokens", (u) => (u === (input ?? 0) + (output ?? 0) ? u : undefined))
  return Usage.fromResponse({
    inputTokens: {
      total: input,
      cacheRead: usage.within("prompt_tokens_details", (details) => details.count("cached_tokens")),
      uncached: undefined,
      cacheWrite: undefined
    },
    outputTokens: {
      total: output,
      reasoning: usage.within("completion_tokens_details", (details) => details.count("reasoning_tokens")),
      text: undefined
    }
  })
}
