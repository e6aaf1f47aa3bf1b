/**
 * What a recorded model and recorded tools say again, and the check that they are asked the same.
 *
 * @since 0.1.0
 */
import type * as Payload from "@colloquy/session/Payload"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import * as Prompt from "effect/ai/Prompt"
import * as Response from "effect/ai/Response"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { callsOf } from "../CallFacts.ts"
import { type Difference, Divergence, ofPrompts } from "./Divergence.ts"
import { type ProjectionOptions, type RecordedLog, type RecordedStep, requestOf } from "./RecordedLog.ts"
import * as ScriptedModel from "./ScriptedModel.ts"

/**
 * What a request becomes: the recorded response; nothing ever, where the recorded run was cut off before it came; or a
 * failure, where the run waited for people in its place.
 *
 * @category models
 * @since 0.1.0
 */
export type Reply =
  | { readonly _tag: "Response"; readonly step: RecordedStep; readonly after: Effect.Effect<void> }
  | { readonly _tag: "Never"; readonly first: Effect.Effect<void> }
  | { readonly _tag: "Failure" }

/**
 * The state of a replay: which recorded model call comes next, and the first divergence.
 *
 * @category models
 * @since 0.1.0
 */
export interface Playback {
  readonly log: RecordedLog
  /** The recorded model call that comes next; undefined behind the last. */
  readonly next: () => RecordedStep | undefined
  /** How many were made and were the same. */
  readonly made: () => number
  readonly divergence: () => Divergence | undefined
  /** The first one counts. */
  readonly diverge: (at: { readonly runId: string; readonly step: number }, difference: Difference) => Divergence
  /** The next call was made, and was the same. */
  readonly advance: () => void
  /** Passes model calls over that are not made. */
  readonly skipTo: (index: number) => void
  /** What comes of a request that was the same; by default the recorded response. */
  reply: (step: RecordedStep | undefined, check: () => Divergence | undefined) => Effect.Effect<Reply, Divergence>
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (log: RecordedLog): Playback => {
  let cursor = 0
  let made = 0
  let divergence: Divergence | undefined
  const playback: Playback = {
    log,
    next: () => log.steps[cursor],
    made: () => made,
    divergence: () => divergence,
    diverge: ({ runId, step }, difference) => (divergence ??= new Divergence({ runId, step, ...difference })),
    advance: () => {
      cursor++
      made++
    },
    skipTo: (index) => {
      while (cursor < log.steps.length && (log.steps[cursor]?.index ?? 0) < index) cursor++
    },
    reply: (step, check) => {
      if (step === undefined) {
        const last = log.steps.at(-1)?.response
        const at = { runId: last?.runId ?? "unknown", step: (last?.step ?? 0) + 1 }
        return Effect.fail(playback.diverge(at, extraCall))
      }
      const found = check()
      if (found !== undefined) return Effect.fail(found)
      playback.advance()
      return Effect.succeed({ _tag: "Response", step, after: Effect.void })
    }
  }
  return playback
}

/**
 * The recorded model, with its recorded provider and name: those of the model call that comes next when the layer is
 * built.
 *
 * **Details**
 *
 * The first request that differs fails with an `AiError` that says what `Divergence` says, and so does every one behind
 * it; a reply is never guessed.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerModel = (
  playback: Playback,
  options: ProjectionOptions
): Layer.Layer<LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const { model, provider } = playback.next()?.response ?? {}
      const languageModel = yield* LanguageModel.make({
        generateText: (request) =>
          Effect.flatMap(replyTo(playback, options, request), (reply) =>
            reply._tag === "Never"
              ? Effect.andThen(reply.first, Effect.never)
              : Effect.as(reply.after, partsOf(playback.log, reply.step))
          ),
        streamText: (request) =>
          Stream.unwrap(
            Effect.map(replyTo(playback, options, request), (reply) =>
              reply._tag === "Never"
                ? Stream.fromEffect(Effect.andThen(reply.first, Effect.never))
                : Stream.concat(
                    Stream.fromIterable(ScriptedModel.split(partsOf(playback.log, reply.step))),
                    Stream.fromEffectDrain(reply.after)
                  )
            )
          )
      })
      // A name that was not recorded is not made up; the types of a model layer say that there always is one.
      const named = Context.make(LanguageModel.LanguageModel, languageModel).pipe(
        provider === undefined ? same : Context.add(Model.ProviderName, provider),
        model === undefined ? same : Context.add(Model.ModelName, model)
      )
      return named as Context.Context<LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName>
    })
  )

/**
 * The difference of a model call that the record does not have.
 *
 * @internal
 */
export const extraCall: Difference = {
  reason: "no-record",
  difference: "the model is called, and the record has no call",
  expected: null,
  actual: null
}

/**
 * Whether calls of a response ran although its transcript does not say why it stopped. A replay has to give a reason.
 *
 * @internal
 */
export const lacksReason = (log: RecordedLog, response: Payload.ModelResponded): boolean =>
  response.finishReason === "unknown" &&
  callsOf(response).some(({ callId }) => {
    const outcome = log.settled.get(callId)?.outcome
    return outcome === "success" || outcome === "failure"
  })

// --- internal ---

const same = <A>(a: A): A => a

const replyTo = (playback: Playback, options: ProjectionOptions, request: LanguageModel.ProviderOptions) =>
  Effect.gen(function* () {
    const earlier = playback.divergence()
    if (earlier !== undefined) return yield* earlier
    const provider = Option.getOrUndefined(yield* Effect.serviceOption(Model.ProviderName))
    const model = Option.getOrUndefined(yield* Effect.serviceOption(Model.ModelName))
    const step = playback.next()
    const check = (): Divergence | undefined => {
      if (step === undefined) return undefined
      const { response } = step
      const difference =
        ofNames("provider", response.provider, provider) ??
        ofNames("model", response.model, model) ??
        ofRequests(playback.log, step, withoutAsking(request), options)
      return difference === undefined ? undefined : playback.diverge(response, difference)
    }
    const reply = yield* playback.reply(step, check)
    return reply._tag === "Failure" ? yield* errorOf("the recorded call gave no response") : reply
  }).pipe(Effect.catchTag("Divergence", (divergence) => errorOf(divergence.message)))

const errorOf = (description: string): AiError.AiError =>
  AiError.make({
    module: "ReplayModel",
    method: "generateText",
    reason: new AiError.InvalidRequestError({ description })
  })

const ofNames = (reason: "provider" | "model", expected: string | undefined, actual: string | undefined) =>
  expected === actual ? undefined : { reason, difference: `another ${reason} is asked`, expected, actual }

/** That an answer is asked for again, in its structure, is not stored: it is no message of the conversation. */
const withoutAsking = ({ prompt, responseFormat }: LanguageModel.ProviderOptions): Prompt.Prompt => {
  const { content } = prompt
  const isAsking = responseFormat.type === "json" && content.at(-2)?.role === "assistant"
  return isAsking ? Prompt.fromMessages(content.slice(0, -1)) : prompt
}

const ofRequests = (
  log: RecordedLog,
  step: RecordedStep,
  actual: Prompt.Prompt,
  options: ProjectionOptions
): Difference | undefined => {
  const instructions = options.instructions ?? log.instructions
  const expected = requestOf(log, step, { ...options, instructions })
  if (instructions !== undefined) return ofPrompts(expected, actual)
  // The log of a run does not hold what the instructions were: nothing to compare them with.
  return ofPrompts(expected, Prompt.fromMessages(actual.content.filter(({ role }) => role !== "system")))
}

/** The response as the provider gave it. */
const partsOf = (log: RecordedLog, { response }: RecordedStep): Array<Response.PartEncoded> => [
  ...(response.responseId === undefined ? [] : [{ type: "response-metadata" as const, id: response.responseId }]),
  ...response.content.flatMap((part) => toPart(part)),
  ...(response.sources ?? []).flatMap((source) => Option.toArray(readSource(source))),
  ...finishOf(log, response)
]

const readSource = Schema.decodeUnknownOption(
  Schema.toEncoded(Schema.Union([Response.DocumentSourcePart, Response.UrlSourcePart]))
)

const toPart = (part: Prompt.AssistantMessagePartEncoded): ReadonlyArray<Response.PartEncoded> => {
  const metadata = part.options
  switch (part.type) {
    case "text":
    case "reasoning":
      return [{ type: part.type, text: part.text, metadata }]
    case "file":
      return typeof part.data === "string"
        ? [{ type: "file", data: part.data, mediaType: part.mediaType, metadata }]
        : []
    case "tool-call": {
      const { id, name, params, providerExecuted = false } = part
      return [{ type: "tool-call", id, name, params, providerExecuted, metadata }]
    }
    case "tool-result": {
      const { id, isFailure, modelOutput, name, result } = part
      return [{ type: "tool-result", id, name, isFailure, result, modelOutput, providerExecuted: true, metadata }]
    }
    case "tool-approval-request":
      return [{ type: "tool-approval-request", approvalId: part.approvalId, toolCallId: part.toolCallId, metadata }]
  }
}

const finishOf = (log: RecordedLog, response: Payload.ModelResponded): ReadonlyArray<Response.PartEncoded> => {
  const { finishReason, usage } = response
  const reason = lacksReason(log, response) ? "tool-calls" : finishReason
  if (usage === undefined && reason === "unknown") return []
  const { inputTokens = {}, outputTokens = {} } = usage ?? {}
  return [
    {
      type: "finish",
      reason,
      usage: {
        inputTokens: {
          uncached: undefined,
          total: undefined,
          cacheRead: undefined,
          cacheWrite: undefined,
          ...inputTokens
        },
        outputTokens: { total: undefined, text: undefined, reasoning: undefined, ...outputTokens }
      },
      response: undefined
    }
  ]
}
