/**
 * One step: what is sent is projected from what is stored, and what comes back is made ready to be stored.
 *
 * @since 0.1.0
 */
import * as Digest from "@colloquy/session/Digest"
import type * as Payload from "@colloquy/session/Payload"
import * as ToolCalls from "@colloquy/session/ToolCalls"
import * as Usage from "@colloquy/session/Usage"
import type { WriteError } from "@colloquy/store/Writer"
import type * as AiError from "effect/ai/AiError"
import * as Prompt from "effect/ai/Prompt"
import * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ContextTooLarge } from "./AgentError.ts"
import type { AgentHost } from "./AgentHost.ts"
import * as ContextWindow from "./ContextWindow.ts"
import type { Journal } from "./Journal.ts"
import * as ModelCall from "./ModelCall.ts"
import type { RunContext } from "./RunContext.ts"
import * as Seam from "./Seam.ts"

/**
 * A response that is ready to be stored, and the messages that it answers.
 *
 * @category models
 * @since 0.1.0
 */
export interface Responded {
  readonly response: Payload.ModelResponded
  readonly messages: ReadonlyArray<Prompt.Message>
}

/**
 * Calls the model with what the conversation shows, and gives its response as a record's payload, with ids of calls that
 * the conversation has not used yet. Nothing is written; until the response is, `context.inFlight` gives what has arrived.
 * When the provider says that the request is too large it is compacted once, where that is on, and the call made once more.
 *
 * @category running
 * @since 0.1.0
 */
export const respond = Effect.fnUntraced(function* <E>(
  context: RunContext<E>,
  answer: ModelCall.Request["answer"],
  estimatedInputTokens?: number | undefined
): Effect.fn.Return<Responded, AiError.AiError | ContextTooLarge | WriteError> {
  const { host, journal, runId } = context
  const step = ContextWindow.nextStep(context)
  let parts: Array<Response.AnyPart> = []
  const payloadOf = (content: Content) => ({
    _tag: "ModelResponded" as const,
    runId,
    step,
    agent: host.name,
    ...describe(parts, host),
    ...(estimatedInputTokens === undefined ? {} : { estimatedInputTokens: Math.round(estimatedInputTokens) }),
    content
  })
  context.inFlight = Effect.suspend(() => {
    const content = encodeContent(parts)
    if (content.length === 0) return Effect.succeedNone
    return Effect.map(withFreshIds(journal, content, runId, step), (content) =>
      Option.some({ ...payloadOf(content), partial: true as const })
    )
  })
  const collect = { onPart: (part: Response.AnyPart) => parts.push(part), onReset: () => (parts = []) }
  const ask = Effect.suspend(() => {
    const shown = journal.prompt(ContextWindow.projection(context))
    const prompt = answer === "object" ? askingAgain(shown) : shown
    return Effect.as(ModelCall.call(context, { step, prompt, answer }, collect), prompt)
  })
  const prompt = yield* Effect.catchIf(ask, isTooLarge, (tooLarge) =>
    Effect.flatMap(ContextWindow.afterOverflow(context), (hasRoom) => {
      if (!hasRoom) return Effect.fail(tooLarge)
      collect.onReset()
      // What came while it was compacted is for this call, too.
      return Effect.andThen(Seam.deliver(context), ask)
    })
  )
  const content = answer === "auto" ? encodeContent(parts) : encodeContent(parts).filter(isNoCall)
  const unique = yield* withFreshIds(journal, content, runId, step)
  return { response: payloadOf(unique), messages: prompt.content }
})

// --- internal ---

/**
 * Behind an answer that was no object a request for one. It is not stored: providers refuse a request that ends with what
 * the model said.
 */
const askingAgain = (prompt: Prompt.Prompt): Prompt.Prompt =>
  prompt.content.at(-1)?.role === "assistant"
    ? Prompt.concat(prompt, "Give this answer again, in the structure that is asked for.")
    : prompt

const isTooLarge = (error: AiError.AiError | ContextTooLarge): error is ContextTooLarge =>
  error instanceof ContextTooLarge

type Content = ReadonlyArray<Prompt.AssistantMessagePartEncoded>

const encodeParts = Schema.encodeSync(Schema.Array(Prompt.AssistantMessagePart))

/** Always an array of parts: the message's own codec would turn a single text into a string. */
const encodeContent = (parts: ReadonlyArray<Response.AnyPart>): Content =>
  encodeParts(
    Prompt.fromResponseParts(parts).content.flatMap((message) => (message.role === "assistant" ? message.content : []))
  )

const isNoCall = (part: Content[number]): boolean => part.type !== "tool-call" || part.providerExecuted === true

/** Asks the index once for a response with fresh ids; for repeated ones also for what they may be renamed to. */
const renameCalls = Effect.fnUntraced(function* (journal: Journal, content: Content) {
  const known = new Map<string, boolean>()
  while (true) {
    const unknown = new Set<string>()
    const isUsed = (id: string): boolean => {
      if (!known.has(id)) unknown.add(id)
      return known.get(id) === true
    }
    const { content: renamed } = ToolCalls.rename(content, isUsed)
    if (unknown.size === 0) return renamed
    const asked = new Set(known.size === 0 ? unknown : [...unknown].flatMap((id) => [id, ...followers(id)]))
    const used = yield* journal.usedCallIds([...asked])
    for (const id of asked) known.set(id, used.has(id))
  }
})

/** The candidates behind one: a provider that numbers its calls per response repeats an id many times. */
const followers = (candidate: string): ReadonlyArray<string> => {
  const [, base, place] = /^(.*)_(\d+)$/s.exec(candidate) ?? []
  return base === undefined ? [] : ToolCalls.candidates(base, 64, Number(place) + 1)
}

/** Content with ids that the conversation has not used; where a store that the run goes on without cannot say, with new ones. */
const withFreshIds = (journal: Journal, content: Content, runId: string, step: number) =>
  Effect.catchIf(
    renameCalls(journal, content),
    (error) => error._tag === "StoreUnavailable" && !journal.isUnavailable(),
    () => Effect.succeed(ToolCalls.mark(content, Digest.text(`${runId}\n${step}`).slice(0, 16)))
  )

const describe = (parts: ReadonlyArray<Response.AnyPart>, host: AgentHost<unknown>) => {
  const finish = parts.findLast((part) => part.type === "finish")
  const metadata = parts.findLast((part) => part.type === "response-metadata")
  const sources = parts.flatMap((part) => (part.type === "source" ? [encodeSource(part)] : []))
  // The configured name first: reasoning is matched by it, and providers answer with names of their own.
  const model = host.model ?? metadata?.modelId
  return {
    finishReason: finish?.reason ?? ("unknown" as const),
    toolsDigest: host.toolsDigest,
    ...(finish === undefined ? {} : { usage: Usage.fromResponse(finish.usage) }),
    ...(host.provider === undefined ? {} : { provider: host.provider }),
    ...(model === undefined ? {} : { model }),
    ...(metadata?.id === undefined ? {} : { responseId: metadata.id }),
    ...(sources.length === 0 ? {} : { sources })
  }
}

const encodeSource = Schema.encodeSync(Schema.Union([Response.DocumentSourcePart, Response.UrlSourcePart]))
