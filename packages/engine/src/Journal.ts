/**
 * Where a run writes: a stored conversation, or nothing but this process's memory. The loop does not know which.
 *
 * @since 0.1.0
 */
import { type CanonicalRecord, decodePayload, encodePayload } from "@colloquy/session/CanonicalRecord"
import * as Conversation from "@colloquy/session/Conversation"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { ConversationState } from "@colloquy/session/ConversationState"
import * as Digest from "@colloquy/session/Digest"
import { BatchId, ConversationId, derive, ProducerId, RecordId, type RunId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as ToolCalls from "@colloquy/session/ToolCalls"
import * as Upcast from "@colloquy/session/Upcast"
import { InvalidBatch, StoreUnavailable } from "@colloquy/store/StoreError"
import type { Writer, WriteError } from "@colloquy/store/Writer"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"

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
  /** Undefined when nothing is stored. */
  readonly conversationId: ConversationId | undefined
  readonly state: () => ConversationState
  readonly records: () => ReadonlyArray<CanonicalRecord>
  readonly prompt: (options: ConversationPrompt.Options) => ConversationPrompt.Projection
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
}

/**
 * A journal over a stored conversation.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromWriter = (writer: Writer): Journal => {
  const { conversationId } = writer
  let unavailable = false
  // A sibling's later success does not undo it: what failed to be written is missing.
  const note = <A>(effect: Effect.Effect<A, WriteError>): Effect.Effect<A, WriteError> =>
    Effect.tapError(effect, (error) =>
      Effect.sync(() => {
        unavailable ||= !faultsOfContent.has(error._tag)
      })
    )
  return {
    conversationId,
    state: writer.state,
    records: writer.records,
    prompt: (options) => writer.prompt(options),
    usedCallIds: (callIds) => note(writer.usedCallIds(callIds)),
    isUnavailable: () => unavailable,
    hasRun: (runId) => note(writer.hasBatch(BatchId.make(idOf(runId, startName)))),
    write: (runId, facts) => {
      const records = facts.map(({ name, payload }) => ({ recordId: RecordId.make(idOf(runId, name)), payload }))
      return note(bounded(writer.append({ batchId: BatchId.make(idOf(runId, facts[0].name)), records })))
    }
  }
}

/**
 * A journal that is gone with the run. It reads what it writes back through the same codec as a store does, so that a run
 * behaves the same in both.
 *
 * @category constructors
 * @since 0.1.0
 */
export const inMemory = (): Journal => {
  const records: Array<CanonicalRecord> = []
  const callIds = new Set<string>()
  let state = Conversation.initial(unstored)

  const write = Effect.fnUntraced(function* (batchId: BatchId, drafts: ReadonlyArray<Draft>) {
    const at = Math.floor(yield* Clock.currentTimeMillis)
    let next = state
    const fresh: Array<CanonicalRecord> = []
    for (const { payload, recordId } of drafts) {
      const record = yield* Effect.fromResult(readBack(payload)).pipe(
        Effect.mapError((error) =>
          error._tag === "LimitExceeded"
            ? error
            : new InvalidBatch({ conversationId: unstored, batchId, recordId, reason: error.message })
        ),
        Effect.map((payload) => ({ ...place, sequence: next.sequence + 1, recordId, batchId, at, payload }))
      )
      next = yield* Effect.fromResult(Conversation.evolve(next, record))
      fresh.push(record)
    }
    state = next
    records.push(...fresh)
    for (const { payload } of fresh) {
      if (payload._tag === "ModelResponded") for (const id of ToolCalls.declaredIds(payload.content)) callIds.add(id)
    }
    return fresh
  })

  return {
    conversationId: undefined,
    isUnavailable: () => false,
    hasRun: () => Effect.succeed(false),
    state: () => state,
    records: () => records,
    prompt: (options) => ConversationPrompt.project(state, records, options),
    usedCallIds: (ids) => Effect.sync(() => new Set(ids.filter((id) => callIds.has(id)))),
    write: (runId, facts) => {
      const drafts = facts.map(({ name, payload }) => ({ recordId: RecordId.make(idOf(runId, name)), payload }))
      const created = records.length === 0 ? [createdDraft] : []
      return write(BatchId.make(idOf(runId, facts[0].name)), [...created, ...drafts])
    }
  }
}

// --- internal ---

interface Draft {
  readonly recordId: RecordId
  readonly payload: Payload.Written
}

/**
 * The name of a run's first batch.
 *
 * @internal
 */
export const startName: Fact["name"] = ["start"]

/** How long a write may take: no interruption cuts it short, so it has a limit of its own. */
const writeTimeout = Duration.seconds(60)

/** The write goes on behind the limit: whoever comes next finds out by its batch id whether it happened. */
const bounded = <A>(write: Effect.Effect<A, WriteError>): Effect.Effect<A, WriteError> =>
  Effect.flatMap(Effect.forkDetach(write, { startImmediately: true }), (fiber) =>
    Effect.timeoutOrElse(Fiber.join(fiber), {
      duration: writeTimeout,
      orElse: () =>
        new StoreUnavailable({
          reason: "other",
          retryable: true,
          detail: `the store has not answered a write within ${Duration.format(writeTimeout)}`,
          cause: null
        })
    })
  )

/** Errors that say that a record is wrong; trying again would not help, so the run ends. */
const faultsOfContent: ReadonlySet<WriteError["_tag"]> = new Set(["InvalidBatch", "LimitExceeded", "IllegalRecord"])

const idOf = (runId: RunId, name: Fact["name"]): string => derive("run", runId, ...name)

const unstored = ConversationId.make("unstored")
const createdDraft: Draft = { recordId: RecordId.make("created"), payload: { _tag: "ConversationCreated" } }
const place = {
  conversationId: unstored,
  epoch: 1,
  producerId: ProducerId.make("unstored"),
  schemaVersion: Upcast.currentVersion,
  digest: Digest.empty
}

const readBack = (payload: Payload.Written) =>
  Result.flatMap(encodePayload(payload), (text) => decodePayload(Upcast.currentVersion, text, new Map()))
