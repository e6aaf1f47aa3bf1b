/** What the ledger does at the two edges of a run: the seams that it provides. */
import type { CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import type { ConversationId, RunId } from "@colloquy/session/Ids"
import * as Payload from "@colloquy/session/Payload"
import type * as Seams from "@colloquy/session/Seams"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { fromText, isReproducible } from "../ConversationKey.ts"
import type { LedgerUnavailable } from "../LedgerError.ts"
import * as LedgerMetrics from "../LedgerMetrics.ts"
import type { BegunTurn, LedgerName } from "../LedgerModel.ts"
import type { LedgerSettings } from "../LedgerSettings.ts"
import type { LedgerStore } from "../LedgerStore.ts"
import * as Render from "../Render.ts"
import { fromRun, type IsReadOnly, isOfRun } from "../RunTurn.ts"
import type { Turn } from "../Turn.ts"
import * as TurnReport from "../TurnReport.ts"
import { entryIdOf } from "./entryId.ts"

interface Ledger {
  readonly record: (turn: Turn, isCurrent?: Effect.Effect<boolean>) => Effect.Effect<unknown>
  readonly recordBehind: (turn: Turn, isCurrent?: Effect.Effect<boolean>) => Effect.Effect<void>
  readonly revise: (turn: Turn) => Effect.Effect<boolean>
  readonly earlier: (request: {
    readonly agent: LedgerName["agent"]
    readonly conversationKey: string
    readonly visibleRuns?: ReadonlyArray<RunId> | undefined
  }) => Effect.Effect<Render.Block, LedgerUnavailable>
  readonly recorded: (name: LedgerName) => Effect.Effect<void>
  readonly isReadOnly: IsReadOnly
}

export const make = ({
  ledger,
  settings,
  store
}: {
  readonly ledger: Ledger
  readonly store: LedgerStore["Service"]
  readonly settings: LedgerSettings["Service"]
}): { readonly preamble: Seams.Preamble; readonly recorder: Seams.Recorder } => {
  /**
   * A turn that has begun earlier and is not recorded: it has ended, crashed, goes on, or has not come to its log. The last
   * one is forgotten when a later turn of the same conversation begins: before that it may be about to.
   */
  const catchUp = Effect.fnUntraced(function* (
    name: LedgerName,
    begun: BegunTurn,
    isOver: boolean,
    past: Seams.PastRecords
  ) {
    const { conversationId, entryId, runId } = begun
    const found = yield* recordsOf(past(conversationId), runId)
    if (found === undefined) return isOver ? yield* store.settle(name, [entryId]) : undefined
    if (!found.ended) return
    const turn = fromRun(found.records, undefined, ledger.isReadOnly)
    if (Option.isNone(turn)) return yield* store.settle(name, [entryId])
    yield* Effect.logInfo(`turn ${runId} of ${name.conversationKey} had ended without being recorded`)
    yield* ledger.record({ ...turn.value, ...name }, isStill(past(conversationId), runId, found.records))
  })

  /** What was reported of runs behind their ends: their entries are made anew, of all that the log has now. */
  const takeIn = Effect.fnUntraced(function* (
    conversationId: ConversationId,
    runIds: Iterable<RunId>,
    past: Seams.PastRecords
  ) {
    for (const runId of runIds) {
      const found = yield* recordsOf(past(conversationId), runId)
      const turn = found?.ended === true ? fromRun(found.records, undefined, ledger.isReadOnly) : Option.none()
      if (Option.isSome(turn)) yield* ledger.revise({ ...turn.value, conversationId })
    }
  })

  const begin = (name: LedgerName, turn: Seams.Turn, past: Seams.PastRecords) =>
    tolerated(
      name,
      Effect.gen(function* () {
        const { conversationId, runId } = turn
        if (conversationId === undefined) return
        const { maxEntries } = yield* settings.current
        const at = Math.floor(yield* Clock.currentTimeMillis)
        const entryId = entryIdOf({ conversationId, runId })
        yield* ledger.recorded(name)
        // More than a ledger keeps need not be looked for.
        const others = yield* store.begin(name, { conversationId, runId, entryId, at }, maxEntries)
        for (const other of others.toReversed()) {
          yield* tolerated(name, catchUp(name, other, other.conversationId === conversationId, past))
        }
        yield* takeIn(conversationId, yield* reportedLate(past(conversationId)), past)
      })
    )

  const preamble: Seams.Preamble = Effect.fn("SessionLedger.preamble")(function* (turn, past) {
    const { agent, visibleRuns } = turn
    const conversationKey = Option.getOrUndefined(fromText(turn.conversationKey ?? ""))
    const { enabled } = yield* settings.current
    if (!enabled || conversationKey === undefined || !isReproducible(conversationKey)) return undefined
    if (past !== undefined) yield* begin({ agent, conversationKey }, turn, past)
    return yield* ledger.earlier({ agent, conversationKey, visibleRuns }).pipe(
      // The task comes in a part of its own, which a provider may put right behind this one.
      Effect.map(({ text }) => (text === "" ? undefined : Render.userMessage({ earlier: text, task: "" }))),
      Effect.catch((error) =>
        Effect.as(
          Effect.logError(`run ${turn.runId} has no history of ${conversationKey}: ${error.message}`),
          undefined
        )
      )
    )
  })

  const recorder: Seams.Recorder = Effect.fn("SessionLedger.recorder")(function* (ended, past) {
    const { conversationId, conversationKey, records, runId, workKey } = ended
    const turn = fromRun(records, undefined, ledger.isReadOnly)
    // A run that was closed by a repair is forgotten when the next turn begins.
    if (Option.isNone(turn)) yield* Effect.logDebug(`run ${runId} has nothing to record`)
    else {
      const isCurrent =
        past === undefined || conversationId === undefined ? undefined : isStill(past(conversationId), runId, records)
      yield* ledger.recordBehind({ ...turn.value, conversationKey, workKey, conversationId }, isCurrent)
    }
    const others = new Set(records.flatMap(({ payload }) => TurnReport.runOf(payload) ?? []))
    others.delete(runId)
    if (past === undefined || conversationId === undefined || others.size === 0) return
    // They came while this one went on.
    yield* tolerated({ conversationKey }, takeIn(conversationId, others, past))
  })

  return { preamble, recorder }
}

// --- internal ---

/** Nothing here stops a turn: a turn that is missed stays noted, and is looked for again; a report that is missed is not. */
const tolerated = (name: { readonly conversationKey: string | undefined }, effect: Effect.Effect<void, unknown>) =>
  Effect.catchCause(effect, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.interrupt
      : Effect.andThen(
          LedgerMetrics.count(LedgerMetrics.failures, { operation: "catch-up" }),
          Effect.logWarning(`turns of ${name.conversationKey} that were missed could not be recorded`, cause)
        )
  )

/** The runs of which a log, read from its end, has reports behind what the last one wrote. */
const reportedLate = (log: Stream.Stream<CanonicalRecord, unknown>): Effect.Effect<ReadonlySet<RunId>, unknown> => {
  const runIds = new Set<RunId>()
  const take = ({ payload }: CanonicalRecord): boolean => {
    const runId = TurnReport.runOf(payload)
    if (runId !== undefined) runIds.add(runId)
    return "runId" in Payload.legible(payload)
  }
  return Effect.as(Stream.runDrain(Stream.takeUntil(log, take)), runIds)
}

/** A log may be long, and a run that never came to it is nowhere: behind so many other runs nobody looks. */
const maxRunsBack = 50

interface Found {
  readonly records: ReadonlyArray<CanonicalRecord>
  readonly ended: boolean
}

/** The records of a run and those between them, in order, from a log that is read from its end. */
const recordsOf = (
  log: Stream.Stream<CanonicalRecord, unknown>,
  runId: RunId
): Effect.Effect<Found | undefined, unknown> => {
  let passed = 0
  let ended = false
  let started = false
  const records: Array<CanonicalRecord> = []
  const take = (record: CanonicalRecord): boolean => {
    const { payload } = record
    const facts = Payload.legible(payload)
    const isOwn = isOfRun(payload, runId)
    if (isOwn || records.length > 0 || payload._tag === "Custom" || payload._tag === "RepairAnnotated")
      records.push(record)
    if (isOwn && facts._tag === "RunEnded") ended = true
    if (facts._tag === "RunStarted") {
      started = isOwn
      passed++
    }
    return started || passed >= maxRunsBack
  }
  return Effect.map(Stream.runDrain(Stream.takeUntil(log, take)), () =>
    started ? { records: records.toReversed(), ended } : undefined
  )
}

/**
 * Whether a log still has these records of a run as they were: an erasure finds no entry to remove that is not there yet.
 * Where that cannot be read it is not so: the turn stays noted, and is looked for when the next one begins.
 */
const isStill = (
  log: Stream.Stream<CanonicalRecord, unknown>,
  runId: RunId,
  records: ReadonlyArray<CanonicalRecord>
): Effect.Effect<boolean> => {
  const whole = new Set(records.flatMap(({ payload, recordId }) => (payload._tag === "Redacted" ? [] : [recordId])))
  const isRemoved = ({ payload, recordId }: CanonicalRecord) => payload._tag === "Redacted" && whole.has(recordId)
  return Effect.match(recordsOf(log, runId), {
    onSuccess: (found) => found !== undefined && !found.records.some(isRemoved),
    onFailure: () => false
  })
}
