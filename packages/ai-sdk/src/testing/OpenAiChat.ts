/**
 * OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat
 *
 * With `reasoning_content` for the reasoning of compatible servers.
 */
import { event, events, fragments, json, type Piece, type Reply, type Request } from "./Server.ts"
import { type Block, interleave, stopOf, type Turn, usageOf } from "./Turn.ts"

/** A reply in the manner that the request asks for. */
export const reply =
  (turn: Turn) =>
  (request: Request): Reply =>
    request.body["stream"] === true ? events(stream(turn)) : json(200, whole(turn))

/** All events, with the end of the stream. */
export const stream = (turn: Turn): ReadonlyArray<Piece> => [...content(turn), ...ending(turn)]

/** The events of what the model says. */
export const content = (turn: Turn): ReadonlyArray<Piece> => [
  delta({ role: "assistant", content: "" }),
  ...turn.content.filter(({ type }) => type !== "call").flatMap(said),
  ...interleave(turn.content.filter((block) => block.type === "call").map(call))
]

const ending = (turn: Turn): ReadonlyArray<Piece> => [
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: finishReason[stopOf(turn)] }] }),
  chunk({ choices: [], usage: usage(turn) }),
  event("[DONE]")
]

export const error = (
  status: number,
  error: { readonly message: string; readonly type?: string; readonly code?: string | null; readonly param?: string },
  headers?: Readonly<Record<string, string>>
): Reply => json(status, { error: { type: "invalid_request_error", param: null, code: null, ...error } }, headers)

// --- internal ---

const finishReason = { calls: "tool_calls", filter: "content_filter", length: "length", pause: "stop", stop: "stop" }

const base = { id: "chatcmpl-1", created: 1_700_000_000, model: "served-model" }

const chunk = (fields: object): string => event({ ...base, object: "chat.completion.chunk", ...fields })

const delta = (delta: object): string => chunk({ choices: [{ index: 0, delta, finish_reason: null }] })

const said = (block: Block): ReadonlyArray<Piece> => {
  switch (block.type) {
    case "text":
      return fragments(block.text, 3).map((content) => delta({ content }))
    case "refusal":
      return fragments(block.text, 2).map((refusal) => delta({ refusal }))
    case "reasoning":
      return fragments(block.text, 2).map((reasoning_content) => delta({ reasoning_content }))
    default:
      return []
  }
}

const call = (block: Extract<Block, { type: "call" }>, index: number): ReadonlyArray<Piece> => [
  delta({ tool_calls: [{ index, id: block.id, type: "function", function: { name: block.name, arguments: "" } }] }),
  ...fragments(block.arguments, 4).map((part) => delta({ tool_calls: [{ index, function: { arguments: part } }] }))
]

const usage = (turn: Turn) => {
  const { cacheRead, input, output, reasoning } = usageOf(turn)
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning }
  }
}

const joined = (turn: Turn, type: "reasoning" | "refusal" | "text"): string | null => {
  const texts = turn.content.flatMap((block) => (block.type === type ? [block.text] : []))
  return texts.length === 0 ? null : texts.join("")
}

const whole = (turn: Turn) => {
  const calls = turn.content.flatMap((block) =>
    block.type === "call"
      ? [{ id: block.id, type: "function", function: { name: block.name, arguments: block.arguments } }]
      : []
  )
  const reasoning = joined(turn, "reasoning")
  const message = {
    role: "assistant",
    content: joined(turn, "text"),
    refusal: joined(turn, "refusal"),
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls })
  }
  return {
    ...base,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: finishReason[stopOf(turn)] }],
    usage: usage(turn)
  }
}
