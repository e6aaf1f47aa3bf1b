/**
 * The coarse view of a log that applications list and send: one entry for each input, each model response, each step's
 * tool results, each run's end or suspension, each decision that lets one go on, and each summary.
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"
import type { CanonicalRecord } from "./CanonicalRecord.ts"
import * as Conversation from "./Conversation.ts"
import { BackgroundTask, type ConversationState, Grant } from "./ConversationState.ts"
import { recap } from "./ConversationPrompt.ts"
import { AgentName, type ConversationId } from "./Ids.ts"
import { Failure, legible, Mode } from "./Payload.ts"
import { Usage } from "./Usage.ts"

const optional = Schema.optionalKey

/**
 * A message of an entry, encoded as Effect AI encodes it.
 *
 * @category models
 * @since 0.1.0
 */
export const Message = Schema.declare(
  (u): u is Prompt.MessageEncoded => typeof u === "object" && u !== null && "role" in u && "content" in u,
  { identifier: "MessageEncoded", expected: "an encoded message" }
)

/**
 * One entry. Its JSON is the value itself, in both directions.
 *
 * **Details**
 *
 * `at` is UTC in milliseconds, that of the entry's last record. `endsRun` is false on the last entry exactly when a
 * crash cut its run off; a suspension, and an entry written outside a run, carry true. A summary holds the recap, the
 * messages that stay visible behind it, and what else goes on: mode, conversation-wide grants, live background tasks.
 * An entry whose content was redacted has no messages.
 *
 * @category models
 * @since 0.1.0
 */
export const ConversationEntry = Schema.Struct({
  agent: optional(AgentName),
  messages: Schema.Array(Message),
  at: Schema.Int,
  model: optional(Schema.String),
  usage: optional(Usage),
  endsRun: Schema.Boolean,
  isSummary: Schema.Boolean,
  mode: optional(Mode),
  error: optional(Failure),
  grants: optional(Schema.Array(Grant)),
  tasks: optional(Schema.Array(BackgroundTask))
})
/** @since 0.1.0 */
export interface ConversationEntry extends Schema.Schema.Type<typeof ConversationEntry> {}

/**
 * Where an incremental projection stands: what it has to know of the records before.
 *
 * @category models
 * @since 0.1.0
 */
export interface Cursor {
  readonly state: ConversationState
  /** Results of the step that goes on; they become one entry when something else follows. */
  readonly pending: Entry | undefined
  /** What a summary may have to repeat: the messages of the visible window, the last first. */
  readonly visible: Shown | undefined
}

type Entry = ConversationEntry

/** A list that grows at its head, so that going on costs nothing for what was read before. */
interface Shown {
  readonly sequence: number
  readonly messages: Entry["messages"]
  readonly before: Shown | undefined
}

/**
 * A projection that has read nothing.
 *
 * @category projecting
 * @since 0.1.0
 */
export const start = (conversationId: ConversationId): Cursor => ({
  state: Conversation.initial(conversationId),
  pending: undefined,
  visible: undefined
})

/**
 * Reads more records: the entries that they complete, and where to go on. Splitting a log anywhere gives the same
 * entries as reading it whole; {@link finish} gives what is not complete yet.
 *
 * @category projecting
 * @since 0.1.0
 */
export const advance = (
  cursor: Cursor,
  records: Iterable<CanonicalRecord>
): { readonly cursor: Cursor; readonly entries: ReadonlyArray<ConversationEntry> } => {
  const entries: Array<Entry> = []
  let { pending, state, visible } = cursor
  for (const record of records) {
    const before = state
    state = Conversation.replayLenient(state, [record]).state
    const result = readResult(record, state)
    const entry = result === undefined ? readEntry(record, before, state, visible) : undefined
    if (result !== undefined) {
      pending = { ...result, messages: [...(pending?.messages ?? []), ...result.messages] }
      visible = { sequence: record.sequence, messages: result.messages, before: visible }
    } else if (entry !== undefined) {
      if (pending !== undefined) entries.push(pending)
      pending = undefined
      entries.push(entry)
      if (entry.isSummary) visible = keepVisible(state, visible)
      else if (entry.messages.length > 0) {
        visible = { sequence: record.sequence, messages: entry.messages, before: visible }
      }
    }
  }
  return { cursor: { state, pending, visible }, entries }
}

/**
 * What is not complete at the end of the log: the results of a step that goes on, or that a crash cut off.
 *
 * @category projecting
 * @since 0.1.0
 */
export const finish = (cursor: Cursor): ReadonlyArray<ConversationEntry> =>
  cursor.pending === undefined ? [] : [cursor.pending]

/**
 * The entries of a whole log.
 *
 * @category projecting
 * @since 0.1.0
 */
export const fromRecords = (
  conversationId: ConversationId,
  records: Iterable<CanonicalRecord>
): ReadonlyArray<ConversationEntry> => {
  const { cursor, entries } = advance(start(conversationId), records)
  return [...entries, ...finish(cursor)]
}

// --- internal ---

const isVisible = ({ window }: ConversationState, sequence: number): boolean =>
  sequence >= window.visibleFrom || window.pinned.includes(sequence)

/** The window's messages, in order. */
const listVisible = (state: ConversationState, shown: Shown | undefined): ReadonlyArray<Shown> => {
  const kept: Array<Shown> = []
  for (let one = shown; one !== undefined; one = one.before) if (isVisible(state, one.sequence)) kept.push(one)
  return kept.toReversed()
}

const keepVisible = (state: ConversationState, shown: Shown | undefined): Shown | undefined => {
  let kept: Shown | undefined
  for (const { messages, sequence } of listVisible(state, shown)) kept = { sequence, messages, before: kept }
  return kept
}

const isRunning = ({ runs }: ConversationState): boolean => runs.some(({ status }) => status === "running")

const entryOf = (record: CanonicalRecord, state: ConversationState, messages: Entry["messages"]): Entry => ({
  ...(state.agent === undefined ? {} : { agent: state.agent }),
  messages,
  at: record.at,
  endsRun: false,
  isSummary: false
})

/** The entry of one result; nothing when the record is no result. */
const readResult = (record: CanonicalRecord, state: ConversationState): Entry | undefined => {
  const settled = legible(record.payload)
  if (settled._tag !== "ToolCallSettled") return undefined
  if (!("result" in settled)) return entryOf(record, state, [])
  const { callId, isFailure, modelOutput, name, result } = settled
  const part = {
    type: "tool-result" as const,
    id: callId,
    name,
    isFailure,
    result,
    ...(modelOutput === undefined ? {} : { modelOutput })
  }
  return entryOf(record, state, [{ role: "tool", content: [part] }])
}

const readEntry = (
  record: CanonicalRecord,
  before: ConversationState,
  state: ConversationState,
  visible: Cursor["visible"]
): Entry | undefined => {
  const payload = legible(record.payload)
  switch (payload._tag) {
    case "InputRecorded":
      return entryOf(record, state, "message" in payload ? [payload.message] : [])
    case "ModelResponded":
      return {
        ...entryOf(record, state, "content" in payload ? [{ role: "assistant", content: payload.content }] : []),
        agent: payload.agent,
        ...(payload.model === undefined ? {} : { model: payload.model }),
        ...(payload.usage === undefined ? {} : { usage: payload.usage })
      }
    case "RunSuspended":
      return { ...entryOf(record, state, []), endsRun: true, mode: payload.mode }
    case "RunResumed":
      // After a crash the last entry says already that the run goes on.
      return payload.cause === "decision" ? entryOf(record, state, []) : undefined
    case "RunEnded":
      return {
        ...entryOf(record, state, []),
        endsRun: true,
        mode: payload.mode,
        ...("error" in payload && payload.error !== undefined ? { error: payload.error } : {})
      }
    case "Forked":
      return isRunning(before) ? { ...entryOf(record, state, []), endsRun: true, mode: state.mode } : undefined
    case "Compacted": {
      if (payload.kind !== "summary") return undefined
      const summary = "summary" in payload ? payload.summary : undefined
      const kept = listVisible(state, visible)
      return {
        ...entryOf(record, state, [
          ...(summary === undefined
            ? []
            : [{ role: "user" as const, content: [{ type: "text" as const, text: recap(summary) }] }]),
          ...kept.flatMap(({ messages }) => messages)
        ]),
        ...(payload.model === undefined ? {} : { model: payload.model }),
        ...(payload.usage === undefined ? {} : { usage: payload.usage }),
        endsRun: !isRunning(state),
        isSummary: true,
        mode: state.mode,
        grants: state.grants,
        tasks: state.tasks
      }
    }
    default:
      return undefined
  }
}
