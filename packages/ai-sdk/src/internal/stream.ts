/**
 * A response as it arrives: a step takes one part of the AI SDK and gives the parts that Effect is told of.
 *
 * Calls are held until the next part shows that the response goes on, and come in one piece with what follows: a
 * provider package that finds the connection closed gives out the calls it has, cut arguments and all, right before it
 * says so. Of those only the ones that are whole are passed on. The finish part comes last, whatever a provider sends
 * behind it.
 */
import type { LanguageModelV4StreamPart, SharedV4Warning } from "@ai-sdk/provider"
import type * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import * as Result from "effect/Result"
import { connectionCut } from "./errors.ts"
import * as Foreign from "./foreign.ts"
import { metadata } from "./metadata.ts"
import { citationsOf, toResponseMetadata, toSource } from "./response.ts"
import { type Declared, isComplete, toToolCall, toToolResult } from "./tools.ts"
import { toFinish } from "./usage.ts"

export interface State {
  readonly warnings: ReadonlyArray<SharedV4Warning>
  /** Blocks that are not ended, by kind and id. */
  readonly open: ReadonlyMap<string, Block>
  /** Calls that wait for the part behind them. */
  readonly held: ReadonlyArray<Held>
  /** How many parts were carried: the next one's id. */
  readonly carried: number
  readonly finish: Response.FinishPartEncoded | undefined
}

export interface Step {
  readonly state: State
  readonly parts: ReadonlyArray<Part>
  /** The response failed behind these parts, with an error of the AI SDK or a reason. */
  readonly failure?: { readonly error: unknown }
}

export const initial: State = { warnings: [], open: new Map(), held: [], carried: 0, finish: undefined }

export const step = (state: State, part: LanguageModelV4StreamPart, declared: Declared): Step => {
  switch (part.type) {
    case "ping":
    case "raw":
      return { state, parts: [] }
    case "stream-start":
      return { state: { ...state, warnings: part.warnings }, parts: [] }
    case "finish":
      return part.finishReason.unified === "interrupted"
        ? cut(state, connectionCut(), declared)
        : { state: { ...state, finish: toFinish({ ...part, warnings: state.warnings }) }, parts: [] }
    case "error":
      return cut(state, part.error, declared)
    case "tool-input-end":
      return { state: { ...state, held: [...state.held, part] }, parts: [] }
    case "tool-call":
      if (part.providerExecuted !== true) return { state: { ...state, held: [...state.held, part] }, parts: [] }
  }
  return state.held.length === 0
    ? take(state, part, declared)
    : then(release(state, declared), (released) => take(released, part, declared))
}

/** The AI SDK has nothing more. */
export const end = (state: State, declared: Declared): Step => {
  const { finish } = state
  if (finish === undefined) return cut(state, connectionCut(), declared)
  const closed = Array.from(state.open.values(), ({ id, kind }): Part => ({ type: `${kind}-end`, id }))
  const { failure, parts, ...rest } = release(state, declared)
  return failure === undefined
    ? { ...rest, parts: [...closed, ...parts, finish] }
    : { ...rest, parts: [...closed, ...parts], failure }
}

/** The response broke off here. */
export const cut = (state: State, error: unknown, declared: Declared): Step => {
  const whole = new Set(
    state.held.flatMap((part) => (part.type === "tool-call" && isComplete(part) ? [idOf(part)] : []))
  )
  const held = state.held.filter((part) => whole.has(idOf(part)))
  return { ...release({ ...state, held }, declared), failure: { error } }
}

// --- internal ---

type Part = Response.StreamPartEncoded
type Held = Extract<LanguageModelV4StreamPart, { type: "tool-call" | "tool-input-end" }>
type Taken = Exclude<LanguageModelV4StreamPart, { type: "error" | "finish" | "ping" | "raw" | "stream-start" }>

interface Block {
  readonly kind: "reasoning" | "text"
  readonly id: string
}

const idOf = (part: Held): string => (part.type === "tool-call" ? part.toolCallId : part.id)

const then = (first: Step, next: (state: State) => Step): Step => {
  if (first.failure !== undefined) return first
  const second = next(first.state)
  return { ...second, parts: [...first.parts, ...second.parts] }
}

const release = (state: State, declared: Declared): Step => {
  let step: Step = { state: { ...state, held: [] }, parts: [] }
  for (const part of state.held) step = then(step, (state) => take(state, part, declared))
  return step
}

const take = (state: State, part: Taken, declared: Declared): Step => {
  switch (part.type) {
    case "text-start":
    case "reasoning-start":
      return open(state, { kind: kindOf(part.type), id: part.id }, metadata(part.providerMetadata))
    case "text-delta":
    case "reasoning-delta": {
      const { delta, id, providerMetadata, type } = part
      const block = { kind: kindOf(type), id }
      // Some servers leave the start out, and Effect drops what was never started.
      const opened = state.open.has(keyOf(block)) ? { state, parts: [] } : open(state, block, {})
      return then(opened, (state) => emit(state, { type, id, delta, ...metadata(providerMetadata) }))
    }
    case "text-end":
    case "reasoning-end": {
      const { id, type } = part
      const block = { kind: kindOf(type), id }
      const said = metadata(part.providerMetadata, type === "text-end" ? citationsOf(part.citations) : {})
      const opened = state.open.has(keyOf(block)) ? { state, parts: [] } : open(state, block, {})
      return then(opened, (state) => {
        const rest = new Map(state.open)
        rest.delete(keyOf(block))
        return emit({ ...state, open: rest }, { type, id, ...said })
      })
    }
    case "tool-input-start": {
      const { dynamic, id, inputEncoding, providerExecuted = false, providerMetadata, title, toolName } = part
      const said = metadata(providerMetadata, { isDynamic: dynamic, inputEncoding, title })
      return emit(state, { type: "tool-params-start", id, name: toolName, providerExecuted, ...said })
    }
    case "tool-input-delta":
      return emit(state, {
        type: "tool-params-delta",
        id: part.id,
        delta: part.delta,
        ...metadata(part.providerMetadata)
      })
    case "tool-input-end":
      return emit(state, { type: "tool-params-end", id: part.id, ...metadata(part.providerMetadata) })
    case "tool-call": {
      const call = toToolCall(part, declared)
      return Result.isFailure(call) ? fail(state, call.failure) : whole(state, call.success)
    }
    case "tool-result":
      return whole(state, toToolResult(part, declared))
    case "tool-approval-request": {
      const { approvalId, providerMetadata, toolCallId, type } = part
      return emit(state, { type, approvalId, toolCallId, ...metadata(providerMetadata) })
    }
    case "file":
    case "reasoning-file":
      return emit(state, Foreign.fromFile(part))
    case "source":
      return emit(state, toSource(part))
    case "response-metadata":
      return emit(state, toResponseMetadata(part))
    case "custom": {
      const { kind, providerMetadata } = part
      // Tells of the response, and is no part of what the model said.
      return kind === "anthropic.message_start"
        ? emit(state, { type: "response-metadata", ...metadata(providerMetadata) })
        : whole(state, Foreign.carry({ type: "custom", kind }, providerMetadata))
    }
  }
}

const kindOf = (type: `${Block["kind"]}-${string}`): Block["kind"] => (type.startsWith("text") ? "text" : "reasoning")

const keyOf = ({ id, kind }: Block): string => `${kind}:${id}`

const open = (state: State, block: Block, said: Pick<Response.TextStartPartEncoded, "metadata">): Step =>
  emit(
    { ...state, open: new Map(state.open).set(keyOf(block), block) },
    { type: `${block.kind}-start`, id: block.id, ...said }
  )

/** A part that comes in one piece; reasoning has none in a stream. */
const whole = (
  state: State,
  part: Response.ReasoningPartEncoded | Response.ToolCallPartEncoded | Response.ToolResultPartEncoded
): Step => {
  if (part.type !== "reasoning") return emit(state, part)
  const id = `carried-${state.carried}`
  const { metadata, text } = part
  return {
    state: { ...state, carried: state.carried + 1 },
    parts: [
      { type: "reasoning-start", id, ...(metadata === undefined ? {} : { metadata }) },
      ...(text === "" ? [] : [{ type: "reasoning-delta" as const, id, delta: text }]),
      { type: "reasoning-end", id }
    ]
  }
}

const emit = (state: State, part: Part): Step => ({ state, parts: [part] })

const fail = (state: State, reason: AiError.AiErrorReason): Step => ({ state, parts: [], failure: { error: reason } })
