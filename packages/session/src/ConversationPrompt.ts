/**
 * What a model is shown of a conversation: a total function from any log to a prompt that a provider accepts.
 *
 * The log is untouched. No result stands without its call and no call without its result, no message is empty, results
 * stand in the order of their calls, ids are unique. Between two points with no open call, under equal options, the
 * earlier prompt is a prefix of the later one, unless a compaction, a repair or the end of a run with `context` lies
 * between: provider prompt caches depend on it.
 *
 * @since 0.1.0
 */
import * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { CanonicalRecord } from "./CanonicalRecord.ts"
import type { ConversationState } from "./ConversationState.ts"
import * as Parts from "./internal/promptParts.ts"
import type { RunId } from "./Ids.ts"
import type * as Payload from "./Payload.ts"
import * as Text from "./Text.ts"
import * as ToolCalls from "./ToolCalls.ts"

/**
 * What a call without a result becomes: `omit` leaves it out, so that the model decides again; `unknown` shows it with a
 * fixed neutral result, which says that it was interrupted and that nobody knows whether it took effect.
 *
 * @category models
 * @since 0.1.0
 */
export type UnsettledPolicy = "omit" | "unknown"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The system message. By default the instructions of an imported transcript, if it has any and they are visible. */
  readonly instructions?: string | undefined
  /** The provider that the prompt is for. Reasoning of another one is dropped; by default all is kept. */
  readonly provider?: string | undefined
  /** The model that the prompt is for. Reasoning of another one is dropped; by default all is kept. */
  readonly model?: string | undefined
  /** Shows this open run alone: no earlier one, nor a summary of them. By default everything visible is shown. */
  readonly onlyRun?: RunId | undefined
  /** By tool name; default `unknown` for every tool. */
  readonly unsettled?: ((toolName: string) => UnsettledPolicy) | undefined
  /**
   * For providers that refuse reasoning whose call is gone: a call without a result is shown as `unknown` wherever its
   * message holds reasoning, whatever the policy says.
   */
  readonly reasoningNeedsCalls?: boolean | undefined
}

/**
 * Something that the log has wrong, and that the prompt does not show as it stands.
 *
 * @category models
 * @since 0.1.0
 */
export interface Repair {
  readonly kind:
    | "call-without-result"
    | "result-without-call"
    | "repeated-call-id"
    | "approval-part"
    | "unreadable-part"
    | "empty-message"
    | "reasoning-without-content"
    | "redacted"
  readonly sequence: number
  readonly callId?: string
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Projection {
  readonly prompt: Prompt.Prompt
  readonly repairs: ReadonlyArray<Repair>
}

/**
 * The result of a call of which nobody knows whether it took effect.
 *
 * @category constants
 * @since 0.1.0
 */
export const unknownResult = "The call was interrupted. It is not known whether it took effect."

/**
 * The result of a call whose own was cleared to make room.
 *
 * @category constants
 * @since 0.1.0
 */
export const clearedResult = "The result was cleared to save room. Call the tool again if it is needed."

/**
 * The result of a call that gave nothing to show; providers refuse an empty one.
 *
 * @category constants
 * @since 0.1.0
 */
export const emptyResult = "(empty)"

/**
 * Projects a conversation.
 *
 * **Details**
 *
 * `records` are those of `state`'s visible window in ascending order (more do no harm: what is not visible is skipped).
 * Costs what is visible.
 *
 * @category projecting
 * @since 0.1.0
 */
export const project = (
  state: ConversationState,
  records: ReadonlyArray<CanonicalRecord>,
  options: Options = {}
): Projection => {
  const { window } = state
  const pinned = new Set(window.pinned)
  const startedAt = startOf(state, options.onlyRun)
  const visible = records.filter(
    ({ payload, sequence }) =>
      sequence <= state.sequence &&
      (sequence >= window.visibleFrom || pinned.has(sequence)) &&
      (options.onlyRun === undefined || isOf(payload, options.onlyRun) || sequence >= startedAt)
  )
  const context: Context = {
    options,
    repairs: [],
    results: collectResults(visible),
    ...collectUndecided(state, visible),
    cleared: new Set(window.clearedCallIds),
    openRuns: new Set(state.runs.map((run) => run.runId)),
    usedIds: new Set()
  }
  const blocks: Array<Block> = []
  const summary = visible.find(({ sequence }) => sequence === window.summaryAt)
  if (summary?.payload._tag === "Compacted" && summary.payload.summary !== undefined) {
    blocks.push({ role: "user", content: [textPart(recap(summary.payload.summary))] })
  }
  if (summary?.payload._tag === "Redacted") context.repairs.push({ kind: "redacted", sequence: summary.sequence })
  let instructions = options.instructions
  for (const record of visible) {
    const { payload } = record
    if (payload._tag === "ConversationCreated") instructions ??= payload.instructions
    const block = projectRecord(record, context)
    if (block !== undefined) blocks.push(block)
  }
  dropDanglingEnd(blocks)
  for (const [sequence, callId] of orphans(context)) {
    context.repairs.push({ kind: "result-without-call", sequence, callId })
  }
  return {
    prompt: Prompt.fromMessages([
      ...(instructions === undefined || isBlank(instructions) ? [] : [Parts.system(instructions)]),
      ...blocks.flatMap(toMessages)
    ]),
    repairs: context.repairs
  }
}

/**
 * How a summary is shown: as a user message that says what it is.
 *
 * @category constants
 * @since 0.1.0
 */
export const recap = (summary: string): string =>
  `<recap note="machine-made summary of the conversation so far">\n${summary}\n</recap>`

// --- internal ---

/** Where an open run begins, if only that is shown; of one that is over nothing but its own records is. */
const startOf = ({ runs }: ConversationState, runId: RunId | undefined): number =>
  runs.find((run) => run.runId === runId)?.startedAt ?? Number.POSITIVE_INFINITY

const isOf = (payload: Payload.Payload, runId: RunId): boolean => {
  const facts = payload._tag === "Redacted" ? payload.facts : payload
  return "runId" in facts && facts.runId === runId
}

interface UserBlock {
  readonly role: "user"
  readonly content: ReadonlyArray<Prompt.UserMessagePart>
  readonly options?: Prompt.ProviderOptions | undefined
}

interface AssistantBlock {
  readonly role: "assistant"
  readonly content: ReadonlyArray<Prompt.AssistantMessagePart>
  readonly results: ReadonlyArray<Prompt.ToolResultPart>
  /** Every call that the response declares was left out. */
  readonly lostItsCalls: boolean
}

type Block = UserBlock | AssistantBlock

interface StoredResult {
  readonly sequence: number
  readonly payload: Payload.ToolCallSettled | Payload.Redacted
  used: boolean
}

interface Context {
  readonly options: Options
  readonly repairs: Array<Repair>
  readonly results: ReadonlyMap<string, ReadonlyArray<StoredResult>>
  readonly waiting: ReadonlySet<string>
  readonly superseded: ReadonlySet<string>
  readonly cleared: ReadonlySet<string>
  readonly openRuns: ReadonlySet<string>
  readonly usedIds: Set<string>
}

// A separator that no id contains.
const callKey = (call: { readonly runId: string; readonly step: number; readonly callId: string }): string =>
  `${call.runId}\u0000${call.step}\u0000${call.callId}`

/** Results by call; several where a log from elsewhere repeats an id within a response. */
const collectResults = (records: ReadonlyArray<CanonicalRecord>): Map<string, Array<StoredResult>> => {
  const results = new Map<string, Array<StoredResult>>()
  for (const { payload, sequence } of records) {
    const settled = payload._tag === "Redacted" ? payload.facts : payload
    if (settled._tag !== "ToolCallSettled") continue
    if (payload._tag !== "Redacted" && payload._tag !== "ToolCallSettled") continue
    const key = callKey(settled)
    const same = results.get(key)
    const result = { sequence, payload, used: false }
    if (same === undefined) results.set(key, [result])
    else same.push(result)
  }
  return results
}

/**
 * Calls that nobody let run. `waiting`: their approval is open, or a fork cut the request off; they are left out while they
 * have no result. `superseded`: a later input closed the request; they stay left out whatever their run has settled them
 * with, so that the prompt before it is a prefix of the prompt behind it.
 */
const collectUndecided = (state: ConversationState, records: ReadonlyArray<CanonicalRecord>) => {
  const waiting = new Set<string>(state.approvals.map(({ callId }) => callId))
  const superseded = new Set<string>()
  const requested = new Map<string, string>()
  for (const { payload } of records) {
    const facts = payload._tag === "Redacted" ? payload.facts : payload
    switch (facts._tag) {
      case "ApprovalRequested":
        requested.set(facts.approvalId, facts.callId)
        break
      case "ApprovalResolved": {
        const callId = requested.get(facts.approvalId)
        if (callId !== undefined && facts.decision === "superseded") superseded.add(callId)
        if (callId !== undefined && facts.decision === "expired") waiting.add(callId)
        requested.delete(facts.approvalId)
        break
      }
      case "Forked":
        for (const callId of requested.values()) waiting.add(callId)
        requested.clear()
        break
    }
  }
  return { waiting, superseded }
}

const orphans = (context: Context): Array<readonly [number, string]> => {
  const found: Array<readonly [number, string]> = []
  for (const same of context.results.values()) {
    for (const { payload, sequence, used } of same) {
      if (!used && payload._tag === "ToolCallSettled") found.push([sequence, payload.callId])
    }
  }
  return found
}

const projectRecord = (record: CanonicalRecord, context: Context): Block | undefined => {
  const { payload, sequence } = record
  switch (payload._tag) {
    case "InputRecorded":
      return projectInput(payload, sequence, context)
    case "ModelResponded":
      return projectResponse(payload, sequence, context)
    case "Redacted":
      if (payload.facts._tag === "ModelResponded") {
        const { calls, runId, step } = payload.facts
        for (const { callId } of calls) useResult(context, { runId, step, callId })
      }
      if (payload.facts._tag === "ModelResponded" || payload.facts._tag === "InputRecorded") {
        context.repairs.push({ kind: "redacted", sequence })
      }
      return undefined
    default:
      return undefined
  }
}

const projectInput = (payload: Payload.InputRecorded, sequence: number, context: Context): Block | undefined => {
  const parts =
    typeof payload.message.content === "string"
      ? [{ type: "text" as const, text: payload.message.content }]
      : payload.message.content
  const content: Array<Prompt.UserMessagePart> = []
  if (payload.context !== undefined && context.openRuns.has(payload.runId) && !isBlank(payload.context)) {
    content.push(textPart(payload.context))
  }
  for (const part of parts) {
    const read = readUserPart(part)
    if (read === undefined) context.repairs.push({ kind: "unreadable-part", sequence })
    else if (isFilled(read)) content.push(read)
  }
  if (content.length > 0) return { role: "user", content, options: payload.message.options }
  context.repairs.push({ kind: "empty-message", sequence })
  return undefined
}

const projectResponse = (payload: Payload.ModelResponded, sequence: number, context: Context): Block | undefined => {
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
        const stored = useResult(context, { runId, step, callId: part.id })
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

/** The visible end is never a message that only existed to make calls which are left out. */
const dropDanglingEnd = (blocks: Array<Block>): void => {
  for (let last = blocks.at(-1); last?.role === "assistant" && last.lostItsCalls; last = blocks.at(-1)) blocks.pop()
}

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

const useResult = (
  context: Context,
  call: { readonly runId: string; readonly step: number; readonly callId: string }
): StoredResult | undefined => {
  const stored = context.results.get(callKey(call))?.find(({ used }) => !used)
  if (stored !== undefined) stored.used = true
  return stored
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

const showResult = (
  id: string,
  name: string,
  stored: StoredResult | undefined,
  cleared: boolean
): Prompt.ToolResultPart => {
  const part = (isFailure: boolean, result: unknown, modelOutput?: Prompt.ToolResultPart["modelOutput"]) =>
    Parts.toolResult({ id, name, isFailure, result, modelOutput, providerExecuted: false })
  if (stored === undefined) return part(true, unknownResult)
  const { payload } = stored
  if (payload._tag === "Redacted") return part(false, "The result was removed.")
  if (cleared) return part(payload.isFailure, clearedResult)
  if (payload.shownBytes !== undefined) return part(payload.isFailure, shorten(payload.result, payload.shownBytes))
  if (payload.modelOutput !== undefined && payload.modelOutput.length > 0) {
    const output = payload.modelOutput.flatMap((piece) => readUserPart(piece) ?? []).filter(isFilled)
    return output.length > 0 ? part(payload.isFailure, payload.result, output) : part(payload.isFailure, emptyResult)
  }
  const isEmpty = typeof payload.result === "string" && isBlank(payload.result)
  return part(payload.isFailure, isEmpty ? emptyResult : payload.result)
}

/** The first bytes of a result's text, and how much is missing. */
const shorten = (result: unknown, shownBytes: number): string => {
  const text = typeof result === "string" ? result : JSON.stringify(result)
  const shown = Text.cut(text, shownBytes)
  const missing = Text.byteLength(text) - Text.byteLength(shown)
  return missing === 0 ? text : `${shown}\n[${missing} more bytes are not shown]`
}

const readExecutedResult = (part: Prompt.ToolResultPartEncoded): Prompt.ToolResultPart =>
  Parts.toolResult({
    ...part,
    modelOutput: part.modelOutput?.flatMap((piece) => readUserPart(piece) ?? []),
    providerExecuted: true
  })

const readUserPart = (part: Prompt.UserMessagePartEncoded): Prompt.UserMessagePart | undefined =>
  part.type === "text" ? Parts.text(part) : readFile(part)

const readFile = (part: Prompt.FilePartEncoded): Prompt.FilePart | undefined => {
  const file = decodeFile(part)
  return Result.isSuccess(file) ? file.success : undefined
}

const decodeFile = Schema.decodeUnknownResult(Prompt.FilePart)

const textPart = (text: string): Prompt.TextPart => Parts.text({ text })

const isBlank = (text: string): boolean => text.trim().length === 0

const isFilled = (part: Prompt.UserMessagePart): boolean => part.type !== "text" || !isBlank(part.text)

const toMessages = (block: Block): Array<Prompt.Message> => {
  if (block.role === "user") return [Parts.user(block.content, block.options)]
  const assistant = Parts.assistant(block.content)
  return block.results.length === 0 ? [assistant] : [assistant, Parts.tool(block.results)]
}
