/**
 * Any provider of the AI SDK as a language model of Effect.
 *
 * Everything that a provider says arrives: text, reasoning with its signatures, calls, files, sources, usage. What is
 * sent again is, to the byte, what was said. Errors are typed, and tell whether and when to try again; nothing is tried
 * again here. An interruption closes the connection.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import * as AiError from "effect/ai/AiError"
import { toCodecAnthropic } from "effect/ai/AnthropicStructuredOutput"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import { toCodecOpenAI } from "effect/ai/OpenAiStructuredOutput"
import type * as Response from "effect/ai/Response"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { CallSettings } from "./CallSettings.ts"
import { type Options as Call, toCall } from "./internal/call.ts"
import { toReason } from "./internal/errors.ts"
import { toResponse } from "./internal/response.ts"
import * as Arriving from "./internal/stream.ts"
import { annotateRequest, annotateResponse } from "./internal/telemetry.ts"
import type { Declared } from "./internal/tools.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends CallSettings {
  /**
   * How the schema of a structured output is written for the provider. By default as OpenAI and Anthropic want it for
   * their own models, and plain JSON Schema for all others.
   */
  readonly codecTransformer?: LanguageModel.CodecTransformer | undefined
  /**
   * Where images and files of tool results go: into the `result`, or into a user `message` behind the results. By default
   * a message for chat-completions protocols, which know only text in a result, and the result for all others.
   */
  readonly toolResultFiles?: "result" | "message" | undefined
}

/**
 * A layer of the model, with its provider's and its own name as the AI SDK has them (`openai.responses`, `gpt-…`).
 *
 * **Example** (Asking a model)
 *
 * ```ts
 * import { openai } from "@ai-sdk/openai"
 * import { AiSdkModel } from "@colloquy/ai-sdk"
 * import { Effect } from "effect"
 * import { LanguageModel } from "effect/ai"
 *
 * const model = AiSdkModel.layer(openai("gpt-5.2"), { maxOutputTokens: 2_000 })
 *
 * const answer = LanguageModel.generateText({ prompt: "Where is A1?" }).pipe(Effect.provide(model))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  model: LanguageModelV4,
  options: Options = {}
): Model.Model<string, LanguageModel.LanguageModel, never> =>
  Model.make(model.provider, model.modelId, Layer.effect(LanguageModel.LanguageModel, make(model, options)))

/**
 * The model alone, without the names.
 *
 * **Details**
 *
 * Fails with `AiError` only. A stream that breaks off, whether by an error of the provider, a closed connection or
 * an end without a finish part, fails behind everything that had arrived. The request is aborted when its effect or
 * stream ends in any way before the response does.
 *
 * With `toolCallValidation: "deferred"` calls come back as the model made them: undeclared names, arguments that do not
 * fit, and, as a text, arguments that are not JSON.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (model: LanguageModelV4, options: Options = {}): Effect.Effect<LanguageModel.LanguageModel> => {
  const codecTransformer = options.codecTransformer ?? codecTransformerOf(model)
  const toolResultFiles = options.toolResultFiles ?? (model.provider.endsWith(".chat") ? "message" : "result")
  const call: Call = { ...options, codecTransformer, toolResultFiles }
  return LanguageModel.make({
    codecTransformer,
    generateText: (request) => generate(model, request, call),
    streamText: (request) => stream(model, request, call)
  })
}

// --- internal ---

const codecTransformerOf = ({ provider }: LanguageModelV4): LanguageModel.CodecTransformer => {
  if (/^(?:openai|azure)\b|\.responses$/.test(provider)) return toCodecOpenAI
  return provider.startsWith("anthropic.") ? toCodecAnthropic : LanguageModel.defaultCodecTransformer
}

type Method = "generateText" | "streamText"

const thrown = (error: unknown) => ({ error })

const generate = Effect.fnUntraced(function* (
  model: LanguageModelV4,
  request: LanguageModel.ProviderOptions,
  options: Call
): Effect.fn.Return<Array<Response.PartEncoded>, AiError.AiError> {
  const call = yield* prepare("generateText", model, request, options)
  const result = yield* Effect.tryPromise({
    try: (abortSignal) => model.doGenerate({ ...call, abortSignal }),
    catch: thrown
  }).pipe(Effect.catch(({ error }) => failWith("generateText", error)))
  const parts = yield* Effect.fromResult(
    toResponse(result, declared(request, options), request.responseFormat.type === "json")
  ).pipe(Effect.catch((reason) => failWith("generateText", reason)))
  annotateResponse(request.span, parts)
  return parts
})

const stream = (
  model: LanguageModelV4,
  request: LanguageModel.ProviderOptions,
  options: Call
): Stream.Stream<Response.StreamPartEncoded, AiError.AiError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const call = yield* prepare("streamText", model, request, options)
      const reader = yield* open(model, call)
      return pull(reader, request, declared(request, options))
    })
  )

/** Each pull reads until there is something to tell. */
const pull = (
  reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  request: LanguageModel.ProviderOptions,
  tools: Declared
): Stream.Stream<Response.StreamPartEncoded, AiError.AiError> =>
  Stream.fromPull(
    Effect.sync(() => {
      let last: Arriving.Step = { state: Arriving.initial, parts: [] }
      let isDone = false
      const next = Effect.tryPromise({ try: () => reader.read(), catch: thrown }).pipe(
        Effect.match({
          onFailure: ({ error }) => Arriving.cut(last.state, error, tools),
          onSuccess: ({ done, value }) => {
            isDone = done
            return done ? Arriving.end(last.state, tools) : Arriving.step(last.state, value, tools)
          }
        })
      )
      return Effect.gen(function* () {
        while (true) {
          if (last.failure !== undefined) return yield* failWith("streamText", last.failure.error)
          if (isDone) return yield* Cause.done()
          last = yield* next
          annotateResponse(request.span, last.parts)
          if (Arr.isReadonlyArrayNonEmpty(last.parts)) return last.parts
        }
      })
    })
  )

/** The scope closes the connection, be the response complete or not. */
const open = Effect.fnUntraced(function* (
  model: LanguageModelV4,
  call: LanguageModelV4CallOptions
): Effect.fn.Return<ReadableStreamDefaultReader<LanguageModelV4StreamPart>, AiError.AiError, Scope.Scope> {
  const controller = yield* Effect.acquireRelease(
    Effect.sync(() => new AbortController()),
    (controller) => Effect.sync(() => controller.abort())
  )
  const ask = async () => {
    const { stream } = await model.doStream({ ...call, abortSignal: controller.signal })
    // Nobody waits for it any more.
    if (controller.signal.aborted) discard(stream.getReader())
    return stream
  }
  const stream = yield* Effect.tryPromise({ try: ask, catch: thrown }).pipe(
    Effect.catch(({ error }) => failWith("streamText", error))
  )
  return yield* Effect.acquireRelease(
    Effect.sync(() => stream.getReader()),
    (reader) => Effect.sync(() => discard(reader))
  )
})

/** Without waiting: a source that takes its time to stop must not hold up who has stopped listening. */
const discard = (reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>): void => {
  // Fails with the error of a broken stream, which is told already.
  reader.cancel().catch(() => {})
}

const prepare = (
  method: Method,
  model: LanguageModelV4,
  request: LanguageModel.ProviderOptions,
  options: Call
): Effect.Effect<LanguageModelV4CallOptions, AiError.AiError> => {
  annotateRequest(request.span, model, options)
  return Effect.fromResult(toCall(model, request, options)).pipe(Effect.catch((reason) => failWith(method, reason)))
}

const declared = (
  { toolCallValidation, tools }: LanguageModel.ProviderOptions,
  { codecTransformer }: Call
): Declared => ({
  tools: new Map(tools.map((tool) => [tool.name, tool])),
  isDeferred: toolCallValidation === "deferred",
  codecTransformer
})

const failWith = (method: Method, error: unknown): Effect.Effect<never, AiError.AiError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.fail(AiError.make({ module: "AiSdkModel", method, reason: toReason(error, now) }))
  )
