/**
 * One model call: what is sent is projected from what is stored, and what comes back is made ready to be stored.
 *
 * @since 0.1.0
 */
import type { RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as ToolCalls from "@colloquy/session/ToolCalls"
import * as Usage from "@colloquy/session/Usage"
import type { WriteError } from "@colloquy/store/Writer"
import type * as AiError from "effect/ai/AiError"
import * as Prompt from "effect/ai/Prompt"
import * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type AgentHost, crashPolicy } from "./AgentHost.ts"
import type { Journal } from "./Journal.ts"

/**
 * Calls the model with what the conversation shows, and gives its response as a record's payload, with ids of calls that
 * the conversation has not used yet. Nothing is written.
 *
 * @category running
 * @since 0.1.0
 */
export const respond = Effect.fnUntraced(function* <E>(
  journal: Journal,
  host: AgentHost<E>,
  runId: RunId,
  step: number,
  toolChoice: "auto" | "none"
): Effect.fn.Return<Payload.ModelResponded, AiError.AiError | WriteError> {
  const { model, provider } = host
  const { prompt } = journal.prompt({
    instructions: host.instructions,
    provider,
    model,
    unsettled: (name) => (crashPolicy(host, name) === "omit" ? "omit" : "unknown")
  })
  const parts = yield* host.generate(prompt, toolChoice)
  const content = toolChoice === "none" ? encodeContent(parts).filter(isNoCall) : encodeContent(parts)
  const unique = yield* renameCalls(journal, content)
  return { _tag: "ModelResponded", runId, step, agent: host.name, ...describe(parts, host), content: unique }
})

// --- internal ---

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
