/** How a response of a model is shown to one, with the results of its calls. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Payload from "../Payload.ts"
import * as ToolCalls from "../ToolCalls.ts"
import type { AssistantBlock } from "./promptBlocks.ts"
import { useResult } from "./promptCalls.ts"
import type { Context, Options } from "./promptContext.ts"
import * as Parts from "./promptParts.ts"
import { isBlank, readFile } from "./promptReading.ts"
import { readExecutedResult, showResult } from "./promptResults.ts"

export const projectResponse = (
  payload: Payload.ModelResponded,
  sequence: number,
  context: Context
): AssistantBlock | undefined => {
  const { options, repairs } = context
  const keepsReasoning = reasoningFits(payload, options)
  const hasReasoning = keepsReasoning && payload.content.some(({ type }) => type === "reasoning")
  const executed = pairExecuted(payload.content)
  const executedIds = new Map<number, string>()
  const content: Array<Prompt.AssistantMessagePart> = []
  const results: Array<Prompt.ToolResultPart> = []
  let declared = 0
  let shown = 0
  for (const [place, part] of payload.content.entries()) {
    switch (part.type) {
      case "text":
        if (!isBlank(part.text)) content.push(Parts.text(part))
        break
      case "reasoning":
        if (keepsReasoning) content.push(Parts.reasoning(part))
        break
      case "file": {
        const file = readFile(part)
        if (file === undefined) repairs.push({ kind: "unreadable-part", sequence })
        else content.push(file)
        break
      }
      case "tool-call": {
        declared++
        const { runId, step } = payload
        if (part.providerExecuted === true) {
          if (executed.calls.has(place)) {
            shown++
            const id = uniqueId(part.id, sequence, context)
            executedIds.set(place, id)
            content.push(Parts.toolCall({ ...renamed(part, id), providerExecuted: true }))
          } else repairs.push({ kind: "call-without-result", sequence, callId: part.id })
          break
        }
        const stored = useResult(context.results, { runId, step, callId: part.id })
        if (context.superseded.has(part.id) || (stored === undefined && context.waiting.has(part.id))) break
        if (stored === undefined) repairs.push({ kind: "call-without-result", sequence, callId: part.id })
        else if (stored.sequence < sequence) {
          repairs.push({ kind: "result-without-call", sequence: stored.sequence, callId: part.id })
        }
        const policy = options.reasoningNeedsCalls === true && hasReasoning ? "unknown" : options.unsettled?.(part.name)
        if (stored === undefined && policy === "omit") break
        shown++
        const id = uniqueId(part.id, sequence, context)
        content.push(Parts.toolCall({ ...renamed(part, id), providerExecuted: false }))
        results.push(showResult(id, part.name, stored, context.cleared.has(part.id)))
        break
      }
      case "tool-result": {
        const id = executedIds.get(executed.results.get(place) ?? -1)
        if (id !== undefined) content.push(readExecutedResult(renamed(part, id)))
        else repairs.push({ kind: "result-without-call", sequence, callId: part.id })
        break
      }
      case "tool-approval-request":
        // Effect AI runs the tool when it sees one of these.
        repairs.push({ kind: "approval-part", sequence })
        break
    }
  }
  if (content.every(({ type }) => type === "reasoning")) {
    const isThought = payload.content.some(({ type }) => type === "reasoning")
    const kind = isThought ? "reasoning-without-content" : "empty-message"
    // A response that lost all its calls was reported call by call.
    if (declared === 0) repairs.push({ kind, sequence })
    return undefined
  }
  return { role: "assistant", content, results, lostItsCalls: declared > 0 && shown === 0 }
}

// --- internal ---

/** All reasoning of a response is kept, or none: providers verify the blocks of a message together. */
const reasoningFits = (payload: Payload.ModelResponded, options: Options): boolean =>
  (options.provider === undefined || options.provider === payload.provider) &&
  (options.model === undefined || options.model === payload.model) &&
  payload.content.every(
    (part) => part.type !== "reasoning" || !isBlank(part.text) || Object.keys(part.options ?? {}).length > 0
  )

/** Provider-executed calls with a result behind them in the same response, and their results, by place: pair by pair. */
const pairExecuted = (content: Payload.ModelResponded["content"]) => {
  const calls = new Set<number>()
  const results = new Map<number, number>()
  const open = new Map<string, Array<number>>()
  for (const [place, part] of content.entries()) {
    if (part.type === "tool-call" && part.providerExecuted === true) {
      open.set(part.id, [...(open.get(part.id) ?? []), place])
    } else if (part.type === "tool-result") {
      const call = open.get(part.id)?.shift()
      if (call === undefined) continue
      calls.add(call)
      results.set(place, call)
    }
  }
  return { calls, results }
}

const renamed = <P extends Prompt.ToolCallPartEncoded | Prompt.ToolResultPartEncoded>(part: P, id: string): P =>
  id === part.id ? part : ToolCalls.withoutItemId({ ...part, id })

const uniqueId = (id: string, sequence: number, context: Context): string => {
  let unique = id
  for (let n = 2; context.usedIds.has(unique); n++) unique = `${id}_${n}`
  if (unique !== id) context.repairs.push({ kind: "repeated-call-id", sequence, callId: id })
  context.usedIds.add(unique)
  return unique
}
