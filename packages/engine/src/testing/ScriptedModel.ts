/**
 * A language model that says what a test tells it to: answers, tool calls, errors, repeated ids, without a network.
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
 * One model call: the parts of the response, or an effect of them, which may wait, fail, or look at the request.
 *
 * @category models
 * @since 0.1.0
 */
export type Turn =
  | ReadonlyArray<Response.PartEncoded>
  | ((request: Request) => Effect.Effect<ReadonlyArray<Response.PartEncoded>, AiError.AiError>)

/**
 * The requests that the model was sent, in order; for assertions.
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
  { model = "scripted-1", provider = "scripted" }: Options = {}
): Layer.Layer<LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName | Requests> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const requests: Array<Request> = []
      const answer = ({ prompt, toolChoice, tools }: LanguageModel.ProviderOptions) =>
        Effect.suspend(() => {
          const request = { prompt, toolChoice, toolNames: tools.map(({ name }) => name), call: requests.length }
          requests.push(request)
          const turn = turnOf(request)
          if (turn === undefined) return Effect.fail(exhausted(request.call))
          return typeof turn === "function" ? turn(request) : Effect.succeed(turn)
        }).pipe(Effect.map((parts) => [...parts]))
      const languageModel = yield* LanguageModel.make({
        generateText: answer,
        streamText: (request) => Stream.flattenIterable(Stream.map(Stream.fromEffect(answer(request)), toStreamParts))
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
export const finish = (reason: Response.FinishReason): Response.PartEncoded => ({
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

/** Whole texts become a start, one delta, and an end. */
const toStreamParts = (parts: ReadonlyArray<Response.PartEncoded>): Array<Response.StreamPartEncoded> =>
  parts.flatMap((part, i): Array<Response.StreamPartEncoded> => {
    const id = String(i)
    if (part.type === "text") {
      return [
        { type: "text-start", id },
        { type: "text-delta", id, delta: part.text },
        { type: "text-end", id }
      ]
    }
    if (part.type === "reasoning") {
      return [
        { type: "reasoning-start", id },
        { type: "reasoning-delta", id, delta: part.text },
        { type: "reasoning-end", id }
      ]
    }
    return [part]
  })
