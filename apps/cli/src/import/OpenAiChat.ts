/**
 * Reads a conversation in OpenAI's chat form: `{ id?, title?, messages, … }`, or its bare messages.
 *
 * Known are the roles system, developer, user, assistant, tool and the older function, content as text or as parts, calls
 * in `tool_calls` or the older `function_call`, and what others have added: `reasoning_content`, `usage`, `model`,
 * `finish_reason` and a time on a message. See https://platform.openai.com/docs/api-reference/chat
 */
import * as Usage from "@colloquy/session/Usage"
import type * as Prompt from "effect/ai/Prompt"
import type { FinishReason } from "effect/ai/Response"
import { parseArguments } from "./Arguments.ts"
import * as Content from "./Content.ts"
import { asMillis, asText, fieldNames, type Fields, isFields, others, present } from "./Fields.ts"
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
  const { id: givenId, messages, title: givenTitle, ...rest } = conversation
  const id = typeof givenId === "number" ? String(givenId) : asText(givenId)
  const title = asText(givenTitle)
  const metadata = {
    ...present({ id: id === undefined ? givenId : undefined, title: title === undefined ? givenTitle : undefined }),
    ...rest
  }
  return {
    id,
    title,
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    at: asMillis(rest["created_at"] ?? rest["created"]),
    place: { line },
    items: messages.flatMap((message, i) => readMessage(message, { line, message: i + 1 }, asText(rest["model"])))
  }
}

// --- internal ---

const known = {
  system: fieldNames("role content timestamp created_at created"),
  user: fieldNames("role content timestamp created_at created name"),
  assistant: fieldNames(
    "role content timestamp created_at created tool_calls function_call refusal reasoning_content reasoning " +
      "id model provider usage finish_reason"
  ),
  tool: fieldNames("role content timestamp created_at created tool_call_id name")
}

const readMessage = (message: unknown, place: Place, model: string | undefined): ReadonlyArray<Item> => {
  if (!isFields(message)) return [repairNote("unknown-message", message, place)]
  const at = asMillis(message["timestamp"] ?? message["created_at"] ?? message["created"])
  switch (message["role"]) {
    case "system":
    case "developer": {
      const { parts, unknown } = Content.read(message["content"], "openai")
      const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
      const files = parts.filter(({ type }) => type !== "text")
      const notes = [...unknown, ...files].map((part) => repairNote("unknown-part", part, place, at))
      return [{ _tag: "System", text, place, at }, ...notes, ...fieldsNote(message, known.system, place, at)]
    }
    case "user": {
      const { parts, unknown } = Content.read(message["content"], "openai")
      const notes = unknown.map((part) => repairNote("unknown-part", part, place, at))
      return [
        { _tag: "Input", content: parts, author: asText(message["name"]), place, at },
        ...notes,
        ...fieldsNote(message, known.user, place, at)
      ]
    }
    case "assistant":
      return [...readAssistant(message, place, at, model), ...fieldsNote(message, known.assistant, place, at)]
    case "tool":
    case "function": {
      const { modelOutput, result } = Content.readResult(message["content"], "openai")
      return [
        {
          _tag: "Result",
          callId: asText(message["tool_call_id"]) ?? "",
          name: asText(message["name"]),
          isFailure: false,
          result,
          modelOutput,
          place,
          at
        },
        ...fieldsNote(message, known.tool, place, at)
      ]
    }
    default:
      return [repairNote("unknown-message", message, place, at)]
  }
}

const readAssistant = (
  message: Fields,
  place: Place,
  at: number | undefined,
  model: string | undefined
): ReadonlyArray<Item> => {
  const { parts, unknown } = Content.read(message["content"], "openai")
  const repairs: Array<RepairKind> = []
  const content: Array<Prompt.AssistantMessagePartEncoded> = []
  const reasoning = asText(message["reasoning_content"]) ?? asText(message["reasoning"])
  if (reasoning !== undefined && reasoning !== "") content.push({ type: "reasoning", text: reasoning })
  content.push(...parts)
  const refusal = asText(message["refusal"])
  if (refusal !== undefined && refusal !== "") content.push(Content.refusalPart(refusal))
  const odd: Array<unknown> = [...unknown]
  for (const call of callsOf(message)) {
    const part = readCall(call, repairs)
    if (part === undefined) odd.push(call)
    else content.push(part)
  }
  return [
    {
      _tag: "Response",
      content,
      end: "complete",
      finishReason: finishReasons[asText(message["finish_reason"]) ?? ""] ?? "unknown",
      provider: asText(message["provider"]),
      model: asText(message["model"]) ?? model,
      responseId: asText(message["id"]),
      usage: readUsage(message["usage"]),
      place,
      at,
      repairs
    },
    ...odd.map((part) => repairNote("unknown-part", part, place, at))
  ]
}

const callsOf = (message: Fields): ReadonlyArray<unknown> => {
  const calls = message["tool_calls"]
  const older = message["function_call"]
  return [
    ...(Array.isArray(calls) ? calls : calls === undefined || calls === null ? [] : [calls]),
    ...(older === undefined || older === null ? [] : [{ function: older }])
  ]
}

const readCall = (call: unknown, repairs: Array<RepairKind>): Prompt.ToolCallPartEncoded | undefined => {
  if (!isFields(call)) return undefined
  const tool = call["function"] ?? call["custom"]
  if (!isFields(tool)) return undefined
  const name = asText(tool["name"])
  if (name === undefined) return undefined
  const rest = others(call, fieldNames("id type function custom index"))
  const parsed = "input" in tool ? { params: tool["input"], isText: false } : parseArguments(tool["arguments"])
  if (parsed.isText) repairs.push("unparsable-arguments")
  return {
    type: "tool-call",
    id: asText(call["id"]) ?? "",
    name,
    params: parsed.params ?? {},
    ...Content.withOptions("openai", rest)
  }
}

const finishReasons: { readonly [reason: string]: FinishReason | undefined } = {
  stop: "stop",
  length: "length",
  content_filter: "content-filter",
  tool_calls: "tool-calls",
  function_call: "tool-calls"
}

const readUsage = (usage: unknown): Usage.Usage | undefined => {
  if (!isFields(usage)) return undefined
  const prompt = isFields(usage["prompt_tokens_details"]) ? usage["prompt_tokens_details"] : {}
  const completion = isFields(usage["completion_tokens_details"]) ? usage["completion_tokens_details"] : {}
  return Usage.fromResponse({
    inputTokens: {
      total: asCount(usage["prompt_tokens"]),
      cacheRead: asCount(prompt["cached_tokens"]),
      uncached: undefined,
      cacheWrite: undefined
    },
    outputTokens: {
      total: asCount(usage["completion_tokens"]),
      reasoning: asCount(completion["reasoning_tokens"]),
      text: undefined
    }
  })
}

const asCount = (u: unknown): number | undefined => (typeof u === "number" ? u : undefined)
