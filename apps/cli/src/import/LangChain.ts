/**
 * Reads messages of LangChain and LangGraph: as `messages_to_dict` stores them (`type` and `data`), as `dumps` does (`lc`,
 * `id`, `kwargs`), and flat, as the state of a thread has them; and such a state itself. See
 * https://docs.langchain.com/oss/python/langchain/messages
 *
 * What a response says of itself beside model, reason and usage becomes a note. Not kept are a second copy of the calls in
 * `additional_kwargs` or in the content, fields that are empty, and a sum of tokens that is right.
 */
import * as Usage from "@colloquy/session/Usage"
import type * as Prompt from "effect/ai/Prompt"
import type { FinishReason } from "effect/ai/Response"
import { parseArguments } from "./Arguments.ts"
import * as Content from "./Content.ts"
import { FieldReader } from "./FieldReader.ts"
import { type Fields, isFields, present } from "./Fields.ts"
import { readContent } from "./LangChainContent.ts"
import { toTranscript } from "./Metadata.ts"
import type { Conversation } from "./OpenAiChat.ts"
import type { RepairKind } from "./Repair.ts"
import { fieldsNote, type Item, type Place, repairNote, type Transcript } from "./Transcript.ts"

/** Whether a JSON value is one message. */
export const isMessage = (u: unknown): boolean => isFields(u) && !("role" in u) && unwrap(u) !== undefined

/**
 * The conversation in the state of a thread, as LangGraph's API and its checkpoints give it: the messages among its values,
 * under the thread's id. What else the state says stays in its place.
 */
export const stateConversation = (u: unknown): Conversation | undefined => {
  if (!isFields(u)) return undefined
  const name = (["values", "channel_values"] as const).find((name) => isFields(u[name]))
  const values = name === undefined ? undefined : u[name]
  if (name === undefined || !isFields(values) || !Array.isArray(values["messages"])) return undefined
  const { messages, ...others } = values
  const { [name]: _, ...rest } = u
  return {
    ...present({ id: rest["thread_id"] ?? threadOf(rest["config"]) }),
    ...rest,
    ...(Object.keys(others).length === 0 ? {} : { [name]: others }),
    messages
  }
}

/** Reads a conversation whose text begins at this line. Total: what is no message becomes a note. */
export const parse = (conversation: Conversation, line: number): Transcript =>
  toTranscript(
    conversation,
    line,
    conversation.messages.flatMap((message, i) => readMessage(message, { line, message: i + 1 }))
  )

// --- internal ---

const threadOf = (config: unknown): unknown =>
  isFields(config) && isFields(config["configurable"]) ? config["configurable"]["thread_id"] : undefined

const classes: ReadonlyMap<unknown, string> = new Map(
  ["Human", "AI", "System", "Tool", "Function", "Chat"].flatMap((name) => [
    [`${name}Message`, name.toLowerCase()],
    [`${name}MessageChunk`, name.toLowerCase()],
    [name.toLowerCase(), name.toLowerCase()]
  ])
)

/** What kind of message it is, and its fields, however it is wrapped. */
const unwrap = (message: Fields): { readonly kind: string; readonly fields: Fields } | undefined => {
  if (message["lc"] !== undefined && Array.isArray(message["id"]) && isFields(message["kwargs"])) {
    const kind = classes.get(message["id"].at(-1))
    return kind === undefined ? undefined : { kind, fields: message["kwargs"] }
  }
  const kind = classes.get(message["type"])
  if (kind === undefined) return undefined
  const { data, type: _, ...flat } = message
  return isFields(data) ? { kind, fields: { ...flat, ...data } } : { kind, fields: flat }
}

const readMessage = (message: unknown, place: Place): ReadonlyArray<Item> => {
  const wrapped = isFields(message) ? unwrap(message) : undefined
  if (wrapped === undefined) return [repairNote("unknown-message", message, place)]
  const { kind } = wrapped
  const fields = new FieldReader(wrapped.fields)
  fields.take("type", (u) => (classes.has(u) ? u : undefined))
  fields.take("example", (u) => (u === false ? u : undefined))
  for (const name of [
    "additional_kwargs",
    "response_metadata",
    "tool_calls",
    "invalid_tool_calls",
    "tool_call_chunks"
  ]) {
    fields.take(name, (u) => (isEmpty(u) ? true : undefined))
  }
  const rest = () => fieldsNote(fields.rest(), place, undefined)
  const odd = (parts: ReadonlyArray<unknown>) => parts.map((part) => repairNote("unknown-part", part, place))
  const author = fields.text("name")
  // A message of any role; those of a person are inputs.
  const role = kind === "chat" ? fields.text("role") : undefined
  switch (kind === "chat" && (role === "user" || role === "human") ? "human" : kind) {
    case "system": {
      const { content, unknown } = readContent(fields, new Set())
      const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
      return [{ _tag: "System", text, place }, ...odd(unknown), ...rest()]
    }
    case "human": {
      const { content, unknown } = readContent(fields, new Set())
      const input = content.filter((part) => part.type === "text" || part.type === "file")
      const inputId = fields.text("id")
      return [{ _tag: "Input", content: input, author, inputId, place }, ...odd(unknown), ...rest()]
    }
    case "ai":
      return readResponse(fields, place, author)
    case "tool":
    case "function": {
      const isFailure = fields.take("status", (u) => (u === "success" || u === "error" ? u : undefined)) === "error"
      const callId = fields.text("tool_call_id") ?? ""
      const { modelOutput, result } = Content.readResult(
        fields.take("content", (u) => u),
        "langchain"
      )
      const own = present({ id: fields.text("id"), artifact: fields.take("artifact", (u) => u ?? undefined) })
      const note: Item = { _tag: "Note", name: "langchain.tool", data: own, place }
      return [
        { _tag: "Result", callId, name: author, isFailure, result, modelOutput, place },
        ...(Object.keys(own).length === 0 ? [] : [note]),
        ...rest()
      ]
    }
    default:
      return [repairNote("unknown-message", message, place)]
  }
}

const isEmpty = (u: unknown): boolean =>
  Array.isArray(u) ? u.length === 0 : isFields(u) ? Object.keys(u).length === 0 : false

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ["stop", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content-filter"],
  ["tool_calls", "tool-calls"],
  ["tool_use", "tool-calls"]
])

const readResponse = (fields: FieldReader, place: Place, author: string | undefined): ReadonlyArray<Item> => {
  const repairs: Array<RepairKind> = []
  const odd: Array<unknown> = []
  const calls = [
    ...readCalls(fields, "tool_calls", repairs, odd),
    ...readCalls(fields, "invalid_tool_calls", repairs, odd)
  ]
  const more = fields.within("additional_kwargs", (kwargs) => {
    const reasoning = kwargs.text("reasoning_content")
    const copies = kwargs.take("tool_calls", (u) => (Array.isArray(u) && calls.length > 0 ? u : undefined))
    kwargs.take("refusal", (u) => (u === null ? true : undefined))
    return { reasoning, copies }
  })
  const { content, unknown } = readContent(fields, new Set(calls.map(({ id }) => id)))
  const usage = fields.within("usage_metadata", readUsage)
  const about = fields.within("response_metadata", (metadata) => ({
    model: metadata.text("model_name") ?? metadata.text("model"),
    provider: metadata.text("model_provider"),
    finishReason:
      metadata.take("finish_reason", (u) => finishReasons.get(u)) ??
      metadata.take("stop_reason", (u) => finishReasons.get(u))
  }))
  const metadata = fields.take("response_metadata", (u) => (isFields(u) ? u : undefined))
  const reasoning: ReadonlyArray<Prompt.AssistantMessagePartEncoded> =
    more?.reasoning === undefined ? [] : [{ type: "reasoning", text: more.reasoning }]
  return [
    {
      _tag: "Response",
      content: [...reasoning, ...content, ...calls],
      end: "complete",
      finishReason: about?.finishReason ?? "unknown",
      provider: about?.provider,
      model: about?.model,
      responseId: fields.text("id"),
      usage,
      place,
      repairs
    },
    ...[...unknown, ...odd].map((part) => repairNote("unknown-part", part, place)),
    ...(metadata === undefined && author === undefined
      ? []
      : [{ _tag: "Note" as const, name: "langchain.metadata", data: present({ name: author, metadata }), place }]),
    ...fieldsNote(fields.rest(), place, undefined)
  ]
}

const readCalls = (
  fields: FieldReader,
  name: string,
  repairs: Array<RepairKind>,
  odd: Array<unknown>
): ReadonlyArray<Prompt.ToolCallPartEncoded> =>
  (fields.take(name, (u) => (Array.isArray(u) ? u : undefined)) ?? []).flatMap((call: unknown) => {
    const read = isFields(call) ? readCall(call, repairs) : undefined
    if (read === undefined) odd.push(call)
    return read === undefined ? [] : [read]
  })

const readCall = (call: Fields, repairs: Array<RepairKind>): Prompt.ToolCallPartEncoded | undefined => {
  const fields = new FieldReader(call)
  const name = fields.text("name")
  if (name === undefined) return undefined
  fields.take("type", (u) => (u === "tool_call" || u === "invalid_tool_call" ? u : undefined))
  const { isText, params } = parseArguments(fields.take("args", (u) => u))
  if (isText) repairs.push("unparsable-arguments")
  return {
    type: "tool-call",
    id: fields.text("id") ?? "",
    name,
    params,
    ...Content.withOptions("langchain", fields.rest())
  }
}

const readUsage = (usage: FieldReader): Usage.Usage => {
  const input = usage.count("input_tokens")
  const output = usage.count("output_tokens")
  usage.take("total_tokens", (u) => (u === (input ?? 0) + (output ?? 0) ? u : undefined))
  const details = usage.within("input_token_details", (details) => ({
    cacheRead: details.count("cache_read"),
    cacheWrite: details.count("cache_creation")
  }))
  return Usage.fromResponse({
    inputTokens: { total: input, cacheRead: details?.cacheRead, cacheWrite: details?.cacheWrite, uncached: undefined },
    outputTokens: {
      total: output,
      reasoning: usage.within("output_token_details", (details) => details.count("reasoning")),
      text: undefined
    }
  })
}
