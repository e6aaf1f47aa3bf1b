/**
 * OpenAI's responses: https://platform.openai.com/docs/api-reference/responses and responses-streaming
 */
import { event, events, fragments, json, type Piece, type Reply, type Request } from "./Server.ts"
import { type Block, interleave, stopOf, type Turn, usageOf } from "./Turn.ts"

/** A reply in the manner that the request asks for. */
export const reply =
  (turn: Turn) =>
  (request: Request): Reply =>
    request.body["stream"] === true ? events(stream(turn)) : json(200, whole(turn, "completed"))

/** All events, with the end of the stream. */
export const stream = (turn: Turn): ReadonlyArray<Piece> => [...content(turn), ...ending(turn)]

/** The events of what the model says. */
export const content = (turn: Turn): ReadonlyArray<Piece> => {
  const blocks = turn.content.map((block, index) => ({ block, index }))
  return [
    named("response.created", { response: whole({ ...turn, content: [] }, "in_progress") }),
    named("response.in_progress", { response: whole({ ...turn, content: [] }, "in_progress") }),
    ...blocks.filter(({ block }) => block.type !== "call").flatMap(({ block, index }) => said(block, index)),
    ...interleave(blocks.filter(({ block }) => block.type === "call").map(({ block, index }) => said(block, index)))
  ]
}

const ending = (turn: Turn): ReadonlyArray<Piece> => [
  isIncomplete(turn)
    ? named("response.incomplete", { response: whole(turn, "incomplete") })
    : named("response.completed", { response: whole(turn, "completed") })
]

/** An error within a stream. */
export const errorEvent = (code: string, message: string): Piece => named("error", { code, message, param: null })

// --- internal ---

const named = (type: string, fields: object): string => event({ type, sequence_number: 0, ...fields }, type)

const isIncomplete = (turn: Turn): boolean => stopOf(turn) === "length" || stopOf(turn) === "filter"

const item = (block: Block, index: number): object => {
  switch (block.type) {
    case "text":
      return {
        type: "message",
        id: `msg_${index}`,
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: block.text, annotations: [], logprobs: [] }]
      }
    case "refusal":
      return {
        type: "message",
        id: `msg_${index}`,
        role: "assistant",
        status: "completed",
        content: [{ type: "refusal", refusal: block.text }]
      }
    case "reasoning":
      return {
        type: "reasoning",
        id: `rs_${index}`,
        summary: [{ type: "summary_text", text: block.text }],
        encrypted_content: block.seal ?? null
      }
    case "redacted":
      return { type: "reasoning", id: `rs_${index}`, summary: [], encrypted_content: block.data }
    case "call":
      return {
        type: "function_call",
        id: `fc_${index}`,
        call_id: block.id,
        name: block.name,
        arguments: block.arguments,
        status: "completed"
      }
  }
}

const said = (block: Block, index: number): ReadonlyArray<Piece> => {
  const at = { output_index: index }
  const done = named("response.output_item.done", { ...at, item: item(block, index) })
  const added = (fields: object) =>
    named("response.output_item.added", { ...at, item: { ...item(block, index), status: "in_progress", ...fields } })
  switch (block.type) {
    case "text": {
      const place = { ...at, item_id: `msg_${index}`, content_index: 0 }
      return [
        added({ content: [] }),
        named("response.content_part.added", { ...place, part: { type: "output_text", text: "", annotations: [] } }),
        ...fragments(block.text, 3).map((delta) =>
          named("response.output_text.delta", { ...place, delta, logprobs: [] })
        ),
        named("response.output_text.done", { ...place, text: block.text, logprobs: [] }),
        done
      ]
    }
    case "refusal": {
      const place = { ...at, item_id: `msg_${index}`, content_index: 0 }
      return [
        added({ content: [] }),
        ...fragments(block.text, 2).map((delta) => named("response.refusal.delta", { ...place, delta })),
        named("response.refusal.done", { ...place, refusal: block.text }),
        done
      ]
    }
    case "reasoning": {
      const place = { ...at, item_id: `rs_${index}`, summary_index: 0 }
      const part = { type: "summary_text", text: block.text }
      return [
        added({ summary: [], encrypted_content: null }),
        named("response.reasoning_summary_part.added", { ...place, part: { ...part, text: "" } }),
        ...fragments(block.text, 2).map((delta) => named("response.reasoning_summary_text.delta", { ...place, delta })),
        named("response.reasoning_summary_text.done", { ...place, text: block.text }),
        named("response.reasoning_summary_part.done", { ...place, part }),
        done
      ]
    }
    case "redacted":
      return [added({}), done]
    case "call": {
      const place = { ...at, item_id: `fc_${index}` }
      return [
        added({ arguments: "" }),
        ...fragments(block.arguments, 4).map((delta) =>
          named("response.function_call_arguments.delta", { ...place, delta })
        ),
        named("response.function_call_arguments.done", { ...place, arguments: block.arguments }),
        done
      ]
    }
  }
}

const whole = (turn: Turn, status: "completed" | "in_progress" | "incomplete") => {
  const { cacheRead, input, output, reasoning } = usageOf(turn)
  const reason = stopOf(turn) === "length" ? "max_output_tokens" : "content_filter"
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    model: "served-model",
    status: isIncomplete(turn) && status === "completed" ? "incomplete" : status,
    error: null,
    incomplete_details: isIncomplete(turn) && status !== "in_progress" ? { reason } : null,
    output: turn.content.map(item),
    usage:
      status === "in_progress"
        ? null
        : {
            input_tokens: input,
            input_tokens_details: { cached_tokens: cacheRead },
            output_tokens: output,
            output_tokens_details: { reasoning_tokens: reasoning },
            total_tokens: input + output
          }
  }
}
