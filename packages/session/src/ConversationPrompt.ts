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
import type { CanonicalRecord } from "./CanonicalRecord.ts"
import type { ConversationState, Window } from "./ConversationState.ts"
import { type Block, dropDanglingEnd, toMessages } from "./internal/promptBlocks.ts"
import { collectResults, collectUndecided, orphans, useResult } from "./internal/promptCalls.ts"
import type { Context, Options, Repair } from "./internal/promptContext.ts"
import { projectInput } from "./internal/promptInput.ts"
import * as Parts from "./internal/promptParts.ts"
import { isBlank } from "./internal/promptReading.ts"
import { projectResponse } from "./internal/promptResponse.ts"
import type { RunId } from "./Ids.ts"
import * as Payload from "./Payload.ts"

export type { Options, Repair, UnsettledPolicy } from "./internal/promptContext.ts"
export { clearedResult, emptyResult, unknownResult } from "./internal/promptResults.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Projection {
  readonly prompt: Prompt.Prompt
  readonly repairs: ReadonlyArray<Repair>
}

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
    blocks.push({ role: "user", content: [Parts.text({ text: recap(summary.payload.summary) })] })
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
  for (const [sequence, callId] of orphans(context.results)) {
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
 * Projects a conversation from its first word to its last, whatever compactions hide from the model: no summary stands for
 * what it covers, and no result is cleared. For exports and transcripts.
 *
 * **Details**
 *
 * `records` are all of the log in ascending order. With fewer it projects those alone. The prompt is as sound as that of
 * {@link project}, and may be larger than any model takes.
 *
 * @category projecting
 * @since 0.1.0
 */
export const projectWhole = (
  state: ConversationState,
  records: ReadonlyArray<CanonicalRecord>,
  options: Options = {}
): Projection => project({ ...state, window: everything }, records, options)

/**
 * How a summary is shown: as a user message that says what it is.
 *
 * @category constants
 * @since 0.1.0
 */
export const recap = (summary: string): string =>
  `<recap note="machine-made summary of the conversation so far">\n${summary}\n</recap>`

// --- internal ---

const everything: Window = { visibleFrom: 1, pinned: [], clearedCallIds: [] }

/** Where an open run begins, if only that is shown; of one that is over nothing but its own records is. */
const startOf = ({ runs }: ConversationState, runId: RunId | undefined): number =>
  runs.find((run) => run.runId === runId)?.startedAt ?? Number.POSITIVE_INFINITY

const isOf = (payload: Payload.Payload, runId: RunId): boolean => {
  const facts = Payload.legible(payload)
  return "runId" in facts && facts.runId === runId
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
        for (const { callId } of calls) useResult(context.results, { runId, step, callId })
      }
      if (payload.facts._tag === "ModelResponded" || payload.facts._tag === "InputRecorded") {
        context.repairs.push({ kind: "redacted", sequence })
      }
      return undefined
    default:
      return undefined
  }
}
