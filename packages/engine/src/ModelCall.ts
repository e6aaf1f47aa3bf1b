/**
 * Asks the model once, and again where its error says that this may help; shows what arrives while it arrives.
 *
 * @since 0.1.0
 */
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import * as Usage from "@colloquy/session/Usage"
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { ContextTooLarge } from "./AgentError.ts"
import { chat } from "./internal/chat.ts"
import { usageAttributes } from "./internal/spans.ts"
import type { RunContext } from "./RunContext.ts"
import { RunEvent } from "@colloquy/capabilities/RunEvent"

/**
 * A request of a run's step.
 *
 * - `auto`: the model may call tools.
 * - `none`: the tools stay in the request, and the model answers without them.
 * - `object`: the model answers in the structure of the agent's output.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request {
  readonly step: number
  readonly prompt: Prompt.Prompt
  readonly answer: "auto" | "none" | "object"
}

/**
 * Makes a model call. `onPart` sees each part that counts; after `onReset` those before it do not.
 *
 * **Details**
 *
 * Rate limits, overload and broken connections are retried, at most `modelRetries` times, after the provider's delay or
 * one that grows from half a second; a delay of more than a minute is left to the caller. When parts had been shown, a
 * `Reset` comes first. An `error` part of a stream is a failure.
 *
 * @category running
 * @since 0.1.0
 */
export const call = <E>(
  context: RunContext<E>,
  request: Request,
  collect: { readonly onPart: (part: Response.AnyPart) => void; readonly onReset: () => void }
): Effect.Effect<void, AiError.AiError | ContextTooLarge> => {
  const { host, limits, observer, publish, runId } = context
  // An answer in a structure is asked for without tools.
  const sent = { prompt: request.prompt, tools: request.answer === "object" ? [] : host.tools }
  const attempt = (retries: number): Effect.Effect<void, AiError.AiError | ContextTooLarge> => {
    let shown = false
    const told: Array<Response.AnyPart> = []
    const show = showing(context, request, () => (shown = true))
    const take = (part: Response.AnyPart) => {
      collect.onPart(part)
      told.push(part)
      show(part)
    }
    const asking = Effect.catchCause(once(context, request, take), ownInterruption)
    return Effect.catch(chat(host, asking, { observer, sent, said: () => responseAttributes(told) }), (error) => {
      if (host.isContextOverflow(error)) {
        const { model } = host
        return Effect.fail(
          new ContextTooLarge({ conversationId: context.journal.conversationId, runId, model, cause: error })
        )
      }
      const delay = delayOf(error, retries)
      if (retries >= limits.modelRetries || delay === undefined) return Effect.fail(error)
      return Effect.logInfo(`model call ${request.step} of run ${runId} is made again: ${error.reason._tag}`).pipe(
        Effect.andThen(Effect.sleep(delay)),
        Effect.andThen(
          Effect.suspend(() => {
            collect.onReset()
            if (shown) publish(RunEvent.Reset({ step: request.step }))
            return attempt(retries + 1)
          })
        )
      )
    })
  }
  return attempt(0)
}

// --- internal ---

const once = <E>(
  { host, streams }: RunContext<E>,
  { answer, prompt }: Request,
  take: (part: Response.AnyPart) => void
) => {
  if (answer === "object" && host.output !== undefined) {
    return Effect.map(host.output.generate(prompt), (parts) => parts.forEach(take))
  }
  const toolChoice = answer === "auto" ? ("auto" as const) : ("none" as const)
  if (!streams) return Effect.map(host.generate(prompt, toolChoice), (parts) => parts.forEach(take))
  return Stream.runForEach(host.stream(prompt, toolChoice), (part) =>
    part.type === "error" ? Effect.fail(errorOf(part.error)) : Effect.sync(() => take(part))
  )
}

/** An interruption of the run does not come here; one that does is the model's own, and nobody has stopped the run. */
const ownInterruption = (cause: Cause.Cause<AiError.AiError>): Effect.Effect<never, AiError.AiError> =>
  Cause.hasInterruptsOnly(cause) ? Effect.fail(errorOf("the model interrupted its own call")) : Effect.failCause(cause)

/** The names of https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ */
const responseAttributes = (told: ReadonlyArray<Response.AnyPart>): Record<string, unknown> => {
  const finish = told.findLast((part) => part.type === "finish")
  const metadata = told.findLast((part) => part.type === "response-metadata")
  return {
    ...(finish === undefined ? {} : { "gen_ai.response.finish_reasons": [finish.reason] }),
    ...(finish === undefined ? {} : usageAttributes(Usage.fromResponse(finish.usage))),
    ...(metadata?.id === undefined ? {} : { "gen_ai.response.id": metadata.id }),
    ...(metadata?.modelId === undefined ? {} : { "gen_ai.response.model": metadata.modelId })
  }
}

/** Shows the text of a stream. */
const showing = <E>({ publish, streams }: RunContext<E>, { step }: Request, onShown: () => void) => {
  let text = 0
  let reasoning = 0
  return (part: Response.AnyPart): void => {
    if (!streams) return
    if (part.type === "text-delta") {
      publish(RunEvent.TextDelta({ step, offset: text, delta: part.delta }))
      text += part.delta.length
      onShown()
    }
    if (part.type === "reasoning-delta") {
      publish(RunEvent.ReasoningDelta({ step, offset: reasoning, delta: part.delta }))
      reasoning += part.delta.length
      onShown()
    }
  }
}

const maxDelay = Duration.minutes(1)

/** How long to wait before the call is made again; undefined when it is not. */
const delayOf = (error: AiError.AiError, retries: number): Duration.Duration | undefined => {
  if (!error.isRetryable) return undefined
  if (error.retryAfter !== undefined) {
    return Duration.isLessThanOrEqualTo(error.retryAfter, maxDelay) ? error.retryAfter : undefined
  }
  return Duration.min(Duration.millis(500 * 2 ** retries), maxDelay)
}

const errorOf = (error: unknown): AiError.AiError =>
  AiError.isAiError(error)
    ? error
    : AiError.make({
        module: "ModelCall",
        method: "stream",
        reason: new AiError.UnknownError({ description: wordsOf(error) })
      })

/** What a provider puts into an `error` part is an error, a text, or an object of its own. */
const wordsOf = (error: unknown): string => {
  if (typeof error === "object" && error !== null) {
    if ("message" in error && typeof error.message === "string") return error.message
    return Result.getOrElse(CanonicalJson.encode(error), () => "an error without words")
  }
  return String(error)
}
