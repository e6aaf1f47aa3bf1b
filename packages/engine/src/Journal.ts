/**
 * Where a run writes: a stored conversation, or nothing but this process's memory. The loop does not know which.
 *
 * @since 0.1.0
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { ConversationState } from "@colloquy/session/ConversationState"
import { derive } from "@colloquy/session/DerivedId"
import { BatchId, ConversationId, ProducerId, RecordId, type RunId, type TenantId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as ToolCalls from "@colloquy/session/ToolCalls"
import { StoreUnavailable } from "@colloquy/store/StoreError"
import type { Writer, WriteError } from "@colloquy/store/Writer"
import * as Prompt from "effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { type Draft, evolve } from "./internal/drafts.ts"

/**
 * A payload with the name of what it is within its run: the record's id is derived from both.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fact {
  readonly name: readonly [string, ...Array<string>]
  readonly payload: Payload.Written
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Journal {
  /** Whose conversation it is, in a store that has tenants. */
  readonly tenant: TenantId | undefined
  /** Undefined when nothing is stored. */
  readonly conversationId: ConversationId | undefined
  readonly state: () => ConversationState
  readonly records: () => ReadonlyArray<CanonicalRecord>
  readonly prompt: (options: ConversationPrompt.Options) => Prompt.Prompt
  readonly usedCallIds: (callIds: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, WriteError>
  /** The store has failed, not what was written: the run is left to be resumed. Stays so. */
  readonly isUnavailable: () => boolean
  /** Whether a run of this id has ever started. */
  readonly hasRun: (runId: RunId) => Effect.Effect<boolean, WriteError>
  /**
   * Writes facts of a run as one batch, all or none. Ids are derived from what the facts are: the same facts written
   * again after a crash are recognised.
   */
  readonly write: (
    runId: RunId,
    facts: readonly [Fact, ...Array<Fact>]
  ) => Effect.Effect<ReadonlyArray<CanonicalRecord>, WriteError>
  /** After a write that failed: makes sure that `state` and `records` are what the log has. */
  readonly settle: Effect.Effect<void, WriteError>
  /** Nothing that was written waits for the store. */
  readonly isStored: () => boolean
  /** Waits until nothing does, at most so long; then fails with what the store said last. */
  readonly stored: (atMost: Duration.Duration) => Effect.Effect<void, WriteError>
}

/**
 * A journal over a stored conversation. A write that the store does not take fails.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromWriter = (writer: Writer, writeTimeout: Duration.Duration = defaultWriteTimeout): Journal => {
  const { conversationId, tenant } = writer
  let unavailable = false
  // A sibling's later success does not undo it: what failed to be written is missing.
  const note = <A>(effect: Effect.Effect<A, WriteError>): Effect.Effect<A, WriteError> =>
    Effect.tapError(effect, (error) =>
      Effect.sync(() => {
        unavailable ||= !isFaultOfContent(error)
      })
    )
  return {
    tenant,
    conversationId,
    state: writer.state,
    records: writer.records,
    prompt: (options) => writer.prompt(options).prompt,
    usedCallIds: (callIds) => note(writer.usedCallIds(callIds)),
    isUnavailable: () => unavailable,
    hasRun: (runId) => note(writer.hasBatch(batchIdOf(runId, startName))),
    write: (runId, facts) =>
      note(
        bounded(
          writer.append({ batchId: batchIdOf(runId, facts[0].name), records: draftsOf(runId, facts) }),
          writeTimeout
        )
      ),
    settle: writer.settle,
    isStored: () => true,
    stored: () => Effect.void
  }
}

/**
 * A journal that is gone with the run. It reads what it writes back through the same codec as a store does, so that a run
 * behaves the same in both. `history` is shown before what the run says.
 *
 * @category constructors
 * @since 0.1.0
 */
export const inMemory = (history: Prompt.Prompt = Prompt.empty): Journal => {
  const records: Array<CanonicalRecord> = []
  const callIds = new Set(historyCallIds(history))
  let state = Conversation.initial(unstored)

  const write = Effect.fnUntraced(function* (batchId: BatchId, drafts: ReadonlyArray<Draft>) {
    const at = Math.floor(yield* Clock.currentTimeMillis)
    const drafted = yield* Effect.fromResult(evolve(state, batchId, drafts, { ...nobody, at }))
    state = drafted.state
    records.push(...drafted.records)
    for (const { payload } of drafted.records) {
      if (payload._tag === "ModelResponded") for (const id of ToolCalls.declaredIds(payload.content)) callIds.add(id)
    }
    return drafted.records
  })

  return {
    tenant: undefined,
    conversationId: undefined,
    isUnavailable: () => false,
    hasRun: () => Effect.succeed(false),
    state: () => state,
    records: () => records,
    prompt: (options) => {
      const { prompt } = ConversationPrompt.project(state, records, options)
      return history.content.length === 0 ? prompt : behind(history, prompt)
    },
    usedCallIds: (ids) => Effect.sync(() => new Set(ids.filter((id) => callIds.has(id)))),
    write: (runId, facts) => {
      const created = records.length === 0 ? [createdDraft] : []
      return write(batchIdOf(runId, facts[0].name), [...created, ...draftsOf(runId, facts)])
    },
    settle: Effect.void,
    isStored: () => true,
    stored: () => Effect.void
  }
}

/**
 * Errors that say that a record is wrong; trying again would not help, so the run ends.
 *
 * @internal
 */
export const isFaultOfContent = (error: WriteError): boolean =>
  error._tag === "InvalidBatch" || error._tag === "LimitExceeded" || error._tag === "IllegalRecord"

/**
 * The name of a run's first fact, its start: `hasRun` knows a run by it.
 *
 * @category constants
 * @since 0.1.0
 */
export const startName: Fact["name"] = ["start"]

/** @internal */
export const batchIdOf = (runId: RunId, name: Fact["name"]): BatchId => BatchId.make(idOf(runId, name))

/** @internal */
export const draftsOf = (runId: RunId, facts: ReadonlyArray<Fact>): Array<Draft> =>
  facts.map(({ name, payload }) => ({ recordId: RecordId.make(idOf(runId, name)), payload }))

// --- internal ---

/** How long a write may take: no interruption cuts it short, so it has a limit of its own. */
const defaultWriteTimeout = Duration.seconds(60)

/** The write goes on behind the limit: whoever comes next finds out by its batch id whether it happened. */
const bounded = <A>(write: Effect.Effect<A, WriteError>, limit: Duration.Duration): Effect.Effect<A, WriteError> =>
  Effect.flatMap(Effect.forkDetach(write, { startImmediately: true }), (fiber) =>
    Effect.timeoutOrElse(Fiber.join(fiber), {
      duration: limit,
      orElse: () =>
        new StoreUnavailable({
          reason: "other",
          retryable: true,
          detail: `the store has not answered a write within ${Duration.format(limit)}`,
          cause: null
        })
    })
  )

const idOf = (runId: RunId, name: Fact["name"]): string => derive("run", runId, ...name)

const unstored = ConversationId.make("unstored")
const createdDraft: Draft = { recordId: RecordId.make("created"), payload: { _tag: "ConversationCreated" } }
const nobody = { epoch: 1, producerId: ProducerId.make("unstored") }

const isSystem = ({ role }: Prompt.Message): boolean => role === "system"

/** Instructions stand in front, in place of those that the history has; without any the history stays as it is. */
const behind = (history: Prompt.Prompt, prompt: Prompt.Prompt): Prompt.Prompt => {
  const instructions = prompt.content.filter(isSystem)
  if (instructions.length === 0) return Prompt.concat(history, prompt)
  return Prompt.fromMessages([
    ...instructions,
    ...history.content.filter((message) => !isSystem(message)),
    ...prompt.content.filter((message) => !isSystem(message))
  ])
}

const historyCallIds = (history: Prompt.Prompt): Array<string> =>
  history.content.flatMap((message) =>
    message.role === "assistant" ? message.content.flatMap((part) => (part.type === "tool-call" ? [part.id] : [])) : []
  )
