/**
 * A language model that says what a test tells it to: answers, tool calls, streams in chunks, delays, errors, repeated ids,
 * without a network.
 *
 * @since 0.1.0
 */
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

/**
 * What a turn can see: the prompt as it would be sent, and how many calls were made before this one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request {
  readonly prompt: Prompt.Prompt
  readonly toolNames: ReadonlyArray<string>
  readonly toolChoice: unknown
  readonly call: number
}

/**
 * One model call: the parts of the response, an effect of them, which may wait, fail, or look at the request, or
 * {@link chunks}.
 *
 * @category models
 * @since 0.1.0
 */
export type Turn =
  | ReadonlyArray<Response.PartEncoded>
  | ((request: Request) => Effect.Effect<ReadonlyArray<Response.PartEncoded>, AiError.AiError>)
  | Chunks

/**
 * A response that comes in chunks; see {@link chunks}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Chunks {
  readonly chunks: ReadonlyArray<Chunk>
}

/**
 * A part of a stream, or what happens between two of them: a wait (`Effect.sleep`, a latch, `Effect.never`) or a failure.
 *
 * @category models
 * @since 0.1.0
 */
export type Chunk = Response.StreamPartEncoded | Effect.Effect<unknown, AiError.AiError>

/**
 * The requests that the model was sent, in order, as many as are kept; for assertions.
 *
 * @category services
 * @since 0.1.0
 */
export class Requests extends Context.Service<Requests, { readonly all: () => ReadonlyArray<Request> }>()(
  "@colloquy/engine/testing/ScriptedModel/Requests"
) {}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Recorded as the provider of responses (default `scripted`). */
  readonly provider?: string | undefined
  /** Recorded as the model of responses (default `scripted-1`). */
  readonly model?: string | undefined
  /**
   * How many requests {@link Requests} has, the last ones (default: all). A request holds its whole prompt: a process that
   * goes on for long, such as a demonstration without a network, keeps 0.
   */
  readonly keep?: number | undefined
}

/**
 * A model that gives one turn after the other. A call behind the last one fails with an `AiError` that says so.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  turns: ReadonlyArray<Turn>,
  options: Options = {}
): Layer.Layer<LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName | Requests> =>
  layerOf(({ call }) => turns[call], options)

/**
 * A model that makes each turn from its request.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerOf = (
  turnOf: (request: Request) => Turn | undefined,
  { keep = Number.POSITIVE_INFINITY, model = "scripted-1", provider = "scripted" }: Options = {}
): Layer.Layer<LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName | Requests> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const requests: Array<Request> = []
      let asked = 0
      const answer = ({ prompt, toolChoice, tools }: LanguageModel.ProviderOptions) =>
        Effect.suspend(() => {
          const request = { prompt, toolChoice, toolNames: tools.map(({ name }) => name), call: asked++ }
          requests.push(request)
          if (requests.length > keep) requests.shift()
          const turn = turnOf(request)
          if (turn === undefined) return Effect.fail(exhausted(request.call))
          return typeof turn === "function" ? turn(request) : Effect.succeed(turn)
        })
      const languageModel = yield* LanguageModel.make({
        generateText: (request) => Effect.flatMap(answer(request), toParts),
        streamText: (request) => Stream.unwrap(Effect.map(answer(request), toStream))
      })
      return Context.make(LanguageModel.LanguageModel, languageModel).pipe(
        Context.add(Requests, { all: () => requests }),
        Context.add(Model.ProviderName, provider),
        Context.add(Model.ModelName, model)
      )
    })
  )

/**
 * A turn that answers with a text.
 *
 * @category turns
 * @since 0.1.0
 */
export const text = (text: string): ReadonlyArray<Response.PartEncoded> => [{ type: "text", text }, finish("stop")]

/**
 * A turn that calls tools, with a text before the calls if one is given.
 *
 * @category turns
 * @since 0.1.0
 */
export const calls = (
  calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly params: unknown }>,
  text?: string
): ReadonlyArray<Response.PartEncoded> => [
  ...(text === undefined ? [] : [{ type: "text" as const, text }]),
  ...calls.map(({ id, name, params }) => ({ type: "tool-call" as const, id, name, params })),
  finish("tool-calls")
]

/**
 * A turn whose stream is told chunk by chunk: {@link split} makes the chunks of a whole response, and between them may
 * stand effects. A model that is not asked for a stream gives the same response at once, after its waits.
 *
 * **Example** (A stream that breaks in the middle of its text)
 *
 * ```ts
 * ScriptedModel.chunks([
 *   { type: "text-start", id: "t" },
 *   { type: "text-delta", id: "t", delta: "On its" },
 *   Effect.sleep("1 second"),
 *   { type: "error", error: "overloaded" }
 * ])
 * ```
 *
 * @category turns
 * @since 0.1.0
 */
export const chunks = (chunks: ReadonlyArray<Chunk>): Chunks => ({ chunks })

/**
 * The parts of a response as a stream has them: texts, reasoning and the parameters of calls in deltas of at most `size`
 * UTF-16 code units. What a provider says of a text or reasoning, such as a signature, comes with its end.
 *
 * @category turns
 * @since 0.1.0
 */
export const split = (
  parts: ReadonlyArray<Response.PartEncoded>,
  size: number = Number.POSITIVE_INFINITY
): Array<Response.StreamPartEncoded> =>
  parts.flatMap((part, i): Array<Response.StreamPartEncoded> => {
    const id = String(i)
    switch (part.type) {
      case "text":
        return [
          { type: "text-start", id },
          ...pieces(part.text, size).map((delta) => ({ type: "text-delta" as const, id, delta })),
          { type: "text-end", id, ...metadataOf(part) }
        ]
      case "reasoning":
        return [
          { type: "reasoning-start", id },
          ...pieces(part.text, size).map((delta) => ({ type: "reasoning-delta" as const, id, delta })),
          { type: "reasoning-end", id, ...metadataOf(part) }
        ]
      case "tool-call":
        return [
          { type: "tool-params-start", id: part.id, name: part.name },
          ...pieces(JSON.stringify(part.params), size).map((delta) => ({
            type: "tool-params-delta" as const,
            id: part.id,
            delta
          })),
          { type: "tool-params-end", id: part.id },
          part
        ]
      default:
        return [part]
    }
  })

/**
 * A turn that fails.
 *
 * @category turns
 * @since 0.1.0
 */
export const fail =
  (reason: AiError.AiErrorReason): Turn =>
  () =>
    Effect.fail(AiError.make({ module: "ScriptedModel", method: "generateText", reason }))

/**
 * The last part of a turn. Each response reports 10 input and 5 output tokens.
 *
 * @category turns
 * @since 0.1.0
 */
export const finish = (reason: Response.FinishReason): Response.FinishPartEncoded => ({
  type: "finish",
  reason,
  usage: {
    inputTokens: { uncached: 10, total: 10, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 5, text: 5, reasoning: undefined }
  },
  response: undefined
})

// --- internal ---

const exhausted = (call: number) =>
  AiError.make({
    module: "ScriptedModel",
    method: "generateText",
    reason: new AiError.InvalidRequestError({ description: `the script has no turn for call ${call + 1}` })
  })

const isEffect = (chunk: Chunk): chunk is Effect.Effect<unknown, AiError.AiError> => Effect.isEffect(chunk)

const chunksOf = (said: ReadonlyArray<Response.PartEncoded> | Chunks): ReadonlyArray<Chunk> =>
  "chunks" in said ? said.chunks : split(said)

const toStream = (said: ReadonlyArray<Response.PartEncoded> | Chunks) =>
  Stream.flatMap(Stream.fromIterable(chunksOf(said)), (chunk) =>
    isEffect(chunk) ? Stream.drain(Stream.fromEffect(chunk)) : Stream.succeed(chunk)
  )

/** The whole response: what its stream says, with deltas joined. */
const toParts = Effect.fnUntraced(function* (said: ReadonlyArray<Response.PartEncoded> | Chunks) {
  if (!("chunks" in said)) return [...said]
  const parts: Array<Response.PartEncoded> = []
  const texts = new Map<string, { place: number; text: string }>()
  for (const chunk of said.chunks) {
    if (isEffect(chunk)) {
      yield* chunk
      continue
    }
    switch (chunk.type) {
      case "text-start":
      case "reasoning-start":
        texts.set(chunk.id, { place: parts.length, text: "" })
        parts.push({ type: chunk.type === "text-start" ? "text" : "reasoning", text: "" })
        break
      case "text-delta":
      case "reasoning-delta": {
        const open = texts.get(chunk.id)
        if (open !== undefined) open.text += chunk.delta
        break
      }
      case "text-end":
      case "reasoning-end": {
        const { place, text } = texts.get(chunk.id) ?? { place: -1, text: "" }
        const type = chunk.type === "text-end" ? ("text" as const) : ("reasoning" as const)
        if (place >= 0) parts[place] = { type, text, ...metadataOf(chunk) }
        break
      }
      case "tool-params-start":
      case "tool-params-delta":
      case "tool-params-end":
        break
      case "error":
        return yield* AiError.make({
          module: "ScriptedModel",
          method: "generateText",
          reason: new AiError.UnknownError({ description: String(chunk.error) })
        })
      default:
        parts.push(chunk)
    }
  }
  return parts
})

const metadataOf = <M>({ metadata }: { readonly metadata?: M }): { readonly metadata?: M } =>
  metadata === undefined ? {} : { metadata }

const pieces = (text: string, size: number): Array<string> => {
  const found: Array<string> = []
  for (let start = 0; start < text.length; start += size) found.push(text.slice(start, start + size))
  return found
}
