/**
 * Anthropic's messages: https://docs.anthropic.com/en/api/messages and messages-streaming
 */
import { event, events, fragments, json, type Piece, type Reply, type Request } from "./Server.ts"
import { type Block, stopOf, type Turn, usageOf } from "./Turn.ts"

/** A reply in the manner that the request asks for. */
export const reply =
  (turn: Turn) =>
  (request: Request): Reply =>
    request.body["stream"] === true ? events(stream(turn)) : json(200, whole(turn))

/** All events, with the end of the stream. */
export const stream = (turn: Turn): ReadonlyArray<Piece> => [...content(turn), ...ending(turn)]

/** The events of what the model says. */
export const content = (turn: Turn): ReadonlyArray<Piece> => [
  named("message_start", { message: { ...whole(turn), content: [], stop_reason: null } }),
  named("ping", {}),
  ...turn.content.flatMap((block, index) => [
    named("content_block_start", { index, content_block: started(block) }),
    ...deltas(block).map((delta) => named("content_block_delta", { index, delta })),
    named("content_block_stop", { index })
  ])
]

const ending = (turn: Turn): ReadonlyArray<Piece> => [
  named("message_delta", {
    delta: { stop_reason: stopReason[stopOf(turn)], stop_sequence: null },
    usage: { output_tokens: usageOf(turn).output }
  }),
  named("message_stop", {})
]

/** An error within a stream, as the body of an answer is one too. */
export const errorEvent = (type: string, message: string): Piece => named("error", { error: { type, message } })

export const error = (
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {}
): Reply => json(status, { type: "error", error: { type, message } }, { "request-id": "req_1", ...headers })

// --- internal ---

const named = (type: string, fields: object): string => event({ type, ...fields }, type)

const stopReason = {
  calls: "tool_use",
  filter: "refusal",
  length: "max_tokens",
  pause: "pause_turn",
  stop: "end_turn"
}

const started = (block: Block): object => {
  switch (block.type) {
    case "text":
    case "refusal":
      return { type: "text", text: "" }
    case "reasoning":
      return { type: "thinking", thinking: "", signature: "" }
    case "redacted":
      return { type: "redacted_thinking", data: block.data }
    case "call":
      return { type: "tool_use", id: block.id, name: block.name, input: {} }
  }
}

const deltas = (block: Block): ReadonlyArray<object> => {
  switch (block.type) {
    case "text":
    case "refusal":
      return fragments(block.text, 3).map((text) => ({ type: "text_delta", text }))
    case "reasoning":
      return [
        ...fragments(block.text, 2).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: block.seal ?? "" }
      ]
    case "redacted":
      return []
    case "call":
      return fragments(block.arguments, 4).map((partial_json) => ({ type: "input_json_delta", partial_json }))
  }
}

const finished = (block: Block): object => {
  switch (block.type) {
    case "text":
    case "refusal":
      return { type: "text", text: block.text }
    case "reasoning":
      return { type: "thinking", thinking: block.text, signature: block.seal ?? "" }
    case "redacted":
      return { type: "redacted_thinking", data: block.data }
    case "call":
      return { type: "tool_use", id: block.id, name: block.name, input: JSON.parse(block.arguments) }
  }
}

const whole = (turn: Turn) => {
  const { cacheRead, cacheWrite, input, output } = usageOf(turn)
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "served-model",
    // Arguments that are no JSON can only be streamed.
    content: turn.content.some(isUnparsable) ? [] : turn.content.map(finished),
    stop_reason: stopReason[stopOf(turn)],
    stop_sequence: null,
    usage: {
      input_tokens: input,
      output_tokens: output,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite
    }
  }
}

const isUnparsable = (block: Block): boolean => {
  if (block.type !== "call") return false
  try {
    JSON.parse(block.arguments)
    return false
  } catch {
    return true
  }
}
