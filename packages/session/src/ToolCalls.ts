/**
 * Tool-call ids, made unique per conversation before a call is stored, run or shown.
 *
 * Some providers number their calls per response, so a later call can have an id that the conversation holds already. A
 * repeated id gets the next free suffix: `call_1` becomes `call_1_2`, then `call_1_3`. A provider's own `call_1_2` is
 * stepped over.
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/ai/Prompt"
import { idFault, ToolCallId } from "./Ids.ts"

/**
 * An id that was given to a call in place of its provider's.
 *
 * @category models
 * @since 0.1.0
 */
export interface Renamed {
  readonly from: string
  readonly to: ToolCallId
}

/**
 * The ids that a response's calls declare, as the provider gave them, in order.
 *
 * @category reading
 * @since 0.1.0
 */
export const declaredIds = (content: ReadonlyArray<Prompt.AssistantMessagePartEncoded>): Array<string> =>
  content.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))

/**
 * The ids that a call may be given when its own is used: `id_2` to `id_<count + 1>`.
 *
 * @category renaming
 * @since 0.1.0
 */
export const candidates = (id: string, count: number, from = 2): Array<ToolCallId> =>
  Array.from({ length: count }, (_, i) => ToolCallId.make(`${baseOf(id)}_${from + i}`))

/**
 * Gives each call of a response an id that is used nowhere: not by `isUsed`, nor by another call of the response.
 *
 * **Details**
 *
 * The first call with an id keeps it when it is free. Results follow the provider-executed calls with their id, requests
 * for approval the others: the first belongs to the first call, and so on. A renamed call loses the provider's item id,
 * which names the original. An id that cannot be stored (empty, too long, with control characters) is replaced by one
 * made from `call`.
 *
 * @category renaming
 * @since 0.1.0
 */
export const rename = (
  content: ReadonlyArray<Prompt.AssistantMessagePartEncoded>,
  isUsed: (id: string) => boolean
): {
  readonly content: ReadonlyArray<Prompt.AssistantMessagePartEncoded>
  readonly renamed: ReadonlyArray<Renamed>
} => {
  const declared = declaredIds(content)
  if (new Set(declared).size === declared.length && declared.every((id) => isStorable(id) && !isUsed(id))) {
    return { content, renamed: [] }
  }
  const taken = new Set<string>()
  const own = new Set(declared)
  const renamed: Array<Renamed> = []
  const calls = new Map<string, Array<string>>()
  const executedCalls = new Map<string, Array<string>>()
  const results = new Map<string, number>()
  const approvals = new Map<string, number>()
  const assign = (id: string): string => {
    if (isStorable(id) && !taken.has(id) && !isUsed(id)) return id
    // A later call of this response may bring the candidate as its own id: it keeps it.
    for (let n = 2; ; n++) {
      const candidate = `${baseOf(id)}_${n}`
      if (!taken.has(candidate) && !own.has(candidate) && !isUsed(candidate)) return candidate
    }
  }
  const parts = content.map((part) => {
    if (part.type === "tool-call") {
      const id = assign(part.id)
      taken.add(id)
      const byId = part.providerExecuted === true ? executedCalls : calls
      byId.set(part.id, [...(byId.get(part.id) ?? []), id])
      if (id === part.id) return part
      renamed.push({ from: part.id, to: ToolCallId.make(id) })
      return withoutItemId({ ...part, id })
    }
    if (part.type === "tool-result") {
      const id = follow(part.id, executedCalls.has(part.id) ? executedCalls : calls, results)
      return id === part.id ? part : withoutItemId({ ...part, id })
    }
    if (part.type === "tool-approval-request") {
      return { ...part, toolCallId: follow(part.toolCallId, calls, approvals) }
    }
    return part
  })
  return { content: parts, renamed }
}

/**
 * Gives each call of a response an id made from a mark and its place, for when nobody can say which ids are used: what
 * has the same mark nowhere else is used nowhere else.
 *
 * @category renaming
 * @since 0.1.0
 */
export const mark = (
  content: ReadonlyArray<Prompt.AssistantMessagePartEncoded>,
  mark: string
): ReadonlyArray<Prompt.AssistantMessagePartEncoded> => {
  const unique = rename(content, () => false).content
  const places = new Map(declaredIds(unique).map((id, place) => [id, `call_${mark}_${place}`]))
  return unique.map((part) => {
    if (part.type === "tool-approval-request") {
      return { ...part, toolCallId: places.get(part.toolCallId) ?? part.toolCallId }
    }
    if (part.type !== "tool-call" && part.type !== "tool-result") return part
    return withoutItemId({ ...part, id: places.get(part.id) ?? part.id })
  })
}

/**
 * A call or result without the provider's id of the item, which names the original of what was renamed:
 * `{ openai: { itemId: "fc_1", x: 1 } }` becomes `{ openai: { x: 1 } }`.
 *
 * @category renaming
 * @since 0.1.0
 */
export const withoutItemId = <P extends Prompt.ToolCallPartEncoded | Prompt.ToolResultPartEncoded>(part: P): P => {
  if (part.options === undefined) return part
  const options = Object.fromEntries(
    Object.entries(part.options).map(([provider, value]) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return [provider, value]
      return [provider, Object.fromEntries(Object.entries(value).filter(([key]) => key !== "itemId"))]
    })
  )
  return { ...part, options }
}

// --- internal ---

/** The id of the call that the next part with this id belongs to. */
const follow = (id: string, callsById: ReadonlyMap<string, ReadonlyArray<string>>, places: Map<string, number>) => {
  const place = places.get(id) ?? 0
  places.set(id, place + 1)
  return callsById.get(id)?.[place] ?? id
}

const isStorable = (id: string): boolean => idFault(id) === undefined

// Room for a suffix is kept, so that a candidate of a long id can be stored too.
const baseOf = (id: string): string => (id !== "" && isStorable(`${id}_0000000`) ? id : "call")
