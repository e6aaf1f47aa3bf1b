/**
 * A journal over a stored conversation that outlives failures of its store: what could not be written is kept in order,
 * counts for the run as if it were stored, and is written under the same batch ids as soon as the store takes it.
 */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import * as ConversationPrompt from "@colloquy/session/ConversationPrompt"
import type { ConversationState } from "@colloquy/session/ConversationState"
import type { RunId } from "@colloquy/session/Ids"
import * as ToolCalls from "@colloquy/session/ToolCalls"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import type { Writer, WriteError } from "@colloquy/store/Writer"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as Journal from "../Journal.ts"
import * as Metrics from "../Metrics.ts"
import { evolve } from "./drafts.ts"

export const bufferedJournal = (writer: Writer): Journal.Journal => {
  const direct = Journal.fromWriter(writer, writeTimeout)
  // Writes of one run are made one after the other; so are the attempts to catch up.
  const exclusive = Semaphore.makeUnsafe(1)
  const waiting: Array<{ readonly runId: RunId; readonly facts: Facts }> = []
  let ahead: { readonly state: ConversationState; readonly records: ReadonlyArray<CanonicalRecord> } | undefined
  let lost = false

  const note = <A, E extends WriteError>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.tapError(effect, (error) =>
      Effect.sync(() => {
        lost ||= error._tag !== "StoreUnavailable" && !Journal.isFaultOfContent(error)
      })
    )

  const state = () => ahead?.state ?? writer.state()
  const records = () => {
    if (ahead === undefined) return writer.records()
    // A write of which the store did not say that it happened may be in the log already.
    const stored = new Set(writer.records().map(({ recordId }) => recordId))
    return [...writer.records(), ...ahead.records.filter(({ recordId }) => !stored.has(recordId))]
  }

  /** The store's index does not know of calls that wait to be stored. */
  const usedCallIds = (callIds: ReadonlyArray<string>) =>
    Effect.map(writer.usedCallIds(callIds), (used) => {
      const waitingIds = new Set(
        ahead?.records.flatMap(({ payload }) =>
          payload._tag === "ModelResponded" ? ToolCalls.declaredIds(payload.content) : []
        )
      )
      return new Set([...used, ...callIds.filter((callId) => waitingIds.has(callId))])
    })

  const keep = Effect.fnUntraced(function* (runId: RunId, facts: Facts) {
    const at = Math.floor(yield* Clock.currentTimeMillis)
    const batchId = Journal.batchIdOf(runId, facts[0].name)
    const { epoch, producerId } = writer
    const drafted = yield* Effect.fromResult(
      evolve(state(), batchId, Journal.draftsOf(runId, facts), { epoch, producerId, at })
    )
    waiting.push({ runId, facts })
    ahead = { state: drafted.state, records: [...(ahead?.records ?? []), ...drafted.records] }
    return drafted.records
  })

  /** Writes what waits, until the store fails again; gives the records of the last batch. */
  const catchUp = Effect.gen(function* () {
    let written: ReadonlyArray<CanonicalRecord> = []
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      written = yield* direct.write(next.runId, next.facts)
      waiting.shift()
      ahead =
        waiting.length === 0 || ahead === undefined
          ? undefined
          : { ...ahead, records: ahead.records.slice(written.length) }
    }
    return written
  })

  const write = (runId: RunId, facts: Facts) =>
    Effect.gen(function* () {
      if (waiting.length > 0) {
        const kept = yield* keep(runId, facts)
        return yield* Effect.catchTag(catchUp, "StoreUnavailable", () => Effect.as(countUnstored, kept))
      }
      return yield* Effect.catchTag(direct.write(runId, facts), "StoreUnavailable", (failure) =>
        Effect.andThen(say(runId, failure), keep(runId, facts))
      )
    })

  return {
    tenant: writer.tenant,
    conversationId: writer.conversationId,
    state,
    records,
    prompt: (options) => ConversationPrompt.project(state(), records(), options).prompt,
    usedCallIds: (callIds) => note(usedCallIds(callIds)),
    isUnavailable: () => lost,
    hasRun: (runId) => direct.hasRun(runId),
    write: (runId, facts) => note(exclusive.withPermit(write(runId, facts))),
    settle: direct.settle,
    isStored: () => waiting.length === 0,
    stored: (atMost) =>
      Effect.suspend(() => {
        if (waiting.length === 0) return Effect.void
        return note(
          Effect.retry(exclusive.withPermit(catchUp), {
            while: (error) => error._tag === "StoreUnavailable",
            schedule: Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("2 seconds")]).pipe(
              Schedule.jittered,
              Schedule.upTo({ duration: atMost })
            )
          })
        )
      })
  }
}

// --- internal ---

type Facts = readonly [Journal.Fact, ...Array<Journal.Fact>]

/** A run does not wait long for a store that it can do without for a while. */
const writeTimeout = Duration.seconds(10)

const countUnstored = Metric.update(Metrics.unstored, 1)

const say = (runId: RunId, failure: StoreUnavailable) =>
  Effect.andThen(
    Effect.all([Effect.annotateCurrentSpan({ "colloquy.unstored": true }), countUnstored]),
    Effect.logWarning(`run ${runId} goes on without its store, and stores later: ${failure.message}`)
  )
